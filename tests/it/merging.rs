//! Merging, picking, reverting and rebasing, from the command line.

use crate::repo::TestRepo;

/// Two traces that share a rule and a question, each with its own answer.
fn apart() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "-m", "Be careful.\nBe quick.\nBe kind.\n"]);
    repo.say("Where is the lock taken?");
    repo.git(&["update-ref", "refs/traces/idea", "refs/traces/main"]);
    repo.commit(&["-r", "assistant", "-m", "By the writer."]);
    repo.commit(&["--trace", "idea", "-r", "assistant", "-m", "By the reader."]);
    repo.commit(&["--trace", "idea", "-m", "Are you sure?"]);
    repo
}

#[test]
fn a_log_has_the_positions_that_items_have_after_a_merge() {
    let repo = apart();
    repo.text(&["merge", "idea"]);
    for args in [&["log", "--oneline"][..], &["log", "--oneline", "--reverse"]] {
        let log = repo.text(args);
        let positions: Vec<&str> = log.split_whitespace().filter(|word| word.starts_with('#')).collect();
        let unique: std::collections::BTreeSet<&str> = positions.iter().copied().collect();
        assert_eq!(unique.len(), 5, "{log}");
        let line = log.lines().rfind(|line| line.contains("By the reader.")).unwrap();
        assert!(line.contains(" #3 "), "{line}");
    }
    assert_eq!(repo.bodies("main")[3], "By the reader.");
}

