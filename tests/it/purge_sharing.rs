//! Purges in several clones: purged content does not come back, and all clones agree in the end.

use crate::purge::{SECRET, check, purge, shared};
use crate::repo::{TestRepo, run};

/// The tip of the current trace with other headers of its last file.
fn tip_with_headers(repo: &TestRepo, change: impl Fn(&str) -> String) -> String {
    let write = |kind: &str, bytes: &[u8]| {
        let output = run(repo.command("git").args(["hash-object", "-t", kind, "-w", "--stdin"]), bytes);
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let tree = |listing: String| {
        let output = run(repo.command("git").arg("mktree"), listing.as_bytes());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let files = repo.git(&["ls-tree", "refs/traces/main:00/00"]);
    let old = files.lines().last().unwrap().split([' ', '\t']).nth(2).unwrap().to_owned();
    let (headers, body) =
        repo.git(&["cat-file", "-p", &old]).split_once("\n\n").map(|(a, b)| (change(a), b.to_owned())).unwrap();
    let new = write("blob", format!("{headers}\n\n{body}").as_bytes());
    assert_ne!(new, old);
    let root =
        tree(format!("040000 tree {}\t00\n", tree(format!("040000 tree {}\t00\n", tree(files.replace(&old, &new))))));
    let commit = repo.git(&["cat-file", "-p", "refs/traces/main"]);
    let (_, rest) = commit.split_once('\n').unwrap();
    write("commit", format!("tree {root}\n{rest}").as_bytes())
}

#[test]
fn purged_content_in_another_file_is_recognized_by_its_text() {
    for is_in_header in [false, true] {
        let (mut repo, clone) = shared();
        if is_in_header {
            repo.text(&["commit", "--meta", &format!("note={SECRET}"), "-m", "with meta"]);
            repo.text(&["push"]);
        }
        // As if it had been stored with another counter, and written again.
        let other = tip_with_headers(&repo, |headers| headers.replace("o200k_base", "cl100k_base"));
        repo.git(&["push", "-q", "origin", &format!("{other}:refs/traces/other")]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            repo.text(&["switch", "-c", "again", "#0"]);
            repo.say(&format!("It is {SECRET}"));
            repo.text(&["push", "origin", "again"]);
        });
        purge(&repo, &["--yes", "--push", "origin"]);
        let fetched = repo.run(&["fetch"], b"");
        let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
        for name in ["other", "again"] {
            assert!(said.contains(&format!("skipped origin/{name}: purged by A U Thor")), "{said}");
        }
        check(&repo);
        repo.within(&clone, |repo| {
            repo.git(&["fetch", "-q", "origin", "refs/trace-records/purged:refs/trace-purged"]);
            let found = repo.trace(&["fsck"]);
            for name in ["again", "main", "other"] {
                assert!(
                    found.contains(&format!("error: {name}: commit [SHORT]: purged: it contains what was ")),
                    "{found}"
                );
            }
        });
    }
}

#[test]
fn a_pull_removes_purged_content_that_was_written_again() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "-c", "again", "#0"]);
        repo.say(&format!("It is {SECRET}"));
        repo.say("mine");
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        let said = repo.text(&["pull"]);
        assert!(said.contains("again: rewrote items: #1; commits of yours on top: 2"), "{said}");
        assert_eq!(repo.bodies("again"), ["one", "[purged: leaked]", "mine"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.text(&["push", "origin", "again"]);
    });
    repo.text(&["pull"]);
    check(&repo);
}

#[test]
fn a_push_publishes_only_tombstones_of_accepted_traces() {
    let (mut repo, clone) = shared();
    repo.text(&["switch", "-c", "private", "#0"]);
    repo.say("another secret of a private trace");
    repo.text(&["switch", "main"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("theirs");
        repo.text(&["push"]);
    });
    repo.bytes_with(&["purge", "--text", "-", "--reason", "private", "--yes"], b"another secret");
    purge(&repo, &["--yes"]);
    repo.text(&["switch", "-c", "fresh", "#0"]);
    let there = || repo.git(&["ls-remote", "origin"]);
    let before = there();
    let pushed = repo.run(&["push", "origin", "main"], b"");
    assert_eq!(pushed.status.code(), Some(1), "{}", String::from_utf8_lossy(&pushed.stdout));
    assert_eq!(there(), before, "nothing of a rejected trace is published");
    assert_eq!(repo.run(&["push", "origin", "main", "fresh"], b"").status.code(), Some(1));
    assert!(there().contains("refs/traces/fresh") && !there().contains("refs/trace-records/purged"), "{}", there());
    let published = || {
        repo.run(&["fetch", "origin", "fresh"], b"");
        repo.git(&["grep", "-h", "reason", "refs/trace-remote-records/origin/purged"])
    };
    repo.text(&["branch", "idea"]);
    repo.text(&["push", "origin", "idea"]);
    let reasons = published();
    assert!(reasons.contains("leaked") && !reasons.contains("private"), "{reasons}");
    repo.text(&["push", "origin", "private"]);
    assert!(published().contains("private"));
}
