//! Traces beside one another: branch, switch, reset.

use std::fs;

use crate::repo::{TestRepo, has_terminal, run};

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
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    repo.git(&["update-ref", "refs/trace-remotes/origin/theirs", "refs/traces/main~1"]);
    // A removed remote leaves its refs.
    repo.git(&["update-ref", "refs/trace-remotes/removed/theirs", "refs/traces/main~1"]);
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
    --- stderr
    hint: `origin` has 1 trace that is not here: `git trace pull origin`
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
    hint: `git trace switch a/b` makes it the current trace
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
    hint: did you mean `TRACE_HEAD`? `HEAD` is a commit of the code
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
    hint: `git trace switch main` makes it the current trace
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["branch", "-m", "nope", "y"]), @"
    --- stderr
    error: no trace is named `nope`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
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
    error: trace `x/idea` is the current one
    hint: `git trace switch NAME` makes another trace the current one
    [exit 2]
    ");
    repo.text(&["switch", "main"]);
    insta::assert_snapshot!(repo.refused(&["branch", "-d", "x/idea"]), @"
    --- stderr
    error: trace `x/idea` has commits that are neither in trace `main` nor on a remote
    hint: `git trace branch -D x/idea` deletes it anyway; `git trace undo` brings it back
    [exit 2]
    ");
    let tip = repo.git(&["rev-parse", "refs/traces/x/idea"]);
    insta::assert_snapshot!(repo.trace(&["branch", "-D", "x/idea"]), @"
    Deleted trace `x/idea` (was [SHORT])
    --- stderr
    `git trace undo` brings it back
    [exit 0]
    ");
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.text(&["undo"]);
    assert_eq!(repo.git(&["rev-parse", "refs/traces/x/idea"]), tip);

    // What the current trace holds, or a remote, goes without force; a name that was a folder can be a trace.
    repo.git(&["update-ref", "refs/trace-remotes/origin/x/idea", tip.trim()]);
    repo.text(&["branch", "-d", "x/idea"]);
    repo.text(&["branch", "x", "#1"]);
    repo.text(&["branch", "-d", "x"]);
    let kept = repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-orig"]);
    assert!(kept.contains(&format!("refs/trace-orig/{}", tip.trim())), "{kept}");
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

#[test]
fn a_terminal_offers_traces_to_choose_from() {
    if !has_terminal() {
        return;
    }
    let repo = TestRepo::new();
    repo.say("The long way to the parser");
    for name in [
        "idea",
        "claude-code/00000000-0000-4000-8000-000000000001",
        "claude-code/00000000-0000-4000-8000-000000000001.clean",
    ] {
        repo.text(&["branch", name]);
    }
    repo.text(&["--trace", "idea", "commit", "-m", "newest"]);
    let chosen = |command: &str, typed: &str| {
        let shown = repo.on_a_terminal(&format!("stty cols 60 -echo; git trace {command}"), typed);
        (shown.replace('\r', ""), repo.json(&["status", "--json"])["trace"].clone())
    };
    // An empty answer, the end of the input, and an unknown number change nothing.
    let (shown, current) = chosen("switch", "\n");
    insta::assert_snapshot!(shown, @r"

      1  idea
      2  claude-code/0…-000000000001  The long way to the parser
      3  claude-code/0…0000001.clean  The long way to the parser
      4  main
    number (empty: none): nothing was chosen
    ");
    assert_eq!(current, "main");
    assert!(shown.lines().all(|line| line.chars().count() <= 60));
    for typed in ["\u{4}", "0\n", "5\n", "x\n"] {
        assert_eq!(chosen("switch", typed).1, "main");
    }
    insta::assert_snapshot!(chosen("switch", "9\n").0.lines().last().unwrap(), @"number (empty: none): error: `9` is not a number from 1 to 4");
    let (shown, current) = chosen("switch", "1\n");
    insta::assert_snapshot!(shown.lines().last().unwrap(), @"number (empty: none): Switched to trace `idea`");
    assert_eq!(current, "idea");
    // Nothing is resumed if nothing was chosen.
    let (shown, _) = chosen("resume", "\n");
    insta::assert_snapshot!(shown.lines().last().unwrap(), @"number (empty: none): nothing was chosen");
    // The third is a session.
    let third = chosen("resume --print --agent claude-code", "3\n").0;
    assert!(third.lines().last().unwrap().contains("claude --resume "), "{third}");
}

#[test]
fn a_name_with_two_meanings_is_refused() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    let oid = |rev: &str| repo.git(&["rev-parse", rev]).trim_end().to_owned();
    let earlier = oid("refs/traces/main~1");
    let names = [&earlier[..7], "now", "2026-02-01", "@2", "@9", "origin/main"];
    for name in names {
        repo.git(&["update-ref", &format!("refs/traces/{name}"), "refs/traces/main~2"]);
    }
    repo.git(&["update-ref", "refs/trace-remotes/origin/main", "refs/traces/main"]);
    let tip = oid("refs/traces/main");
    for name in names {
        let commands: [&[&str]; 5] = [
            &["reset", name],
            &["rebase", name],
            &["switch", "-c", "new", name],
            &["merge", name],
            &["diff", name, "main"],
        ];
        for command in commands {
            let said = repo.refused(command);
            assert!(said.contains("` is ambiguous: refs/traces/"), "{said}");
        }
    }
    insta::assert_snapshot!(repo.refused(&["reset", "origin/main"]), @"
    --- stderr
    error: `origin/main` is ambiguous: refs/traces/origin/main, or refs/trace-remotes/origin/main
    hint: use one of these names
    [exit 2]
    ");
    assert_eq!(oid("refs/traces/main"), tip);
    repo.text(&["reset", &earlier]);
    assert_eq!(oid("refs/traces/main"), earlier);
    repo.text(&["reset", "refs/traces/now"]);
    repo.text(&["reset", "refs/trace-remotes/origin/main"]);
    assert_eq!(oid("refs/traces/main"), tip);
}

#[test]
fn lists_are_filtered_sorted_and_cut() {
    let repo = TestRepo::new();
    for (day, name, author, text) in [
        (1, "codex/1", "Ada", "fix the parser"),
        (2, "claude-code/2", "Bob", "write the tests"),
        (3, "idea", "Ada", "no session"),
        (4, "codex/3", "Bob", "fix the printer"),
        (5, "codex/3.agent-x", "Bob", "of a sub-agent"),
    ] {
        let date = format!("2026-02-0{day}T09:00:00Z");
        let mut command = repo.command("git-trace");
        command.args(["--trace", name, "commit", "-m", text]).env("GIT_AUTHOR_NAME", author);
        let output = run(command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date), b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
    }
    let list = |command: &str, options: &[&str]| {
        let listed = repo.lines(&[&[command, "--json"], options].concat());
        let names: Vec<&str> = listed.iter().map(|trace| trace["trace"].as_str().unwrap()).collect();
        names.join(" ")
    };
    assert_eq!(list("sessions", &[]), "codex/3 claude-code/2 codex/1");
    for (options, expected) in [
        (&["-n", "1"][..], "codex/3"),
        (&["--agent", "codex"], "codex/3 codex/1"),
        (&["--agent", "codex", "-n", "1"], "codex/3"),
        (&["--author", "^bob"], "codex/3 claude-code/2"),
        (&["--grep", "FIX"], "codex/3 codex/1"),
        (&["--grep", "the (parser|tests)", "-n", "1"], "claude-code/2"),
        (&["--since", "2026-02-02"], "codex/3 claude-code/2"),
        (&["--sort", "oldest", "-n", "2"], "codex/1 claude-code/2"),
        (&["--sort", "name"], "claude-code/2 codex/1 codex/3"),
        (&["--grep", "nothing"], ""),
    ] {
        assert_eq!(list("sessions", options), expected, "{options:?}");
    }
    assert_eq!(list("branch", &[]), "claude-code/2 codex/1 codex/3 codex/3.agent-x idea");
    for (options, expected) in [
        (&["-n", "2"][..], "claude-code/2 codex/1"),
        (&["--sort", "newest"], "codex/3 idea claude-code/2 codex/1 codex/3.agent-x"),
        (&["--sort", "newest", "-n", "2"], "codex/3 idea"),
        (&["--author", "ada"], "codex/1 idea"),
        (&["--agent", "codex", "--grep", "fix"], "codex/1 codex/3"),
        (&["--since", "2026-02-04"], "codex/3 codex/3.agent-x"),
    ] {
        assert_eq!(list("branch", options), expected, "{options:?}");
    }
    insta::assert_snapshot!(repo.trace(&["sessions", "--agent", "gemini-cli"]), @"[exit 0]");
}

#[test]
fn a_list_of_many_traces_follows_every_change() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    repo.commit(&["--trace", "codex/0", "-m", "the first"]);
    let tip = repo.git(&["rev-parse", "refs/traces/codex/0"]);
    let lines: String = (1..300).map(|number| format!("create refs/traces/codex/{number} {}\n", tip.trim())).collect();
    run(repo.command("git").args(["update-ref", "--stdin"]), lines.as_bytes());
    repo.git(&["pack-refs", "--all"]);
    let newest = || {
        let listed = repo.lines(&["sessions", "--json", "-n", "1"]);
        format!("{} {}", listed[0]["trace"].as_str().unwrap(), listed.len())
    };
    assert_eq!(newest(), "codex/0 1");
    let list = repo.git_dir().join("trace/cache/traces");
    let before = fs::read(&list).unwrap();

    let later = |name: &str| {
        let mut command = repo.command("git-trace");
        command.args(["--trace", name, "commit", "-m", "later"]);
        let output = run(command.env("GIT_AUTHOR_DATE", "2030-01-01T09:00:00Z"), b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
    };
    later("codex/150");
    assert_eq!(newest(), "codex/150 1");
    assert_eq!(fs::read(&list).unwrap(), before, "few changes do not write the list again");
    repo.text(&["branch", "-D", "codex/150"]);
    assert_eq!(newest(), "codex/0 1");
    later("codex/200");
    repo.git(&["pack-refs", "--all"]);
    assert_eq!(newest(), "codex/200 1");
    fs::write(&list, "damaged").unwrap();
    assert_eq!(newest(), "codex/200 1");
}

#[test]
fn a_rename_whose_log_cannot_be_copied_leaves_only_the_old_name() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.text(&["branch", "idea"]);
    repo.text(&["--trace", "idea", "commit", "-m", "two"]);
    let before = repo.refs();
    // Git moves the refs of a reftable, and a file of our own has the log of the others.
    repo.set_hook("reference-transaction", "#!/bin/sh\n! grep -q '^0*[1-9a-f].* [0-9]*[1-9a-f].* refs/traces/plan$'\n");
    let aside = format!("trace/reflog-{}", blake3::hash(b"refs/traces/plan").to_hex());
    fs::create_dir(repo.git_dir().join(aside)).unwrap();
    let output = repo.run(&["branch", "-m", "idea", "plan"], b"");
    assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
    assert_eq!(repo.refs(), before);
}
