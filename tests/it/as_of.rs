//! Earlier states, with priorities as they were; export and import; priorities of items in several traces.

use regex::Regex;
use serde_json::Value;

use crate::repo::{TestRepo, run};

#[test]
fn as_of_accepts_commit_item_and_time_and_applies_the_priorities_of_that_time() {
    let repo = TestRepo::new();
    let first = repo.say("one"); // 09:00:02
    repo.say("two"); // 03
    repo.text(&["skip", &first, "--reason", "not now"]); // 04
    repo.say("three"); // 05
    repo.text(&["edit", "#1", "-m", "TWO"]); // 06
    repo.text(&["unpin", &first]); // 07
    repo.text(&["delete", "#1"]); // 08
    let then = |when: &str| -> Vec<String> {
        let view = repo.json(&["materialize", "--aggregate", "none", "--json", "--as-of", when]);
        assert_eq!(view["tokens"]["total"], view["tokens"]["request"], "as of {when}");
        let messages = view["messages"].as_array().unwrap().clone();
        messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(then("TRACE_HEAD"), ["one", "three"], "the level now in force was set before that commit");
    assert_eq!(then("TRACE_HEAD~1"), ["TWO", "three"]);
    assert_eq!(then("TRACE_HEAD~2"), ["two", "three"]);
    assert_eq!(then("TRACE_HEAD~3"), ["one", "two"]);
    assert_eq!(then("TRACE_HEAD~4"), ["one"]);
    assert_eq!(then(&first), ["one"], "an item is the commit that last touched it");
    assert_eq!(then("#2"), ["two", "three"]);
    assert_eq!(then("#1"), ["one", "three"], "that may be its deletion");
    for (time, expected) in [
        ("2026-02-10T09:00:02Z", &["one"][..]),
        ("2026-02-10T09:00:02.9Z", &["one"]),
        ("2026-02-10T10:00:03+01:00", &["one", "two"]),
        ("2026-02-10T09:00:04Z", &["two"]),
        ("2026-02-10T09:00:05Z", &["two", "three"]),
        ("2026-02-10T09:00:07Z", &["one", "TWO", "three"]),
        ("2030-01-01T00:00:00Z", &["one", "three"]),
    ] {
        assert_eq!(then(time), expected, "{time}");
    }
    let oid = repo.git(&["rev-parse", "refs/traces/main~3"]);
    assert_eq!(then(oid.trim()), ["one", "two"]);
    assert_eq!(then(&oid[..8]), ["one", "two"]);
    repo.text(&["skip", "#2"]);
    assert_eq!(then("TRACE_HEAD"), ["one", "three"], "what is set later changes nothing of before");
}

#[test]
fn a_time_is_written_as_in_git_but_never_guessed() {
    let repo = TestRepo::new();
    repo.say("one"); // 2026-02-10T09:00:02Z
    repo.say("two");
    let at = |date: &str, zone: &str, args: &[&str]| {
        let mut command = repo.command("git-trace");
        repo.snapshot(&run(command.env("GIT_COMMITTER_DATE", date).env("TZ", zone).args(args), b""))
    };
    let next_day = "@1770800400 +0000"; // 2026-02-11T09:00:00Z
    let log = |zone: &str, since: &str| at(next_day, zone, &["log", "-n", "1", "--oneline", "--since", since]);
    for since in ["yesterday", "2.days.ago", "last tuesday", "2026-02-10 09:00", "@1770714000"] {
        assert!(log("UTC", since).contains("two"), "{since}");
    }
    for since in ["today", "23 hours ago", "noon yesterday", "2026-02-10 10:00"] {
        assert!(!log("UTC", since).contains("two"), "{since}");
    }
    assert!(log("CET-1", "2026-02-10 10:00:02").contains("two"), "a time without a zone is local");
    assert!(!log("CET-1", "2026-02-10 10:01").contains("two"));
    let view = |as_of: &str| at(next_day, "UTC", &["materialize", "--format", "text", "--as-of", as_of]);
    assert!(view("10 minutes ago").contains("two") && view("yesterday noon").contains("two"));
    assert!(view("yesterday").contains("has no items at that time"), "a date is midnight");
    let bad = [log("UTC", "yesterdy"), view("last fryday"), at(next_day, "UTC", &["diff", "last fryday"])];
    insta::assert_snapshot!(bad.join("\n"));
}

#[test]
fn an_export_imports_unchanged() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be kind."]);
    repo.say("one");
    repo.commit(&["-t", "tool_io", "-r", "assistant", "--name", "ls", "--call-id", "c", "-m", "{}"]);
    repo.commit(&["-t", "tool_io", "-r", "tool", "--reply-to", "#2", "--set", "status=error", "-m", "no such\n"]);
    repo.commit(&["-t", "instruction", "--name", "rules", "-m", "Be brief."]);
    repo.text(&["edit", "#1", "-m", "ONE", "--reason", "louder"]);
    repo.text(&["skip", "#3", "--reason", "a failure"]);
    repo.text(&["delete", "#1", "--reason", "away"]);
    repo.commit(&["-t", "freeform", "--set", "own_field=1", "--meta", "a={\"b\":[1]}", "-m", "free"]);
    repo.text(&["restore", "#1", "1", "--reason", "as it was"]);
    repo.text(&["pin", "#1"]);
    repo.text(&["delete", "#4"]);
    repo.text(&["unpin", "#3", "--reason", "after all"]);
    let export = repo.lines(&["export"]);

    // Few lines are written one by one, many as a pack; both into a new trace and beside another.
    let copy = TestRepo::new();
    let imported = copy.bytes_with(&["import", "jsonl", "-", "--json"], &repo.bytes(&["export"]));
    assert_eq!(serde_json::from_slice::<Value>(&imported).unwrap()["traces"][0]["known"], 0);
    let without_commits = |lines: &[Value]| -> Vec<Value> {
        let mut lines = lines.to_vec();
        for line in &mut lines {
            line.as_object_mut().unwrap().remove("commit");
        }
        lines
    };
    assert_eq!(without_commits(&copy.lines(&["export"])), without_commits(&export));
    assert_eq!(copy.bytes(&["materialize"]), repo.bytes(&["materialize"]));
    assert_eq!(copy.total("main"), repo.total("main"));
    for line in &export {
        let at = line["at"].as_str().unwrap();
        let view = |repo: &TestRepo| repo.bytes(&["materialize", "--as-of", at]);
        assert_eq!(view(&copy), view(&repo), "as of {at}");
    }
    let history = |repo: &TestRepo| repo.text(&["priority", "#3", "--history"]);
    assert_eq!(history(&copy), history(&repo));

    let again = copy.bytes_with(&["import", "jsonl", "-", "--json"], &repo.bytes(&["export"]));
    assert_eq!(
        serde_json::from_slice::<Value>(&again).unwrap()["traces"][0]["recorded"],
        0,
        "a second time brings nothing"
    );
    copy.fsck();
}

