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
fn a_merge_appends_their_items_and_merges_edits_by_line() {
    let repo = apart();
    repo.text(&["edit", "#0", "-m", "Be very careful.\nBe quick.\nBe kind.\n"]);
    repo.text(&["--trace", "idea", "edit", "#0", "-m", "Be careful.\nBe quick.\nBe very kind.\n"]);
    insta::assert_snapshot!(repo.trace(&["merge", "idea"]), @r"
    [main] merge idea: 2 items added, 1 edited, 0 removed [SHORT]
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
    Nothing was changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours`, `--take ITEM=theirs`, and `--take ITEM=FILE`, or edit the item on one side first.
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
    Nothing was changed. Decide with `--strategy ours|theirs|newest`, or item by item with `--take ITEM=ours`, `--take ITEM=theirs`, and `--take ITEM=FILE`, or edit the item on one side first.
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
