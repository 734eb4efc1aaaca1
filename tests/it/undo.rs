//! `undo` and `redo`: what a command changed goes back, and comes again.

use std::fs;

use proptest::prelude::*;
use serde_json::Value;

use crate::repo::{TestRepo, run};

/// A trace with three items. The second is pinned.
fn three() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo.text(&["pin", "#1", "--reason", "the task"]);
    repo
}

/// The refs that go back, the heads, the levels of all items, and what a model would see.
fn state(repo: &TestRepo) -> String {
    let head = repo.trace_head();
    let ask = |args: &[&str]| if head.is_empty() { String::new() } else { repo.snapshot(&repo.run(args, b"")) };
    [
        ask(&["materialize", "--json"]),
        ask(&["priority", "--list", "pinned"]),
        repo.git(&["for-each-ref", "refs/traces", "refs/crumbs", "refs/trace-remotes", "refs/trace-remote-records"]),
        fs::read_to_string(repo.git_dir().join("TRACE_PREVIOUS_HEAD")).unwrap_or_default(),
        repo.text(&["branch", "--json"]),
        head,
    ]
    .join("\n")
}

#[test]
fn each_command_can_be_undone_and_redone() {
    let repo = three();
    repo.text(&["branch", "idea"]);
    repo.text(&["--trace", "idea", "commit", "-m", "an idea"]);
    repo.text(&["branch", "spare"]);
    let remote = TestRepo::init(&["--bare"]);
    repo.git(&["remote", "add", "origin", remote.folder().to_str().unwrap()]);
    let commands: &[(&[&str], &str)] = &[
        (&["commit", "-m", "four"], ""),
        (&["commit", "-m", "five", "-p", "pinned"], ""),
        (&["commit", "--batch"], "{\"text\":\"six\"}\n{\"text\":\"seven\",\"priority\":\"skip\"}\n"),
        (&["edit", "#0", "-m", "ONE"], ""),
        (&["delete", "#2"], ""),
        (&["restore", "#2"], ""),
        (&["skip", "#0", "#3", "--reason", "noise"], ""),
        (&["pin", "#0"], ""),
        (&["unpin", "#0", "#1"], ""),
        (&["compress", "-m", "what was said", "#2..#3"], ""),
        (&["import", "jsonl", "-"], "{\"text\":\"imported\",\"priority\":\"pinned\"}\n"),
        (&["merge", "idea"], ""),
        (&["--trace", "idea", "commit", "-m", "more"], ""),
        (&["cherry-pick", "idea", "#4"], ""),
        (&["revert", "TRACE_HEAD"], ""),
        (&["--trace", "idea", "rebase", "main"], ""),
        (&["reset", "TRACE_HEAD~3"], ""),
        (&["branch", "new"], ""),
        (&["branch", "-m", "new", "named"], ""),
        (&["branch", "-m", "trunk"], ""),
        (&["branch", "-D", "named", "spare"], ""),
        (&["switch", "idea"], ""),
        (&["switch", "-c", "other"], ""),
        (&["push", "origin", "other"], ""),
        (&["forward", "leave", "--agent", "ada", "--summary", "It was done and it is well."], ""),
        (&["init", "fresh"], ""),
        (&["commit", "-m", "the first"], ""),
    ];
    let mut before = state(&repo);
    for (command, input) in commands {
        repo.bytes_with(command, input.as_bytes());
        let after = state(&repo);
        assert_ne!(after, before, "{command:?}");
        repo.text(&["undo"]);
        assert_eq!(state(&repo), before, "{command:?}");
        repo.text(&["redo"]);
        assert_eq!(state(&repo), after, "{command:?}");
        before = after;
    }
    assert!(repo.trace(&["fsck"]).contains("errors: 0"));
    repo.fsck();
}

