//! Purges in several clones: purged content does not come back, and all clones agree in the end.

use std::fs;

use crate::purge::{SECRET, check, plant_archive, purge, shared};
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
        purge(&repo, &["--yes"]);
        let fetched = repo.run(&["fetch"], b"");
        let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
        for name in ["other", "again"] {
            assert!(said.contains(&format!("skipped origin/{name}: purged by A U Thor")), "{said}");
        }
        check(&repo);
        repo.git(&["push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
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
        assert!(said.contains("again: rewrote items: #1; local commits after it: 2"), "{said}");
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
    repo.text(&["branch", "idea", "main"]);
    repo.text(&["push", "origin", "idea"]);
    let reasons = published();
    assert!(reasons.contains("leaked") && !reasons.contains("private"), "{reasons}");
    repo.text(&["push", "origin", "private"]);
    assert!(published().contains("private"));
}

const ONE: &str = "first-secret-text";
const OTHER: &str = "second secret, of two words";

fn purge_text(repo: &TestRepo, text: &str, reason: &str, args: &[&str]) {
    let output = repo.run(&[&["purge", "--text", "-", "--reason", reason, "--yes"], args].concat(), text.as_bytes());
    assert!(!output.stdout.is_empty(), "{}", repo.exact(&output));
}

/// Two clones with the same trace, in which both texts are in the same and in different items, subjects, and reasons.
fn with_two_texts() -> (TestRepo, std::path::PathBuf) {
    let (repo, clone) = shared();
    repo.say(&format!("only {ONE} here"));
    repo.say(&format!("only {OTHER} here"));
    repo.say(&format!("a {ONE} b {OTHER} c {ONE}"));
    repo.text(&["commit", "-s", &format!("subject {ONE} and {OTHER}"), "-m", &format!("{OTHER} is near {ONE}")]);
    repo.text(&["commit", "--meta", &format!("note={ONE}"), "--meta", &format!("more={OTHER}"), "-m", "with meta"]);
    repo.bytes_with(
        &["commit", "-t", "tool_io", "--role", "assistant", "--name", "bash", "--call-id", "c1", "-F", "-"],
        format!("{{\"a\":[\"{ONE}\"],\"b\":\"{OTHER}\"}}").as_bytes(),
    );
    repo.text(&["edit", "#2", "-m", &format!("edited {ONE} and {OTHER}")]);
    repo.text(&["delete", "#3", "--reason", &format!("because of {OTHER} and {ONE}")]);
    repo.say("last");
    repo.text(&["push"]);
    (repo, clone)
}

fn tip(repo: &TestRepo) -> String {
    repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned()
}

/// Neither text is in any trace.
fn has_neither(repo: &TestRepo) {
    let live = repo.git(&["log", "-p", "--text", "--format=%B", "--glob=refs/traces/*"]);
    assert!(!live.contains("first-secret") && !live.contains("secret, of"), "{live}");
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    repo.fsck();
}

#[test]
fn two_purges_of_clones_that_did_not_know_of_each_other_converge() {
    for (reason, other_reason, has_salt) in
        [("leaked", "leaked", false), ("leaked", "private", false), ("leaked", "private", true)]
    {
        let (mut repo, clone) = with_two_texts();
        if has_salt {
            // Both know of an earlier purge, and so take its salt.
            repo.text(&["--trace", "other", "commit", "-m", "an earlier text"]);
            repo.text(&["push", "origin", "other"]);
            purge_text(&repo, "earlier text", "old", &["--push", "origin"]);
        }
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
        });
        purge_text(&repo, ONE, reason, &["--push", "origin"]);
        repo.text(&["fetch"]);
        repo.within(&clone, |repo| {
            purge_text(repo, OTHER, other_reason, &[]);
            repo.say("mine");
            let said = repo.run(&["pull"], b"");
            let said = repo.exact(&said);
            assert!(
                said.contains("origin/main: pulled without what was purged here; `git trace purge --push origin`"),
                "{said}"
            );
            has_neither(repo);
            let bodies = repo.bodies("main");
            assert_eq!(bodies.len(), 9, "{bodies:?}");
            assert!(bodies[2].starts_with("edited [purged: ") && bodies[3].starts_with("a [purged: "), "{bodies:?}");
            assert!(bodies[3].contains(" b [purged: ") && bodies[3].contains("] c [purged: "), "{bodies:?}");
            assert_eq!(bodies.last().unwrap(), "mine");
            assert_eq!(
                repo.bodies("main"),
                {
                    repo.run(&["pull"], b"");
                    bodies
                },
                "a repeated pull changes nothing"
            );
            repo.text(&["purge", "--push", "origin", "--yes"]);
            assert_eq!(repo.text(&["pull", "origin", "main"]), "main: up to date\n");
            repo.text(&["push"]);
        });
        repo.say("ours");
        repo.text(&["pull"]);
        has_neither(&repo);
        repo.text(&["push"]);
        let ours = tip(&repo);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            assert_eq!(tip(repo), ours);
            has_neither(repo);
        });
        assert_eq!(repo.bodies("main")[8..], ["mine", "ours"]);
    }
}

#[test]
fn two_purges_have_the_same_result_in_both_clones() {
    let (mut repo, clone) = with_two_texts();
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../other.git"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, OTHER, "private", &[]);
        repo.git(&["push", "-q", "../other.git", "refs/traces/main", "refs/trace-purged:refs/trace-records/purged"]);
    });
    purge_text(&repo, ONE, "leaked", &["--push", "origin"]);
    repo.git(&["remote", "add", "other", "../other.git"]);
    repo.text(&["pull", "other", "main"]);
    has_neither(&repo);
    let ours = tip(&repo);
    repo.within(&clone, |repo| {
        repo.run(&["pull"], b"");
        assert_eq!(tip(repo), ours);
        has_neither(repo);
    });
}

#[test]
fn a_pull_takes_what_was_purged_from_commits_that_others_pushed_meanwhile() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("theirs");
        repo.text(&["edit", "#1", "-m", &format!("It was {SECRET}")]);
        repo.text(&["push"]);
    });
    purge(&repo, &["--yes"]);
    repo.run(&["pull"], b"");
    assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "theirs"]);
    check(&repo);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    assert_eq!(repo.text(&["pull"]), "main: up to date\n");
    let ours = tip(&repo);
    repo.within(&clone, |repo| {
        repo.say("more");
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "theirs", "more"]);
        repo.git(&["merge-base", "--is-ancestor", &ours, "refs/traces/main"]);
        repo.text(&["push"]);
    });
    repo.text(&["pull"]);
    check(&repo);
}

#[test]
fn a_purge_with_push_covers_what_others_pushed_meanwhile() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say(&format!("theirs, with {SECRET}"));
        repo.text(&["switch", "-c", "other"]);
        repo.text(&["push", "origin", "main", "other"]);
    });
    let purged =
        repo.run(&["purge", "--text", "-", "--reason", "leaked", "--yes", "--push", "origin"], SECRET.as_bytes());
    assert_eq!(purged.status.code(), Some(0), "{}", repo.exact(&purged));
    repo.text(&["pull"]);
    assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "theirs, with [purged: leaked]"]);
    check(&repo);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("other").len(), 3);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    });
}

#[test]
fn guessed_texts_in_the_tombstones_of_a_remote_refuse_nothing() {
    let guess = "On branch main\nnothing to commit, working tree clean";
    let (mut repo, clone) = shared();
    let file = repo.home().join("import.jsonl");
    let text = format!("It is {SECRET}");
    let lines = [guess, &text].map(|text| format!("{}\n", serde_json::json!({ "text": text })));
    fs::write(&file, lines.concat()).unwrap();
    let import = |repo: &TestRepo, name: &str| repo.import(name, &file)["traces"][0]["purged"].as_i64().unwrap_or(0);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    // Somebody adds a guess to that purge, and another purge.
    let name = repo.git(&["ls-tree", "--name-only", "refs/trace-purged"]).trim().to_owned();
    let ours = repo.git(&["cat-file", "-p", &format!("refs/trace-purged:{name}")]);
    let head: serde_json::Value = serde_json::from_str(ours.lines().next().unwrap()).unwrap();
    let mut hasher = blake3::Hasher::new();
    for part in [head["salt"].as_str().unwrap().as_bytes(), b"body", guess.as_bytes()] {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let digest = format!("{{\"body\":\"{}\"}}\n", &hasher.finalize().to_hex()[..32]);
    let write = |text: &str, name: &str| {
        let output = run(repo.command("git").args(["hash-object", "-w", "--stdin"]), text.as_bytes());
        format!("100644 blob {}\t{name}\n", String::from_utf8(output.stdout).unwrap().trim())
    };
    let files = [write(&format!("{head}\n{digest}"), "0000000000000000"), write(&(ours + &digest), &name)];
    let tree = String::from_utf8(run(repo.command("git").arg("mktree"), files.concat().as_bytes()).stdout).unwrap();
    let commit = repo.git(&["commit-tree", tree.trim(), "-m", "x"]);
    repo.git(&["push", "-q", "origin", &format!("+{}:refs/trace-records/purged", commit.trim())]);
    repo.within(&clone, |repo| {
        repo.text(&["--trace", "local", "commit", "-m", guess]);
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("local"), [guess]);
        assert_eq!(import(repo, "other"), 1, "the text that was removed here is refused, and the guess is not");
        assert_eq!(repo.bodies("other"), [guess]);
        repo.text(&["push", "origin", "local", "other"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    });
    repo.run(&["pull"], b"");
    assert_eq!((repo.bodies("local"), repo.bodies("other")), (vec![guess.to_owned()], vec![guess.to_owned()]));
    assert_eq!(import(&repo, "again"), 1);
}

#[test]
fn a_remote_that_publishes_a_text_and_purges_it_changes_no_trace_that_it_does_not_have() {
    for (text, refused) in [("continue", 0), ("On branch main\nnothing to commit, working tree clean", 1)] {
        let (mut repo, clone) = shared();
        repo.within(&clone, |repo| {
            repo.text(&["--trace", "private", "commit", "-m", text]);
        });
        repo.say(text);
        repo.text(&["push"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
        });
        purge_text(&repo, text, "hostile", &["--push", "origin"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            assert_eq!(repo.bodies("main").last().unwrap(), "[purged: hostile]");
            assert_eq!(repo.bodies("private"), [text]);
            let file = repo.home().join("import.jsonl");
            fs::write(&file, format!("{}\n", serde_json::json!({ "text": text }))).unwrap();
            let imported = repo.import("new", &file);
            assert_eq!(imported["traces"][0]["purged"].as_i64().unwrap_or(0), refused);
        });
    }
}

#[test]
fn a_purge_changes_nothing_that_another_clone_purged_of_the_same_text() {
    // The subject ends with `secret-…`, which begins like the text that is purged.
    let text = "a somewhat longer text with secret-purged-one and secret-other-two behind it";
    let (mut repo, clone) = shared();
    repo.say(text);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    purge_text(&repo, "secret-purged-one", "leaked", &["--push", "origin"]);
    let subject = repo.git(&["log", "-1", "--format=%s", "refs/traces/main"]);
    assert!(subject.trim_end().ends_with("[purged: leaked] and secret-…"), "{subject}");
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        let before = tip(repo);
        // The states before the pull are kept, so there is something to purge.
        purge_text(repo, "secret-purged-one", "leaked", &["--push", "origin"]);
        assert_eq!(tip(repo), before);
        let again = repo.run(&["purge", "--text", "-", "--reason", "leaked", "--dry-run"], b"secret-purged-one");
        assert!(again.stdout.starts_with(b"nothing to purge\n"), "{}", repo.exact(&again));
        repo.text(&["push"]);
    });
    purge_text(&repo, "secret-other-two", "leaked", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(
            repo.bodies("main")[2..],
            ["a somewhat longer text with [purged: leaked] and [purged: leaked] behind it", "mine"]
        );
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    });
}

#[test]
fn a_later_revision_with_what_only_one_of_two_purges_removed_does_not_stop_a_pull() {
    let (mut repo, clone) = with_two_texts();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, OTHER, "private", &[]);
    });
    purge_text(&repo, ONE, "leaked", &["--push", "origin"]);
    let left = repo.bodies("main")[3].clone();
    assert_eq!(left, format!("a [purged: leaked] b {OTHER} c [purged: leaked]"));
    repo.text(&["edit", "#4", "-m", "for a while"]);
    repo.text(&["edit", "#4", "-m", &left]);
    repo.text(&["push"]);
    for _ in 0..2 {
        repo.within(&clone, |repo| {
            let pulled = repo.run(&["pull"], b"");
            assert_eq!(pulled.status.code(), Some(0), "{}", repo.exact(&pulled));
            has_neither(repo);
            assert_eq!(repo.bodies("main")[3], "a [purged: leaked] b [purged: private] c [purged: leaked]");
            repo.text(&["purge", "--push", "origin", "--yes"]);
            repo.text(&["push"]);
        });
        repo.text(&["pull"]);
        has_neither(&repo);
    }
    let ours = tip(&repo);
    repo.within(&clone, |repo| assert_eq!(tip(repo), ours));
}

