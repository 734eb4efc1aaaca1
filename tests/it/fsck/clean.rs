//! Nothing is found in what our commands and plain git make.

use super::breakage::{found, sound};
use crate::repo::{TestRepo, run};

fn assert_clean(repo: &TestRepo, after: &str) {
    let (code, rules, report) = found(repo, &[]);
    assert_eq!((code, rules.len()), (Some(0), 0), "after {after}: {report}");
}

#[test]
fn repositories_made_by_every_command_are_clean() {
    let repo = sound();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let steps: &[&[&str]] = &[
        &["commit", "-t", "tool_io", "--set", "direction=call", "--name", "grep", "--call-id", "c", "-m", "{}"],
        &["commit", "-t", "tool_io", "--set", "direction=result", "--call-id", "c", "-m", "3 matches"],
        &["branch", "idea"],
        &["edit", "#2", "-m", "In another place."],
        &["skip", "#3", "--reason", "noise"],
        &["delete", "#4", "--reason", "gone"],
        &["restore", "#4"],
        &["restore", "#1", "1"],
        &["--trace", "idea", "commit", "-m", "an idea"],
        &["--trace", "idea", "edit", "#0", "-m", "Be very careful."],
        &["merge", "idea"],
        &["branch", "other"],
        &["--trace", "other", "commit", "-m", "other one"],
        &["--trace", "other", "commit", "-m", "other two"],
        &["commit", "-m", "main goes on"],
        &["cherry-pick", "other", "#7"],
        &["--trace", "other", "rebase", "main"],
        &["revert", "TRACE_HEAD"],
        &["unpin", "#2"],
        &["compress", "-m", "what was said", "#1..#2"],
        &["commit", "-m", "after all that", "-p", "skip"],
        &["undo"],
        &["undo"],
        &["branch", "-m", "other", "renamed/trace"],
        &["branch", "-D", "idea"],
        &["reset", "TRACE_HEAD~1"],
        &["switch", "renamed/trace"],
        &["forward", "leave", "--agent", "azoth", "--summary", "Another one.", "--priority", "HIGH"],
    ];
    for step in steps {
        let output = repo.run(step, b"");
        assert!(output.status.success(), "{step:?}: {}", repo.exact(&output));
    }
    assert_clean(&repo, "all of these");
    let source = TestRepo::new();
    source.bytes_with(&["import", "jsonl", "-"], &repo.bytes(&["export", "main"]));
    assert_clean(&source, "import of an export");
}

#[test]
fn repositories_made_by_imports_are_clean() {
    let repo = TestRepo::new();
    for (name, _) in crate::samples::SAMPLES {
        let file = format!("{}/tests/fixtures/transcripts/claude-code/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        repo.text(&["import", "claude-code", &file]);
    }
    assert_clean(&repo, "imports");
    repo.git(&["gc", "-q", "--prune=now"]);
    assert_clean(&repo, "packing");
}

#[test]
fn repositories_changed_by_plain_git_are_clean() {
    let repo = sound();
    repo.text(&["branch", "idea", "TRACE_HEAD~1"]);
    for (trace, text) in [("main", "one"), ("main", "two"), ("idea", "three"), ("idea", "four")] {
        repo.text(&["--trace", trace, "commit", "-m", text]);
    }
    let at = repo.home().join("worktree");
    let at = at.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", at, "refs/traces/main"]);
    for act in [
        &["cherry-pick", "refs/traces/idea"][..],
        &["revert", "--no-edit", "HEAD"],
        &["merge", "-q", "refs/traces/idea"],
        &["commit", "-q", "--amend", "-m", "amended"],
        &["rebase", "-q", "--force-rebase", "refs/traces/idea~1"],
    ] {
        repo.git(&[&["-C", at], act].concat());
        repo.git(&["-C", at, "update-ref", "refs/traces/main", "HEAD"]);
        assert_clean(&repo, &act.join(" "));
    }
    repo.say("and on it goes");
    assert_clean(&repo, "one more item");
}

#[test]
fn clones_are_clean() {
    let repo = sound();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let origin = format!("file://{}", repo.folder().display());
    let within = |name: &str| {
        let folder = repo.home().join(name);
        let output = run(repo.command("git-trace").args(["fsck", "--json"]).current_dir(folder), b"");
        repo.exact(&output)
    };
    repo.git(&["clone", "-q", &origin, "../whole"]);
    repo.git(&["clone", "-q", "--depth=1", &origin, "../shallow"]);
    for name in ["whole", "shallow"] {
        let at = repo.home().join(name);
        let depth: &[&str] = if name == "shallow" { &["--depth=2"] } else { &[] };
        let refs = ["origin", "refs/traces/*:refs/traces/*", "refs/crumbs/*:refs/crumbs/*"];
        repo.git(&[&["-C", at.to_str().unwrap(), "fetch", "-q"], depth, &refs].concat());
        let said = within(name);
        assert!(said.contains(r#""errors":0"#) && said.contains(r#""warnings":0"#), "{name}: {said}");
    }
    // A record that came without tags: they are missing, and nothing is wrong.
    let whole = repo.home().join("whole");
    repo.git(&["-C", whole.to_str().unwrap(), "fetch", "-q", "origin", "refs/trace-priority:refs/trace-priority"]);
    let said = within("whole");
    assert!(said.contains(r#""rule":"tag-missing""#) && said.ends_with("[exit 0]"), "{said}");
}

#[test]
fn empty_and_bare_repositories_are_clean() {
    assert_clean(&TestRepo::new(), "git init");
    let bare = TestRepo::init(&["--bare"]);
    bare.say("hello");
    bare.commit(&["-m", "there", "-p", "pinned"]);
    assert_clean(&bare, "commits");
    let sha256 = TestRepo::init(&["--object-format=sha256"]);
    sha256.commit(&["-m", "there", "-p", "pinned"]);
    assert_clean(&sha256, "commits");
}
