//! Compressing random traces to a size.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::git::{Env, Repo};
use crate::tokens::Counter;
use crate::tokens::framing::message_cost;
use crate::trace::change::compress::{Limit, Scope, select};
use crate::trace::store::view::View;
use crate::trace::{Draft, TraceError, TraceName};
use crate::unit::repo::TestRepo;

const COUNTER: Counter = Counter::DEFAULT;

fn repo_of(test: &TestRepo) -> Repo {
    let who = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    Repo::open(test.folder(), Env::capture(who.map(|name| (name.into(), "a@example.com".into())))).unwrap()
}

/// Lines for `commit --batch`: pinned and skipped items, calls with and without results, and texts of all lengths.
fn lines() -> impl Strategy<Value = Vec<Value>> {
    let text = (0..60_usize).prop_map(|words| "lorem ipsum ".repeat(words));
    let id = "[abc]";
    let line = prop_oneof![
        4 => text.clone().prop_map(|text| json!({ "text": text })),
        1 => text.clone().prop_map(|text| json!({ "text": text, "priority": "pinned" })),
        1 => text.clone().prop_map(|text| json!({ "text": text, "priority": "skip" })),
        1 => text.clone().prop_map(|text| json!({ "type": "instruction", "text": text })),
        3 => id.prop_map(|id| json!({ "type": "tool_io", "direction": "call", "name": "grep", "call_id": id, "text": "{}" })),
        3 => (id, text).prop_map(|(id, text)| json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": text })),
    ];
    proptest::collection::vec(line, 1..24)
}

/// A text of exactly this many tokens.
fn text_of(tokens: u64) -> Vec<u8> {
    let text = format!("x{}", " x".repeat(usize::try_from(tokens).unwrap() - 1)).into_bytes();
    assert_eq!(COUNTER.count(&text), tokens);
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// A summary that keeps to its allowance meets every size above the floor, and below it the error states the floor.
    #[test]
    fn every_size_above_the_floor_is_met(lines in lines(), percent in 0..100_u64, margin in 0..50_u8) {
        let test = TestRepo::new();
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        test.bytes_with(&["commit", "--batch"], input.as_bytes());
        let (repo, name) = (repo_of(&test), TraceName::default_name());
        let view = View::open(&repo, &name, None).unwrap();
        let total = view.total(&repo, COUNTER).unwrap().tokens;
        let to = |max| {
            let scope = Scope { limit: Some(Limit::new(max, margin)), ..Scope::default() };
            select(&repo, &name, &view, COUNTER, &scope)
        };
        let Err(TraceError::CannotCompress { floor, .. }) = to(0) else { panic!("3 tokens always stay") };
        let floor = floor.needed;
        for max in 0..=total {
            match to(max) {
                Ok(selection) if max == total => prop_assert!(selection.items.is_empty()),
                Ok(selection) => {
                    prop_assert!(max >= floor && !selection.items.is_empty());
                    prop_assert!(total - selection.cost + selection.summary.max <= max);
                }
                Err(TraceError::CannotCompress { floor: stated, .. }) => {
                    prop_assert!(max < floor || floor > total);
                    prop_assert_eq!(stated.needed, floor);
                }
                Err(error) => panic!("{error}"),
            }
        }
        let max = floor + total.saturating_sub(floor) * percent / 100;
        if max < total {
            let selection = to(max).unwrap();
            let summary = Draft::dialogue(text_of(selection.summary.max - message_cost(0, false)));
            repo.trace("main").unwrap().compress(&selection, summary, None, None).unwrap();
            prop_assert!(test.total("main") <= max);
        }
    }
}