#[test]
fn a_clone_with_the_original_takes_over_what_two_purges_with_different_reasons_left() {
    let (mut repo, clone) = with_two_texts();
    repo.git(&["clone", "-q", "../origin.git", "../third"]);
    let third = repo.home().join("third");
    repo.within(&third, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, OTHER, "private", &[]);
    });
    purge_text(&repo, ONE, "leaked", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.run(&["pull"], b"");
        repo.text(&["purge", "--push", "origin", "--yes"]);
    });
    let published = repo.git(&["ls-remote", "origin", "refs/traces/main"]);
    repo.within(&third, |repo| {
        repo.text(&["pull"]);
        has_neither(repo);
        assert_eq!(repo.bodies("main").last().unwrap(), "mine");
        assert!(published.starts_with(repo.git(&["rev-parse", "refs/traces/main~1"]).trim()));
    });
}

/// A clone purged `main` and sent the tombstones, but not what replaces the trace.
fn with_lost_replacement() -> (TestRepo, std::path::PathBuf) {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    purge(&repo, &["--yes"]);
    repo.git(&["push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
    (repo, clone)
}

#[test]
fn a_replacement_that_nobody_pushes_can_be_written_again() {
    let (mut repo, clone) = with_lost_replacement();
    repo.within(&clone, |repo| {
        repo.run(&["pull"], b"");
        assert_eq!(repo.bodies("main"), ["one", &format!("It is {SECRET}"), "mine"], "somebody may push it yet");
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]", "mine"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.text(&["push"]);
    });
    // The clone that purged comes back.
    for _ in 0..2 {
        repo.run(&["pull"], b"");
        check(&repo);
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.text(&["push"]);
        repo.within(&clone, |repo| repo.run(&["pull"], b""));
    }
    repo.text(&["pull"]);
    assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]", "mine"]);
    let ours = tip(&repo);
    repo.within(&clone, |repo| assert_eq!(tip(repo), ours));
}

#[test]
fn a_purge_by_another_clone_under_another_name_does_not_bring_the_text_back() {
    let (mut repo, clone) = with_two_texts();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, OTHER, "private", &[]);
        repo.text(&["branch", "idea"]);
        repo.text(&["push", "origin", "idea"]);
    });
    purge_text(&repo, ONE, "leaked", &[]);
    let gone = |repo: &TestRepo| {
        let all = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"");
        assert!(!String::from_utf8_lossy(&all.stdout).contains("first-secret"));
        repo.fsck();
    };
    let fetched = repo.run(&["fetch"], b"");
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    assert_eq!(fetched.status.code(), Some(1), "{said}");
    assert!(said.contains("skipped origin/idea: purged by A U Thor"), "{said}");
    assert!(!repo.refs().contains("refs/trace-remotes/origin/idea"));
    gone(&repo);
    repo.text(&["pull"]);
    assert_eq!(repo.bodies("idea"), repo.bodies("main"));
    has_neither(&repo);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.text(&["push", "origin", "*"]);
    let (ours, idea) = (tip(&repo), repo.bodies("idea"));
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!((tip(repo), repo.bodies("idea")), (ours, idea));
        has_neither(repo);
    });
}

#[test]
fn a_push_keeps_no_purged_reason_that_it_fetched() {
    let (mut repo, clone) = shared();
    purge(&repo, &["--yes"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["skip", "#0"]);
        repo.text(&["push"]);
    });
    repo.text(&["--trace", "other", "commit", "-m", "more", "-p", "pinned"]);
    repo.text(&["push", "origin", "other"]);
    assert!(repo.git(&["ls-remote", "origin"]).contains("refs/trace-records/priority"));
    check(&repo);
}

#[test]
fn a_purge_by_another_clone_that_rebased_or_imported_does_not_bring_the_text_back() {
    let (mut repo, clone) = with_two_texts();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, OTHER, "private", &[]);
        // Neither the commits of a rebase nor those of an import have the times of the ones that were purged.
        repo.text(&["switch", "-c", "base", "#0"]);
        repo.say("a base");
        repo.text(&["switch", "-c", "idea", "main"]);
        repo.text(&["rebase", "base"]);
        repo.text(&["purge", "--push", "origin", "--yes"]);
        let session = repo.text(&["export"]);
        repo.run(&["import", "jsonl", "-", "--trace", "copy"], session.as_bytes());
        repo.text(&["push", "origin", "idea", "copy"]);
    });
    purge_text(&repo, ONE, "leaked", &[]);
    let fetched = repo.run(&["fetch"], b"");
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    for name in ["idea", "copy"] {
        assert!(said.contains(&format!("skipped origin/{name}: purged by A U Thor")), "{said}");
    }
    repo.text(&["pull"]);
    has_neither(&repo);
    assert_eq!(repo.bodies("idea").len(), repo.bodies("main").len() + 1);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.text(&["push", "origin", "*"]);
    let (idea, copy) = (repo.bodies("idea"), repo.bodies("copy"));
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!((repo.bodies("idea"), repo.bodies("copy")), (idea, copy));
        has_neither(repo);
    });
}

#[test]
fn a_purged_subject_or_reason_does_not_come_back_in_the_commits_of_a_rebase() {
    let (mut repo, clone) = shared();
    repo.say("plain");
    repo.text(&["commit", "-s", &format!("subject {ONE}"), "-m", "another"]);
    repo.text(&["delete", "#2", "--reason", &format!("because of {ONE}")]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "-c", "base", "#0"]);
        repo.say("a base");
        repo.text(&["switch", "-c", "idea", "main"]);
        repo.text(&["rebase", "base"]);
        repo.text(&["push", "origin", "idea"]);
    });
    purge_text(&repo, ONE, "leaked", &[]);
    repo.text(&["pull"]);
    has_neither(&repo);
    assert_eq!(repo.bodies("idea").len(), 4);
}

/// Whether an object contains a text, apart from tombstones.
fn is_anywhere(repo: &TestRepo, text: &str) -> bool {
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    String::from_utf8_lossy(&objects).contains(text)
}

#[test]
fn two_purges_of_one_reason_converge() {
    let (mut repo, clone) = shared();
    repo.text(&["pin", "#0", "--reason", &format!("why {ONE} and {OTHER}")]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, SECRET, "s", &[]);
        purge_text(repo, OTHER, "private", &[]);
    });
    purge_text(&repo, SECRET, "s", &[]);
    purge_text(&repo, ONE, "leaked", &["--push", "origin"]);
    let joined = |repo: &TestRepo| {
        let record = repo.git(&["grep", "-h", "and", "refs/trace-priority"]);
        assert_eq!(record.matches("why [purged: leaked] and [purged: private]").count(), 1, "{record}");
        assert_eq!(record.lines().count(), 1, "{record}");
    };
    repo.within(&clone, |repo| {
        let fetched = repo.run(&["fetch"], b"");
        assert_eq!(fetched.status.code(), Some(1), "{}", repo.exact(&fetched));
        assert!(!is_anywhere(repo, OTHER), "also after a fetch");
        repo.run(&["pull"], b"");
        joined(repo);
        assert!(!is_anywhere(repo, OTHER));
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.text(&["push"]);
    });
    repo.run(&["pull"], b"");
    joined(&repo);
    assert!(!is_anywhere(&repo, ONE));
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        joined(repo);
        assert!(!is_anywhere(repo, OTHER));
    });
}

#[test]
fn a_later_revision_that_neither_of_two_purges_changed_stays() {
    let (mut repo, clone) = shared();
    repo.text(&["edit", "#1", "-m", "a later text without it"]);
    repo.text(&["push"]);
    let bodies = ["one", "a later text without it"];
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge_text(repo, SECRET, "r-b", &[]);
    });
    purge_text(&repo, SECRET, "r-a", &[]);
    let check = |repo: &TestRepo| {
        assert_eq!(repo.bodies("main"), bodies);
        assert!(repo.git(&["log", "-p", "--text", "refs/traces/main"]).contains("[purged: r-"));
        check(repo);
    };
    repo.within(&clone, |repo| repo.text(&["purge", "--push", "origin", "--yes"]));
    repo.run(&["pull"], b"");
    check(&repo);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.run(&["pull"], b"");
        check(repo);
        repo.text(&["push"]);
    });
    repo.text(&["pull"]);
    check(&repo);
}

#[test]
fn a_purge_with_push_covers_archived_traces() {
    for is_pruned in [false, true] {
        let (mut repo, clone) = shared();
        repo.text(&["switch", "-c", "old"]);
        repo.say(&format!("old: {SECRET}"));
        repo.text(&["switch", "main"]);
        repo.text(&["push", "origin", "old"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            repo.text(&["switch", "main"]);
            repo.text(&["archive", "origin", "old"]);
        });
        repo.text(&["archive", "origin", "old"]);
        if is_pruned {
            repo.text(&["gc", "--prune=now"]);
        }
        purge(&repo, &["--yes", "--push", "origin"]);
        assert!(!repo.refs().contains("refs/trace-remotes/origin/old"));
        let back = |repo: &TestRepo| {
            repo.text(&["switch", "old"]);
            assert_eq!(repo.bodies("old"), ["one", "It is [purged: leaked]", "old: [purged: leaked]"]);
            repo.text(&["switch", "main"]);
        };
        back(&repo);
        check(&repo);
        // A clone that did not purge can bring it back, too.
        repo.within(&clone, |repo| back(repo));
        repo.git(&["clone", "-q", "--no-local", "../origin.git", "../third"]);
        let third = repo.home().join("third");
        repo.within(&third, |repo| {
            repo.text(&["pull"]);
            check(repo);
        });
    }
}

#[test]
fn an_archived_trace_that_was_purged_here_only_is_refused_with_the_reason() {
    let (repo, _) = shared();
    repo.text(&["switch", "-c", "old"]);
    repo.say(&format!("old: {SECRET}"));
    repo.text(&["switch", "main"]);
    repo.text(&["archive", "origin", "old"]);
    purge(&repo, &["--yes"]);
    let refused = repo.exact(&repo.run(&["switch", "old"], b""));
    let said = "error: trace `old` of `origin` contains content that was purged by A U Thor";
    assert!(refused.contains(said) && refused.contains("hint: `git trace purge --push origin`"), "{refused}");
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.text(&["switch", "old"]);
    check(&repo);
}

#[test]
fn a_purged_item_whose_text_and_words_others_have_too_is_pulled() {
    let output = "on branch main, nothing to commit, working tree clean";
    let reason = "noise of the build, not needed any more";
    let (mut repo, clone) = shared();
    for _ in 0..2 {
        repo.commit(&["-r", "assistant", "-m", "Tests passed."]);
        repo.say(output);
    }
    repo.text(&["skip", "#2", "#3", "#4", "#5", "--reason", reason]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| _ = repo.text(&["pull"]));
    repo.text(&["purge", "#2", "#3", "--yes", "--push", "origin"]);
    check_whole(&repo);
    // Later texts may be the same, too.
    repo.commit(&["-r", "assistant", "-m", "Tests passed."]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["push"]);
        check_whole(repo);
        assert_eq!(
            repo.bodies("main")[2..],
            ["[purged: secret]", "[purged: secret]", "Tests passed.", output, "Tests passed."]
        );
        assert!(repo.text(&["priority", "#4"]).contains(reason));
    });
    repo.git(&["clone", "-q", "--no-local", "../origin.git", "../third"]);
    let third = repo.home().join("third");
    repo.within(&third, |repo| {
        repo.text(&["pull"]);
        check_whole(repo);
    });
}

#[test]
fn a_second_purge_with_push_removes_what_the_first_one_removed_from_a_newer_archived_trace() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "-c", "old"]);
        repo.say(&format!("{ONE} and {OTHER}"));
        repo.text(&["push", "origin", "old"]);
    });
    repo.text(&["pull"]);
    repo.text(&["archive", "origin", "old"]);
    purge_text(&repo, ONE, "x", &[]);
    repo.text(&["gc", "--prune=now"]);
    repo.within(&clone, |repo| {
        repo.say(&format!("later, with {OTHER}"));
        repo.text(&["push", "origin", "old"]);
    });
    purge_text(&repo, OTHER, "y", &["--push", "origin"]);
    repo.text(&["switch", "old"]);
    has_neither(&repo);
    assert!(!is_anywhere(&repo, ONE) && !is_anywhere(&repo, OTHER));
}

#[test]
fn what_a_purge_keeps_of_a_fetched_trace_goes_when_it_is_purged_elsewhere() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| _ = repo.text(&["pull"]));
    repo.text(&["switch", "-c", "idea"]);
    repo.say(&format!("{ONE} and {OTHER}"));
    repo.text(&["push", "origin", "idea"]);
    repo.within(&clone, |repo| {
        repo.text(&["fetch"]);
        purge_text(repo, ONE, "x", &[]);
        assert!(repo.refs().contains("refs/trace-kept/"));
    });
    purge_text(&repo, OTHER, "y", &["--push", "origin"]);
    repo.git(&["push", "-q", "origin", ":refs/traces/idea"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert!(!repo.refs().contains("refs/trace-kept/"));
        repo.git(&["gc", "-q", "--prune=now"]);
        assert!(!is_anywhere(repo, ONE) && !is_anywhere(repo, OTHER));
    });
}