#[test]
fn undo_goes_back_one_command_at_a_time() {
    let repo = three();
    repo.text(&["skip", "#0", "--reason", "noise"]);
    insta::assert_snapshot!(repo.trace(&["undo"]), @"
    Undid `skip`
    [ID] is normal now
    --- stderr
    `git trace redo` reverses this
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["undo", "-n", "2"]), @"
    Undid `pin`
    Undid `commit`
    [main] is now at dialogue user: two [SHORT]
    [ID] is normal now
    --- stderr
    `git trace redo` reverses this
    [exit 0]
    ");
    repo.text(&["redo"]);
    insta::assert_snapshot!(repo.trace(&["undo", "--list"]), @"
    [ID]  2026-02-10T09:00:10Z  pin, commit (redone)
        refs/traces/main  [SHORT] -> [SHORT]
        refs/trace-priority  [SHORT] -> [SHORT]
    [ID]  2026-02-10T09:00:04Z  commit
        refs/traces/main  [SHORT] -> [SHORT]
    [ID]  2026-02-10T09:00:03Z  commit
        refs/traces/main  (none) -> [SHORT]
        main-worktree/TRACE_HEAD  (none) -> refs/traces/main
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["undo", "-n", "3"]), @"
    Undid `pin`
    Undid `commit`
    Undid `commit`
    Undid `commit`
    The current trace is `main`
    [main] does not exist now
    [ID] is normal now
    --- stderr
    `git trace redo` reverses this
    [exit 0]
    ");
    insta::assert_snapshot!(repo.refused(&["undo"]), @"
    --- stderr
    error: there is nothing to undo in this worktree
    hint: `git trace op log` lists all operations; `git trace undo <id>` undoes one
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["redo", "-n", "7"]), @"
    --- stderr
    error: there are only 2 operations to redo
    hint: `git trace op log` lists all operations; `git trace undo <id>` undoes one
    [exit 2]
    ");
    repo.refused(&["undo", "-n", "0"]);
    let redone = repo.json(&["redo", "--json"]);
    assert_eq!(redone["changes"][0]["ref"], "refs/traces/main");
    assert_eq!(redone["operations"].as_array().unwrap().len(), 4);
    assert_eq!(repo.bodies("main"), ["one", "two", "three"]);
    repo.fsck();
}

#[test]
fn the_first_commit_of_a_trace_can_be_undone() {
    let repo = TestRepo::new();
    repo.say("one");
    let tip = repo.git(&["rev-parse", "refs/traces/main"]);
    insta::assert_snapshot!(repo.trace(&["undo"]), @"
    Undid `commit`
    The current trace is `main`
    [main] does not exist now
    --- stderr
    `git trace redo` reverses this
    [exit 0]
    ");
    assert_eq!((repo.git(&["for-each-ref", "refs/traces"]), repo.trace_head()), (String::new(), String::new()));
    repo.git(&["gc", "--quiet", "--prune=now"]);
    insta::assert_snapshot!(repo.trace(&["redo"]), @"
    Redid `commit`
    [main] is now at dialogue user: one [SHORT]
    The current trace is `main`
    [exit 0]
    ");
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), tip);
    repo.text(&["undo"]);
    repo.say("another");
    assert_eq!(repo.bodies("main"), ["another"]);
    repo.fsck();
}

/// The id of the newest operation of a command.
fn operation(repo: &TestRepo, command: &str) -> String {
    let operations = repo.lines(&["op", "log", "--json"]);
    let found = operations.iter().find(|operation| operation["command"] == command).unwrap();
    found["op"].as_str().unwrap().to_owned()
}