#[test]
fn a_merge_appends_their_items_and_merges_edits_by_line() {
    let repo = apart();
    repo.text(&["edit", "#0", "-m", "Be very careful.\nBe quick.\nBe kind.\n"]);
    repo.text(&["--trace", "idea", "edit", "#0", "-m", "Be careful.\nBe quick.\nBe very kind.\n"]);
    insta::assert_snapshot!(repo.trace(&["merge", "idea"]), @r"
    [main] merge idea: 2 items added, 1 edited, 0 removed [SHORT]
    main: edited by the merge: #0
    [exit 0]
    ");
    let expected = [
        "Be very careful.\nBe quick.\nBe very kind.\n",
        "Where is the lock taken?",
        "By the writer.",
        "By the reader.",
        "Are you sure?",
    ];
    assert_eq!(repo.bodies("main"), expected);
    assert_eq!(repo.json(&["show", "--json", "#0"])["revision"], 3);
    repo.total("main");
    assert_eq!(repo.text(&["merge", "idea"]), "Already up to date\n");
    assert_eq!(repo.json(&["--trace", "idea", "merge", "main", "--json"])["result"], "fast_forward");
    repo.fsck();
}

#[test]
fn a_merge_keeps_the_type_of_one_side_and_the_text_of_the_other() {
    for (ours, theirs) in [("main", "idea"), ("idea", "main")] {
        let repo = apart();
        repo.text(&["--trace", ours, "edit", "#0", "-t", "freeform"]);
        repo.text(&["--trace", theirs, "edit", "#0", "-m", "Be very careful.\nBe quick.\nBe kind.\n"]);
        repo.text(&["merge", "idea"]);
        let merged = repo.json(&["show", "--json", "#0"]);
        assert_eq!((&merged["type"], &merged["revision"]), (&"freeform".into(), &3.into()));
        assert_eq!(repo.bodies("main")[0], "Be very careful.\nBe quick.\nBe kind.\n");
        repo.fsck();
    }
}

#[test]
fn a_conflict_changes_nothing_until_it_is_resolved() {
    let repo = apart();
    repo.text(&["edit", "#1", "-m", "Who takes the lock?"]);
    repo.text(&["--trace", "idea", "edit", "#1", "-m", "Who takes\u{1b}[31m both locks?"]);
    repo.text(&["edit", "#0", "-m", "Be slow."]);
    repo.text(&["--trace", "idea", "delete", "#0"]);
    let before = repo.refs();
    insta::assert_snapshot!(repo.trace(&["merge", "idea"]), @r"
    conflict in [ID]: edited in ours, taken out in theirs
      @@ -1,3 +1,1 @@
      -Be careful.
      -Be quick.
      -Be kind.
      +Be slow.
    conflict in [ID]: edited on both sides
      <<<<<<< ours
      Who takes the lock?
      ||||||| base
      Where is the lock taken?
      =======
      Who takes\u001b[31m both locks?
      >>>>>>> theirs
    --- stderr
    `main` was not changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours`, `--take ITEM=theirs`, and `--take ITEM=FILE`, or edit the item on one side first.
    [exit 1]
    ");
    assert_eq!(repo.refs(), before);
    assert_eq!(repo.run(&["merge", "idea", "--json"], b"").status.code(), Some(1));
    repo.text(&["merge", "idea", "--take", "#1=theirs", "--strategy", "ours"]);
    assert_eq!(repo.bodies("main")[..2], ["Be slow.", "Who takes\u{1b}[31m both locks?"]);
    repo.total("main");
}

#[test]
fn a_conflict_is_shown_by_its_hunks_and_a_file_can_resolve_it() {
    let repo = TestRepo::new();
    let text = |five: &str| format!("1\n2\n3\n4\n{five}\n6\n7\n8\n");
    repo.say(&text("five"));
    repo.text(&["branch", "idea"]);
    repo.text(&["edit", "#0", "-m", &text("FIVE")]);
    repo.text(&["--trace", "idea", "edit", "#0", "-m", &text("fünf")]);
    insta::assert_snapshot!(repo.trace(&["merge", "idea"]), @"
    conflict in [ID]: edited on both sides
      3
      4
      <<<<<<< ours
      FIVE
      ||||||| base
      five
      =======
      fünf
      >>>>>>> theirs
      6
      7
    --- stderr
    `main` was not changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours`, `--take ITEM=theirs`, and `--take ITEM=FILE`, or edit the item on one side first.
    [exit 1]
    ");
    insta::assert_snapshot!(repo.refused(&["merge", "idea", "--take", "#0=nowhere"]), @"
    --- stderr
    error: `--take #0=nowhere`: `nowhere` is neither ours, nor theirs, nor a file that can be read: No such file or directory (os error 2)
    [exit 2]
    ");
    std::fs::write(repo.folder().join("both"), text("FIVE, fünf")).unwrap();
    repo.text(&["merge", "idea", "--take", "#0=both"]);
    assert_eq!(repo.bodies("main"), [text("FIVE, fünf")]);
    assert_eq!(repo.json(&["show", "--json", "#0"])["revision"], 3);
    repo.total("main");
    repo.fsck();
}

/// Two traces with an item of eight lines that both edited, in line 5, and in a line that does not conflict.
fn contested() -> (TestRepo, impl Fn(&str, &str) -> String) {
    let text = |two: &str, five: &str| format!("1\n{two}\n3\n4\n{five}\n6\n7\n8\n");
    let repo = TestRepo::new();
    repo.say(&text("2", "five"));
    repo.text(&["branch", "idea"]);
    repo.text(&["edit", "#0", "-m", &text("2", "FIVE")]);
    repo.text(&["--trace", "idea", "edit", "#0", "-m", &text("two", "fünf"), "--meta", "lang=de"]);
    (repo, text)
}

#[test]
fn a_merge_tool_of_git_resolves_conflicts() {
    let (repo, text) = contested();
    // The tool keeps the files that it got, and takes the lines of theirs.
    repo.git(&["config", "mergetool.mine.trustExitCode", "true"]);
    repo.git(&[
        "config",
        "mergetool.mine.cmd",
        "for f in BASE LOCAL REMOTE MERGED; do eval cp \\$$f $f; done; sed -i '/^<<<</,/^====/d; /^>>>>/d' \"$MERGED\"",
    ]);
    let before = repo.git(&["rev-parse", "refs/traces/main"]);
    let without = repo.trace(&["merge", "idea", "--mergetool=nothing"]);
    assert!(without.contains("error: unknown merge tool nothing\nthe conflict in [ID] is not resolved"), "{without}");
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), before);
    repo.git(&["config", "merge.tool", "mine"]);
    repo.text(&["merge", "idea", "--mergetool"]);
    assert_eq!(repo.bodies("main"), [text("two", "fünf")]);
    let read = |name: &str| std::fs::read_to_string(repo.folder().join(name)).unwrap();
    assert_eq!(read("BASE"), text("2", "five"));
    assert_eq!(read("LOCAL"), text("2", "FIVE"));
    assert_eq!(read("REMOTE"), text("two", "fünf"));
    assert_eq!(read("MERGED"), text("two", "<<<<<<< ours\nFIVE\n=======\nfünf\n>>>>>>> theirs"));
    let item = repo.json(&["show", "--json", "#0"]);
    assert_eq!((&item["revision"], &item["meta"]["lang"]), (&3.into(), &"de".into()), "headers are merged too");
    repo.total("main");
    repo.fsck();
}

#[test]
fn a_merge_tool_that_fails_changes_nothing() {
    let (repo, text) = contested();
    repo.git(&["config", "merge.tool", "mine"]);
    repo.git(&["config", "mergetool.mine.trustExitCode", "true"]);
    for command in ["echo half >\"$MERGED\"; false", "true"] {
        repo.git(&["config", "mergetool.mine.cmd", command]);
        let shown = repo.trace(&["merge", "idea", "--mergetool"]);
        assert!(shown.contains("the conflict in [ID] is not resolved"), "{shown}");
        assert!(shown.contains("[exit 1]"), "{shown}");
    }
    // A tool cannot decide whether an item stays.
    repo.text(&["--trace", "idea", "delete", "#0"]);
    repo.git(&["config", "mergetool.mine.cmd", "echo started >started"]);
    let shown = repo.trace(&["merge", "idea", "--mergetool"]);
    assert!(shown.contains("is not between two texts: decide it with `--take` first"), "{shown}");
    assert!(!repo.folder().join("started").exists());
    assert_eq!(repo.bodies("main"), [text("2", "FIVE")]);
}

#[test]
fn the_newest_version_wins_on_request() {
    let repo = apart();
    repo.text(&["--trace", "idea", "edit", "#1", "-m", "first"]);
    repo.text(&["edit", "#1", "-m", "second"]);
    repo.text(&["--trace", "idea", "delete", "#0"]);
    repo.text(&["merge", "idea", "--strategy", "newest"]);
    assert_eq!(repo.bodies("main")[0], "second", "and the item that was only removed stays removed");
}

#[test]
fn a_merge_can_be_limited_to_fast_forward() {
    let repo = apart();
    insta::assert_snapshot!(repo.refused(&["merge", "--ff-only", "idea"]), @r"
    --- stderr
    error: trace `main` has commits that `idea` does not have
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["merge", "nowhere"]), @r"
    --- stderr
    error: no trace, commit, item, or time is named `nowhere`
    hint: `git trace branch` lists traces, `git trace log` their commits and items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["merge", "idea", "--take", "#1=both"]), @r"
    --- stderr
    error: `--take #1=both`: `both` is neither ours, nor theirs, nor a file that can be read: No such file or directory (os error 2)
    [exit 2]
    ");
}

#[test]
fn cherry_picked_items_keep_their_references() {
    let repo = apart();
    repo.trace(&["--trace", "idea", "skip", "#2", "--reason", "wrong"]);
    insta::assert_snapshot!(repo.trace(&["cherry-pick", "idea", "#2..#3", "--reason", "worth a look"]), @r"
    [main] dialogue assistant: By the reader. [SHORT]
    [main] dialogue user: Are you sure? [SHORT]
    [exit 0]
    ");
    assert_eq!(repo.bodies("main")[2..], ["By the writer.", "By the reader.", "Are you sure?"]);
    let picked = repo.json(&["show", "--json", "#3"]);
    assert_eq!(picked["priority"], "skip", "{picked}");
    assert!(repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]).contains("Trace-From: "));
    assert_eq!(repo.text(&["cherry-pick", "idea", "#3"]), "nothing to pick: the trace has every change\n");
    // A later merge does not duplicate it.
    repo.text(&["merge", "idea"]);
    assert_eq!(repo.bodies("main").len(), 5);
    repo.total("main");
    repo.fsck();
}