/// Both `fsck` find nothing.
fn check_whole(repo: &TestRepo) {
    repo.git(&["fsck", "--strict"]);
    repo.text(&["fsck"]);
}

#[test]
fn earlier_versions_of_fetched_priorities_are_removed_again() {
    for command in ["fetch", "pull"] {
        let (repo, _) = shared();
        repo.text(&["skip", "#1", "--reason", "later"]);
        repo.text(&["push"]);
        purge(&repo, &["--yes"]);
        repo.run(&[command], b"");
        check(&repo);
    }
}

#[test]
fn fetched_purged_objects_that_cannot_be_removed_are_reported_and_removed_later() {
    for command in ["fetch", "pull"] {
        let (repo, _) = shared();
        purge(&repo, &["--yes"]);
        repo.git(&["repack", "-adq"]);
        let packs = repo.git_dir().join("objects/pack");
        let mut pack = fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path());
        let pack = pack.find(|path| path.extension().is_some_and(|kind| kind == "pack")).unwrap();
        let keep = pack.with_extension("keep");
        fs::write(&keep, "").unwrap();
        for attempt in ["fetch", command] {
            let output = repo.run(&[attempt], b"");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.contains("error: purged objects that were fetched stay: ")
                    && said.contains(".keep` protects a pack"),
                "{said}"
            );
            assert_eq!(output.status.code(), Some(1), "{said}");
        }
        fs::remove_file(&keep).unwrap();
        // Also if the remote has been cleaned meanwhile.
        if command == "fetch" {
            repo.git(&["push", "-q", "origin", ":refs/traces/main", ":refs/trace-records/priority"]);
        }
        let output = repo.run(&[command], b"");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("stay: "), "{}", repo.exact(&output));
        check(&repo);
        assert!(!repo.git_dir().join("trace/purging").exists());
    }
}

/// It names the commit as its priorities, next to a tombstone of it.
#[test]
fn a_remote_cannot_remove_a_commit_of_the_code_as_its_priorities() {
    let (mut repo, clone) = shared();
    fs::write(repo.folder().join("file"), "work").unwrap();
    repo.git(&["add", "file"]);
    repo.git(&["commit", "-q", "-m", "my work"]);
    let work = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let file = repo.git(&["rev-parse", "HEAD:file"]).trim().to_owned();
    repo.git(&["push", "-q", "origin", "HEAD:refs/heads/work"]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    for refname in ["refs/remotes/origin/work", "ORIG_HEAD"] {
        repo.git(&["update-ref", "-d", refname]);
    }
    repo.within(&clone, |repo| {
        repo.git(&["fetch", "-q", "origin", "work"]);
        let salt = "0".repeat(32);
        let mut lines = format!(
            "{{\"at\":\"2026-02-10T09:00:00Z\",\"by\":\"A <a@b>\",\"reason\":\"leaked\",\"salt\":\"{salt}\"}}\n"
        );
        for oid in [&work, &file] {
            let bytes: Vec<u8> =
                (0..oid.len()).step_by(2).map(|at| u8::from_str_radix(&oid[at..at + 2], 16).unwrap()).collect();
            let mut hasher = blake3::Hasher::new();
            for part in [salt.as_bytes(), b"object", &bytes] {
                hasher.update(&(part.len() as u64).to_be_bytes());
                hasher.update(part);
            }
            lines.extend(["{\"object\":\"", &hasher.finalize().to_hex()[..32], "\"}\n"]);
        }
        let output = run(repo.command("git").args(["hash-object", "-w", "--stdin"]), lines.as_bytes());
        let blob = String::from_utf8(output.stdout).unwrap();
        let listing = format!("100644 blob {}\t0123456789abcdef\n", blob.trim());
        let tree = String::from_utf8(run(repo.command("git").arg("mktree"), listing.as_bytes()).stdout).unwrap();
        let commit = repo.git(&["commit-tree", tree.trim(), "-m", "purge"]);
        let refspecs = [
            format!("{}:refs/trace-records/purged", commit.trim()),
            format!("+{work}:refs/trace-records/priority"),
            ":refs/heads/work".to_owned(),
        ];
        repo.git(&[&["push", "-q", "origin"][..], &refspecs.each_ref().map(String::as_str)].concat());
    });
    for command in ["fetch", "pull"] {
        repo.run(&[command], b"");
        for oid in [&work, &file] {
            repo.git(&["cat-file", "-e", oid]);
        }
    }
}

#[test]
fn an_import_under_another_id_is_refused_if_the_text_was_in_the_headers() {
    let (repo, _) = shared();
    let note = format!("note={SECRET}");
    repo.text(&[
        "commit",
        "-t",
        "artifact",
        "-m",
        "a body without it",
        "--meta",
        &note,
        "--set",
        &format!("path=out/{SECRET}.txt"),
    ]);
    let export = String::from_utf8(repo.bytes(&["export"])).unwrap();
    purge(&repo, &["--yes"]);
    let line = export.lines().find(|line| line.contains("a body without it")).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
    line["id"] = "00112233445566aa".into();
    line.as_object_mut().unwrap().remove("commit");
    let file = repo.home().join("export.jsonl");
    fs::write(&file, format!("{line}\n")).unwrap();
    let imported = repo.import("other", &file);
    assert_eq!(imported["traces"][0]["purged"], 1, "{imported}");
    check(&repo);
}

#[test]
fn a_branch_that_was_made_between_the_purges_of_three_clones_is_joined_too() {
    let (mut repo, second) = shared();
    repo.text(&["edit", "#1", "-m", "edited"]);
    repo.text(&["push"]);
    repo.git(&["clone", "-q", "../origin.git", "../third"]);
    let third = repo.home().join("third");
    for clone in [&second, &third] {
        repo.within(clone, |repo| {
            repo.text(&["pull"]);
            repo.text(&["switch", "main"]);
        });
    }
    purge_text(&repo, SECRET, "r-a", &[]);
    repo.within(&third, |repo| purge_text(repo, SECRET, "r-c", &[]));
    repo.within(&second, |repo| purge_text(repo, SECRET, "r-b", &["--push", "origin"]));
    repo.within(&third, |repo| {
        repo.text(&["branch", "topic"]);
        repo.run(&["push", "origin", "*"], b"");
    });
    let clones = [repo.folder().to_owned(), second, third];
    for clone in clones.iter().cycle().take(9) {
        repo.within(clone, |repo| {
            repo.run(&["pull", "--strategy", "newest"], b"");
            repo.run(&["purge", "--push", "origin", "--yes"], b"");
            repo.run(&["push", "origin", "main"], b"");
        });
    }
    let tips = repo.git(&["for-each-ref", "refs/traces/"]);
    for clone in &clones {
        repo.within(clone, |repo| {
            assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
            assert_eq!(repo.git(&["for-each-ref", "refs/traces/"]), tips);
            assert_eq!(repo.bodies("topic"), ["one", "edited"]);
        });
    }
}

/// A colleague has pushed since the last fetch, and has purged.
#[test]
fn a_purge_of_a_remote_that_nobody_confirmed_moves_no_ref_and_names_those_there() {
    let (mut repo, clone) = shared();
    repo.git(&["push", "-q", "origin", "refs/traces/main:refs/heads/copy"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "-c", "theirs"]);
        repo.say("other-purged-text");
        repo.text(&["push", "origin", "theirs"]);
        purge_text(repo, "other-purged-text", "theirs", &["--push", "origin"]);
    });
    let refs = || (repo.refs(), repo.git(&["ls-remote", "origin"]));
    let ask = |args: &[&str]| {
        let before = refs();
        let said = repo.snapshot(&repo.run(&[&["purge", "--push", "origin"], args].concat(), SECRET.as_bytes()));
        assert_eq!(refs(), before, "{said}");
        said.split_once("--- stderr\n").map_or_else(|| said.clone(), |(_, stderr)| stderr.to_owned())
    };
    insta::assert_snapshot!(ask(&["--text", "-", "--dry-run"]), @"
    refs/trace-records/priority → origin: would be replaced
    refs/traces/main → origin: would be replaced
    error: refs/heads/copy → origin: contains what was purged, and stays: only you can decide what becomes of a branch or a tag
    error: refs/traces/theirs → origin: was not fetched, so it may contain it too
    [exit 1]
    ");
    insta::assert_snapshot!(ask(&["--text", "-"]), @"
    refs/trace-records/priority → origin: would be replaced
    refs/traces/main → origin: would be replaced
    error: refs/heads/copy → origin: contains what was purged, and stays: only you can decide what becomes of a branch or a tag
    error: refs/traces/theirs → origin: was not fetched, so it may contain it too
    dry run, because there is no terminal to ask on: --yes purges
    [exit 1]
    ");
    repo.git(&["push", "-q", "origin", ":refs/heads/copy", ":refs/traces/theirs"]);
    purge(&repo, &["--yes"]);
    insta::assert_snapshot!(ask(&["--dry-run"]), @"
    refs/trace-records/priority → origin: would be replaced
    refs/traces/main → origin: would be replaced
    [exit 0]
    ");
    insta::assert_snapshot!(ask(&[]), @"
    refs/trace-records/priority → origin: would be replaced
    refs/traces/main → origin: would be replaced
    dry run, because there is no terminal to ask on: --yes purges
    [exit 1]
    ");
}

/// The code's history with the text, on the remote too.
fn with_code(repo: &TestRepo) -> String {
    for (file, text) in [("config", SECRET), ("notes", "hello")] {
        fs::write(repo.folder().join(file), text).unwrap();
    }
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "config"]);
    repo.git(&["rm", "-q", "config"]);
    repo.git(&["commit", "-q", "-m", "without config"]);
    repo.git(&["push", "-q", "origin", "code"]);
    repo.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

/// The tip of a ref of the remote; empty if there is none.
fn there(repo: &TestRepo, refname: &str) -> String {
    repo.git(&["ls-remote", "origin", refname]).split('\t').next().unwrap_or_default().to_owned()
}

/// Of a dropped stash, and of a commit of a trace that names the code's as the one it was picked from.
#[test]
fn a_purge_of_a_remote_leaves_the_code_that_other_commits_lead_to() {
    for is_named in [false, true] {
        let (repo, _) = shared();
        let code = with_code(&repo);
        if is_named {
            let message = format!("said\n\nTrace-Op: append\nTrace-Item: 1234567812345678\nTrace-From: {code}\n");
            let main = "refs/traces/main";
            let commit = repo.git(&["commit-tree", &format!("{main}^{{tree}}"), "-p", main, "-m", &message]);
            repo.git(&["update-ref", main, commit.trim()]);
            repo.git(&["push", "-q", "origin", main]);
        } else {
            fs::write(repo.folder().join("notes"), "work").unwrap();
            repo.git(&["stash", "-q"]);
            repo.git(&["stash", "drop", "-q"]);
        }
        let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
        let said = repo.exact(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("stays in the code's history: ") && !said.contains("refs/heads/"), "{said}");
        assert_eq!(there(&repo, "refs/heads/code"), code, "{said}");
        assert_eq!(there(&repo, "refs/traces/main"), tip(&repo), "{said}");
        let again = repo.run(&["purge", "--push", "origin", "--yes"], b"");
        assert!(again.stderr.is_empty() && again.stdout.is_empty(), "{}", repo.exact(&again));
        repo.fsck();
    }
}

#[test]
fn branches_and_tags_of_a_remote_that_lead_to_purged_commits_are_named_and_stay() {
    let (repo, _) = shared();
    repo.git(&["tag", "-a", "-m", "release", "v1", "refs/traces/main"]);
    repo.git(&["push", "-q", "origin", "refs/traces/main:refs/heads/copy", "v1"]);
    repo.git(&["tag", "-d", "v1"]);
    let before = ["refs/heads/copy", "refs/tags/v1"].map(|refname| there(&repo, refname));
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
    let said = repo.exact(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for refname in ["refs/heads/copy", "refs/tags/v1"] {
        assert!(said.contains(&format!("error: {refname} → origin: contains what was purged, and stays")), "{said}");
    }
    assert_eq!(["refs/heads/copy", "refs/tags/v1"].map(|refname| there(&repo, refname)), before);
    assert_eq!(there(&repo, "refs/traces/main"), tip(&repo));
}

/// Lets the remote run a command each time when it has received tombstones, until there is a file `once` if `is_once`.
fn when_tombstones_arrive(repo: &mut TestRepo, is_once: bool, command: &str) {
    let origin = repo.home().join("origin.git");
    let once = if is_once { "touch ../once" } else { ":" };
    let script = format!(
        "#!/bin/sh\nwhile read -r old new refname; do\n  if [ \"$refname\" = refs/trace-records/purged ] && [ ! -e ../once ]\n  \
         then {once}; unset GIT_DIR GIT_QUARANTINE_PATH; cd ../clone; {{ {command}; }} >../log 2>&1; fi\ndone\n"
    );
    repo.within(&origin, |origin| origin.set_hook("post-receive", &script));
}

#[test]
fn a_purge_of_a_remote_keeps_what_somebody_pushes_at_the_same_time() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("work of a colleague");
        repo.say(&format!("again {SECRET}"));
    });
    when_tombstones_arrive(&mut repo, true, "git push -q origin refs/traces/main");
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
    assert!(repo.home().join("once").exists());
    repo.git(&["clone", "-q", "--no-local", "../origin.git", "../fresh"]);
    let fresh = repo.home().join("fresh");
    repo.within(&fresh, |repo| {
        repo.text(&["pull"]);
        let marker = "[purged: secret]";
        assert_eq!(
            repo.bodies("main"),
            ["one", &format!("It is {marker}"), "work of a colleague", &format!("again {marker}")]
        );
        check(repo);
    });
}

