//! A tip whose commit is torn: other traces are not affected, and there is a way back.

use std::fs;

use super::breakage::{blob, files, found, loose};
use crate::repo::{TestRepo, run};

const MAIN: &str = "refs/traces/main";
const RECORD: &str = "refs/trace-priority";

/// A repository with a trace `idea` and three commits in `main`. The newest one is empty. Returns the id of each, oldest first.
fn torn() -> (TestRepo, Vec<String>) {
    let repo = TestRepo::classic(&[]);
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo.text(&["branch", "idea", "TRACE_HEAD~1"]);
    let commits = repo.git(&["rev-list", "--reverse", MAIN]).lines().map(str::to_owned).collect();
    fs::write(loose(&repo, MAIN), "").unwrap();
    (repo, commits)
}

fn at(repo: &TestRepo, refname: &str) -> String {
    repo.git(&["rev-parse", refname]).trim().to_owned()
}

/// A ref to a damaged commit would stop git, so there is none.
fn backups(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "refs/trace-orig"])
}

#[test]
fn a_torn_tip_can_be_undone() {
    let (repo, commits) = torn();
    repo.text(&["--trace", "main", "undo"]);
    assert_eq!((at(&repo, MAIN), backups(&repo)), (commits[1].clone(), String::new()));
    repo.say("three again");
}

#[test]
fn an_undo_that_would_go_back_to_a_torn_tip_names_the_operation_and_older_ones() {
    for args in [["reset", "idea"].as_slice(), &["branch", "-D", "main"]] {
        let (repo, _) = torn();
        if args[0] == "branch" {
            repo.text(&["switch", "idea"]);
        }
        let left = repo.trace(args);
        assert!(
            left.contains("damaged") && !left.contains("undo` goes back") && !left.contains("undo` brings"),
            "{left}"
        );
        let refused = repo.refused(&["--trace", "main", "undo"]);
        let expected = format!("({}): the state of `{MAIN}` from before it is damaged", args[0]);
        assert!(refused.contains(&expected), "{refused}");
        assert!(
            refused.contains("hint: `git trace undo --list` lists earlier operations; name one to undo it"),
            "{refused}"
        );
    }
}

#[test]
fn a_torn_tip_can_be_reset_to_a_trace_or_a_commit() {
    for to in [|_: &[String]| "idea".to_owned(), |commits: &[String]| commits[1].clone()] {
        let (repo, commits) = torn();
        repo.text(&["reset", &to(&commits)]);
        assert_eq!((at(&repo, MAIN), backups(&repo)), (commits[1].clone(), String::new()));
        assert!(repo.git_dir().join("trace/damaged").join(&commits[2]).exists());
        repo.git(&["gc", "--quiet"]);
    }
}

#[test]
fn a_trace_that_is_to_start_at_a_torn_tip_starts_at_the_newest_complete_state() {
    let (repo, commits) = torn();
    let said = repo.trace(&["switch", "-c", "next"]);
    assert!(said.starts_with("Switched to a new trace `next` at "), "{said}");
    let lacks = "; the new trace starts at the newest complete state of `main`, without: append: dialogue user: three\n[exit 0]";
    assert!(said.contains("warning: object [OID] is damaged, in ") && said.ends_with(lacks), "{said}");
    assert_eq!((at(&repo, "refs/traces/next"), at(&repo, MAIN)), (commits[1].clone(), commits[2].clone()));
    repo.say("three again");
}

#[test]
fn a_trace_starts_beside_a_torn_tip() {
    let (repo, commits) = torn();
    repo.text(&["switch", "-c", "next", &commits[1]]);
    repo.text(&["branch", "early", &commits[0]]);
    repo.say("three again");
    assert_eq!(at(&repo, "refs/traces/next~1"), commits[1]);
    assert_eq!(at(&repo, "refs/traces/early"), commits[0]);
}

