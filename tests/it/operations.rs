//! The operation log: each command that moves refs is one operation.

use std::fs;

use serde_json::{Value, json};

use crate::repo::TestRepo;

fn oid(repo: &TestRepo, rev: &str) -> Value {
    Value::from(repo.git(&["rev-parse", rev]).trim())
}

#[test]
fn a_command_is_one_operation_with_every_ref_that_it_moved() {
    let repo = TestRepo::new();
    repo.say("one");
    let first = oid(&repo, "refs/traces/main");
    repo.say("two");
    let second = oid(&repo, "refs/traces/main");
    repo.text(&["pin", "#0", "--reason", "why"]);
    repo.text(&["reset", "#0"]);
    repo.text(&["branch", "idea"]);
    repo.text(&["branch", "-m", "idea", "plan"]);
    repo.text(&["branch", "-D", "plan"]);
    repo.text(&["log"]);

    let operations = repo.lines(&["op", "log", "--json"]);
    let commands: Vec<&str> = operations.iter().map(|operation| operation["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["branch", "branch", "branch", "reset", "pin", "commit", "commit"]);
    let moved =
        |refname: &str, old: &Value, new: &Value| json!({ "ref": refname, "old": old, "new": new, "done": true });
    let (none, main) = (&Value::Null, &Value::from("refs/traces/main"));
    let priorities = oid(&repo, "refs/trace-priority");
    let expected = [
        json!([moved("refs/traces/plan", &first, none)]),
        json!([moved("refs/traces/plan", none, &first), moved("refs/traces/idea", &first, none)]),
        json!([moved("refs/traces/idea", none, &first)]),
        json!([moved("refs/traces/main", &second, &first)]),
        json!([moved("refs/trace-priority", none, &priorities)]),
        json!([moved("refs/traces/main", &first, &second)]),
        json!([moved("refs/traces/main", none, &first), moved("main-worktree/TRACE_HEAD", none, main)]),
    ];
    for (operation, refs) in operations.iter().zip(&expected) {
        assert_eq!(operation["refs"], *refs, "{operation}");
    }
    let mut ids: Vec<&str> = operations.iter().map(|operation| operation["op"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 7);
    insta::assert_snapshot!(repo.trace(&["op", "log", "-n", "2"]), @"
    [ID]  2026-02-10T09:00:10Z  branch
        refs/traces/plan  [SHORT] -> (none)
    [ID]  2026-02-10T09:00:09Z  branch
        refs/traces/plan  (none) -> [SHORT]
        refs/traces/idea  [SHORT] -> (none)
    [exit 0]
    ");
}

#[test]
fn refused_commands_are_no_operations_and_torn_lines_are_passed_over() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.refused(&["branch", "main"]);
    repo.refused(&["delete", "#7"]);
    let log = repo.git_dir().join("trace/ops");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(
        &log,
        format!("{text}{{\"op\":\"0123\n{}", text.lines().next().unwrap().replace("\"op\":\"", "\"op\":\"x")),
    )
    .unwrap();
    let operations = repo.lines(&["op", "log", "--json"]);
    assert_eq!(operations.len(), 2);
    assert_eq!(operations[0]["refs"][0]["done"], false, "its process did not confirm the move");
    assert_eq!(operations[1]["refs"][0]["done"], true);
}

#[test]
fn the_log_keeps_the_last_thousand_operations() {
    let repo = TestRepo::new();
    repo.say("one");
    let log = repo.git_dir().join("trace/ops");
    let old: String = (0..45_000)
        .map(|n| {
            format!("{{\"op\":\"{n:016x}\",\"time\":\"\",\"command\":\"x\",\"worktree\":\"\",\"ref\":\"r\",\"old\":null,\"new\":null}}\n{{\"op\":\"{n:016x}\",\"moved\":\"r\"}}\n")
        })
        .collect();
    assert!(old.len() > 4 << 20);
    fs::write(&log, old).unwrap();
    repo.say("two");
    let operations = repo.lines(&["op", "log", "--json"]);
    assert_eq!(operations.len(), 1000);
    assert_eq!(operations[0]["command"], "commit");
    assert_eq!(operations[0]["refs"][0]["done"], true);
    assert_eq!(operations[1]["op"], format!("{:016x}", 44_999));
}