#[test]
fn a_purge_of_a_remote_where_others_keep_pushing_fails_and_overwrites_nothing() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| drop(repo.text(&["pull"])));
    let commit = "main=refs/traces/main; git update-ref $main $(git commit-tree $main^{tree} -p $main -m more)";
    when_tombstones_arrive(&mut repo, false, &format!("{commit}; git push -q origin $main"));
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
    let said = repo.exact(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: refs/traces/main → origin: [rejected] (stale info); others keep pushing"), "{said}");
    let theirs = repo.git(&["-C", "../clone", "rev-parse", "refs/traces/main"]);
    assert_eq!(there(&repo, "refs/traces/main"), theirs.trim());
}

#[test]
fn two_purges_of_a_remote_at_the_same_time_remove_both_texts() {
    let (mut repo, clone) = with_two_texts();
    repo.within(&clone, |repo| drop(repo.text(&["pull"])));
    let command = format!("printf '%s' '{OTHER}' | git trace purge --text - --reason other --yes --push origin");
    when_tombstones_arrive(&mut repo, true, &command);
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], ONE.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
    assert!(repo.home().join("once").exists());
    repo.git(&["clone", "-q", "--no-local", "../origin.git", "../fresh"]);
    let fresh = repo.home().join("fresh");
    repo.within(&fresh, |repo| {
        repo.text(&["pull"]);
        has_neither(repo);
    });
}

#[test]
fn a_purge_with_push_covers_forward_crumbs_and_archives_of_others() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["forward", "leave", "--agent", "bob", "--summary", &format!("Use {SECRET}"), "--unfinished", "x"]);
        plant_archive(repo);
        let archive = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crumb-archive/"]);
        repo.text(&["push", "origin", "refs/crumbs/bob", archive.trim()]);
    });
    let refs = repo.refs();
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
    assert!(refs.contains("refs/traces/main") && !repo.refs().contains("crumb"), "{}", repo.refs());
    repo.git(&["clone", "-q", "--mirror", "--no-local", "../origin.git", "../mirror"]);
    let mirror = repo.home().join("mirror");
    repo.within(&mirror, |repo| {
        assert!(repo.refs().contains("refs/crumbs/bob") && repo.refs().contains("refs/crumb-archive/"));
        assert!(!is_anywhere(repo, "battery"));
    });
    repo.within(&clone, |repo| {
        repo.run(&["pull", "origin", "refs/crumbs/bob"], b"");
        assert!(repo.text(&["forward", "get", "--agent", "bob"]).contains("Use [purged: secret]"));
    });
}

#[test]
fn refs_of_a_remote_that_a_purge_cannot_search_are_named() {
    let (repo, _) = shared();
    for name in ["bob", "bob/x"] {
        repo.git(&["push", "-q", "origin", &format!("refs/traces/main:refs/crumbs/{name}")]);
        repo.git(&["update-ref", "refs/trace-remote-records/origin/crumbs/bob", "refs/traces/main"]);
        if name == "bob" {
            let origin = repo.home().join("origin.git");
            repo.git(&["--git-dir", origin.to_str().unwrap(), "update-ref", "-d", "refs/crumbs/bob"]);
        }
    }
    let output = repo.run(&["purge", "--text", "-", "--yes", "--push", "origin"], SECRET.as_bytes());
    let said = repo.exact(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: refs/crumbs/bob/x → origin: not searched, because "), "{said}");
}

#[test]
fn a_clone_without_the_beginning_of_a_trace_takes_over_a_purge() {
    for has_own in [false, true] {
        let (mut repo, _) = shared();
        for text in ["three", "four", "five"] {
            repo.say(text);
        }
        repo.text(&["push"]);
        let shallow = repo.home().join("shallow");
        let format = repo.git(&["rev-parse", "--show-object-format"]);
        repo.git(&["init", "-q", "--object-format", format.trim(), shallow.to_str().unwrap()]);
        repo.within(&shallow, |repo| {
            let origin = format!("file://{}", repo.home().join("origin.git").display());
            repo.git(&["remote", "add", "origin", &origin]);
            repo.git(&["fetch", "-q", "--depth", "2", "origin", "refs/traces/main:refs/traces/main"]);
            if has_own {
                repo.say("own");
            }
        });
        purge(&repo, &["--yes", "--push", "origin"]);
        repo.within(&shallow, |repo| {
            let pulled = repo.run(&["pull"], b"");
            let said = repo.exact(&pulled);
            assert!(said.contains("main: rewrote items: "), "{said}");
            let own = has_own.then_some("own");
            let expected: Vec<&str> =
                ["one", "It is [purged: leaked]", "three", "four", "five"].into_iter().chain(own).collect();
            assert_eq!(repo.bodies("main"), expected, "{said}");
            assert!(!repo.text(&["materialize"]).contains("battery"));
            repo.run(&["pull"], b"");
            repo.git(&["fsck", "--connectivity-only"]);
        });
    }
}

#[test]
fn texts_that_a_remote_has_put_into_tombstones_are_reported() {
    let purged = "{\"at\":\"2026-02-10T09:00:00Z\",\"by\":\"A <a@b>\",\"reason\":\"leaked\",\"salt\":\"0f0f\"}\n";
    for (note, subject) in [(SECRET, "purge: leaked"), ("none", SECRET)] {
        let (repo, _) = shared();
        purge(&repo, &["--yes"]);
        let item = serde_json::json!({ "item": "3a3a", "note": note });
        let output =
            run(repo.command("git").args(["hash-object", "-w", "--stdin"]), format!("{purged}{item}\n").as_bytes());
        let listing = format!("100644 blob {}\t00112233445566aa\n", String::from_utf8(output.stdout).unwrap().trim());
        let tree = String::from_utf8(run(repo.command("git").arg("mktree"), listing.as_bytes()).stdout).unwrap();
        let commit = repo.git(&["commit-tree", tree.trim(), "-m", subject]);
        repo.git(&["push", "-q", "origin", &format!("{}:refs/trace-records/purged", commit.trim())]);
        repo.run(&["pull"], b"");
        let said = repo.trace_with(&["purge", "--text", "-", "--yes"], SECRET.as_bytes());
        assert!(said.contains("stays in other texts of tombstones, in `refs/trace-purged` or as fetched: "), "{said}");
        assert!(!said.contains("stays in reasons"), "{said}");
    }
}

#[test]
fn a_purge_does_not_forget_the_address_of_a_remote() {
    let (repo, _) = shared();
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../other.git"]);
    purge(&repo, &["--yes"]);
    repo.git(&["remote", "set-url", "origin", "../other.git"]);
    repo.text(&["push", "origin", "main"]);
    assert!(!there(&repo, "refs/trace-records/priority").is_empty(), "the other remote gets the priorities");
}

/// Two clones with one item that has both texts.
fn with_both_in_one_item() -> (TestRepo, std::path::PathBuf) {
    let (mut repo, clone) = shared();
    repo.say(&format!("a {ONE} b {OTHER} c"));
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    (repo, clone)
}

#[test]
fn an_edit_of_what_an_earlier_purge_left_does_not_bring_another_text_back() {
    let (mut repo, clone) = with_both_in_one_item();
    let edited = ["one, edited", "a [purged: x] b [purged: y] c, edited"];
    purge_text(&repo, ONE, "x", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#2", "-m", &format!("{} more", repo.bodies("main")[2])]);
        repo.text(&["edit", "#0", "-m", edited[0]]);
    });
    purge_text(&repo, OTHER, "y", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main")[2], "a [purged: x] b [purged: y] c");
        has_neither(repo);
        repo.text(&["edit", "#2", "-m", edited[1]]);
        repo.text(&["compress", "#2", "-m", "a summary"]);
        repo.text(&["expand", "#2"]);
    });
    // Another purge writes these edits again, and they stay, because they were made of texts that stayed.
    purge_text(&repo, SECRET, "z", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        let bodies = repo.bodies("main");
        assert_eq!([&*bodies[0], &*bodies[2]], edited);
        repo.text(&["push"]);
    });
    repo.text(&["pull"]);
    assert_eq!(repo.bodies("main")[2], edited[1]);
    has_neither(&repo);
}

#[test]
fn a_pull_takes_a_purged_text_out_of_what_others_made_of_an_earlier_purge() {
    let (mut repo, clone) = with_both_in_one_item();
    purge_text(&repo, ONE, "x", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#2", "-m", &format!("{} more", repo.bodies("main")[2])]);
        repo.text(&["push"]);
    });
    purge_text(&repo, OTHER, "y", &[]);
    repo.run(&["pull"], b"");
    has_neither(&repo);
}

#[test]
fn a_purge_after_a_fetch_of_another_purge_is_joined_by_the_next_pull() {
    let (mut repo, clone) = with_both_in_one_item();
    repo.within(&clone, |repo| purge_text(repo, ONE, "x", &["--push", "origin"]));
    repo.text(&["fetch"]);
    purge_text(&repo, OTHER, "y", &[]);
    let pulled = repo.run(&["pull"], b"");
    assert_eq!(pulled.status.code(), Some(0), "{}", repo.exact(&pulled));
    let joined = "a [purged: x] b [purged: y] c";
    assert_eq!(repo.bodies("main")[2], joined);
    has_neither(&repo);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.say("ours");
    repo.text(&["push"]);
    let ours = tip(&repo);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!((repo.bodies("main")[2].as_str(), tip(repo)), (joined, ours));
        has_neither(repo);
    });
}

#[test]
fn a_fetch_keeps_no_purged_object_of_a_trace_that_an_independent_purge_changed() {
    let (mut repo, clone) = with_two_texts();
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge_text(&repo, OTHER, "y", &[]);
    repo.within(&clone, |repo| purge_text(repo, ONE, "x", &["--push", "origin"]));
    let fetched = repo.run(&["fetch"], b"");
    assert_eq!(fetched.status.code(), Some(1), "{}", repo.exact(&fetched));
    assert!(!is_anywhere(&repo, OTHER));
    repo.fsck();
}

#[test]
fn independent_purges_of_forward_crumbs_are_joined() {
    for texts in [&[&*format!("a {ONE} b {OTHER} c")][..], &[ONE, OTHER]] {
        let (mut repo, clone) = shared();
        let pull = ["forward", "pull", "--agent", "ada", "origin"];
        let push = ["forward", "push", "--agent", "ada", "origin"];
        let leave = |repo: &TestRepo, text: &str| {
            repo.text(&["forward", "leave", "--agent", "ada", "--summary", text]);
        };
        for text in texts {
            leave(&repo, text);
        }
        repo.text(&push);
        repo.within(&clone, |repo| repo.text(&pull));
        purge_text(&repo, OTHER, "y", &[]);
        repo.within(&clone, |repo| {
            purge_text(repo, ONE, "x", &["--push", "origin"]);
            leave(repo, "theirs");
            repo.text(&push);
        });
        let check = |repo: &TestRepo| {
            let live = repo.git(&["log", "-p", "--text", "--format=%B", "--glob=refs/crumbs/*"]);
            assert!(!live.contains(ONE) && !live.contains(OTHER), "{live}");
            assert!(live.contains("[purged: x]") && live.contains("[purged: y]") && live.contains("theirs"), "{live}");
        };
        repo.run(&["fetch", "origin", "refs/crumbs/ada"], b"");
        assert!(!is_anywhere(&repo, OTHER), "also after a fetch");
        repo.text(&pull);
        check(&repo);
        repo.text(&["purge", "--push", "origin", "--yes"]);
        leave(&repo, "ours");
        repo.text(&push);
        repo.within(&clone, |repo| {
            repo.text(&pull);
            check(repo);
        });
    }
}

