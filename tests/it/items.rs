//! Items as commands take them: several, ranges, turns, commits, and filters.

use regex::Regex;

use crate::repo::TestRepo;

/// Three turns of a prompt, a call with its result, and an answer.
fn three_turns() -> TestRepo {
    let repo = TestRepo::new();
    for turn in 1..=3 {
        repo.say(&format!("prompt {turn}"));
        let (id, arguments) = (format!("c{turn}"), format!(r#"{{"file_path":"/home/a/src/{turn}.rs"}}"#));
        repo.commit(&["-t", "tool_io", "-r", "assistant", "--name", "Read", "--call-id", &id, "-m", &arguments]);
        repo.commit(&["-t", "tool_io", "-r", "tool", "--call-id", &id, "-m", &"word ".repeat(turn)]);
        repo.commit(&["-r", "assistant", "-m", &format!("answer {turn}")]);
    }
    repo
}

fn commits(repo: &TestRepo) -> usize {
    repo.text(&["log", "--oneline"]).lines().count()
}

#[test]
fn several_items_are_deleted_and_restored_in_one_commit() {
    let repo = three_turns();
    let before = repo.bytes(&["materialize"]);
    let count = commits(&repo);
    let mut said = vec![repo.trace(&["delete", "#0", "@2", "--reason", "not needed"])];
    assert_eq!(commits(&repo), count + 1);
    said.push(repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]));
    repo.total("main");
    repo.fsck();
    let lines = repo.lines(&["export"]);
    assert_eq!(lines.iter().filter(|line| line["op"] == "delete").count(), 5);
    let copy = TestRepo::new();
    copy.bytes_with(&["import", "jsonl", "-"], &repo.bytes(&["export"]));
    assert_eq!(copy.bytes(&["materialize"]), repo.bytes(&["materialize"]), "an import deletes the same");

    said.push(repo.trace(&["restore", "TRACE_HEAD"]));
    assert_eq!((commits(&repo), repo.bytes(&["materialize"])), (count + 2, before.clone()));
    repo.fsck();
    repo.text(&["undo", "-n", "2"]);
    assert_eq!((commits(&repo), repo.bytes(&["materialize"])), (count, before));

    repo.text(&["delete", "#0..#3"]);
    said.push(repo.trace(&["restore", "-t", "tool_io"]));
    said.push(repo.trace(&["restore", "#0..#3", "--json"]));
    let oids = Regex::new("[0-9a-f]{40,64}").unwrap();
    insta::assert_snapshot!(oids.replace_all(&said.join("\n"), "[OID]"));
}

#[test]
fn a_call_brings_its_results_along() {
    let repo = three_turns();
    let deleted = repo.trace(&["delete", "#1"]);
    assert!(deleted.ends_with("deleted 2 items, [N] tokens; 1 of them is the result of a call\n[exit 0]"), "{deleted}");
    let skipped = repo.trace(&["skip", "--path", "src/*.rs", "#5..#8"]);
    assert_eq!(skipped.matches("skip ").count(), 2, "{skipped}");
    assert!(skipped.contains("skipped 2 items") && !skipped.contains("result of"), "{skipped}");
    let skipped = repo.trace(&["skip", "#9"]);
    assert!(skipped.contains("; 1 of them is the result of a call"), "{skipped}");
    let pinned = repo.trace(&["pin", "#9"]);
    assert_eq!(pinned.matches("pinned").count(), 1, "only a removal needs the result: {pinned}");
}

#[test]
fn many_priorities_are_one_operation() {
    let repo = three_turns();
    repo.text(&["pin", "#4"]);
    repo.text(&["skip", "#0..#5", "@3"]);
    assert_eq!(repo.lines(&["priority", "--list", "skip", "--json"]).len(), 11, "with the result of a call");
    assert!(repo.text(&["undo"]).starts_with("Undid `skip`"));
    assert_eq!(repo.lines(&["priority", "--list", "skip", "--json"]).len(), 0);
    assert_eq!(repo.lines(&["priority", "--list", "pinned", "--json"]).len(), 1);
}

