//! Plain git understands traces, and traces survive what plain git makes of them.

use std::path::PathBuf;

use serde_json::Value;

use crate::repo::{TestRepo, run};

/// A worktree of a trace. `git worktree` detaches its HEAD, so [`Worktree::publish`] moves the trace to the commits made there.
struct Worktree<'r> {
    repo: &'r TestRepo,
    name: &'static str,
    folder: PathBuf,
}

impl<'r> Worktree<'r> {
    fn of(repo: &'r TestRepo, name: &'static str) -> Self {
        let folder = repo.home().join(format!("worktree-{name}"));
        repo.git(&["worktree", "add", "--quiet", folder.to_str().unwrap(), &format!("refs/traces/{name}")]);
        Self { repo, name, folder }
    }

    fn git(&self, args: &[&str]) -> String {
        self.repo.git(&[&["-C", self.folder.to_str().unwrap()], args].concat())
    }

    fn publish(&self) {
        self.git(&["update-ref", &format!("refs/traces/{}", self.name), "HEAD"]);
        check(self.repo, self.name);
        self.git(&["checkout", "-q", "--detach", &format!("refs/traces/{}", self.name)]);
    }
}

/// Two traces that share two items and then went apart: two items and an edit each.
fn apart() -> TestRepo {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be careful with locks."]);
    repo.say("Where is the lock taken, and by whom?");
    repo.git(&["update-ref", "refs/traces/idea", "refs/traces/main"]);
    repo.commit(&["-r", "assistant", "-m", "In the main line it is taken by the writer."]);
    repo.text(&["edit", "#0", "-m", "Be very careful with locks."]);
    repo.say("Fine, and who releases it in the end?");
    repo.text(&["switch", "idea"]);
    repo.commit(&["-t", "reasoning", "-m", "The kernel could release it instead."]);
    repo.text(&["edit", "#1", "-m", "Where is the lock taken, and could it be released by the kernel?"]);
    repo.commit(&["-t", "output", "-m", "Yes: a file lock dies with its process."]);
    repo.text(&["switch", "main"]);
    repo
}

/// Every command reads the trace, figures agree, and writing continues.
fn check(repo: &TestRepo, name: &str) {
    let total = repo.total(name);
    let live = repo.json(&["status", "--json", name])["items"].as_u64().unwrap();
    let logged = repo.lines(&["log", "--json", name]);
    assert!(!logged.is_empty());
    repo.text(&["log", "--oneline", "--grep", "lock", name]);
    for commit in &logged {
        repo.bytes(&["materialize", name, "--as-of", commit["commit"].as_str().unwrap()]);
        repo.bytes(&["materialize", name, "--as-of", commit["at"].as_str().unwrap()]);
    }
    let on = |args: &[&str]| repo.json(&[&["--trace", name], args].concat());
    let last = on(&["commit", "--json", "-m", "and on it goes"]);
    assert_eq!(repo.json(&["status", "--json", name])["items"], live + 1);
    let id = last["id"].as_str().unwrap();
    assert_eq!(on(&["show", id, "--json"])["text"], "and on it goes");
    on(&["edit", id, "-m", "and on", "--json"]);
    repo.text(&["--trace", name, "skip", id, "-m", "a test"]);
    assert_eq!(repo.total(name), total, "a skipped item has no tokens");
    on(&["delete", id, "--json"]);
    assert_eq!(repo.total(name), total);
    on(&["restore", id, "1", "--json"]);
    repo.text(&["--trace", name, "unpin", id]);
    assert!(repo.total(name) > total);

    let copy = TestRepo::new();
    let export = repo.bytes(&["export", name]);
    copy.bytes_with(&["import", "jsonl", "-"], &export);
    assert_eq!(copy.total("main"), repo.total(name));
    let materialized = repo.text(&["materialize", "--format", "text", name]);
    assert_eq!(copy.text(&["materialize", "--format", "text"]), materialized);

    repo.text(&["--trace", name, "delete", id]);
    repo.fsck();
}

fn ids(repo: &TestRepo, name: &str) -> Vec<String> {
    let listed = repo.git(&["ls-tree", "-r", "--name-only", &format!("refs/traces/{name}")]);
    listed.lines().map(|path| path.rsplit('-').next().unwrap().to_owned()).collect()
}