#[test]
fn a_purge_of_a_remote_alone_covers_newer_forward_crumbs_and_archives_with_later_lines() {
    let (mut repo, clone) = shared();
    let leave = |repo: &TestRepo, text: &str| {
        repo.text(&["forward", "leave", "--agent", "ada", "--summary", text]);
        repo.text(&["forward", "push", "--agent", "ada", "origin"]);
    };
    leave(&repo, &format!("Use {SECRET}"));
    repo.within(&clone, |repo| {
        repo.text(&["forward", "pull", "--agent", "ada", "origin"]);
        leave(repo, "theirs");
    });
    purge(&repo, &["--yes"]);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    let origin = repo.home().join("origin.git");
    repo.within(&origin, |repo| {
        let published = repo.git(&["log", "-p", "refs/crumbs/ada"]);
        assert!(published.contains("theirs") && !published.contains(SECRET), "{published}");
    });
    plant_archive(&repo);
    let archive = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crumb-archive/"]);
    let archive = archive.trim();
    repo.text(&["push", "origin", archive]);
    repo.within(&origin, |repo| {
        let later = repo.git(&["commit-tree", &format!("{archive}^{{tree}}"), "-p", archive, "-m", "later"]);
        repo.git(&["update-ref", archive, later.trim()]);
    });
    purge(&repo, &["--yes"]);
    let lines = |repo: &TestRepo| repo.git(&["grep", "-h", "note", archive]);
    let ours = lines(&repo);
    // Also if only the remote has it.
    repo.git(&["update-ref", "-d", archive]);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.within(&origin, |repo| assert_eq!(lines(repo), ours));
}

/// Whether a ref of a remote leads to a text.
fn is_published(repo: &mut TestRepo, hub: &str, text: &str) -> bool {
    let mirror = repo.home().join("mirror");
    let _ = fs::remove_dir_all(&mirror);
    repo.git(&["clone", "-q", "--mirror", "--no-local", hub, "../mirror"]);
    repo.within(&mirror, |repo| is_anywhere(repo, text))
}

#[test]
fn a_second_purge_brings_nothing_back_that_an_earlier_one_removed() {
    let (mut repo, clone) = with_both_in_one_item();
    let note = format!("note about {ONE} and {OTHER}");
    repo.text(&["crumb", "new", "a.crumb"]);
    for _ in 0..9 {
        repo.text(&["crumb", "start", "a.crumb"]);
        repo.text(&["crumb", "note", "a.crumb", &note]);
    }
    repo.text(&["crumb", "compress", "a.crumb"]);
    fs::remove_file(repo.folder().join("a.crumb")).unwrap();
    repo.text(&["push", "origin", "refs/crumb-archive/A"]);
    for name in ["one", "two", "three"] {
        repo.text(&["branch", name]);
        repo.text(&["--trace", name, "commit", "-m", name]);
        repo.text(&["archive", "origin", name]);
    }
    repo.git(&["clone", "-q", "--bare", "../origin.git", "../two.git"]);
    for name in ["one", "main"] {
        repo.git(&["push", "-q", "../two.git", &format!("refs/traces/main:refs/traces/{name}")]);
    }
    purge_text(&repo, ONE, "x", &[]);
    purge_text(&repo, OTHER, "y", &["--push", "origin"]);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    for text in [ONE, OTHER] {
        assert!(!is_anywhere(&repo, text), "{text}");
        assert!(!is_published(&mut repo, "../origin.git", text), "{text}");
    }
    repo.text(&["switch", "one"]);
    assert_eq!(repo.bodies("one")[2], "a [purged: x] b [purged: y] c");
    // A clone with the original among its backups, and another remote.
    repo.within(&clone, |repo| {
        repo.git(&["remote", "add", "two", "../two.git"]);
        repo.text(&["pull"]);
        purge_text(repo, "two words", "z", &["--push", "two"]);
    });
    for text in [ONE, OTHER] {
        assert!(!is_published(&mut repo, "../two.git", text), "{text}");
    }
}

#[test]
fn a_purge_of_a_remote_keeps_no_purged_object_of_an_archived_trace() {
    let (repo, _) = shared();
    repo.text(&["branch", "old"]);
    repo.text(&["--trace", "old", "commit", "-m", &format!("old: {SECRET}")]);
    repo.text(&["archive", "origin", "old"]);
    purge(&repo, &["--yes"]);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    check(&repo);
}

#[test]
fn an_undo_and_a_push_do_not_bring_a_purged_reason_or_line_back() {
    let (mut repo, clone) = shared();
    plant_archive(&repo);
    let archive = "refs/crumb-archive/A";
    repo.text(&["pin", "#0", "--reason", &format!("because {SECRET} is in it")]);
    repo.text(&["push"]);
    repo.git(&["clone", "-q", "--mirror", "--no-local", ".", "../before"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["unpin", "#0"]);
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        let log = repo.text(&["op", "log"]);
        let unpin = log.lines().find(|line| line.contains("unpin")).unwrap().split_whitespace().next().unwrap();
        repo.text(&["undo", unpin]);
        assert!(repo.text(&["priority", "#0"]).contains("pinned"));
        repo.text(&["push"]);
    });
    repo.text(&["pull"]);
    check(&repo);
    // As plain git brings them.
    repo.git(&[
        "fetch",
        "-q",
        "../before",
        &format!("+{archive}:{archive}"),
        "+refs/trace-priority:refs/trace-priority",
    ]);
    for refname in ["main", archive] {
        let pushed = repo.run(&["push", "origin", refname], b"");
        let said = repo.exact(&pushed);
        assert_eq!(pushed.status.code(), Some(1), "{said}");
        assert!(said.contains("lines contain what was purged by A U Thor"), "{said}");
    }
    assert!(!is_published(&mut repo, "../origin.git", "horse"));
    repo.text(&["pull"]);
    repo.text(&["push"]);
}

#[test]
fn a_purged_reason_or_subject_that_was_only_fetched_does_not_come_back() {
    let text = format!("because {ONE} is not {OTHER}, and so on");
    let item = ["commit", "-m", "innocent", "-s", &*text];
    for args in [&["pin", "#1", "--reason", &text][..], &["delete", "#1", "--reason", &text], &item] {
        let (mut repo, clone) = with_both_in_one_item();
        let third = repo.home().join("third");
        repo.git(&["clone", "-q", "--no-local", "../origin.git", "../third"]);
        repo.within(&third, |repo| repo.text(&["pull"]));
        repo.text(args);
        repo.text(&["push"]);
        repo.within(&third, |repo| repo.text(&["fetch"]));
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            purge_text(repo, OTHER, "private", &["--push", "origin"]);
        });
        repo.within(&third, |repo| {
            purge_text(repo, ONE, "leaked", &[]);
            repo.run(&["pull"], b"");
            assert!(!is_anywhere(repo, ONE), "{args:?}");
            has_neither(repo);
            let record = repo.git(&[
                "log",
                "-p",
                "--text",
                "--format=%B",
                "--glob=refs/traces/*",
                "--glob=refs/trace-priority*",
            ]);
            assert!(record.contains("because [purged: leaked] is not [purged: private], and so on"), "{record}");
            assert!(!repo.refs().contains("refs/trace-kept/"), "{}", repo.refs());
        });
    }
}

#[test]
fn a_pull_removes_no_commit_that_the_commit_graph_still_names() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.git(&["config", "fetch.writeCommitGraph", "true"]);
        purge(repo, &["--yes"]);
    });
    repo.say("more");
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.fsck();
        repo.git(&["commit-graph", "verify"]);
    });
}

/// A remote whose second address has what a colleague pushed only there.
fn with_two_addresses() -> (TestRepo, std::path::PathBuf) {
    let (mut repo, clone) = shared();
    repo.git(&["clone", "-q", "--mirror", "../origin.git", "../other.git"]);
    repo.within(&clone, |repo| {
        repo.git(&["remote", "set-url", "origin", "../other.git"]);
        repo.text(&["pull"]);
        repo.say(&format!("again {SECRET}"));
        repo.text(&["branch", "more"]);
        repo.text(&["push", "origin", "main", "more"]);
    });
    (repo, clone)
}

fn is_at(repo: &TestRepo, hub: &str) -> bool {
    let log = repo.git(&[&format!("--git-dir=../{hub}"), "log", "-m", "-p", "--all", "--format=%B"]);
    log.contains("horse")
}

fn purge_at_origin(repo: &TestRepo, args: &[&str]) -> (Option<i32>, String) {
    let args = [&["purge", "--text", "-", "--reason", "leaked", "--push", "origin"], args].concat();
    let output = repo.run(&args, SECRET.as_bytes());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn each_address_of_a_remote_is_purged() {
    let (mut repo, clone) = with_two_addresses();
    for hub in ["../origin.git", "../other.git"] {
        repo.git(&["config", "--add", "remote.origin.pushurl", hub]);
    }
    let (status, said) = purge_at_origin(&repo, &["--yes"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("refs/traces/more → ../other.git: "), "{said}");
    assert_eq!(["origin.git", "other.git"].map(|hub| is_at(&repo, hub)), [false; 2], "{said}");
    check(&repo);
    // Both have the same items afterwards, except those that only one of them had.
    repo.text(&["pull"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "again [purged: leaked]"]);
    });
}

#[test]
fn an_address_that_cannot_be_reached_stops_no_other() {
    let (repo, _) = with_two_addresses();
    for hub in ["../nothere.git", "../origin.git", "../other.git"] {
        repo.git(&["config", "--add", "remote.origin.pushurl", hub]);
    }
    let (status, said) = purge_at_origin(&repo, &["--dry-run"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("refs/traces/main → ../origin.git: would be replaced"), "{said}");
    let (status, said) = purge_at_origin(&repo, &["--yes"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("nothere.git") && said.contains("error: `git fetch` failed"), "{said}");
    assert!(said.ends_with("note: what it changed until then stays; repeat it for the rest\n"), "{said}");
    assert_eq!(["origin.git", "other.git"].map(|hub| is_at(&repo, hub)), [false; 2], "{said}");
    check(&repo);
    // Nor does a remote that has no other one stop the purge here.
    repo.git(&["remote", "add", "gone", "../nothere.git"]);
    repo.say(SECRET);
    let output = repo.run(&["purge", "--text", "-", "--push", "gone", "--yes"], SECRET.as_bytes());
    assert_eq!(output.status.code(), Some(1), "{}", repo.exact(&output));
    check(&repo);
}

#[test]
fn an_address_that_is_only_fetched_from_is_named_and_stays() {
    let (repo, _) = with_two_addresses();
    repo.git(&["config", "remote.origin.pushurl", "../other.git"]);
    for args in ["--dry-run", "--yes", "--yes"] {
        let before = repo.git(&["ls-remote", "../origin.git"]);
        let (status, said) = purge_at_origin(&repo, &[args]);
        assert_eq!(status, Some(1), "{said}");
        let left =
            "refs/traces/main → ../origin.git: contains what was purged, and stays: git only fetches from this address";
        assert!(said.contains(left), "{args}: {said}");
        assert_eq!(repo.git(&["ls-remote", "../origin.git"]), before);
        assert_eq!(is_at(&repo, "other.git"), args == "--dry-run", "{said}");
    }
    repo.git(&["remote", "add", "hub", "../origin.git"]);
    repo.text(&["purge", "--push", "hub", "--yes"]);
    assert!(!is_at(&repo, "origin.git"));
    repo.text(&["purge", "--push", "origin", "--yes"]);
}

#[test]
fn names_and_keys_that_differed_only_in_the_text_still_differ() {
    let (mut repo, clone) = shared();
    let rule = |repo: &TestRepo, name: &str, text: &str| {
        repo.text(&["commit", "-t", "instruction", "--name", name, "-m", text]);
    };
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        rule(repo, "rules-acme2", "Push on Fridays.");
        repo.text(&["push"]);
    });
    rule(&repo, "rules-acme1", "Answer briefly.");
    rule(&repo, "rules-acme2", "Never push.");
    let arguments = r#"{"acme1":"one","b":{"acme1":3,"acme2":4},"acme2":"two"}"#;
    repo.text(&[
        "commit",
        "-t",
        "tool_io",
        "--set",
        "direction=call",
        "--name",
        "run",
        "--call-id",
        "c",
        "-m",
        arguments,
    ]);
    repo.text(&["commit", "--meta", "k-acme1=one", "--meta", "k-acme2=two", "-m", "with meta"]);
    // One instruction replaces the other one of its name.
    repo.text(&["pull"]);
    repo.text(&["push"]);
    let bodies = repo.bodies("main");
    assert_eq!(bodies.iter().filter(|body| body.contains("ush")).count(), 2, "{bodies:?}");
    let instructions = |repo: &TestRepo| repo.text(&["materialize"]).lines().nth(1).unwrap().to_owned();
    let purge = |repo: &TestRepo, options: &[&str]| {
        repo.text(&[&["purge", "--pattern", "acme[12]", "--yes"], options].concat());
    };
    let before = instructions(&repo);
    assert!(before.contains("Answer") && before.contains("Push") != before.contains("Never"), "{before}");
    repo.git(&["clone", "-q", "../origin.git", "../other"]);
    let other = repo.home().join("other");
    for folder in [&clone, &other] {
        repo.within(folder, |repo| {
            repo.text(&["pull"]);
            repo.say("mine");
        });
    }
    purge(&repo, &["--push", "origin"]);
    assert_eq!(instructions(&repo), before);
    let assert_purged = |repo: &TestRepo| {
        assert_eq!(instructions(repo), before);
        let body = r#"{"[purged: secret]":"one","b":{"[purged: secret]":3,"[purged: secret][purged: secret]":4},"[purged: secret][purged: secret]":"two"}"#;
        let files = repo.git(&["grep", "-h", "", "refs/traces/main"]);
        assert!(files.contains(&format!("{body}\n")), "{files}");
        let meta = r#"meta: {"k-[purged: secret]":"one","k-[purged: secret][purged: secret]":"two"}"#;
        assert!(files.contains(meta), "{files}");
        repo.fsck();
    };
    assert_purged(&repo);
    // A pull takes over what the purge left, and an independent purge leaves the same.
    for (folder, is_independent) in [(&clone, false), (&other, true)] {
        repo.within(folder, |repo| {
            if is_independent {
                purge(repo, &[]);
            }
            repo.text(&["pull"]);
            assert_purged(repo);
            repo.text(&["push"]);
        });
    }
    assert_purged(&repo);
}