#[test]
fn a_trace_with_a_torn_tip_is_listed_renamed_and_deleted() {
    let (repo, commits) = torn();
    let listed = repo.lines(&["branch", "--json"]);
    assert_eq!((listed[0]["trace"].as_str(), listed[0]["items"].as_u64()), (Some("idea"), Some(2)));
    assert_eq!((listed[1]["trace"].as_str(), listed[1]["commit"].as_str()), (Some("main"), Some(commits[2].as_str())));
    assert!(listed[1]["error"].as_str().unwrap().contains("is damaged"), "{listed:?}");
    let said = repo.trace(&["branch"]);
    assert!(said.starts_with("  idea ") && said.contains("\n* main unreadable  object "), "{said}");
    assert!(said.ends_with("\n[exit 0]"), "{said}");

    repo.text(&["branch", "-m", "main", "torn"]);
    assert_eq!(at(&repo, "refs/traces/torn"), commits[2]);
    repo.text(&["switch", "idea"]);
    repo.text(&["branch", "-D", "torn"]);
    assert_eq!(backups(&repo), "");
    assert_eq!(repo.lines(&["branch", "--json"]).len(), 1);
}

/// The damage, how it is caused, and the index of the commit that the repair returns to.
type Damage = (&'static str, fn(&TestRepo), usize);

#[test]
fn a_repair_returns_to_the_newest_complete_state() {
    let cases: [Damage; 4] = [
        ("the tip is torn", |_| {}, 1),
        ("its parent is missing too", |repo| fs::remove_file(loose(repo, "refs/traces/idea")).unwrap(), 0),
        ("an item of its parent is torn", |repo| tear_last_item(repo, "refs/traces/idea"), 0),
        ("the ref is torn too", |repo| fs::write(repo.git_dir().join(MAIN), "").unwrap(), 1),
    ];
    for (what, damage, expected) in cases {
        let (repo, commits) = torn();
        damage(&repo);
        let (_, _, report) = found(&repo, &["--repair", "main"]);
        let at = at(&repo, MAIN);
        assert_eq!(at, commits[expected], "{what}: {report}");
        assert_eq!(repo.git(&["for-each-ref", "refs/trace-orig"]), "", "{what}: git would not work with a ref to it");
        assert!(repo.git_dir().join("trace/damaged").join(&commits[2]).exists(), "{what}");
        let repair = &report["repairs"][0];
        assert_eq!(repair["repair"], "point refs/traces/main to the newest complete state in its reflog", "{what}");
        let note = repair["note"].as_str().unwrap();
        assert!(
            note.contains(&format!("now at {}", &at[..7]))
                && note.contains("append: dialogue user: three")
                && note.contains(&format!("{} cannot be read", commits[2])),
            "{note}"
        );
        assert_eq!(note.contains("append: dialogue user: two"), expected == 0, "{what}: {note}");
        repo.say("three again");
        assert_eq!(found(&repo, &["main"]).1, Vec::<String>::new(), "{what}");
    }
}

fn tear_last_item(repo: &TestRepo, rev: &str) {
    let path = files(repo, rev).into_keys().next_back().unwrap();
    fs::write(loose(repo, &format!("{rev}:{path}")), "").unwrap();
}

#[test]
fn a_torn_tip_without_an_earlier_state_is_reported_and_left() {
    let (repo, commits) = torn();
    fs::remove_file(repo.git_dir().join("logs").join(MAIN)).unwrap();
    let (code, rules, report) = found(&repo, &["--repair", "main"]);
    assert_eq!((code, rules), (Some(1), vec!["error object-corrupt".to_owned()]), "{report}");
    assert_eq!((at(&repo, MAIN), report["repairs"].as_array().unwrap().len()), (commits[2].clone(), 0), "{report}");
}

#[test]
fn a_missing_folder_at_the_tip_is_repaired_and_one_lost_item_is_not() {
    for (part, is_repaired) in [("00/00", true), ("item", false)] {
        let repo = TestRepo::classic(&[]);
        for text in ["one", "two"] {
            repo.say(text);
        }
        let path = files(&repo, MAIN).into_keys().next_back().unwrap();
        let path = if part == "item" { path } else { part.to_owned() };
        let earlier = at(&repo, &format!("{MAIN}~1"));
        fs::remove_file(loose(&repo, &format!("{MAIN}:{path}"))).unwrap();
        let (_, rules, report) = found(&repo, &["--repair"]);
        assert_eq!(rules, ["error object-missing"], "{report}");
        assert_eq!(at(&repo, MAIN) == earlier, is_repaired, "{part}: {report}");
    }
}

#[test]
fn git_works_after_the_repair_of_a_torn_tip() {
    let (repo, commits) = torn();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    assert_eq!(found(&repo, &["--repair"]).0, Some(0));
    assert_eq!(found(&repo, &[]).1, Vec::<String>::new());
    for command in [&["gc", "--quiet"][..], &["fetch", "--quiet", "."], &["trace", "gc", "--quiet"]] {
        repo.git(command);
    }
    let lost = repo.lines(&["op", "log", "--json"]).into_iter().find(|op| op["command"] == "fsck").unwrap();
    assert_eq!(lost["refs"][0]["old"], commits[2].as_str(), "the operation log has the id");
}

#[test]
fn a_backup_ref_to_a_torn_or_missing_commit_is_reported_and_deleted() {
    for is_missing in [true, false] {
        let repo = TestRepo::classic(&[]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
        for text in ["one", "two"] {
            repo.say(text);
        }
        let two = at(&repo, MAIN);
        let refname = format!("refs/trace-orig/{two}");
        let file = loose(&repo, MAIN);
        repo.text(&["reset", "TRACE_HEAD~1"]);
        if is_missing {
            fs::remove_file(file).unwrap();
        } else {
            fs::write(file, "").unwrap();
        }
        assert!(!run(repo.command("git").args(["gc", "--quiet"]), b"").status.success());
        let (code, rules, report) = found(&repo, &["--repair"]);
        assert_eq!((code, rules.len()), (Some(0), 1), "{report}");
        let note = &report["repairs"][0];
        assert_eq!(note["repair"], format!("delete {refname}"), "{report}");
        assert_eq!(note["note"], format!("it was at {two}, which cannot be read"), "{report}");
        repo.git(&["gc", "--quiet"]);
        repo.git(&["fetch", "--quiet", "."]);
        assert_eq!(found(&repo, &[]).1, Vec::<String>::new());
    }
}

/// The priorities of all items, as the record has them.
fn levels(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/trace-tags/"])
}

#[test]
fn a_lost_record_of_priorities_returns_from_its_reflog_else_from_the_tags() {
    for has_reflog in [true, false] {
        let repo = TestRepo::classic(&[]);
        let ids: Vec<String> = ["one", "two"].iter().map(|text| repo.say(text)).collect();
        repo.text(&["pin", "#0", "--reason", "keep"]);
        repo.text(&["skip", "#1"]);
        let (before, tags) = (at(&repo, RECORD), levels(&repo));
        fs::remove_file(repo.git_dir().join(RECORD)).unwrap();
        if !has_reflog {
            fs::remove_file(repo.git_dir().join("logs").join(RECORD)).unwrap();
        }
        let (code, _, report) = found(&repo, &["--repair"]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(at(&repo, RECORD) == before, has_reflog, "{report}");
        assert_eq!(levels(&repo), tags, "no tag is deleted: {report}");
        for (id, level) in ids.iter().zip(["pinned", "skip"]) {
            assert!(repo.trace(&["priority", id]).contains(level), "{has_reflog}: {level}");
        }
        assert_eq!(found(&repo, &[]).1, Vec::<String>::new());
    }
}

#[test]
fn a_trace_that_is_gone_while_its_reflog_remains_is_reported_and_restored() {
    let repo = TestRepo::classic(&[]);
    repo.say("one");
    repo.text(&["branch", "a/b"]);
    let tip = at(&repo, "refs/traces/a/b");
    fs::remove_file(repo.git_dir().join("refs/traces/a/b")).unwrap();
    let (code, rules, report) = found(&repo, &[]);
    assert_eq!((code, rules), (Some(1), vec!["error ref-missing".to_owned()]), "{report}");
    assert_eq!(
        (report["findings"][0]["place"].as_str(), found(&repo, &["--repair"]).0),
        (Some("refs/traces/a/b"), Some(0))
    );
    assert_eq!((at(&repo, "refs/traces/a/b"), found(&repo, &[]).1), (tip, Vec::<String>::new()));
    repo.text(&["branch", "-D", "a/b"]);
    assert_eq!(found(&repo, &[]).1, Vec::<String>::new(), "a deleted trace is not missing");
}

#[test]
fn a_trace_whose_ref_is_lost_is_not_started_again() {
    let repo = TestRepo::classic(&[]);
    repo.say("one");
    repo.say("two");
    let tip = at(&repo, MAIN);
    fs::remove_file(repo.git_dir().join(MAIN)).unwrap();
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "three"]), @r"
    --- stderr
    error: `refs/traces/main` is gone, but its reflog is not
    hint: `git trace fsck --repair` restores it; `git update-ref -d` deletes it
    [exit 2]
    ");
    assert_eq!((found(&repo, &["--repair"]).0, at(&repo, MAIN)), (Some(0), tip));
    repo.say("three");
    repo.git(&["update-ref", "-d", MAIN]);
    repo.say("A trace that git deleted starts again.");
    assert_eq!(repo.bodies("main").len(), 1);
}

#[test]
fn a_move_to_a_blob_or_a_missing_object_is_not_added_to_the_reflog() {
    for is_blob in [true, false] {
        let repo = TestRepo::classic(&[]);
        repo.say("one");
        repo.say("two");
        let (tip, log) = (at(&repo, MAIN), repo.git_dir().join("logs").join(MAIN));
        let bogus = if is_blob { blob(&repo, "x") } else { "1".repeat(40) };
        fs::write(repo.git_dir().join(MAIN), format!("{bogus}\n")).unwrap();
        found(&repo, &["--repair"]);
        let log = fs::read_to_string(log).unwrap();
        assert!(!log.lines().any(|line| line[41..].starts_with(&bogus)), "{log}");
        assert_eq!(at(&repo, MAIN), tip);
        // A ref to a missing object would stop git.
        let kept = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/trace-orig"]);
        assert_eq!(kept.trim(), if is_blob { &bogus } else { "" });
        assert_eq!(found(&repo, &[]).1, Vec::<String>::new(), "nothing is left to repair");
    }
}

#[test]
fn a_head_that_names_no_trace_is_refused_until_another_trace_is_chosen() {
    let repo = TestRepo::classic(&[]);
    repo.say("one");
    let tip = at(&repo, MAIN);
    for head in ["ref: refs/heads/code\n".to_owned(), format!("{tip}\n")] {
        fs::write(repo.git_dir().join("TRACE_HEAD"), head).unwrap();
        for command in [&["commit", "-m", "two"][..], &["undo"], &["pin", "#0"], &["status"]] {
            assert!(repo.refused(command).contains("error: `TRACE_HEAD` points to "), "{command:?}");
        }
        assert_eq!(at(&repo, MAIN), tip);
        assert_eq!(repo.lines(&["branch", "--json"])[0]["current"], false);
        repo.text(&["--trace", "main", "status"]);
        repo.text(&["switch", "main"]);
        repo.text(&["status"]);
    }
}

#[test]
fn an_undo_of_a_priority_whose_state_is_lost_names_the_operation_and_older_ones() {
    let repo = TestRepo::classic(&[]);
    for text in ["one", "two"] {
        repo.say(text);
    }
    repo.text(&["pin", "#0"]);
    repo.text(&["pin", "#1"]);
    fs::remove_file(loose(&repo, RECORD)).unwrap();
    for _ in 0..2 {
        found(&repo, &["--repair"]);
    }
    assert_eq!(found(&repo, &[]).0, Some(0));
    let mut said = repo.trace(&["undo"]);
    if !said.contains("error: ") {
        said = repo.trace(&["undo"]);
    }
    assert!(said.contains(&format!("the state of `{RECORD}` from before it is damaged")), "{said}");
    assert!(said.contains("hint: `git trace undo --list` lists earlier operations; name one to undo it"), "{said}");
    let listed = repo.text(&["--trace", "main", "undo", "--list"]);
    let commit = listed.lines().find(|line| line.contains("commit")).unwrap();
    let id = commit.split_whitespace().next().unwrap();
    repo.text(&["undo", id]);
}
