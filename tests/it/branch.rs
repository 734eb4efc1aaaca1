//! Traces beside one another: branch, switch, reset, undo.

use std::fs;

use crate::repo::{TestRepo, run};

/// A trace with three items.
fn three() -> TestRepo {
    three_in(TestRepo::new())
}

fn three_in(repo: TestRepo) -> TestRepo {
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo
}

#[test]
fn a_branch_starts_at_a_tip_commit_item_or_time() {
    let repo = three();
    insta::assert_snapshot!(repo.trace(&["branch", "idea"]), @"
    Created trace `idea` at [SHORT]
    [exit 0]
    ");
    repo.git(&["update-ref", "refs/trace-remotes/origin/theirs", "refs/traces/main~1"]);
    let second = repo.git(&["rev-parse", "refs/traces/main~1"]);
    let at = repo.lines(&["log", "--json"])[1]["at"].as_str().unwrap().to_owned();
    for (name, start) in
        [("a", "idea"), ("b", second.trim()), ("c", "#1"), ("d", &at), ("e", "TRACE_HEAD~2"), ("f", "origin/theirs")]
    {
        repo.text(&["branch", name, start]);
    }
    insta::assert_snapshot!(repo.trace(&["branch"]), @"
      a         3 items       [N] tokens  dialogue user: three [SHORT]
      b         2 items       [N] tokens  dialogue user: two [SHORT]
      c         2 items       [N] tokens  dialogue user: two [SHORT]
      d         2 items       [N] tokens  dialogue user: two [SHORT]
      e         1 items        [N] tokens  dialogue user: one [SHORT]
      f         2 items       [N] tokens  dialogue user: two [SHORT]
      idea      3 items       [N] tokens  dialogue user: three [SHORT]
    * main      3 items       [N] tokens  dialogue user: three [SHORT]
    [exit 0]
    ");
    for line in repo.lines(&["branch", "--json"]) {
        let name = line["trace"].as_str().unwrap();
        assert_eq!(line["tokens"]["total"], repo.total(name), "{name}");
        assert_eq!(line["current"], name == "main");
        assert_eq!(line["items"], repo.bodies(name).len());
    }
    repo.fsck();
}

#[test]
fn invalid_branch_points_are_refused() {
    let repo = three();
    repo.text(&["branch", "a/b"]);
    insta::assert_snapshot!(repo.refused(&["branch", "a"]), @"
    --- stderr
    error: `refs/traces/a` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "main/x"]), @"
    --- stderr
    error: `refs/traces/main/x` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "a/b"]), @"
    --- stderr
    error: trace `a/b` already exists
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "x", "no\u{1b}pe"]), @r"
    --- stderr
    error: cannot start from `no\u001bpe`: no trace, commit, item, or time is named `no\u{1b}pe`
    hint: `git trace branch` lists traces, `git trace log` their commits and items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "x", "HEAD"]), @"
    --- stderr
    error: cannot start from `HEAD`: no trace, commit, item, or time is named `HEAD`
    hint: `git trace branch` lists traces, `git trace log` their commits and items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "x..y"]), @"
    --- stderr
    error: invalid trace name `x..y`: git's rules for branch names apply
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "-m", "main", "main/x"]), @"
    --- stderr
    error: `refs/traces/main/x` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "-m", "a/b", "main"]), @"
    --- stderr
    error: trace `main` already exists
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "-m", "nope", "y"]), @"
    --- stderr
    error: no trace is named `nope`
    hint: `git trace commit` creates one; `git trace branch` lists them
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "-d"]), @"
    --- stderr
    error: name the traces to delete
    [exit 2]
    ");
}

#[test]
fn switch_dash_returns_to_the_previous_trace() {
    for options in [&[][..], &["--bare"], &["--object-format=sha256"]] {
        let repo = TestRepo::init(options);
        let none = "--- stderr\nerror: no other trace was checked out in this worktree before\n[exit 2]";
        assert_eq!(repo.refused(&["switch", "-"]), none);
        repo.say("one");
        assert_eq!(repo.trace(&["switch", "-c", "idea"]), "Switched to a new trace `idea` at [SHORT]\n[exit 0]");
        repo.say("two");
        assert_eq!(repo.text(&["switch", "-"]), "Switched to trace `main`\n");
        assert_eq!(repo.text(&["switch", "-"]), "Switched to trace `idea`\n");
        repo.text(&["switch", "-c", "early", "#0"]);
        assert_eq!(repo.bodies("early"), ["one"]);
        assert_eq!(repo.text(&["switch", "-"]), "Switched to trace `idea`\n");
        repo.refused(&["switch", "nope"]);
        repo.refused(&["switch", "-c", "main"]);
        repo.fsck();
    }
}