#[test]
fn tags_that_lead_to_purged_content_are_reported_and_renewed_by_a_pull() {
    let (mut repo, clone) = shared();
    repo.git(&["push", "-q", "origin", "refs/trace-tags/*:refs/kept/*"]);
    let tags = |repo: &TestRepo| repo.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/trace-tags/"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("undone");
        repo.text(&["skip", "#2"]);
        repo.text(&["reset", "#1"]);
        assert_eq!(tags(repo).lines().count(), 2);
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    let renewed = tags(&repo);
    repo.git(&["fetch", "-q", "origin", "+refs/kept/*:refs/trace-tags/*"]);
    insta::assert_snapshot!(repo.trace(&["fsck"]), @"
    error: refs/trace-tags/pinned/[ID]: commit [SHORT]: purged: it contains what was purged by A U Thor <author@example.com> at 2026-02-10T09:00:18Z: leaked; purged objects and lines: 2; `git trace pull` applies the purges of others; `git trace purge` removes content again
    --- stderr
    traces checked: 1, commits: 4, items: 2, errors: 1, warnings: 0
    [exit 1]
    ");
    repo.text(&["pull"]);
    assert_eq!(tags(&repo), renewed);
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(tags(repo), renewed);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    });
}

#[test]
fn refs_that_a_mirror_copied_to_the_remote_are_purged_there() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say(&format!("again {SECRET}"));
        repo.text(&["pin", "#2", "--reason", &format!("about {SECRET}")]);
        repo.text(&["edit", "#2", "-m", "nothing"]);
        repo.text(&["reset", "#1"]);
        repo.git(&["push", "-q", "--mirror", "origin"]);
    });
    let kept = repo.git(&["ls-remote", "origin", "refs/trace-orig/*", "refs/trace-priority", "refs/trace-tags/*"]);
    assert!(kept.lines().count() > 2, "{kept}");
    assert!(is_at(&repo, "origin.git"));
    repo.git(&["clone", "-q", "--mirror", "../origin.git", "../second.git"]);
    let (status, said) = purge_at_origin(&repo, &["--yes"]);
    assert!(!is_at(&repo, "origin.git"), "{status:?} {said}");
    assert_eq!(status, Some(0), "{said}");
    // Refs that a purge fetches for an earlier one do not stay, either.
    repo.git(&["remote", "add", "second", "../second.git"]);
    repo.text(&["purge", "--push", "second", "--yes"]);
    assert!(!is_at(&repo, "second.git"));
    let fetched = repo.git(&["for-each-ref", "refs/trace-remote-records/*/trace-*"]);
    assert_eq!(fetched, "");
    repo.git(&["reflog", "expire", "--expire=all", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    check(&repo);
}

#[test]
fn refs_of_git_trace_at_a_remote_to_other_objects_are_named_and_not_kept() {
    let (mut repo, clone) = shared();
    let mut pushed = Vec::new();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say(&format!("mine {SECRET}"));
        repo.git(&["tag", "-a", "-m", "release", "v1", "refs/traces/main"]);
        fs::write(repo.folder().join("config"), SECRET).unwrap();
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "config"]);
        let objects = ["HEAD:config", "HEAD^{tree}", "HEAD", "v1", "HEAD:config", "HEAD^{tree}"];
        let names = ["trace-x/blob", "trace-x/tree", "trace-orig/code", "trace-orig/tag", "crumbs/blob", "traces/tree"];
        for (object, name) in objects.into_iter().zip(names) {
            let oid = repo.git(&["rev-parse", object]);
            repo.git(&["push", "-q", "origin", &format!("{}:refs/{name}", oid.trim())]);
            pushed.push(format!("refs/{name}"));
        }
    });
    for is_again in [false, true] {
        let (status, said) = purge_at_origin(&repo, &["--yes"]);
        assert_eq!(status, Some(1), "{said}");
        assert!(!said.contains("keep pushing"), "{said}");
        for refname in &pushed {
            let line = format!("error: {refname} → origin: is not a commit of git-trace, so nothing replaces it");
            assert_eq!(said.matches(&line).count(), 1, "{is_again} {refname}: {said}");
            assert_ne!(there(&repo, refname), "", "{refname}");
        }
        assert_eq!(
            repo.git(&[
                "for-each-ref",
                "refs/trace-remote-records/origin/trace-*",
                "refs/trace-remote-records/origin/crumbs"
            ]),
            ""
        );
        repo.git(&["update-ref", "-d", "refs/trace-remotes/origin/tree"]);
        repo.git(&["reflog", "expire", "--expire=all", "--all"]);
        repo.git(&["gc", "-q", "--prune=now"]);
        check(&repo);
    }
}

/// Two clones with an item that contains one text. The first one edits it, so that it contains both, and purges the other text.
fn with_purged_edit(is_pushed: bool) -> (TestRepo, std::path::PathBuf) {
    let (mut repo, clone) = shared();
    repo.say(&format!("a {ONE} b"));
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    repo.text(&["edit", "#2", "-m", &format!("a {ONE} b {OTHER} c")]);
    if is_pushed {
        repo.text(&["push"]);
    }
    (repo, clone)
}

#[test]
fn a_purge_that_did_not_know_of_another_one_exempts_nothing_from_it() {
    for is_picked in [false, true] {
        let (mut repo, clone) = with_purged_edit(false);
        purge_text(&repo, OTHER, "y", &[]);
        if is_picked {
            repo.text(&["switch", "-c", "idea", "#0"]);
            repo.text(&["cherry-pick", "main", "#2"]);
            repo.text(&["push", "origin", "idea"]);
        }
        let file = repo.home().join("export.jsonl");
        fs::write(&file, repo.bytes(&["export"])).unwrap();
        repo.within(&clone, |repo| {
            purge_text(repo, ONE, "x", &["--push", "origin"]);
            repo.text(&["pull"]);
            assert!(!is_anywhere(repo, ONE), "in the clone that purged it");
        });
        repo.text(&["pull"]);
        repo.text(&["purge", "--push", "origin", "--yes"]);
        let imported = repo.import("again", &file);
        assert_eq!(imported["traces"][0]["purged"], 1, "{imported}");
        repo.text(&["push", "origin", "*"]);
        has_neither(&repo);
        let bodies = repo.bodies("main");
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            assert_eq!(repo.bodies("main"), bodies);
            has_neither(repo);
            assert!(!is_anywhere(repo, ONE));
        });
    }
}

#[test]
fn a_purge_exempts_nothing_that_an_earlier_one_left_in_a_trace_that_was_not_here() {
    let (mut repo, clone) = shared();
    repo.say(&format!("a {ONE} b"));
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    repo.text(&["branch", "idea"]);
    repo.text(&["--trace", "idea", "edit", "#2", "-m", &format!("a {ONE} b {OTHER} c")]);
    purge_text(&repo, OTHER, "y", &[]);
    repo.text(&["push", "origin", "main"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull", "origin", "main"]);
        purge_text(repo, ONE, "x", &[]);
    });
    repo.text(&["push", "origin", "idea"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert!(!is_anywhere(repo, ONE));
        repo.text(&["purge", "--push", "origin", "--yes"]);
    });
    repo.text(&["pull"]);
    has_neither(&repo);
}

#[test]
fn a_purge_that_was_not_applied_here_is_not_known_to_a_later_one() {
    for (is_undone, is_edited_before) in [(true, true), (true, false), (false, false)] {
        let (mut repo, clone) = shared();
        repo.say(&format!("a {ONE} b"));
        repo.text(&["push"]);
        let edit = |repo: &TestRepo, one: &str| {
            repo.text(&["edit", "#2", "-m", &format!("a {one} b {OTHER} c")]);
        };
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            if is_edited_before {
                edit(repo, ONE);
            }
        });
        purge_text(&repo, ONE, "x", &["--push", "origin"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            if is_undone {
                repo.text(&["undo"]);
            }
            if !is_edited_before {
                edit(repo, if is_undone { ONE } else { "[purged: x]" });
            }
            purge_text(repo, OTHER, "y", &[]);
            if is_undone {
                assert!(!repo.run(&["push"], b"").status.success());
            }
            repo.text(&["pull"]);
            has_neither(repo);
            repo.text(&["push"]);
        });
        repo.text(&["pull"]);
        has_neither(&repo);
        assert!(!is_anywhere(&repo, ONE));
        let left = if is_undone { "a [purged: x] b" } else { "a [purged: x] b [purged: y] c" };
        assert_eq!(repo.bodies("main")[2], left, "{is_undone} {is_edited_before}");
    }
}

#[test]
fn a_revision_without_text_does_not_bring_purged_headers_back() {
    let (mut repo, clone) = shared();
    repo.text(&["commit", "--meta", &format!("note=see {ONE}"), "-m", "plain words"]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    repo.text(&["edit", "#2", "-m", OTHER]);
    purge_text(&repo, OTHER, "y", &[]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        purge_text(repo, ONE, "x", &[]);
        repo.text(&["pull"]);
        assert!(!is_anywhere(repo, ONE));
        repo.text(&["purge", "--push", "origin", "--yes"]);
    });
    repo.text(&["pull"]);
    has_neither(&repo);
    assert_eq!(repo.bodies("main")[2], "[purged: y]");
}

#[test]
fn a_text_that_was_purged_before_it_was_pulled_does_not_come_back() {
    let (mut repo, clone) = shared();
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    repo.text(&["edit", "#0", "-m", &format!("a {ONE} b {OTHER} c")]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["fetch"]);
        purge_text(repo, ONE, "x", &[]);
    });
    purge_text(&repo, OTHER, "y", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        let fetched = repo.run(&["fetch"], b"");
        assert_eq!(fetched.status.code(), Some(1), "{}", repo.exact(&fetched));
        repo.text(&["pull"]);
        assert!(!is_anywhere(repo, ONE));
        repo.text(&["purge", "--push", "origin", "--yes"]);
    });
    repo.text(&["pull"]);
    has_neither(&repo);
    let state = (repo.bodies("main"), tip(&repo));
    assert_eq!(state.0[0], "a [purged: x] b [purged: y] c");
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!((repo.bodies("main"), tip(repo)), state);
    });
}

#[test]
fn a_purge_keeps_what_an_earlier_one_left_of_other_revisions() {
    let repo = TestRepo::new();
    repo.say(&format!("a {ONE} b"));
    repo.text(&["edit", "#0", "-m", &format!("c {OTHER} d")]);
    purge_text(&repo, ONE, "x", &[]);
    purge_text(&repo, OTHER, "y", &[]);
    let exported = repo.bytes(&["export"]);
    repo.bytes_with(&["--trace", "again", "import", "jsonl", "-"], &exported);
    assert_eq!(repo.bodies("again"), ["c [purged: y] d"]);
    assert!(repo.git(&["log", "-p", "--text", "refs/traces/again"]).contains("+a [purged: x] b"));
}

#[test]
fn a_form_that_was_joined_in_another_trace_is_joined_everywhere() {
    let (mut repo, clone) = with_both_in_one_item();
    repo.text(&["branch", "idea"]);
    repo.text(&["--trace", "idea", "commit", "-m", "only here"]);
    purge_text(&repo, OTHER, "y", &[]);
    assert_eq!(repo.run(&["push", "origin", "*"], b"").status.code(), Some(1), "main was not purged there");
    repo.within(&clone, |repo| purge_text(repo, ONE, "x", &["--push", "origin"]));
    repo.text(&["pull"]);
    has_neither(&repo);
    assert!(!is_anywhere(&repo, OTHER));
    assert_eq!(repo.bodies("main")[2], "a [purged: x] b [purged: y] c");
}

