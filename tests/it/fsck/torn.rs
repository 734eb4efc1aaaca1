//! A tip whose commit is torn: other traces are not affected, and there is a way back.

use std::fs;

use super::breakage::loose;
use crate::repo::TestRepo;

const MAIN: &str = "refs/traces/main";

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

#[test]
fn a_torn_tip_can_be_undone() {
    let (repo, commits) = torn();
    repo.text(&["undo"]);
    assert_eq!((at(&repo, MAIN), at(&repo, "refs/trace-orig/main")), (commits[1].clone(), commits[2].clone()));
    repo.say("three again");
}

#[test]
fn a_torn_tip_can_be_reset_to_a_trace_or_a_commit() {
    for to in [|_: &[String]| "idea".to_owned(), |commits: &[String]| commits[1].clone()] {
        let (repo, commits) = torn();
        repo.text(&["reset", &to(&commits)]);
        assert_eq!((at(&repo, MAIN), at(&repo, "refs/trace-orig/main")), (commits[1].clone(), commits[2].clone()));
    }
}

#[test]
fn a_trace_starts_beside_a_torn_tip_but_not_at_it() {
    let (repo, commits) = torn();
    assert!(repo.refused(&["switch", "-c", "next"]).contains("is damaged"));
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
    assert_eq!(at(&repo, "refs/trace-orig/torn"), commits[2]);
    assert_eq!(repo.lines(&["branch", "--json"]).len(), 1);
}
