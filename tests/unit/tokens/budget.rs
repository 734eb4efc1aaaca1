//! Tests of the private parts of `src/tokens/budget.rs`.

use super::*;

#[test]
fn exactly_the_maximum_is_within() {
    let budget = Budget { max_tokens: 100 };
    assert_eq!(budget.judge(99), Verdict::Within { left: 1 });
    assert_eq!(budget.judge(100), Verdict::Within { left: 0 });
    assert_eq!(budget.judge(101), Verdict::Over { by: 1 });
    assert_eq!(Budget { max_tokens: 0 }.judge(u64::MAX), Verdict::Over { by: u64::MAX });
}

#[test]
fn an_unknown_action_is_a_command() {
    for (text, action) in [
        ("warn", BudgetAction::Warn),
        ("Reject", BudgetAction::Reject),
        ("", BudgetAction::Warn),
        (" git trace compress ", BudgetAction::Command("git trace compress".to_owned())),
        ("warn-me", BudgetAction::Command("warn-me".to_owned())),
        ("Compress", BudgetAction::Compress(CompressAction::default())),
        (
            "compress --margin 25 --group task",
            BudgetAction::Compress(CompressAction { margin: 25, grouping: Grouping::Task, clean: None }),
        ),
        ("clean", BudgetAction::Clean(CleanAction::default())),
        (
            "clean --preset safe,images --keep 3",
            BudgetAction::Clean(CleanAction { presets: Some("safe,images".to_owned()), keep: Some(3) }),
        ),
        (
            "compress --preset default --margin 0",
            BudgetAction::Compress(CompressAction {
                margin: 0,
                grouping: Grouping::Type,
                clean: Some(CleanAction { presets: Some("default".to_owned()), keep: None }),
            }),
        ),
        ("clean --margin 5", BudgetAction::Command("clean --margin 5".to_owned())),
        ("compress --margin 91", BudgetAction::Command("compress --margin 91".to_owned())),
        ("compress --group", BudgetAction::Command("compress --group".to_owned())),
        ("compress file", BudgetAction::Command("compress file".to_owned())),
    ] {
        assert_eq!(text.parse(), Ok(action));
    }
}

#[test]
fn the_command_reads_one_line_of_json() {
    let budget = Budget { max_tokens: 10_000 };
    let report = BudgetReport::new("main", budget, 12_345, "o200k_base").unwrap();
    assert_eq!(
        report.render(),
        "{\"trace\":\"main\",\"current\":12345,\"max\":10000,\"over\":2345,\"source\":\"o200k_base\"}\n"
    );
    assert_eq!(BudgetReport::new("main", budget, 10_000, "o200k_base"), None);
}