#[test]
fn an_operation_that_something_was_built_on_stays() {
    let repo = three();
    repo.text(&["edit", "#0", "-m", "ONE"]);
    let edit = operation(&repo, "edit");
    repo.say("four");
    insta::assert_snapshot!(repo.refused(&["undo", &edit]), @"
    --- stderr
    error: cannot reverse operation [ID] (edit): `refs/traces/main` has moved since
    hint: `git trace revert --trace main [SHORT]` reverses that commit and keeps the later ones
    [exit 2]
    ");
    repo.text(&["reset", "TRACE_HEAD~3"]);
    insta::assert_snapshot!(repo.refused(&["undo", &edit]), @"
    --- stderr
    error: cannot reverse operation [ID] (edit): `refs/traces/main` has moved since
    hint: `git trace op log` lists what moved it since; undo that first, or use `git trace reset`
    [exit 2]
    ");
    let pin = operation(&repo, "pin");
    repo.text(&["skip", "#1"]);
    insta::assert_snapshot!(repo.refused(&["undo", &pin]), @"
    --- stderr
    error: cannot reverse operation [ID] (pin): the priority of item [ID] was set again since
    hint: `git trace priority [ID]` lists its levels; `pin`, `skip`, and `unpin` set another
    [exit 2]
    ");
    repo.text(&["undo"]);
    insta::assert_snapshot!(repo.refused(&["undo", &operation(&repo, "skip")]), @"
    --- stderr
    error: operation [ID] was reversed by operation [ID] already
    hint: `git trace op log` lists operations with their ids
    [exit 2]
    ");
    for unknown in ["0123456789", "01", ""] {
        assert!(repo.refused(&["undo", unknown]).contains("has no operation"), "{unknown}");
    }
}

#[test]
fn an_operation_is_undone_by_its_id_although_others_follow() {
    let repo = three();
    repo.text(&["pin", "#0"]);
    let pin = operation(&repo, "pin");
    repo.say("four");
    repo.text(&["undo", &pin[..6]]);
    assert_eq!(repo.json(&["show", "#0", "--json"])["priority"], "normal");
    assert_eq!(repo.bodies("main"), ["one", "two", "three", "four"]);
    repo.text(&["redo"]);
    assert_eq!(repo.json(&["show", "#0", "--json"])["priority"], "pinned");
}

#[test]
fn hooks_are_passed_over_unless_they_are_named() {
    let repo = three();
    let session = format!(
        "{{\"session_id\":\"6b2e\",\"transcript_path\":\"{}/tests/fixtures/transcripts/claude-code/compact-boundary.jsonl\",\"hook_event_name\":\"Stop\"}}",
        env!("CARGO_MANIFEST_DIR")
    );
    repo.bytes_with(&["hook", "claude-code", "--wait"], session.as_bytes());
    let recorded = repo.git(&["for-each-ref", "refs/traces/claude-code"]);
    assert!(!recorded.is_empty());
    assert!(repo.text(&["undo"]).starts_with("Undid `pin`"));
    repo.text(&["undo", &operation(&repo, "hook claude-code")]);
    assert_eq!(repo.git(&["for-each-ref", "refs/traces/claude-code"]), "");
    repo.text(&["redo"]);
    assert_eq!(repo.git(&["for-each-ref", "refs/traces/claude-code"]), recorded);
}

#[test]
fn a_worktree_and_a_named_trace_undo_their_own_commands() {
    let mut repo = three();
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    let other = repo.home().join("other");
    repo.text(&["branch", "idea"]);
    repo.within(&other, |repo| {
        assert!(repo.refused(&["undo"]).contains("nothing to undo in this worktree"));
        repo.text(&["switch", "idea"]);
        repo.say("there");
    });
    assert_eq!(operation(&repo, "switch"), repo.lines(&["op", "log", "--json"])[1]["op"].as_str().unwrap());
    // The branch of the other worktree, where it is the current trace, stays.
    let branch = repo.lines(&["op", "log", "--json"])[2]["op"].as_str().unwrap().to_owned();
    assert!(repo.refused(&["undo", &branch]).contains("has moved since"));
    repo.within(&other, |repo| repo.text(&["undo"]));
    assert!(repo.refused(&["undo", &branch]).contains("is the current one in"));
    assert_eq!(repo.bodies("idea"), ["one", "two", "three"]);
    // A rename moves the heads of both, and so does its undo.
    repo.text(&["branch", "-m", "idea", "plan"]);
    assert_eq!(repo.within(&other, TestRepo::trace_head), "refs/traces/plan\n");
    repo.text(&["undo"]);
    assert_eq!(repo.within(&other, TestRepo::trace_head), "refs/traces/idea\n");

    let item = repo.commit(&["--trace", "idea", "-m", "in idea"]);
    repo.text(&["--trace", "idea", "pin", &item]);
    repo.say("in main");
    let listed = |trace: &str| {
        let listed = repo.lines(&["--trace", trace, "undo", "--list", "--json"]);
        listed.iter().map(|operation| operation["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("idea"), ["pin", "commit", "branch", "pin"]);
    assert_eq!(listed("main"), ["commit", "pin", "commit", "commit", "commit"]);
    assert!(repo.text(&["--trace", "idea", "undo"]).starts_with("Undid `pin`"));
    assert!(repo.text(&["--trace", "idea", "undo"]).starts_with("Undid `commit`"));
    assert!(repo.text(&["--trace", "idea", "redo"]).starts_with("Redid `commit`"));
    assert_eq!(repo.bodies("idea").len(), 4);
    assert_eq!(repo.bodies("main").len(), 4);
    repo.fsck();
}

#[test]
fn concurrent_undos_and_commits_lose_nothing() {
    let repo = three();
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let mut command = repo.command("git-trace");
            let args = if number % 2 == 0 { vec!["commit", "-m", "more"] } else { vec!["undo"] };
            std::thread::spawn(move || (number % 2 == 0, run(command.args(args), b"")))
        })
        .collect();
    let mut items = 3;
    for writer in writers {
        let (is_commit, output) = writer.join().unwrap();
        let said = repo.exact(&output);
        match (is_commit, output.status.success()) {
            (true, true) => items += 1,
            (false, true) => items -= usize::from(said.contains("Undid `commit`")),
            (_, false) => panic!("{said}"),
        }
    }
    assert_eq!(repo.bodies("main").len(), items);
    repo.fsck();
}

#[test]
fn a_lost_or_damaged_log_costs_the_ability_to_undo_and_nothing_else() {
    let repo = three();
    let log = repo.git_dir().join("trace/ops");
    let lines = fs::read_to_string(&log).unwrap();
    // Torn in the middle of a line, and with lines of unknown shapes.
    let torn = lines.trim_end().rsplit_once('\n').unwrap().0;
    let shapes = "[]\n{\"op\":7}\n{\"op\":\"ab\",\"ref\":[]}\n\u{0}\u{0}\n{\"op\":\"abcdef\",\"unknown\":1}\n";
    fs::write(&log, format!("{shapes}{torn}\n{{\"op\":\"0123")).unwrap();
    repo.say("four");
    assert_eq!(repo.lines(&["op", "log", "--json"]).len(), 5);
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`"));
    // The pin was not confirmed, but it was made.
    assert!(repo.text(&["undo"]).starts_with("Undid `pin`"));
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`"));

    fs::write(&log, lines.replace("\"new\":\"", "\"new\":\"zz")).unwrap();
    insta::assert_snapshot!(repo.refused(&["undo"]), @"
    --- stderr
    error: the line of operation [ID] in the operation log is damaged
    hint: `git trace op log` lists operations with their ids
    [exit 2]
    ");
    fs::write(&log, [0xff, 0xfe, 0]).unwrap();
    assert!(repo.refused(&["undo"]).contains("nothing to undo"));
    repo.say("five");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    repo.say("six");
    repo.text(&["pin", "#0"]);
    repo.text(&["switch", "-c", "other"]);
    repo.text(&["branch", "-D", "main"]);
    assert_eq!(repo.bodies("other").last().unwrap(), "six");
    assert!(repo.refused(&["undo"]).contains("nothing to undo"));
}

#[test]
fn a_move_that_did_not_happen_is_not_undone() {
    let repo = three();
    let log = repo.git_dir().join("trace/ops");
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let dead = format!(
        "{{\"op\":\"00000000deadbeef\",\"time\":\"\",\"command\":\"commit\",\"worktree\":\"main-worktree\",\"ref\":\"refs/traces/main\",\"old\":\"{tip}\",\"new\":\"{}\"}}\n",
        "1".repeat(tip.len())
    );
    fs::write(&log, fs::read_to_string(&log).unwrap() + &dead).unwrap();
    assert!(repo.text(&["undo"]).starts_with("Undid `pin`"));
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`"));
    assert_eq!(repo.bodies("main"), ["one", "two"]);
}

#[test]
fn tips_are_kept_as_long_as_the_log_has_their_operations() {
    let repo = three();
    let tips = || repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-orig"]).lines().count();
    repo.git(&["update-ref", "refs/trace-orig/main", "refs/traces/main"]);
    repo.text(&["reset", "TRACE_HEAD~1"]);
    repo.say("three again");
    repo.text(&["edit", "#0", "-m", "ONE"]);
    assert_eq!(tips(), 2, "a commit on top of another needs no ref");
    let log = repo.git_dir().join("trace/ops");
    let filler = |from: usize| {
        (from..from + 22_000)
            .map(|n| format!("{{\"op\":\"{n:016x}\",\"time\":\"\",\"command\":\"x\",\"worktree\":\"\",\"ref\":\"r\",\"old\":null,\"new\":null}}\n"))
            .collect::<String>()
    };
    let newest = fs::read_to_string(&log).unwrap();
    fs::write(&log, filler(0) + &newest).unwrap();
    repo.say("shortens the log");
    assert_eq!(tips(), 2, "the operation is still listed");
    fs::write(&log, newest + &filler(0)).unwrap();
    repo.say("shortens the log again");
    assert_eq!(tips(), 1, "a ref with another name is not ours to drop");
    assert_eq!(repo.lines(&["op", "log", "--json"]).len(), 1000);
}

#[test]
fn what_goes_with_files_is_left_to_git() {
    let repo = three();
    let notes: String = (1..=40).map(|session| format!("n @{session} did {session}\n")).collect();
    fs::write(repo.folder().join("NOTES.crumb"), format!("∴CRUMB2 AGENT s40\n\n§volatile\n{notes}")).unwrap();
    repo.text(&["crumb", "compress", "NOTES.crumb"]);
    insta::assert_snapshot!(repo.refused(&["undo"]), @"
    --- stderr
    error: cannot reverse operation [ID] (crumb compress): `refs/crumb-archive/AGENT` goes with files that only git restores
    hint: `git trace undo --list` lists earlier operations; name one to undo it
    [exit 2]
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undo_and_redo_walk_through_the_states_of_any_commands(steps in proptest::collection::vec((0..13_usize, 0..6_usize), 8..20)) {
        let repo = TestRepo::new();
        let log = repo.git_dir().join("trace/ops");
        let written = || fs::metadata(&log).map_or(0, |log| log.len());
        let seen = || (repo.trace_head(), repo.text(&["branch", "--json"]), repo.snapshot(&repo.run(&["materialize", "--json"], b"")));
        repo.say("zero");
        let (mut now, mut past, mut future) = (seen(), Vec::new(), Vec::new());
        for (step, number) in steps {
            let (item, name) = (format!("#{number}"), format!("t{number}"));
            let before = written();
            let command: Vec<&str> = match step {
                0..3 => vec!["commit", "-m", &name],
                3 => vec!["skip", &item],
                4 => vec!["pin", &item, "--reason", &name],
                5 => vec!["commit", "-m", &name, "-p", "pinned"],
                6 => vec!["edit", &item, "-m", "edited"],
                7 => vec!["delete", &item],
                8 => vec!["branch", "-m", &name],
                9 => vec!["reset", &item],
                10 => vec!["switch", "-c", &name],
                11 => vec!["undo"],
                _ => vec!["redo"],
            };
            let expected = match step {
                11 => past.last(),
                12 => future.last(),
                _ => None,
            };
            if step > 10 && expected.is_none() {
                continue;
            }
            let expected: Option<(String, String, String)> = expected.cloned();
            let done = repo.run(&command, b"").status.success();
            prop_assert!(done || step <= 10, "{:?}", command);
            if !done || written() == before {
                continue;
            }
            let after = seen();
            match expected {
                Some(expected) => {
                    prop_assert_eq!(&after, &expected);
                    let (from, to) = if step == 11 { (&mut past, &mut future) } else { (&mut future, &mut past) };
                    from.pop();
                    to.push(std::mem::replace(&mut now, after));
                }
                None => {
                    past.push(std::mem::replace(&mut now, after));
                    future.clear();
                }
            }
        }
    }
}

#[test]
fn an_undo_works_in_bare_repositories_and_without_reflogs() {
    for options in [&["--bare"][..], &["--object-format=sha256"]] {
        let repo = TestRepo::init(options);
        repo.git(&["config", "core.logAllRefUpdates", "false"]);
        repo.say("one");
        repo.say("two");
        repo.text(&["branch", "-m", "trunk"]);
        repo.text(&["undo", "-n", "2"]);
        assert_eq!(repo.bodies("main"), ["one"]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
        repo.text(&["redo"]);
        assert_eq!(repo.bodies("trunk"), ["one", "two"]);
        repo.fsck();
    }
}

#[test]
fn an_undo_of_a_push_says_that_the_remote_keeps_it() {
    let repo = three();
    let remote = TestRepo::init(&["--bare"]);
    repo.git(&["remote", "add", "origin", remote.folder().to_str().unwrap()]);
    repo.text(&["push", "origin"]);
    let undone = repo.trace(&["undo"]);
    assert!(undone.contains("the remote keeps what was pushed"), "{undone}");
    assert_eq!(repo.git(&["for-each-ref", "refs/trace-remotes"]), "");
    let kept: Value = remote.json(&["status", "--json", "main"]);
    assert_eq!(kept["items"], 3);
}

#[test]
fn what_was_seen_on_a_remote_after_a_push_stays() {
    let repo = three();
    let remote = TestRepo::init(&["--bare"]);
    repo.git(&["remote", "add", "origin", remote.folder().to_str().unwrap()]);
    repo.text(&["push", "origin"]);
    // As a later fetch.
    repo.git(&["update-ref", "refs/trace-remotes/origin/main", "refs/traces/main~1"]);
    let seen = repo.git(&["for-each-ref", "refs/trace-remotes"]);
    // Only the record of priorities is as the push left it.
    let undone = repo.text(&["undo"]);
    assert!(undone.starts_with("Undid `push`\nrefs/trace-remote-records/"), "{undone}");
    repo.text(&["redo"]);
    repo.git(&["update-ref", "-d", "refs/trace-remote-records/origin/priority"]);
    let undone = repo.text(&["undo"]);
    assert!(undone.starts_with("Undid `pin`"), "{undone}");
    assert_eq!(repo.git(&["for-each-ref", "refs/trace-remotes"]), seen);
}

#[test]
fn an_undo_that_stopped_in_the_middle_is_completed_by_the_next() {
    let repo = three();
    repo.text(&["branch", "idea"]);
    let traces = || repo.git(&["for-each-ref", "refs/traces"]);
    let before = traces();
    repo.text(&["branch", "-m", "idea", "plan"]);
    let refuse = repo.git_dir().join("refuse");
    let test = format!("[ \"$1\" != prepared ] || [ ! -e '{}' ] || ! grep -q refs/traces/plan", refuse.display());
    repo.set_hook("reference-transaction", &format!("#!/bin/sh\n{test}\n"));
    std::fs::write(&refuse, "").unwrap();
    let output = repo.run(&["undo"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", repo.exact(&output));
    let now = traces();
    assert!(now.contains("refs/traces/idea") && now.contains("refs/traces/plan"), "only the first move was made");

    std::fs::remove_file(&refuse).unwrap();
    repo.text(&["undo"]);
    assert_eq!(traces(), before);
    repo.text(&["undo"]);
    assert!(!traces().contains("refs/traces/idea"), "the command before it is next");
}

#[test]
fn an_undo_that_fails_reverses_nothing_older() {
    let repo = three();
    repo.text(&["undo"]);
    repo.text(&["pin", "#0"]);
    let traces = || repo.git(&["for-each-ref", "refs/traces"]);
    let before = traces();
    repo.set_hook("reference-transaction", "#!/bin/sh\n[ \"$1\" != prepared ] || ! grep -q refs/trace-tags/\n");
    let output = repo.run(&["undo"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", repo.exact(&output));
    assert_eq!(traces(), before);
}

#[test]
fn an_undone_skip_gives_an_item_the_priority_of_its_present_type() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.text(&["edit", "#0", "-t", "instruction", "--set", "name=rule", "--unset", "role"]);
    let levels = || {
        let status: Value = serde_json::from_str(&repo.text(&["status", "--json"])).unwrap();
        status["by_priority"].clone()
    };
    let before = levels();
    assert_eq!(before["pinned"], 1);
    repo.text(&["skip", "#0"]);
    repo.text(&["undo"]);
    assert_eq!(levels(), before);
}

#[test]
fn a_head_does_not_return_to_a_trace_that_is_gone() {
    let mut repo = three();
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    let other = repo.home().join("other");
    repo.text(&["branch", "idea"]);
    repo.within(&other, |repo| {
        repo.text(&["switch", "idea"]);
        repo.text(&["switch", "main"]);
    });
    repo.text(&["branch", "-m", "idea", "plan"]);
    repo.within(&other, |repo| {
        assert!(repo.refused(&["undo"]).contains("`refs/traces/idea` has moved since"));
        assert_eq!(repo.trace_head(), "refs/traces/main\n");
    });
    // Nothing of that kind is left if the rename is undone first.
    repo.text(&["undo"]);
    repo.within(&other, |repo| repo.text(&["undo"]));
    assert_eq!(repo.within(&other, TestRepo::trace_head), "refs/traces/idea\n");
}

#[test]
fn an_undo_gives_an_item_the_level_of_the_type_that_it_has_afterwards() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "-m", "Never push to prod."]);
    repo.text(&["edit", "#0", "-t", "dialogue", "--set", "role=user"]);
    repo.text(&["skip", "#0"]);
    repo.text(&["undo", "-n", "2"]);
    assert!(repo.text(&["priority", "--list", "pinned"]).contains("Never push to prod."));
}

#[test]
fn what_is_back_already_does_not_stop_an_undo() {
    let mut repo = three();
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    repo.text(&["branch", "idea"]);
    let other = repo.home().join("other");
    repo.within(&other, |repo| repo.text(&["branch", "-D", "idea"]));
    // The branch is gone, so the commit before it is next.
    assert!(repo.text(&["undo"]).starts_with("Undid `pin`"));
}

#[test]
fn what_a_later_operation_moved_back_is_undone_with_it() {
    for (commands, number, expected) in [
        (&["branch t", "branch -d t"][..], "2", "error"),
        (&["reset TRACE_HEAD~1"], "3", "Undid `reset`"),
        (&["branch idea", "switch idea", "switch main", "switch idea", "switch main"], "3", "Undid `switch`"),
    ] {
        let repo = three();
        let tip = repo.git(&["rev-parse", "refs/traces/main"]);
        for command in commands {
            repo.text(&command.split(' ').collect::<Vec<_>>());
        }
        let said = repo.trace(&["undo", "-n", number]);
        if expected == "error" {
            assert!(said.contains("no effect left to reverse"), "{said}");
            assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), tip);
        } else {
            assert_eq!(said.matches("Undid").count().to_string(), number, "{said}");
            assert!(said.starts_with(expected), "{said}");
        }
    }
}

#[test]
fn a_priority_of_an_item_that_no_trace_has_is_undone() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say("two");
    let commit = operation(&repo, "commit");
    repo.text(&["pin", "#1"]);
    repo.text(&["undo", &commit]);
    assert!(repo.text(&["undo"]).contains("is normal now"));
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`"));
}

#[test]
fn an_unreadable_trace_does_not_stop_an_undo_of_another_one() {
    let repo = TestRepo::classic(&[]);
    repo.say("one");
    repo.text(&["branch", "idea"]);
    repo.say("two");
    fs::write(repo.git_dir().join("refs/traces/idea"), "").unwrap();
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`"));
}

#[test]
fn what_a_new_command_did_again_does_not_stop_a_redo() {
    let repo = three();
    repo.text(&["pin", "#1"]);
    repo.text(&["undo"]);
    repo.text(&["branch", "idea"]);
    repo.text(&["undo"]);
    repo.text(&["branch", "idea"]);
    assert!(repo.text(&["redo"]).starts_with("Redid `pin`"));
}

#[test]
fn a_pin_is_undone_together_with_what_restored_its_item() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say("two");
    repo.text(&["delete", "#1"]);
    repo.text(&["restore", "#1"]);
    repo.text(&["pin", "#1"]);
    assert!(repo.text(&["undo", "-n", "2"]).contains("is normal now"));
    repo.text(&["restore", "#1"]);
    assert_eq!(repo.text(&["priority", "--list", "pinned"]), "");
}