#[test]
fn a_purged_reason_does_not_come_back_in_a_line_of_other_bytes() {
    for reason in [format!("because {ONE} is what the reviewers asked for"), ONE.to_owned()] {
        let (mut repo, clone) = shared();
        repo.within(&clone, |repo| repo.text(&["pull"]));
        repo.text(&["pin", "#0", "--reason", &reason]);
        let exported = repo.bytes(&["export"]);
        repo.within(&clone, |repo| {
            // An imported priority has no position.
            repo.bytes_with(&["import", "jsonl", "-"], &exported);
            repo.text(&["push"]);
        });
        purge_text(&repo, ONE, "x", &[]);
        let fetched = repo.run(&["fetch"], b"");
        assert_eq!(fetched.status.code(), Some(1), "{}", repo.exact(&fetched));
        repo.text(&["pull"]);
        assert!(!is_anywhere(&repo, ONE));
        // As plain git brings it.
        repo.git(&["fetch", "-q", "origin", "+refs/trace-records/priority:refs/trace-priority"]);
        assert!(repo.run(&["fsck"], b"").stdout.windows(6).any(|text| text == b"purged"));
    }
}

#[test]
fn a_pull_applies_a_purge_to_what_the_remote_has_too() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["branch", "idea"]);
        repo.text(&["push", "origin", "idea"]);
    });
    repo.git(&["clone", "-q", "../origin.git", "../third"]);
    let third = repo.home().join("third");
    repo.within(&third, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.contains("idea: new, at ") && said.ends_with("[exit 0]"), "{said}");
        assert_eq!(repo.bodies("idea"), ["one", "It is [purged: leaked]"]);
    });
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.contains("idea: rewrote items: #1"), "{said}");
        assert!(said.contains("origin/idea: pulled without what was purged here"), "{said}");
        assert!(said.contains("idea: up to date") && said.ends_with("[exit 0]"), "{said}");
        assert_eq!(repo.bodies("idea"), ["one", "It is [purged: leaked]"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.text(&["merge", "idea"]);
        repo.text(&["purge", "--push", "origin", "--yes"]);
        assert_eq!(repo.text(&["pull"]), "idea: up to date\nmain: up to date\n");
    });
    assert_eq!(there(&repo, "refs/traces/idea"), there(&repo, "refs/traces/main"));
}

#[test]
fn a_push_brings_nothing_back_that_a_fetched_purge_removed() {
    let (mut repo, clone) = shared();
    repo.text(&["pin", "#0", "--reason", &format!("because of {SECRET}")]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["unpin", "#0"]);
        // The push is behind, and fetches the tombstones with the priorities.
        let pushed = repo.run(&["push", "origin", "main"], b"");
        assert_eq!(pushed.status.code(), Some(1), "{}", repo.exact(&pushed));
        repo.run(&["fetch"], b"");
        repo.text(&["unpin", "#1"]);
        repo.text(&["branch", "idea"]);
        let pushed = repo.run(&["push", "origin", "idea"], b"");
        let said = repo.exact(&pushed);
        assert_eq!(pushed.status.code(), Some(1), "{said}");
        assert!(said.contains("idea → origin: [rejected] (it contains what was purged by A U Thor"), "{said}");
    });
    assert!(!is_published(&mut repo, "../origin.git", "horse"));
}

#[test]
fn a_pull_that_rewrites_only_reasons_does_not_offer_an_undo() {
    let (mut repo, clone) = shared();
    let text = "the reason alone";
    repo.text(&["pin", "#0", "--reason", text]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge_text(&repo, text, "leaked", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.contains("reasons rewritten: 1") && !said.contains("undo"), "{said}");
        assert!(
            said.contains("the earlier states are kept below `refs/trace-orig/`; to remove them, purge the text"),
            "{said}"
        );
    });
}

/// The beginning of a purged text, at the end of the subject of another item, may be that of any other text.
#[test]
fn a_cut_subject_that_an_item_without_the_text_has_too_stays_there_and_is_pulled() {
    let (mut repo, clone) = shared();
    let folder = "/home/dev/clients/acme-holding/departments/legal/contracts/year-2026";
    for file in ["merger.txt", "other.txt"] {
        repo.say(&format!("read {folder}/{file}"));
    }
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge_text(&repo, &format!("{folder}/merger"), "leaked", &["--push", "origin"]);
    let tip = there(&repo, "refs/traces/main");
    assert!(repo.bodies("main").contains(&format!("read {folder}/other.txt")));
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.ends_with("[exit 0]"), "{said}");
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim(), tip);
    });
}

#[test]
fn headers_of_an_edit_that_a_purge_has_not_seen_do_not_come_back() {
    let (mut repo, clone) = shared();
    let id = "xIDSECRETx";
    repo.text(&["commit", "-m", "please log in to the server", "--set", &format!("turn={id}")]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#2", "-m", "edited meanwhile, and longer than before"]);
        repo.text(&["push"]);
    });
    purge_text(&repo, "IDSECRET", "secret", &[]);
    let said = repo.trace(&["purge", "--push", "origin", "--yes"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    let tip = there(&repo, "refs/traces/main");
    let is_there = |repo: &TestRepo, tip: &str| {
        let listed = repo.git(&["rev-list", "--objects", tip]);
        listed.lines().any(|line| repo.git(&["cat-file", "-p", line.split(' ').next().unwrap()]).contains("IDSECRET"))
    };
    repo.git(&["fetch", "-q", "origin", "refs/traces/main"]);
    assert!(!is_there(&repo, &tip));
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.ends_with("[exit 0]"), "{said}");
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim(), tip);
        assert!(!is_there(repo, &tip));
    });
}

#[test]
fn an_edit_of_the_type_of_a_purged_item_stays_a_file_of_that_type() {
    let (mut repo, clone) = shared();
    repo.text(&["commit", "-t", "artifact", "-m", "the key KEY-1234567890 is here, and more text"]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#2", "-t", "freeform"]);
    });
    purge_text(&repo, "KEY-1234567890", "secret", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        assert!(!repo.text(&["materialize"]).contains("type: artifact"));
    });
}

#[test]
fn an_imported_export_is_no_other_form_of_the_trace() {
    let (mut repo, clone) = shared();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("some body with KEY-0123456789");
    repo.say("last");
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.git(&["config", "user.name", "B"]);
        repo.text(&["pull"]);
        let exported = repo.text(&["export"]);
        assert!(repo.run(&["import", "jsonl", "-", "--trace", "imp"], exported.as_bytes()).status.success());
    });
    purge_text(&repo, "KEY-0123456789", "secret", &[]);
    repo.within(&clone, |repo| {
        purge_text(repo, "last", "secret", &["--push", "origin"]);
        repo.text(&["push", "origin", "*"]);
    });
    let _ = repo.trace(&["purge", "--push", "origin", "--yes"]);
    for _ in 0..2 {
        repo.within(&clone, |repo| drop(repo.trace(&["pull"])));
        repo.trace(&["pull"]);
        repo.trace(&["purge", "--push", "origin", "--yes"]);
    }
    repo.within(&clone, |repo| assert!(repo.trace(&["pull"]).ends_with("[exit 0]")));
    assert!(repo.trace(&["pull"]).ends_with("[exit 0]"));
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
}

#[test]
fn a_pull_accepts_that_a_purge_removed_one_entry_of_metadata() {
    let (mut repo, clone) = shared();
    repo.text(&["commit", "-m", "an answer", "--meta", "api_key=k123456789", "--meta", "model=m"]);
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    repo.text(&["purge", "--pattern", r#""api_key":"[^"]*""#, "--yes", "--push", "origin"]);
    let tip = there(&repo, "refs/traces/main");
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.ends_with("[exit 0]"), "{said}");
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim(), tip);
        assert!(repo.bodies("main").contains(&"an answer".to_owned()));
        assert_eq!(repo.json(&["show", "#2", "--json"])["meta"], serde_json::json!({ "model": "m" }));
    });
}

#[test]
fn a_marker_without_a_replacement_keeps_nothing_that_was_derived_from_the_text() {
    let (mut repo, clone) = shared();
    let text = format!("{SECRET} hello {}", (1..33).map(|number| number.to_string()).collect::<Vec<_>>().join(" "));
    repo.trace_with(&["commit", "-t", "reasoning", "--set", "signature=SEALED", "-"], text.as_bytes());
    repo.say("the end");
    repo.text(&["push"]);
    let file = |repo: &TestRepo| {
        let listed = repo.git(&["ls-tree", "-r", "refs/traces/main"]);
        let line = listed.lines().find(|line| line.contains("-reasoning-")).unwrap();
        repo.git(&["cat-file", "-p", line.split([' ', '\t']).nth(2).unwrap()])
    };
    let count = file(&repo).lines().find(|line| line.starts_with("tokens: ")).unwrap().to_owned();
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge(&repo, &["--yes"]);
    repo.git(&["push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
    repo.within(&clone, |repo| {
        repo.run(&["pull"], b"");
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.text(&["pull"]);
        let left = file(repo);
        assert!(left.contains("[purged: ") && !left.contains("SEALED") && !left.contains(&count), "{left}");
    });
    // The clone that purged comes back.
    for _ in 0..2 {
        repo.run(&["pull"], b"");
        repo.text(&["push"]);
        repo.within(&clone, |repo| repo.run(&["pull"], b""));
    }
    check(&repo);
    let ours = tip(&repo);
    repo.within(&clone, |repo| assert_eq!(tip(repo), ours));
}

#[test]
fn a_purged_title_does_not_come_back_with_unpushed_commits() {
    let (mut repo, clone) = shared();
    let file = repo.home().join("session.jsonl");
    let title = serde_json::json!({ "type": "summary", "summary": format!("Fix {SECRET} login"), "leafUuid": "u1" });
    let said = serde_json::json!({ "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s1",
        "timestamp": "2026-01-06T14:55:06.837Z", "message": { "role": "user", "content": "hello there" } });
    fs::write(&file, format!("{title}\n{said}\n")).unwrap();
    repo.text(&["import", "claude-code", file.to_str().unwrap(), "--trace", "titled"]);
    repo.text(&["push", "origin", "titled"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["--trace", "titled", "commit", "-m", "unpushed"]);
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    let check_title = |repo: &TestRepo| {
        let status = repo.text(&["--trace", "titled", "status"]);
        assert!(status.contains("Fix [purged: leaked] login"), "{status}");
    };
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        check_title(repo);
        repo.text(&["push", "origin", "titled"]);
    });
    repo.text(&["pull"]);
    check_title(&repo);
}

#[test]
fn words_of_a_purged_item_that_another_item_has_are_not_refused() {
    let (repo, _) = shared();
    let guide = "# Guide for the acme backend services and their deployment on staging";
    let say = |trace: &str, text: &str| {
        repo.trace_with(
            &["--trace", trace, "commit", "-t", "instruction", "-"],
            format!("{guide}\n\n{text}").as_bytes(),
        )
    };
    say("one", "The key is abc.");
    repo.text(&["--trace", "one", "delete", "#0", "--reason", "not needed after the refactoring of the parser"]);
    repo.text(&["push", "origin", "one"]);
    repo.text(&["--trace", "one", "purge", "#0", "--yes", "--push", "origin"]);
    say("two", "The key is in the vault.");
    repo.text(&["--trace", "two", "delete", "#0", "--reason", "not needed after the refactoring of the parser"]);
    repo.text(&["push", "origin", "two"]);
    assert!(repo.git(&["log", "--format=%s", "refs/traces/two"]).contains("# Guide for the acme"));
}

#[test]
fn a_purge_of_a_trace_that_the_remote_no_longer_has_waits_for_its_replacement() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "main"]);
        repo.text(&["switch", "-c", "branch"]);
        repo.say("mine");
    });
    repo.git(&["push", "-q", "origin", ":refs/traces/main"]);
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.contains("branch: contains what others purged, and no replacement was fetched; `git trace --trace branch purge ITEM`"), "{said}");
        assert!(repo.trace(&["fsck"]).contains("it contains what was purged by A U Thor"));
    });
    repo.text(&["push", "origin", "main"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("branch"), ["one", "It is [purged: leaked]", "mine"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.text(&["push", "origin", "branch"]);
    });
}

#[test]
fn a_purged_reason_is_taken_out_of_all_traces_with_its_commit() {
    let (mut repo, clone) = shared();
    repo.text(&["branch", "base"]);
    repo.text(&["delete", "#0", "--reason", "it names hunter2-Nachtigall here"]);
    repo.text(&["push", "origin", "main", "base"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["switch", "base"]);
        repo.say("on base");
        repo.text(&["switch", "main"]);
        repo.say("on main");
        repo.text(&["rebase", "base"]);
        repo.text(&["branch", "second"]);
    });
    // Nothing else is purged in these traces.
    purge_text(&repo, "hunter2-Nachtigall", "secret", &["--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        for name in ["main", "second"] {
            assert!(!repo.git(&["log", "--format=%B", &format!("refs/traces/{name}")]).contains("hunter2"), "{name}");
        }
        repo.text(&["push", "origin", "second"]);
    });
}

