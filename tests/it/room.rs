//! Presets make room: the budget action `clean`, and `compress --preset`.

use regex::Regex;
use serde_json::json;

use crate::repo::TestRepo;

/// Lines for `commit --batch`: a prompt, and steps with a long result each.
fn steps(name: &str, count: usize) -> String {
    let mut lines = vec![json!({ "text": "Build all of it." })];
    for number in 0..count {
        let (id, turn) = (format!("{name}c{number}"), format!("{name}m{number}"));
        let arguments = format!("{{\"command\":\"make {number}\"}}");
        lines.push(json!({ "type": "tool_io", "direction": "call", "name": "Bash", "call_id": id, "turn": turn, "text": arguments }));
        let text = format!("target {number}\n").repeat(60);
        lines.push(json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": text }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The output of a command, without numbers of several digits: stubs name items, whose ids vary, and so do their tokens.
fn printed(repo: &TestRepo, args: &[&str]) -> String {
    Regex::new(r"\b\d{2,}\b").unwrap().replace_all(&repo.trace(args), "N").into_owned()
}

fn totals(repo: &TestRepo) -> Vec<u64> {
    let trailer = "--format=%(trailers:key=Trace-Total,valueonly,separator=)";
    let listed = repo.git(&["log", "--reverse", trailer, "refs/traces/main"]);
    listed.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

fn count(repo: &TestRepo, op: &str) -> usize {
    repo.lines(&["log", "--json"]).iter().filter(|commit| commit["op"] == op).count()
}

#[test]
fn a_budget_that_cleans_is_never_exceeded_and_loses_no_commit() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.budget", "8000"]);
    repo.git(&["config", "trace.budgetAction", "clean"]);
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let mut command = repo.command("git-trace");
            command.args(["commit", "--batch"]);
            std::thread::spawn(move || crate::repo::run(&mut command, steps(&writer.to_string(), 25).as_bytes()))
        })
        .collect();
    for writer in writers {
        let output = writer.join().unwrap();
        assert!(output.status.success(), "{}", repo.exact(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 51);
    }
    assert_eq!((count(&repo, "append"), repo.json(&["status", "--json"])["items"].clone()), (102, json!(102)));
    assert!(count(&repo, "clean") > 0);
    let largest = totals(&repo).into_iter().max().unwrap();
    assert!(largest <= 8_000, "{largest}");
    repo.total("main");
    repo.fsck();
}

#[test]
fn a_budget_action_says_what_it_cut_or_why_not() {
    let repo = TestRepo::new();
    repo.bytes_with(&["commit", "--batch"], steps("", 14).as_bytes());
    let total = || repo.json(&["status", "--json"])["tokens"]["total"].as_u64().unwrap();
    let (before, refs) = (total(), repo.refs());
    let commit = |action: &str, budget: u64| {
        let budget = budget.to_string();
        printed(&repo, &["commit", "--budget", &budget, "--budget-action", action, "-m", "And the rest."])
    };
    insta::assert_snapshot!(commit("clean", 2_000), @"
    --- stderr
    error: trace `main` has no room for 7 more tokens in its budget of N: presets would cut only N
    hint: raise the budget to at least [N] tokens, or use the budget action `compress --preset default`
    [exit 1]
    ");
    insta::assert_snapshot!(commit("clean --preset nothing", 2_000), @"
    --- stderr
    error: cannot clean the trace for its budget: unknown preset `nothing`: expected one of safe, default, aggressive, duplicates, reminders, stale-reads, edit-echoes, images, failures, thinking, edited-reads, old-results, oversize, old-reads, agent-reports, old-calls
    [exit 2]
    ");
    insta::assert_snapshot!(commit("compress --preset default", 5), @"
    --- stderr
    error: trace `main` has no room for 7 more tokens in its budget of 5: [N] tokens would remain without a summary (no item is pinned)
    hint: raise the budget to at least [N] tokens, or unpin items with `git trace unpin`
    [exit 1]
    ");
    assert_eq!(repo.refs(), refs, "nothing is written in vain");
    insta::assert_snapshot!(commit("clean --preset old-results --keep 12", before), @"
    [main #N] dialogue user: And the rest. [ID]
    --- stderr
    cut 2 items of trace `main` for its budget: N → [N] tokens; `git trace revert [SHORT]` restores them
    [exit 0]
    ");
    insta::assert_snapshot!(commit("compress --preset default", before - 500), @"
    [main #N] dialogue user: And the rest. [ID]
    --- stderr
    cut 2 items of trace `main` for its budget: N → [N] tokens; `git trace revert [SHORT]` restores them
    [exit 0]
    ");
    insta::assert_snapshot!(commit("compress --preset default", 2_000), @"
    [main #N] dialogue user: And the rest. [ID]
    --- stderr
    the summary was made by a rule, because `trace.compressor` is not set
    compressed N items of trace `main` for its budget: N → [N] tokens; `git trace expand [ID]` restores them
    [exit 0]
    ");
    // One command is one operation.
    repo.text(&["undo", "-n", "3"]);
    assert_eq!(repo.refs().lines().last(), refs.lines().last());
    repo.fsck();
}

#[test]
fn an_item_that_is_edited_is_not_cut() {
    let repo = TestRepo::new();
    repo.bytes_with(&["commit", "--batch"], steps("", 14).as_bytes());
    let total = repo.json(&["status", "--json"])["tokens"]["total"].as_u64().unwrap();
    let budget = total.to_string();
    let long = "target 0, and a bit more\n".repeat(60);
    repo.text(&["edit", "#2", "--budget", &budget, "--budget-action", "clean", "-m", &long]);
    assert_eq!(repo.json(&["show", "#2", "--json"])["revision"], 2);
    assert_eq!(count(&repo, "clean"), 1);
}

#[test]
fn compress_cuts_by_presets_before_it_asks_a_model() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.compressor", "echo asked >&2; cat >/dev/null; echo All is built."]);
    repo.bytes_with(&["commit", "--batch"], steps("", 14).as_bytes());
    let compress = |args: &[&str]| printed(&repo, &[&["compress", "--preset", "default"], args].concat());
    let refs = repo.refs();
    insta::assert_snapshot!(compress(&["--to", "3500"]), @"
    [main] [SHORT] cut 4 items: N → [N] tokens
      `git trace revert [SHORT]` restores them
    --- stderr
    Nothing to compress: the trace has N of [N] tokens
    [exit 0]
    ");
    insta::assert_snapshot!(compress(&["--to", "3500"]), @"
    --- stderr
    Nothing to compress: the trace has N of [N] tokens
    [exit 0]
    ");
    repo.text(&["undo"]);
    insta::assert_snapshot!(compress(&["--to", "2000"]), @"
    [main] [SHORT] cut 4 items: N → [N] tokens
      `git trace revert [SHORT]` restores them
    [main #1] N items became one: dialogue user: All is built. [ID]
      N → [N] tokens; `git trace undo` reverses this now, `git trace expand [ID]` at any time
    --- stderr
    asked
    [exit 0]
    ");
    repo.text(&["undo"]);
    assert_eq!(repo.refs().lines().last(), refs.lines().last());
    // The cut is recorded before the model is asked.
    repo.git(&["config", "trace.compressor", "exit 3"]);
    insta::assert_snapshot!(compress(&["--to", "2000"]), @"
    [main] [SHORT] cut 4 items: N → [N] tokens
      `git trace revert [SHORT]` restores them
    --- stderr
    error: cannot compress with the command in `trace.compressor`: `exit 3` ended with exit status: 3
    note: what it recorded until then is kept; `git trace undo [ID]` reverses it
    [exit 1]
    ");
    repo.text(&["undo"]);
    assert_eq!(repo.refs().lines().last(), refs.lines().last());
    let cut = repo.json(&["compress", "--preset", "default", "--to", "3500", "--json"]);
    assert_eq!((&cut["items"], &cut["cut"]["items"]), (&json!(0), &json!(4)));
    let refused = |args: &[&str]| repo.run(&[&["compress", "--preset", "default"], args].concat(), b"").status.code();
    assert_eq!(
        [refused(&[]), refused(&["--to", "9", "--dry-run"]), refused(&["--to", "9", "-t", "dialogue"])],
        [Some(2); 3]
    );
    repo.fsck();
}