#[test]
fn a_priority_applies_in_every_trace() {
    let repo = TestRepo::new();
    let id = repo.say("shared");
    repo.git(&["update-ref", "refs/traces/side", "refs/traces/main"]);
    repo.text(&["--trace", "side", "commit", "-m", "more"]);
    repo.text(&["skip", &id, "--reason", "everywhere"]);
    for name in ["main", "side"] {
        let left_out = &repo.json(&["materialize", "--json", name])["left_out"][0];
        assert_eq!((&left_out["id"], &left_out["reason"]), (&id.as_str().into(), &"everywhere".into()));
        repo.total(name);
    }
    repo.text(&["delete", &id]);
    assert_eq!(repo.json(&["status", "side", "--json"])["items"], 2, "deleted in one trace only");
    assert_eq!(repo.json(&["show", &id, "--json"])["priority"], "skip");
}

#[test]
fn git_shows_priorities_as_tags() {
    let repo = TestRepo::new();
    let id = repo.say("one");
    let introduced = repo.git(&["rev-parse", "refs/traces/main"]);
    repo.text(&["edit", "#0", "-m", "ONE"]);
    let tags = || repo.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/trace-tags"]);
    for (command, level) in [("pin", "pinned"), ("skip", "skip"), ("unpin", "normal")] {
        repo.text(&[command, &id]);
        assert_eq!(tags(), format!("refs/trace-tags/{level}/{id} {introduced}"));
    }
    repo.commit(&["-m", "born pinned", "-p", "pinned", "--reason", "so be it"]);
    assert!(tags().starts_with("refs/trace-tags/normal/"), "{}", tags());
    assert_eq!(repo.json(&["status", "--json"])["by_priority"]["pinned"], 1);
    let decorated = repo.git(&["log", "--format=%D", "--decorate-refs=refs/trace-tags", "-1", "refs/traces/main"]);
    assert!(decorated.contains("refs/trace-tags/pinned/"), "{decorated}");
    repo.fsck();
}