#[test]
fn two_imports_of_an_export_in_one_second_are_no_forms_of_each_other() {
    let (mut repo, clone) = shared();
    repo.say("other KEY-0123456789");
    repo.text(&["push"]);
    repo.within(&clone, |repo| repo.text(&["pull"]));
    let exported = repo.text(&["export"]);
    let import = |repo: &TestRepo, trace: &str, name: &str| {
        let mut command = repo.command("git-trace");
        command.args(["import", "jsonl", "-", "--trace", trace]).env("GIT_COMMITTER_DATE", "@1790000000 +0000");
        command.env("GIT_COMMITTER_NAME", name).env("GIT_AUTHOR_NAME", name);
        assert!(run(&mut command, exported.as_bytes()).status.success());
    };
    import(&repo, "first", "A");
    repo.within(&clone, |repo| import(repo, "second", "B"));
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        purge_text(repo, "KEY-0123456789", "secret", &["--push", "origin"]);
        repo.text(&["push", "origin", "second"]);
    });
    repo.text(&["pull"]);
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    repo.text(&["push", "origin", "first"]);
}

#[test]
fn a_purge_where_others_push_to_says_that_they_do_not_learn_of_it() {
    let (mut repo, _) = shared();
    repo.text(&["pin", "#0"]);
    repo.text(&["push"]);
    let origin = repo.git(&["remote", "get-url", "origin"]);
    let hub = repo.folder().join(origin.trim());
    repo.within(&hub, |repo| {
        let mut command = repo.command("git-trace");
        let output = run(command.args(["--trace", "main", "purge", "--text", "-", "--yes"]), SECRET.as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("clones that push here do not learn of this purge"), "{said}");
    });
}

#[test]
fn a_push_of_a_purged_text_names_the_item_that_has_it() {
    let (mut repo, clone) = shared();
    let text = format!("The key is {SECRET}.");
    repo.say(&text);
    repo.text(&["push"]);
    let item = repo.within(&clone, |repo| repo.commit(&["--trace", "own", "-m", &text]));
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        let said = repo.trace(&["push", "origin", "own"]);
        assert!(
            said.contains("; if `git trace pull` leaves it, `git trace --trace own purge [ID]` takes it out"),
            "{said}"
        );
        repo.text(&["--trace", "own", "purge", &item, "--yes"]);
        repo.text(&["push", "origin", "own"]);
    });
}

#[test]
fn a_pull_waits_for_a_replacement_that_is_due() {
    for is_renamed in [false, true] {
        let (mut repo, clone) = shared();
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            if is_renamed {
                repo.text(&["branch", "-m", "main", "other"]);
            }
        });
        repo.say("later");
        repo.text(&["push"]);
        // The tombstones arrive first.
        purge(&repo, &["--yes"]);
        repo.git(&["push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
        let name = if is_renamed { "other" } else { "main" };
        repo.within(&clone, |repo| {
            for pull in [&["pull"][..], &["pull", "origin", "main"]] {
                repo.run(pull, b"");
                assert_eq!(repo.bodies(name)[1], format!("It is {SECRET}"));
            }
        });
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            assert_eq!(repo.bodies(name)[1], "It is [purged: leaked]");
        });
    }
}

#[test]
fn a_pull_of_traces_leaves_forward_crumbs_that_were_not_fetched() {
    let (mut repo, clone) = shared();
    let crumbs = |repo: &TestRepo| repo.text(&["forward", "get", "--agent", "ada"]);
    repo.within(&clone, |repo| {
        repo.text(&["forward", "leave", "--agent", "ada", "--summary", "first"]);
        for command in ["push", "pull"] {
            repo.text(&["forward", command, "--agent", "ada"]);
        }
        repo.text(&["forward", "leave", "--agent", "ada", "--summary", &format!("Rotate {SECRET} soon")]);
        repo.text(&["forward", "push", "--agent", "ada"]);
    });
    repo.text(&["forward", "pull", "--agent", "ada"]);
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        let said = repo.trace(&["pull"]);
        assert!(said.contains("no replacement was fetched; `git trace forward pull --agent ada`"), "{said}");
        assert!(crumbs(repo).contains(SECRET));
        repo.text(&["forward", "pull", "--agent", "ada"]);
        assert!(crumbs(repo).contains("Rotate [purged: leaked] soon"));
    });
}

#[test]
fn an_edit_that_others_push_late_gets_what_a_purge_left() {
    for has_purged in [false, true] {
        let (mut repo, clone) = shared();
        repo.git(&["clone", "-q", "../origin.git", "../late"]);
        let late = repo.home().join("late");
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            if has_purged {
                repo.say("own");
                repo.text(&["purge", "#2", "--yes"]);
            }
            repo.text(&["edit", "#1", "-m", "an edit"]);
        });
        repo.within(&late, |repo| {
            repo.text(&["pull"]);
            repo.text(&["edit", "#1", "-m", "a late edit"]);
            repo.text(&["branch", "late"]);
        });
        purge(&repo, &["--yes", "--push", "origin"]);
        repo.within(&late, |repo| repo.text(&["push", "origin", "late"]));
        let left = "It is [purged: leaked]";
        let tip = repo.within(&clone, |repo| {
            // The first pull takes the tombstones, if there were none here.
            repo.run(&["pull"], b"");
            for _ in 0..2 {
                repo.text(&["pull"]);
                assert_eq!(repo.bodies("main")[1], left);
                assert_eq!(repo.bodies("late")[1], left);
            }
            assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
            repo.text(&["push", "origin", "main"]);
            repo.git(&["rev-parse", "refs/traces/late"])
        });
        repo.within(&late, |repo| {
            // The replacement of its commit is not on the remote. The first pull writes it, in `main`.
            for _ in 0..2 {
                repo.text(&["pull"]);
            }
            assert_eq!(repo.git(&["rev-parse", "refs/traces/late"]), tip);
        });
    }
}

#[test]
fn an_edit_that_is_alone_in_a_trace_gets_what_a_purge_left_of_its_item() {
    for name in ["a", "z"] {
        let (mut repo, clone) = shared();
        repo.git(&["clone", "-q", "../origin.git", "../third"]);
        let third = repo.home().join("third");
        purge(&repo, &["--yes"]);
        repo.within(&clone, |repo| {
            repo.text(&["pull"]);
            repo.text(&["edit", "#1", "-m", &format!("It was {SECRET}")]);
            repo.text(&["--trace", name, "commit", "-m", "alone"]);
            repo.text(&["--trace", name, "cherry-pick", "main", "#1"]);
            repo.text(&["push", "origin", "main", name]);
        });
        repo.within(&third, |repo| repo.text(&["pull"]));
        repo.run(&["pull"], b"");
        repo.text(&["purge", "--push", "origin", "--yes"]);
        for folder in [&third, &clone] {
            repo.within(folder, |repo| repo.text(&["pull"]));
        }
        repo.text(&["pull"]);
        let left = || {
            let traces = ["main", name].map(|name| repo.git(&["rev-parse", &format!("refs/traces/{name}")]));
            (traces, repo.bodies(name)[1].clone())
        };
        let ours = left();
        assert_eq!(ours.1, "It is [purged: leaked]");
        check(&repo);
        for folder in [&third, &clone] {
            let theirs = repo.within(folder, |repo| {
                let traces = ["main", name].map(|name| repo.git(&["rev-parse", &format!("refs/traces/{name}")]));
                (traces, repo.bodies(name)[1].clone())
            });
            assert_eq!(theirs, ours);
        }
    }
}

#[test]
fn joined_revisions_keep_their_types_and_roles() {
    for (first, edit) in
        [(&["-t", "instruction", "--name", "rules"][..], ["-t", "freeform"]), (&[], ["--set", "role=assistant"])]
    {
        let (mut repo, clone) = shared();
        repo.text(&["switch", "-c", "side"]);
        let item = repo.commit(&[first, &["-m", "one blue gamma"]].concat());
        repo.text(&[&["edit", &item, "-m", "two gamma sigma"][..], &edit].concat());
        let shape = |repo: &TestRepo, name: &str| {
            let shown = repo.json(&["--trace", name, "show", &item, "--json"]);
            ["type", "role"].map(|field| shown[field].clone())
        };
        let before = shape(&repo, "side");
        repo.text(&["push", "origin", "main", "side"]);
        repo.within(&clone, |repo| repo.text(&["pull"]));
        repo.text(&["switch", "main"]);
        repo.say("other");
        repo.text(&["merge", "side"]);
        repo.text(&["purge", &item, "--reason", "one", "--yes"]);
        repo.run(&["push", "--force", "origin", "*"], b"");
        repo.text(&["purge", "--push", "origin", "--yes"]);
        repo.within(&clone, |repo| {
            purge_text(repo, "sigma", "one", &[]);
            purge_text(repo, "gamma", "two", &[]);
            repo.text(&["pull"]);
        });
        for _ in 0..2 {
            for is_clone in [false, true] {
                let folder = if is_clone { clone.clone() } else { repo.folder().to_owned() };
                repo.within(&folder, |repo| {
                    repo.text(&["purge", "--push", "origin", "--yes"]);
                    repo.text(&["pull"]);
                    repo.text(&["push", "origin", "*"]);
                });
            }
        }
        let ours = tip(&repo);
        assert_eq!(shape(&repo, "main"), before);
        repo.within(&clone, |repo| {
            assert_eq!(tip(repo), ours);
            assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        });
    }
}

#[test]
fn a_damaged_trace_stops_no_pull_of_an_edit_after_a_purge() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| repo.text(&["pull"]));
    purge(&repo, &["--yes"]);
    repo.within(&clone, |repo| {
        repo.text(&["edit", "#1", "-m", &format!("It was {SECRET}")]);
        repo.text(&["push", "origin", "main"]);
    });
    repo.text(&["switch", "-c", "other"]);
    for text in ["lost", "last"] {
        repo.say(text);
    }
    let lost = repo.git(&["rev-parse", "refs/traces/other~1"]);
    fs::remove_file(repo.git_dir().join("objects").join(&lost[..2]).join(lost[2..].trim())).unwrap();
    repo.run(&["pull"], b"");
    assert_eq!(repo.bodies("main")[1], "It is [purged: leaked]");
    let said = repo.exact(&repo.run(&["pull"], b""));
    assert!(said.contains("main: up to date"), "{said}");
}

#[test]
fn a_clone_that_only_fetched_a_text_does_not_keep_it_after_a_purge() {
    for way in ["plain", "logged", "moved", "stopped"] {
        let (mut repo, clone) = shared();
        repo.text(&["branch", "idea"]);
        repo.text(&["push", "origin", "idea"]);
        repo.within(&clone, |repo| {
            repo.git(&["config", "core.logAllRefUpdates", if way == "logged" { "always" } else { "true" }]);
            repo.text(&["fetch"]);
        });
        let output = repo.run(&["purge", "--text", "-", "--push", "origin", "--yes"], SECRET.as_bytes());
        assert!(output.status.success(), "{}", repo.exact(&output));
        let hub = "--git-dir=../origin.git";
        match way {
            "moved" => fs::rename(repo.home().join("origin.git"), repo.home().join("moved.git")).unwrap(),
            "stopped" => {
                repo.git(&[hub, "update-ref", "-d", "refs/traces/idea"]);
                repo.git(&[hub, "update-ref", "refs/traces/idea/b", "refs/traces/main"]);
            }
            _ => {}
        }
        repo.within(&clone, |repo| {
            match way {
                "moved" => drop(repo.git(&["remote", "set-url", "origin", "../moved.git"])),
                "stopped" => assert_eq!(repo.run(&["fetch"], b"").status.code(), Some(1)),
                _ => {}
            }
            repo.text(&["pull"]);
            check(repo);
        });
    }
}

#[test]
fn a_fetch_that_fails_brings_nothing_purged_back() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge(repo, &["--yes"]);
        for args in [["fetch", "origin", "main", "codex/*"], ["pull", "origin", "*", "codex/*"]] {
            assert_eq!(repo.run(&args, b"").status.code(), Some(2), "{args:?}");
            check(repo);
        }
    });
}

#[test]
fn a_record_of_another_name_on_a_remote_brings_nothing_purged_back() {
    let (mut repo, clone) = shared();
    let hub = "--git-dir=../origin.git";
    repo.git(&[hub, "update-ref", "refs/trace-records/priority-2025", "refs/trace-records/priority"]);
    repo.git(&[hub, "update-ref", "refs/trace-records/pages", "refs/traces/main"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        purge(repo, &["--yes"]);
        for command in ["fetch", "pull"] {
            repo.run(&[command], b"");
            check(repo);
        }
        let output = repo.run(&["purge", "--push", "origin", "--yes"], b"");
        assert!(output.status.success(), "{}", repo.exact(&output));
        check(repo);
    });
    assert_eq!(repo.git(&[hub, "log", "-p", "--all", "-S", SECRET, "--format=%s"]), "");
}
