//! What stopped people who were new to git-trace.

use std::fs;

use serde_json::Value;

use crate::recording::{claude_folder, ran_in, said};
use crate::repo::TestRepo;

/// A repository with the sample session as trace `work`.
fn sample() -> TestRepo {
    let repo = TestRepo::new();
    let session = repo.bytes(&["demo", "--session"]);
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "work"], &session);
    repo
}

#[test]
fn a_second_clean_with_the_same_result_creates_no_branch() {
    let repo = sample();
    repo.text(&["clean", "work", "--yes"]);
    let before = repo.refs();
    let again = repo.text(&["clean", "work", "--yes"]);
    insta::assert_snapshot!(again.lines().skip(5).collect::<Vec<_>>().join("\n"), @"
    `work.clean` already has this result, so nothing was written
    `work` is unchanged; `git trace diff work work.clean` shows what was cut
    `git trace resume work.clean` continues with the result
    ");
    let json = repo.json(&["clean", "work", "--yes", "--json"]);
    assert_eq!(json["commit"], repo.git(&["rev-parse", "refs/traces/work.clean"]).trim());
    assert_eq!(repo.refs(), before);
    // Another selection is another result.
    repo.text(&["clean", "work", "--yes", "--preset", "thinking"]);
    assert!(repo.text(&["branch"]).contains("work.clean-2"));
    repo.text(&["clean", "work", "--yes", "--preset", "thinking"]);
    assert!(!repo.text(&["branch"]).contains("work.clean-3"));
}

#[test]
fn import_refuses_what_it_would_ignore() {
    let repo = sample();
    let session = repo.folder().join("session.jsonl");
    fs::write(&session, repo.bytes(&["demo", "--session"])).unwrap();
    fs::write(repo.folder().join("empty.jsonl"), "").unwrap();
    let answer = |args: &[&str]| String::from_utf8(repo.run(args, b"").stderr).unwrap();
    insta::assert_snapshot!(
        answer(&["import", "session.jsonl", "work2"]) + &answer(&["import", "empty.jsonl"]) + &answer(&["import", "/dev/null"]),
        @"
    error: unexpected argument `work2`
    hint: a command imports one file; `--trace NAME` names its trace
    error: `empty.jsonl` is empty
    error: `/dev/null` is not a regular file
    hint: name the file of a session; `git trace import claude-code` finds the newest one for this folder
    "
    );
}

#[test]
fn clean_and_status_give_the_same_percentage() {
    let repo = sample();
    for preset in ["thinking", "safe", "default", "aggressive"] {
        let cleaned = repo.json(&["clean", "work", "--yes", "--json", "--preset", preset]);
        let status = repo.json(&["--trace", "work", "status", "--json"]);
        assert_eq!(cleaned["percent_before"], status["tokens"]["percent"]);
        let branch = repo.git(&[
            "for-each-ref",
            "--format=%(refname:lstrip=2)",
            "--points-at",
            cleaned["commit"].as_str().unwrap(),
            "refs/traces",
        ]);
        let status = repo.json(&["--trace", branch.trim(), "status", "--json"]);
        assert!(status["tokens"]["percent"].is_u64());
        assert_eq!(cleaned["percent_after_at_most"], status["tokens"]["percent"], "{preset}");
    }
}

#[test]
fn import_suggests_the_format_or_the_file_of_an_id() {
    let repo = TestRepo::new();
    fs::write(claude_folder(&repo).join("6b2e1f0a-0001.jsonl"), said("6b2e1f0a-0001", &["hello"])).unwrap();
    let hint = |word: &str| {
        let answer = repo.refused(&["import", word]).replace(repo.home().to_str().unwrap(), "[HOME]");
        answer.lines().find(|line| line.starts_with("hint: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(hint("claude"), "hint: did you mean `git trace import claude-code`?");
    assert_eq!(hint("codx"), "hint: did you mean `git trace import codex`?");
    let found = hint("6b2e1f0a");
    assert!(
        found.starts_with("hint: did you mean `git trace import [HOME]") && found.ends_with("-0001.jsonl`?"),
        "{found}"
    );
    insta::assert_snapshot!(hint("dead-beef"), @"hint: no session of this folder has this id; `git trace import claude-code` imports the newest one");
}

#[test]
fn traces_of_a_remote_that_are_not_here_are_mentioned() {
    let (repo, other) = (TestRepo::new(), TestRepo::new());
    repo.git(&["remote", "add", "origin", &other.folder().to_string_lossy()]);
    repo.say("hello");
    repo.text(&["branch", "idea"]);
    repo.text(&["push", "origin", "main", "idea"]);
    let hint = || String::from_utf8(repo.run(&["branch"], b"").stderr).unwrap();
    assert_eq!(hint(), "");
    repo.text(&["branch", "-D", "idea"]);
    insta::assert_snapshot!(hint(), @"hint: `origin` has 1 trace that is not here: `git trace pull origin`");
    repo.text(&["pull", "origin"]);
    assert_eq!(hint(), "");
}

#[test]
fn traces_alone_need_no_merge_driver() {
    let repo = TestRepo::new();
    let health = || {
        let found: Value = serde_json::from_slice(&repo.run(&["doctor", "--json"], b"").stdout).unwrap();
        let driver = found.as_array().unwrap().iter().find(|found| found["code"] == "merge-driver").unwrap();
        driver["health"].as_str().unwrap().to_owned()
    };
    assert_eq!(health(), "error");
    repo.say("hello");
    assert_eq!(health(), "good");
    repo.text(&["breadcrumb", "set", "auth.method", "JWT"]);
    assert_eq!(health(), "error");
}

#[test]
fn a_trace_is_not_named_like_an_item() {
    let repo = TestRepo::new();
    repo.say("hello");
    insta::assert_snapshot!(repo.refused(&["branch", "#3"]), @"
    --- stderr
    error: invalid trace name `#3`: git's rules for branch names apply
    hint: `#3` names an item; begin the name with a letter
    [exit 2]
    ");
}

#[test]
fn priorities_of_one_item_are_undone_one_after_the_other() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.text(&["skip", "#0", "--reason", "noise"]);
    repo.text(&["unpin", "#0"]);
    repo.text(&["pin", "#0"]);
    let level = || repo.json(&["priority", "#0", "--json"])["level"].as_str().unwrap().to_owned();
    let mut levels = vec![level()];
    for command in ["undo", "undo", "undo", "redo", "redo", "redo"] {
        repo.text(&[command]);
        levels.push(level());
    }
    assert_eq!(levels, ["pinned", "normal", "skip", "normal", "skip", "normal", "pinned"]);
    repo.fsck();
}

#[test]
fn switching_to_the_current_trace_is_no_operation() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.text(&["switch", "-c", "idea"]);
    repo.say("two");
    assert_eq!(repo.text(&["switch", "idea"]), "Already on trace `idea`\n");
    assert_eq!(repo.text(&["init"]), "`idea` is already the current trace.\n");
    assert!(repo.text(&["undo"]).starts_with("Undid `commit`\n"));
}

#[test]
fn switch_creates_a_trace_that_only_one_remote_has() {
    let (repo, hub) = (TestRepo::new(), TestRepo::init(&["--bare"]));
    repo.say("one");
    repo.text(&["switch", "-c", "idea"]);
    repo.say("two");
    for remote in ["origin", "spare"] {
        repo.git(&["remote", "add", remote, hub.folder().to_str().unwrap()]);
    }
    repo.text(&["push", "origin", "*"]);
    repo.text(&["switch", "main"]);
    repo.text(&["branch", "-D", "idea"]);
    let refused = |args: &[&str]| repo.refused(args);
    insta::assert_snapshot!(refused(&["switch", "origin/idea"]), @"
    --- stderr
    error: trace `idea` is not here, but was fetched as `origin/idea`
    hint: `git trace switch idea` creates it
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["clean", "idea"]), @"
    --- stderr
    error: trace `idea` is not here, but was fetched as `origin/idea`
    hint: `git trace switch idea` creates it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["switch", "idea"]), @"
    Switched to a new trace `idea` at [SHORT], from `origin/idea`
    [exit 0]
    ");
    assert_eq!(repo.bodies("idea"), ["one", "two"]);
    repo.text(&["switch", "main"]);
    repo.text(&["branch", "-D", "idea"]);
    repo.text(&["fetch", "spare"]);
    insta::assert_snapshot!(refused(&["switch", "idea"]), @"
    --- stderr
    error: no trace is named `idea`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
}

#[test]
fn ancestors_of_a_trace_are_named_as_in_git() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo.text(&["branch", "early", "main~2"]);
    assert_eq!(repo.bodies("early"), ["one"]);
    repo.text(&["branch", "earlier", "main^"]);
    assert_eq!(repo.bodies("earlier"), ["one", "two"]);
    assert!(repo.text(&["diff", "main~1"]).contains("three"));
    repo.refused(&["branch", "none", "main~9"]);
}

#[test]
fn clean_and_resume_name_a_session_that_is_newer_than_the_current_trace() {
    let repo = sample();
    repo.text(&["switch", "work"]);
    let session = repo.bytes(&["demo", "--session"]);
    let session = ran_in(&repo.folder().canonicalize().unwrap(), &session);
    let later = session.replace("2026-01-", "2026-03-").replace("79e9becd-", "79e9becf-");
    fs::write(claude_folder(&repo).join("79e9becf-0001.jsonl"), later).unwrap();
    repo.text(&["import", "claude-code"]);
    let branches = repo.text(&["branch"]);
    let name = branches.split_whitespace().find(|word| word.starts_with("claude-code/")).unwrap();
    for command in [&["clean", "--yes"][..], &["resume", "--print"]] {
        let said = String::from_utf8(repo.run(command, b"").stderr).unwrap();
        let hint = format!("`git trace {} {name}` is about the newest recorded session", command[0]);
        assert!(said.contains(&format!("the current trace is `work`; {hint}")), "{said}");
    }
    repo.text(&["switch", name]);
    assert!(!repo.trace(&["clean", "--yes"]).contains("the current trace is"));
    // What `clean` makes of the current trace is no other session.
    assert!(!repo.trace(&["clean", "--yes"]).contains("the current trace is"));
}
