//! A user's counter: the command in `trace.tokenCounter`.

use std::fs;

use serde_json::Value;

use super::repo::TestRepo;

/// One token per character between the quotes. Each start adds a line to the file `starts`.
const LETTERS: &str = r"echo >>starts; while IFS= read -r line; do echo $((${#line} - 2)); done";

fn counted_by(command: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.tokenCounter", command]);
    repo
}

fn starts(repo: &TestRepo) -> usize {
    fs::read_to_string(repo.folder().join("starts")).unwrap_or_default().lines().count()
}

#[test]
fn every_command_counts_with_the_counter_of_the_trace() {
    let repo = counted_by(LETTERS);
    let item = repo.say("0123456789");
    repo.commit(&["-r", "assistant", "-m", "01234567890123456789"]);
    // 3 for each message, and 3 for the reply.
    let (total, counter) = (10 + 20 + 2 * 3 + 3, repo.json(&["status", "--json"])["tokens"]["encoding"].clone());
    assert!(counter.as_str().unwrap().starts_with("command@"), "{counter}");
    let figure = |args: &[&str], pointer: &str| {
        let answer = repo.json(args);
        answer.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{args:?}: {answer}"))
    };
    let totals = [
        figure(&["status", "--json"], "/tokens/counted"),
        figure(&["materialize", "--json"], "/tokens/request"),
        figure(&["top", "--json"], "/tokens"),
        figure(&["clean", "--dry-run", "--json"], "/before"),
        figure(&["compress", "--to", "30", "--dry-run", "--json"], "/tokens/before"),
        figure(&["branch", "--json"], "/tokens/total"),
    ];
    assert_eq!(totals, [total; 6]);
    assert_eq!(figure(&["show", &item, "--json"], "/tokens"), 10);
    let counted: Value = serde_json::from_slice(&repo.bytes_with(&["count", "--json"], b"0123456789")).unwrap();
    assert_eq!((counted["total"].as_u64(), &counted["encoding"]), (Some(10), &counter));
    repo.git(&["config", "trace.budget", "42"]);
    repo.git(&["config", "trace.budgetAction", "reject"]);
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "01"]), @r"
    --- stderr
    error: trace `main` would take [N] tokens (command@[ID]), more than its budget of 42
    hint: skip, edit or delete what is not needed, or raise `trace.budget`
    [exit 1]
    ");
    // The item and the trailers name the counter.
    let counter = counter.as_str().unwrap();
    let file = repo.text(&["show", "--header", &item]);
    assert!(file.contains(&format!("\ntokens: 10 {counter} ")), "{file}");
    let message = repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]);
    assert!(message.contains(&format!("\nTrace-Total: 39 {counter}\n")), "{message}");
    repo.fsck();
}

#[test]
fn a_command_is_started_once_and_only_to_count() {
    let repo = counted_by(LETTERS);
    let items: String = (0..20).map(|n| format!("{{\"type\":\"dialogue\",\"text\":\"item {n}\"}}\n")).collect();
    repo.bytes_with(&["commit", "--batch"], items.as_bytes());
    assert_eq!(starts(&repo), 1);
    repo.bytes(&["log"]);
    repo.bytes(&["status", "--json"]);
    assert_eq!(starts(&repo), 1, "the counts are stored");
}

#[test]
fn another_counter_counts_again_and_ours_reads_its_items() {
    let repo = counted_by(LETTERS);
    repo.say("0123456789");
    repo.git(&["config", "trace.tokenCounter", "while read -r line; do echo 7; done"]);
    assert_eq!(repo.total("main"), 7 + 6);
    repo.git(&["config", "--unset", "trace.tokenCounter"]);
    let by_default = repo.total("main");
    assert_ne!(by_default, 7 + 6);
    repo.say("0123456789");
    assert_eq!(repo.total("main"), 2 * (by_default - 3) + 3);
    repo.fsck();
}

#[test]
fn a_command_that_fails_stops_the_command_that_needs_a_count() {
    let repo = TestRepo::new();
    repo.say("before");
    let tip = repo.trace_head();
    for (command, reason) in [
        ("exit 3", "`exit 3` ended without an answer"),
        ("read -r line; echo many", "`read -r line; echo many` answered `many`, which is not a number of tokens"),
        ("read -r line; echo -1", "`read -r line; echo -1` answered `-1`, which is not a number of tokens"),
    ] {
        repo.git(&["config", "trace.tokenCounter", command]);
        for args in [&["commit", "-m", "x"][..], &["status"], &["materialize", "--json"], &["count", ".git/HEAD"]] {
            let said = repo.refused(args);
            let hint = "hint: to count with `trace.encoding` this once: git -c trace.tokenCounter= trace …";
            let error = format!("--- stderr\nerror: cannot count tokens with command@[ID]: {reason}\n{hint}\n[exit 2]");
            assert_eq!(said.trim_end(), error, "{args:?}");
        }
        assert_eq!(repo.trace_head(), tip);
    }
    let by_encoding = repo.git(&["-c", "trace.tokenCounter=", "trace", "count", ".git/HEAD"]);
    assert!(by_encoding.contains(".git/HEAD"), "{by_encoding}");
}

#[test]
fn the_file_that_a_project_shares_runs_no_counter() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\ttokenCounter = \"touch ran; echo 7\"\n").unwrap();
    repo.say("hello world");
    assert_eq!(repo.total("main"), 2 + 6);
    assert!(!repo.folder().join("ran").exists());
}