fn dated(repo: &TestRepo, date: &str, args: &[&str]) -> String {
    let output = run(repo.command("git-trace").env("GIT_COMMITTER_DATE", date).args(args), b"");
    repo.snapshot(&output)
}

#[test]
fn a_time_that_no_clock_shows_is_refused() {
    let repo = TestRepo::new();
    repo.say("one");
    let said = dated(&repo, "@4133980800 +0000", &["commit", "-m", "two"]);
    assert!(said.contains(" is not from 1970 to 2100\nhint: set the clock,") && said.ends_with("[exit 2]"), "{said}");
    insta::assert_snapshot!(dated(&repo, "@-5 +0000", &["commit", "-m", "two"]), @"
    --- stderr
    error: `GIT_COMMITTER_DATE` is `@-5 +0000`, which git does not read as a date
    [exit 2]
    ");
    let lines = b"{\"text\":\"x\",\"at\":\"2101-01-01T00:00:00Z\"}\n";
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-"], lines), @"
    --- stderr
    error: cannot import `-`: line 1: the time 2101-01-01T00:00:00Z is not from 1970 to 2100
    [exit 2]
    ");
    assert_eq!(repo.bodies("main"), ["one"]);
}

#[test]
fn a_tip_in_the_future_is_reported() {
    let repo = TestRepo::new();
    repo.say("one");
    assert!(dated(&repo, "@4102444800 +0000", &["commit", "-m", "two"]).ends_with("[exit 0]"));
    let days = Regex::new(r"\d+ days").unwrap();
    let said = days.replace(&repo.trace(&["commit", "-m", "three"]), "[N] days").into_owned();
    insta::assert_snapshot!(said, @"
    [main #2] dialogue user: three [ID]
    --- stderr
    warning: the newest commit of trace `main` is dated 2100-01-01T00:00:00Z, [N] days from now, and what comes later is dated after it; if a clock was wrong, go back to before that commit with `git trace reset`
    [exit 0]
    ");
    let said = repo.trace(&["pin", "#0"]);
    assert!(said.contains("warning: the newest commit of trace `main` is dated 2100-01-01T00:00:00Z"), "{said}");
    let said = days.replace(&repo.trace(&["fsck"]), "[N] days").into_owned();
    insta::assert_snapshot!(said, @"
    warning: main: commit [SHORT]: time-future: it is dated 2100-01-01T00:00:00Z, [N] days from now, and later commits are dated after it; if a clock was wrong, go back to before it with `git trace reset`
    --- stderr
    traces checked: 1, commits: 4, items: 3, errors: 0, warnings: 1
    [exit 0]
    ");
    repo.text(&["reset", "#0"]);
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "two again"]), @"
    [main #1] dialogue user: two again [ID]
    [exit 0]
    ");
}
