//! Purges in several clones: purged content does not come back, and all clones agree in the end.

use std::fs;

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
            repo.text(&["purge", "--push", "origin"]);
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
    assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]", "theirs"]);
    check(&repo);
    repo.text(&["purge", "--push", "origin"]);
    assert_eq!(repo.text(&["pull"]), "main: up to date\n");
    let ours = tip(&repo);
    repo.within(&clone, |repo| {
        repo.say("more");
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]", "theirs", "more"]);
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
    let import = |repo: &TestRepo, name: &str| {
        let imported = repo.run(&["--trace", name, "import", "--json", "jsonl", file.to_str().unwrap()], b"");
        let said = repo.exact(&imported);
        serde_json::from_slice::<serde_json::Value>(&imported.stdout).expect(&said)["traces"][0]["purged"]
            .as_i64()
            .unwrap_or(0)
    };
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
            let imported = repo.json(&["--trace", "new", "import", "--json", "jsonl", file.to_str().unwrap()]);
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
            repo.text(&["purge", "--push", "origin"]);
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
        repo.text(&["purge", "--push", "origin"]);
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
        repo.text(&["purge", "--push", "origin"]);
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]", "mine"]);
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.text(&["push"]);
    });
    // The clone that purged comes back.
    for _ in 0..2 {
        repo.run(&["pull"], b"");
        check(&repo);
        repo.text(&["purge", "--push", "origin"]);
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
    repo.text(&["purge", "--push", "origin"]);
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
        repo.text(&["purge", "--push", "origin"]);
        let session = repo.text(&["export"]);
        repo.bytes_with(&["import", "jsonl", "-", "--trace", "copy"], session.as_bytes());
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
    repo.text(&["purge", "--push", "origin"]);
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
