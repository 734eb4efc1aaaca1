//! Presets make room: the budget action `clean`, and `compress --preset`.

use serde_json::json;

use crate::repo::TestRepo;

/// Lines for `commit --batch`: a prompt, and steps with a long result each.
fn steps(count: usize) -> String {
    let mut lines = vec![json!({ "text": "Build all of it." })];
    for number in 0..count {
        let (id, turn) = (format!("c{number}"), format!("m{number}"));
        let arguments = format!("{{\"command\":\"make {number}\"}}");
        lines.push(json!({ "type": "tool_io", "direction": "call", "name": "Bash", "call_id": id, "turn": turn, "text": arguments }));
        let text = format!("target {number}\n").repeat(60);
        lines.push(json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": text }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
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
        .map(|_| {
            let mut command = repo.command("git-trace");
            command.args(["commit", "--batch"]);
            std::thread::spawn(move || crate::repo::run(&mut command, steps(25).as_bytes()))
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
    repo.bytes_with(&["commit", "--batch"], steps(14).as_bytes());
    let total = || repo.json(&["status", "--json"])["tokens"]["total"].as_u64().unwrap();
    let (before, refs) = (total(), repo.refs());
    let commit = |action: &str, budget: u64| {
        let budget = budget.to_string();
        repo.trace(&["commit", "--budget", &budget, "--budget-action", action, "-m", "And the rest."])
    };
    insta::assert_snapshot!(commit("clean", 2_000), @"");
    insta::assert_snapshot!(commit("clean --preset nothing", 2_000), @"");
    insta::assert_snapshot!(commit("compress --preset default", 5), @"");
    assert_eq!(repo.refs(), refs, "nothing is written in vain");
    insta::assert_snapshot!(commit("clean --preset old-results --keep 12", before), @"");
    insta::assert_snapshot!(commit("compress --preset default", before - 500), @"");
    insta::assert_snapshot!(commit("compress --preset default", 2_000), @"");
    // One command is one operation.
    repo.text(&["undo", "-n", "3"]);
    assert_eq!(repo.refs().lines().last(), refs.lines().last());
    repo.fsck();
}

#[test]
fn an_item_that_is_edited_is_not_cut() {
    let repo = TestRepo::new();
    repo.bytes_with(&["commit", "--batch"], steps(14).as_bytes());
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
    repo.bytes_with(&["commit", "--batch"], steps(14).as_bytes());
    let compress = |args: &[&str]| repo.trace(&[&["compress", "--preset", "default"], args].concat());
    let refs = repo.refs();
    insta::assert_snapshot!(compress(&["--to", "3500"]), @"");
    insta::assert_snapshot!(compress(&["--to", "3500"]), @"");
    repo.text(&["undo"]);
    insta::assert_snapshot!(compress(&["--to", "2000"]), @"");
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