#[test]
fn a_deleted_trace_keeps_a_backup_ref_that_survives_gc() {
    let repo = three();
    repo.text(&["switch", "-c", "x/idea"]);
    repo.say("four");
    insta::assert_snapshot!(repo.refused(&["branch", "-D", "x/idea"]), @"
    --- stderr
    error: trace `x/idea` is checked out in `[HOME]/repo/.git/`
    hint: switch that worktree to another trace first: git trace switch <name>
    [exit 2]
    ");
    repo.text(&["switch", "main"]);
    insta::assert_snapshot!(repo.refused(&["branch", "-d", "x/idea"]), @"
    --- stderr
    error: trace `x/idea` has commits that are neither in trace `main` nor on a remote
    hint: `git trace branch -D x/idea` deletes it anyway and keeps a backup ref
    [exit 2]
    ");
    let tip = repo.git(&["rev-parse", "refs/traces/x/idea"]);
    insta::assert_snapshot!(repo.trace(&["branch", "-D", "x/idea"]), @"
    Deleted trace `x/idea`, kept as refs/trace-orig/x%2Fidea: [SHORT]
    [exit 0]
    ");
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.text(&["branch", "x/idea", "refs/trace-orig/x%2Fidea"]);
    assert_eq!(repo.git(&["rev-parse", "refs/traces/x/idea"]), tip);

    // What the current trace holds, or a remote, goes without force; a name that was a folder can be a trace.
    repo.git(&["update-ref", "refs/trace-remotes/origin/x/idea", tip.trim()]);
    repo.text(&["branch", "-d", "x/idea"]);
    repo.text(&["branch", "x", "#1"]);
    repo.text(&["branch", "-d", "x"]);
    assert_eq!(
        repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-orig"]),
        "refs/trace-orig/x\nrefs/trace-orig/x%2Fidea\n"
    );
    repo.fsck();
}

#[test]
fn a_renamed_trace_keeps_its_reflog_and_stays_current_in_every_worktree() {
    let mut repo = three();
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    let other = repo.home().join("other");
    repo.text(&["branch", "idea"]);
    repo.within(&other, |repo| repo.text(&["switch", "idea"]));
    insta::assert_snapshot!(repo.trace(&["branch"]), @"
    + idea      3 items       [N] tokens  dialogue user: three [SHORT]
    * main      3 items       [N] tokens  dialogue user: three [SHORT]
    [exit 0]
    ");
    let refused = repo.refused(&["branch", "-D", "idea"]);
    assert!(refused.contains("worktrees/other"), "{refused}");
    let log = repo.git(&["reflog", "--format=%H", "refs/traces/main"]);
    assert_eq!(repo.text(&["branch", "-m", "trunk"]), "Renamed trace `main` to `trunk`\n");
    assert_eq!(repo.text(&["branch", "-m", "idea", "plan/b"]), "Renamed trace `idea` to `plan/b`\n");
    assert_eq!(repo.trace_head(), "refs/traces/trunk\n");
    repo.within(&other, |repo| {
        repo.say("from the other worktree");
        // The previous trace of that worktree is also renamed.
        assert_eq!(repo.text(&["switch", "-"]), "Switched to trace `trunk`\n");
    });
    assert_eq!(repo.bodies("plan/b").len(), 4);
    let tip = log.lines().next().unwrap();
    // Where git itself writes the log, the renaming is not in it: it moved nothing.
    let kept = repo.git(&["reflog", "--format=%H", "refs/traces/trunk"]);
    assert!(kept == format!("{tip}\n{log}") || (repo.git_dir().join("reftable").is_dir() && kept == log), "{kept}");
    assert_eq!(repo.git(&["for-each-ref", "refs/traces/main", "refs/traces/idea"]), "");
    assert!(!repo.git(&["reflog", "list"]).contains("refs/traces/main\n"));
    repo.text(&["undo"]);
    assert_eq!(repo.bodies("trunk"), ["one", "two"], "the moves before a renaming can be undone");
    repo.fsck();
}

#[test]
fn undo_reverses_one_move_at_a_time_and_reset_returns() {
    let repo = three();
    repo.text(&["edit", "#0", "-m", "ONE"]);
    insta::assert_snapshot!(repo.trace(&["undo"]), @"
    [main] undone: edit: dialogue user: ONE
    [main] is now at dialogue user: three [SHORT]
    --- stderr
    it was at [SHORT], kept as refs/trace-orig/main: `git trace reset refs/trace-orig/main` goes back there
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["undo"]), @"
    [main] undone: append: dialogue user: three
    [main] is now at dialogue user: two [SHORT]
    --- stderr
    it was at [SHORT], kept as refs/trace-orig/main: `git trace reset refs/trace-orig/main` goes back there
    [exit 0]
    ");
    repo.say("another three");
    insta::assert_snapshot!(repo.trace(&["undo", "-n", "2"]), @"
    [main] undone: append: dialogue user: another three
    [main] undone: append: dialogue user: two
    [main] is now at dialogue user: one [SHORT]
    --- stderr
    it was at [SHORT], kept as refs/trace-orig/main: `git trace reset refs/trace-orig/main` goes back there
    [exit 0]
    ");
    insta::assert_snapshot!(repo.refused(&["undo"]), @"
    --- stderr
    error: trace `main` has only 0 moves that can be undone
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["reset", "refs/trace-orig/main"]), @"
    [main] is now at dialogue user: another three [SHORT]
    --- stderr
    it was at [SHORT], kept as refs/trace-orig/main: `git trace undo` goes back there
    [exit 0]
    ");
    assert_eq!(repo.bodies("main"), ["one", "two", "another three"]);
    let undone = repo.json(&["undo", "--json"]);
    assert_eq!(undone["undone"][0], "reset: to refs/trace-orig/main");
    assert_eq!(repo.bodies("main"), ["one"], "coming back can be undone too");
    insta::assert_snapshot!(repo.trace(&["reset", "TRACE_HEAD"]), @"
    [main] is there already: dialogue user: one [SHORT]
    [exit 0]
    ");
    repo.refused(&["undo", "-n", "0"]);
    repo.refused(&["reset", "nope"]);
    repo.fsck();
}

#[test]
fn undo_refuses_an_incomplete_reflog() {
    let repo = three_in(TestRepo::classic(&[]));
    fs::remove_file(repo.git_dir().join("logs/refs/traces/main")).unwrap();
    let unknown = repo.refused(&["undo"]);
    insta::assert_snapshot!(unknown, @"
    --- stderr
    error: the reflog of trace `main` does not end at its tip, so the last operation is unknown
    hint: `git reflog refs/traces/main` lists moves; `git trace reset <commit>` returns to one
    [exit 2]
    ");
    // Lines of others, and a move that was not logged.
    repo.say("four");
    let log = repo.git_dir().join("logs/refs/traces/main");
    let line = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{line}not a line\n\u{0}\n")).unwrap();
    repo.text(&["undo"]);
    assert_eq!(repo.bodies("main"), ["one", "two", "three"]);
    let stale = fs::read_to_string(&log).unwrap();
    repo.say("five");
    fs::write(&log, stale).unwrap();
    assert_eq!(repo.refused(&["undo"]), unknown);
}

#[test]
fn undo_skips_a_logged_move_that_never_happened() {
    let repo = three_in(TestRepo::classic(&[]));
    let log = repo.git_dir().join("logs/refs/traces/main");
    let at = |rev: &str| repo.git(&["rev-parse", rev]).trim().to_owned();
    let (tip, before) = (at("refs/traces/main"), at("refs/traces/main~1"));
    let written = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{written}{tip} {before} A <a@b> 1770714000 +0000\tundo: 1: append: three\n")).unwrap();
    repo.text(&["undo"]);
    assert_eq!(repo.bodies("main"), ["one", "two"]);
    repo.text(&["undo"]);
    assert_eq!(repo.bodies("main"), ["one"]);
    repo.fsck();
}

#[test]
fn undo_works_in_bare_repositories_and_with_any_reflog_setting() {
    for options in [&["--bare"][..], &["--object-format=sha256"]] {
        let repo = TestRepo::init(options);
        repo.git(&["config", "core.logAllRefUpdates", "false"]);
        repo.say("one");
        repo.say("two");
        repo.text(&["undo"]);
        assert_eq!(repo.bodies("main"), ["one"]);
        repo.text(&["branch", "-m", "trunk"]);
        repo.text(&["reset", "refs/trace-orig/main"]);
        assert_eq!(repo.bodies("trunk"), ["one", "two"]);
        repo.fsck();
    }
}

#[test]
fn concurrent_writers_lose_nothing() {
    let repo = three();
    let mut writers: Vec<_> = (0..4)
        .map(|number| {
            let mut command = repo.command("git-trace");
            let script = if number % 2 == 0 { vec!["commit", "-m", "more"] } else { vec!["undo"] };
            std::thread::spawn(move || run(command.args(script), b""))
        })
        .collect();
    for writer in writers.drain(..) {
        assert!(writer.join().unwrap().status.success());
    }
    let log = repo.git(&["reflog", "--format=%H %gs", "refs/traces/main"]);
    assert_eq!(log.lines().count(), 7, "{log}");
    assert!(log.starts_with(repo.git(&["rev-parse", "refs/traces/main"]).trim()));
    repo.fsck();
}

#[test]
fn commands_that_need_only_the_name_work_on_an_unreadable_trace() {
    let repo = three_in(TestRepo::classic(&[]));
    repo.text(&["branch", "idea"]);
    fs::write(repo.git_dir().join("refs/traces/main"), "").unwrap();
    repo.text(&["branch", "new", "idea"]);
    assert_eq!(repo.text(&["diff", "idea", "new"]), "");
    assert!(repo.refused(&["status"]).contains("refs/traces/main"));
}