#[test]
fn git_log_diff_and_grep_are_readable() {
    let repo = apart();
    insta::assert_snapshot!(repo.git(&["log", "--format=%s", "refs/traces/main"]), @"
    dialogue user: Fine, and who releases it in the end?
    instruction rules: Be very careful with locks.
    dialogue assistant: In the main line it is taken by the writer.
    dialogue user: Where is the lock taken, and by whom?
    instruction rules: Be careful with locks.
    ");
    let patch = repo.git(&["log", "-p", "--format=%n%s", "-2", "refs/traces/main"]);
    insta::assert_snapshot!(crate::repo::redact(&patch), @r#"
    dialogue user: Fine, and who releases it in the end?

    diff --git a/00/00/000003-dialogue-[ID] b/00/00/000003-dialogue-[ID]
    new file mode 100644
    index [SHORT]..[SHORT]
    --- /dev/null
    +++ b/00/00/000003-dialogue-[ID]
    @@ -0,0 +1,6 @@
    +id: [ID]
    +type: dialogue
    +role: user
    +tokens: [N] o200k_base [SHORT]
    +
    +Fine, and who releases it in the end?
    \ No newline at end of file

    instruction rules: Be very careful with locks.

    diff --git a/00/00/000000-instruction-[ID] b/00/00/000000-instruction-[ID]
    index [SHORT]..[SHORT] 100644
    --- a/00/00/000000-instruction-[ID]
    +++ b/00/00/000000-instruction-[ID]
    @@ -1,6 +1,7 @@
     id: [ID]
     type: instruction
     name: rules
    -tokens: [N] o200k_base [SHORT]
    +revision: 2
    +tokens: [N] o200k_base [SHORT]
     
    -Be careful with locks.
    \ No newline at end of file
    +Be very careful with locks.
    \ No newline at end of file
    "#);
    insta::assert_snapshot!(crate::repo::redact(&repo.git(&["diff", "--stat", "refs/traces/main", "refs/traces/idea"])), @"
    00/00/000000-instruction-[ID] | 5 ++---
    00/00/000001-dialogue-[ID]    | 5 +++--
    00/00/000002-dialogue-[ID]    | 6 ------
    00/00/000002-reasoning-[ID]   | 5 +++++
    00/00/000003-dialogue-[ID]    | 6 ------
    00/00/000003-output-[ID]      | 5 +++++
    6 files changed, 15 insertions(+), 17 deletions(-)
    ");
    insta::assert_snapshot!(crate::repo::redact(&repo.git(&["grep", "kernel", "refs/traces/idea"])), @"
    refs/traces/idea:00/00/000001-dialogue-[ID]:Where is the lock taken, and could it be released by the kernel?
    refs/traces/idea:00/00/000002-reasoning-[ID]:The kernel could release it instead.
    ");
    let blamed = repo.git(&["blame", "-s", "refs/traces/main", "--", &first_path(&repo)]);
    assert!(blamed.lines().last().unwrap().ends_with("Be very careful with locks."));
    assert!(repo.git(&["archive", "refs/traces/main"]).contains("careful"));
}

fn first_path(repo: &TestRepo) -> String {
    let listed = repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]);
    listed.lines().next().unwrap().to_owned()
}

#[test]
fn a_worktree_of_a_trace_holds_its_items() {
    let repo = apart();
    let worktree = Worktree::of(&repo, "main");
    let file = std::fs::read_to_string(worktree.folder.join(first_path(&repo))).unwrap();
    assert!(file.ends_with("\n\nBe very careful with locks."));
    assert_eq!(worktree.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_merge_by_plain_git() {
    let repo = apart();
    let worktree = Worktree::of(&repo, "main");
    worktree.git(&["merge", "--quiet", "refs/traces/idea"]);
    worktree.publish();
    assert_eq!(ids(&repo, "main").len(), 6);
    let bodies = repo.bodies("main");
    assert_eq!(bodies[0], "Be very careful with locks.");
    assert_eq!(bodies[1], "Where is the lock taken, and could it be released by the kernel?");
}

#[test]
fn a_cherry_pick_by_plain_git() {
    let repo = apart();
    let worktree = Worktree::of(&repo, "main");
    // The reasoning, and the edit with its trailers of another tree.
    worktree.git(&["cherry-pick", "refs/traces/idea~2", "refs/traces/idea~1"]);
    worktree.publish();
    assert_eq!(ids(&repo, "main").len(), 5);
    worktree.git(&["cherry-pick", "-x", "refs/traces/idea"]);
    worktree.publish();
    assert_eq!(ids(&repo, "main").len(), 6);
}

#[test]
fn a_rebase_by_plain_git() {
    let repo = apart();
    let worktree = Worktree::of(&repo, "idea");
    worktree.git(&["rebase", "-q", "refs/traces/main"]);
    worktree.publish();
    assert_eq!(ids(&repo, "idea").len(), 6);
    check(&repo, "main");
    worktree.git(&["rebase", "-q", "--force-rebase", "refs/traces/main~2"]);
    worktree.publish();
}

#[test]
fn a_revert_an_amend_and_a_handwritten_file() {
    let repo = apart();
    let worktree = Worktree::of(&repo, "main");
    worktree.git(&["revert", "--no-edit", "HEAD"]);
    worktree.publish();
    worktree.git(&["commit", "--amend", "-q", "-m", "another message"]);
    worktree.publish();
    std::fs::write(worktree.folder.join("README"), "not an item\n").unwrap();
    let by_hand = worktree.folder.join("00/00/000001-freeform-00000000000000aa");
    std::fs::write(by_hand, "id: 00000000000000aa\ntype: freeform\n\nby hand\n").unwrap();
    worktree.git(&["add", "."]);
    worktree.git(&["commit", "-q", "-m", "by hand"]);
    worktree.publish();
    assert_eq!(repo.json(&["show", "00000000000000aa", "--json"])["text"], "by hand\n");
    assert!(repo.git(&["ls-tree", "--name-only", "refs/traces/main"]).contains("README"), "what is no item stays");
}

#[test]
fn a_damaged_file_is_used_unchanged_and_can_be_repaired() {
    let repo = apart();
    let damaged = ids(&repo, "main")[1].clone();
    let said = repo.text(&["show", &damaged]);
    let worktree = Worktree::of(&repo, "main");
    let file = worktree.folder.join(format!("00/00/000001-dialogue-{damaged}"));
    std::fs::write(&file, "<<<<<<< ours\nid: x\n=======\n>>>>>>> theirs\n").unwrap();
    worktree.git(&["commit", "-q", "-a", "-m", "a conflict is committed"]);
    worktree.publish();

    repo.total("main");
    let page = repo.run(&["materialize", "main"], b"");
    assert!(String::from_utf8_lossy(&page.stdout).contains("<<<<<<< ours"));
    let warning = format!("warning: item file `00/00/000001-dialogue-{damaged}` is damaged and used as it is");
    assert!(String::from_utf8_lossy(&page.stderr).contains(&warning));
    repo.say("it goes on");
    repo.total("main");
    repo.text(&["restore", &damaged, "1"]);
    assert_eq!(repo.text(&["show", &damaged]), said);
    repo.total("main");
    repo.text(&["delete", &damaged]);
    repo.total("main");
    repo.fsck();
}

#[test]
fn an_item_duplicated_by_plain_git_counts_once() {
    let repo = apart();
    let doubled = ids(&repo, "main")[1].clone();
    let before = repo.total("main");
    let worktree = Worktree::of(&repo, "main");
    let place = |seq: u32| worktree.folder.join(format!("00/00/{seq:06}-dialogue-{doubled}"));
    std::fs::copy(place(1), place(9)).unwrap();
    worktree.git(&["add", "."]);
    worktree.git(&["commit", "-q", "-m", "doubled"]);
    worktree.publish();
    assert_eq!(repo.total("main"), before);

    repo.text(&["edit", &doubled, "-m", "once"]);
    assert_eq!(repo.json(&["show", &doubled, "--json"])["text"], "once");
    let with = repo.total("main");
    repo.text(&["delete", &doubled]);
    assert_eq!(repo.json(&["show", &doubled, "--json"])["live"], false, "no second file may take its place");
    assert!(repo.total("main") < with);
    repo.text(&["restore", &doubled]);
    assert_eq!(repo.json(&["show", &doubled, "--json"])["text"], "once");
    assert_eq!(repo.total("main"), with);
    repo.fsck();
}

#[test]
fn git_gc_keeps_every_needed_object() {
    let repo = apart();
    repo.text(&["pin", "#2", "--reason", "keep"]);
    repo.text(&["delete", "#3"]);
    repo.text(&["skip", "#2", "--reason", "or rather not"]);
    let everything = |repo: &TestRepo| -> Vec<Value> {
        let mut seen = repo.lines(&["export"]);
        for commit in repo.lines(&["log", "--json"]) {
            seen.push(repo.json(&["materialize", "--json", "--as-of", commit["commit"].as_str().unwrap()]));
        }
        seen
    };
    let before = everything(&repo);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(everything(&repo), before);
    check(&repo, "main");
}

#[test]
fn a_clone_fetches_traces_only_on_request() {
    let repo = apart();
    repo.text(&["pin", "#2", "--reason", "keep"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let clone = repo.home().join("clone");
    repo.git(&["clone", "-q", repo.folder().to_str().unwrap(), clone.to_str().unwrap()]);
    let at = clone.to_str().unwrap();
    assert!(!repo.git(&["-C", at, "for-each-ref"]).contains("trace"), "a plain clone takes no trace");
    repo.git(&[
        "-C",
        at,
        "fetch",
        "-q",
        "origin",
        "refs/traces/*:refs/traces/*",
        "refs/trace-priority:refs/trace-priority",
    ]);
    let output = run(repo.command("git").args(["-C", at, "trace", "materialize", "--json"]), b"");
    let there: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(there, repo.json(&["materialize", "--json"]));
}

#[test]
fn replacements_are_ignored_and_reported() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "more code"]);
    let (log, messages) = (repo.text(&["log", "--oneline"]), repo.text(&["materialize"]));
    repo.git(&["replace", "HEAD", "HEAD~1"]);
    assert_eq!(repo.trace(&["materialize"]), format!("{messages}[exit 0]"), "code does not matter");
    repo.git(&["replace", "refs/traces/main", "refs/traces/main~1"]);
    for (command, said) in [(&["log", "--oneline"][..], &log), (&["materialize"], &messages)] {
        let output = repo.run(command, b"");
        assert_eq!(String::from_utf8_lossy(&output.stdout), *said);
        let warning = String::from_utf8_lossy(&output.stderr).into_owned();
        let tip = &repo.git(&["rev-parse", "--short=7", "refs/traces/main"]);
        let ignored = format!("warning: git-trace ignores `git replace`, which replaces {} in git\n", tip.trim());
        assert_eq!(warning, ignored);
    }
    assert_eq!(repo.json(&["show", "TRACE_HEAD~1", "--json"])["text"], "two");
}

#[test]
fn a_push_moves_no_ref_here_whatever_the_remote_s_refspecs_map() {
    let repo = TestRepo::new();
    let remote = TestRepo::init(&["--bare"]);
    repo.git(&["remote", "add", "a=b", remote.folder().to_str().unwrap()]);
    repo.git(&["config", "--add", "remote.a=b.fetch", "+refs/*:refs/*"]);
    repo.say("one");
    let folder = repo.folder().display();
    let commit = format!("unset GIT_QUARANTINE_PATH; cd '{folder}' && git trace commit -m meanwhile");
    remote.set_hook("pre-receive", &format!("#!/bin/sh\nunset $(git rev-parse --local-env-vars)\n{commit}\n"));
    repo.text(&["push", "a=b"]);
    assert_eq!(repo.bodies("main"), ["one", "meanwhile"]);
    std::fs::remove_file(remote.git_dir().join("hooks/pre-receive")).unwrap();
    repo.text(&["push", "a=b"]);

    repo.say("the secret word");
    repo.text(&["push", "a=b"]);
    repo.say("not pushed yet");
    repo.bytes_with(&["purge", "--text", "-", "--reason", "leak", "--yes"], b"secret");
    repo.text(&["purge", "--push", "a=b", "--yes"]);
    assert_eq!(repo.bodies("main").last().unwrap(), "not pushed yet");
    repo.fsck();
}