#[test]
fn commands_take_the_same_names_and_filters() {
    let repo = three_turns();
    assert_eq!(repo.lines(&["show", "--tool", "Read", "--json"]).len(), 6);
    assert_eq!(repo.text(&["show", "@-1", "--grep", "^answer"]), "answer 3");
    assert_eq!(repo.lines(&["show", "#2..", "-t", "dialogue", "--age", "1", "--json"]).len(), 4);
    let compressed = repo.json(&["compress", "@1..@2", "--tool", "Read", "-m", "what was read", "--json"]);
    assert_eq!(compressed["items"], 4);
    repo.text(&["branch", "other"]);
    repo.text(&["delete", "#3", "#7"]);
    let picked = repo.json(&["cherry-pick", "other", "-t", "dialogue", "--grep", "answer", "--json"]);
    assert_eq!(picked["commits"].as_array().unwrap().len(), 2);
    let exported = repo.lines(&["export", "--item", "#8..#11", "--larger-than", "2"]);
    assert!(exported.iter().all(|line| line["op"] == "append") && exported.len() == 4, "{exported:?}");
    let log = repo.lines(&["log", "--item", "#8..#10", "--json"]);
    assert_eq!(log.len(), 3);
}

#[test]
fn a_name_or_filter_without_items_is_refused() {
    let repo = three_turns();
    let said = [
        repo.trace(&["skip", "-t", "output"]),
        repo.trace(&["delete", "@2", "--larger-than", "1000"]),
        repo.trace(&["delete"]),
        repo.trace(&["show", "@4"]),
        repo.trace(&["pin", "#3..#99"]),
        repo.trace(&["show", "#1", "#2", "--revision", "1"]),
        repo.trace(&["restore", "#1..#3"]),
        repo.trace(&["edit", "@2", "-m", "x"]),
        repo.trace(&["compress", "#1", "--to", "5"]),
        repo.trace(&["skip", "--grep", "("]),
        repo.trace(&["skip", "--older-than", "yesterdy"]),
        repo.trace(&["skip", "#0", "-m", "the old name of --reason"]),
    ];
    assert_eq!(commits(&repo), 12);
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_turn_is_a_state_as_it_ended() {
    let repo = three_turns();
    let texts = |state: &str| repo.text(&["materialize", "--format", "text", "--as-of", state]);
    assert!(texts("@1").contains("answer 1") && !texts("@1").contains("prompt 2"), "{}", texts("@1"));
    assert_eq!(texts("@-2"), texts("@2"));
    assert_eq!(texts("@3"), repo.text(&["materialize", "--format", "text"]));
    assert_eq!(repo.text(&["diff", "@2", "--stat"]), repo.text(&["diff", "#7..main", "--stat"]));
    assert_eq!(repo.text(&["diff", "@1..@2", "--stat"]), repo.text(&["diff", "#3..#7", "--stat"]));
    let refused = repo.refused(&["materialize", "--as-of", "@4"]);
    assert!(refused.contains("error: trace `main` has no turn 4: it has 3\n"), "{refused}");
}

#[test]
fn commands_for_one_item_take_the_same_names() {
    let repo = three_turns();
    assert_eq!(repo.text(&["blame", "#0..#0"]), repo.text(&["blame", "#0"]));
    repo.text(&["edit", "#3..#3", "-m", "changed"]);
    assert_eq!(repo.bodies("main")[3], "changed");
    repo.say("a turn of one item");
    repo.text(&["edit", "@-1", "-m", "changed too"]);
    let several =
        [&["edit", "@1", "-m", "x"][..], &["blame", "#0..#1"], &["expand", "@1"]].map(|args| repo.refused(args));
    insta::assert_snapshot!(several.join("\n"), @"
    --- stderr
    error: `@1` names 4 items, but one is expected
    hint: `git trace log --oneline` lists items
    [exit 2]
    --- stderr
    error: `#0..#1` names 2 items, but one is expected
    hint: `git trace log --oneline` lists items
    [exit 2]
    --- stderr
    error: `@1` names 4 items, but one is expected
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
}
