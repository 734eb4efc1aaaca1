//! `git trace gc` packs and loses nothing.

use serde_json::Value;

use super::breakage::{found, sound};
use crate::repo::TestRepo;

/// All that a trace tells, now and earlier.
fn everything(repo: &TestRepo) -> Vec<Value> {
    let mut seen = repo.lines(&["export"]);
    for commit in repo.lines(&["log", "--json"]) {
        seen.push(repo.json(&["materialize", "--json", "--as-of", commit["commit"].as_str().unwrap()]));
    }
    seen
}

fn gaps(repo: &TestRepo) {
    // The clock of these commits does not advance, so git considers their reflogs old.
    repo.git(&["config", "gc.reflogExpire", "never"]);
    repo.git(&["config", "gc.reflogExpireUnreachable", "never"]);
    for text in ["four", "five", "six"] {
        repo.say(text);
    }
    repo.text(&["delete", "#3"]);
    repo.text(&["skip", "#4", "--reason", "noise"]);
}

#[test]
fn gc_keeps_every_referenced_object() {
    let bare = TestRepo::init(&["--bare"]);
    for text in ["zero", "one", "two"] {
        bare.say(text);
    }
    for repo in [sound(), bare] {
        gaps(&repo);
        let before = everything(&repo);
        repo.text(&["reset", "TRACE_HEAD~2"]);
        repo.text(&["branch", "gone"]);
        repo.text(&["--trace", "gone", "commit", "-m", "only here"]);
        let lost = repo.git(&["rev-parse", "refs/traces/gone"]);
        repo.text(&["branch", "-D", "gone"]);
        repo.text(&["gc", "--quiet", "--prune=now"]);
        let is_reftable = repo.git_dir().join("reftable").is_dir();
        assert!(is_reftable || repo.git_dir().join("packed-refs").exists());
        assert_eq!(found(&repo, &[]).1, Vec::<String>::new());
        repo.text(&["--trace", "main", "undo"]);
        assert_eq!(everything(&repo), before, "what was reset away came back");
        repo.git(&["cat-file", "-e", &format!("{}^{{tree}}", lost.trim())]);
        repo.fsck();
    }
}

#[test]
fn renumbering_only_closes_gaps() {
    let repo = sound();
    gaps(&repo);
    let told = |repo: &TestRepo| {
        let seen = repo.json(&["materialize", "--json"]);
        (seen["messages"].clone(), repo.total("main"), repo.lines(&["log", "--json"]).len())
    };
    let before = told(&repo);
    assert_eq!(found(&repo, &[]).1, Vec::<String>::new());
    insta::assert_snapshot!(repo.trace(&["gc", "--quiet", "--renumber", "--no-prune"]), @"[exit 0]");
    let listed = repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]);
    let seqs: Vec<&str> = listed.lines().map(|path| &path[6..12]).collect();
    assert_eq!(seqs, ["000000", "000001", "000002", "000003", "000004"]);
    let after = told(&repo);
    assert_eq!((&after.0, after.1, after.2), (&before.0, before.1, before.2 + 1));
    assert_eq!(repo.json(&["status", "--json"])["items"], 5);
    assert_eq!(found(&repo, &[]).1, Vec::<String>::new());

    let tip = repo.git(&["rev-parse", "refs/traces/main"]);
    repo.text(&["gc", "--quiet", "--renumber"]);
    assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), tip, "there is nothing left to do");
    let id = repo.say("the next one");
    assert_eq!(repo.json(&["show", &id, "--json"])["seq"], 5);
    repo.text(&["undo"]);
    repo.text(&["undo"]);
    assert_eq!(told(&repo), before, "it can be taken back");
}

#[test]
fn refusals_of_git_are_reported() {
    let repo = sound();
    assert!(repo.refused(&["gc", "--prune=xx", "--quiet"]).contains("invalid time `xx`"));
    repo.git(&["config", "gc.pruneExpire", "xx"]);
    let said = repo.refused(&["gc", "--quiet"]);
    assert!(said.contains("error: `git gc` failed"), "{said}");
    repo.git(&["config", "--unset", "gc.pruneExpire"]);
    for prune in ["2.weeks.ago", "yesterday noon", "never", "now"] {
        repo.text(&["gc", &format!("--prune={prune}"), "--quiet"]);
    }
    assert!(repo.refused(&["--trace", "nope", "gc", "--renumber"]).contains("no trace is named `nope`"));
}