#[test]
fn a_revert_undoes_one_commit_and_keeps_later_ones() {
    let repo = apart();
    repo.text(&["edit", "#0", "-m", "Be very careful.\nBe quick.\nBe kind.\n"]);
    let edit = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    repo.text(&["edit", "#0", "-m", "Be very careful.\nBe quick.\nBe very kind.\n"]);
    repo.text(&["delete", "#1"]);
    repo.text(&["revert", &edit, "--reason", "enough care"]);
    assert_eq!(repo.bodies("main")[0], "Be careful.\nBe quick.\nBe very kind.\n");
    assert_eq!(repo.json(&["show", "--json", "#0"])["revision"], 4);
    repo.text(&["revert", "TRACE_HEAD~1"]);
    assert_eq!(repo.bodies("main")[1], "Where is the lock taken?", "what was deleted is back where it stood");
    repo.total("main");
    repo.text(&["merge", "idea"]);
    insta::assert_snapshot!(repo.refused(&["revert", "TRACE_HEAD"]), @r"
    --- stderr
    error: commit [OID] is a merge: it has no single parent to compare with
    hint: `git trace reset` goes back to before it; `git trace revert` takes single commits
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["revert", "refs/trace-priority"]), @"
    --- stderr
    error: `refs/trace-priority` is not a commit of trace `main`
    hint: `git trace log main` lists commits
    [exit 2]
    ");
}

#[test]
fn a_rebase_replays_our_items_after_theirs() {
    let repo = apart();
    let before = repo.git(&["rev-parse", "refs/traces/main"]);
    insta::assert_snapshot!(repo.trace(&["rebase", "idea"]), @r"
    [main] dialogue assistant: By the writer. [SHORT]
    [exit 0]
    ");
    assert_eq!(repo.bodies("main")[2..], ["By the reader.", "Are you sure?", "By the writer."]);
    let parents = repo.git(&["rev-list", "--merges", "refs/traces/main"]);
    assert_eq!(parents, "", "in one line");
    assert_eq!(repo.text(&["rebase", "idea"]), "Already up to date\n");
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main@{1}"]), before, "the reflog knows the place before");
    repo.total("main");
    repo.fsck();
}
