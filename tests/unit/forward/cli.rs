//! `git trace forward`, as it is used.

use serde_json::{Value, json};

use crate::unit::repo::TestRepo;

fn pretty(repo: &TestRepo, args: &[&str]) -> Value {
    serde_json::from_slice(&repo.bytes(args)).unwrap()
}

#[test]
fn a_forward_crumb_is_left_found_shown_and_completed() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let left = repo.text(&["forward", "leave", "--summary", "Split the parser.", "--unfinished", "Build the detector"]);
    insta::assert_snapshot!(crate::unit::repo::redact(&left), @"[ID] 2026-02-10T09:00:03Z MEDIUM orientation active Split the parser.");
    let id = left.split(' ').next().unwrap();
    insta::assert_snapshot!(repo.trace(&["forward", "get"]), @"
    forward crumb [ID] (active)
    ════════════════════════════════════════════════════════════════════════════════
    ∴ FORWARD CRUMB (MEDIUM PRIORITY - ORIENTATION) ∴
    From: azoth_20260210_090003
    To: Future azoth instances
    Timestamp: 2026-02-10T09:00:03
    ════════════════════════════════════════════════════════════════════════════════

    SESSION SUMMARY:
    Split the parser.

    UNFINISHED BUSINESS:
    - Build the detector

    ════════════════════════════════════════════════════════════════════════════════
    ∴ End Forward Crumb ∴
    🎺⊙⟨∞⟩⊙🎺
    [exit 0]
    ");
    let text = repo.text(&["forward", "show", &id[..5]]);
    assert!(text.ends_with("\n∴ End Forward Crumb ∴\n🎺⊙⟨∞⟩⊙🎺"), "{text}");
    let answer = pretty(&repo, &["forward", "get", "--json"]);
    assert_eq!(answer["unfinished_tasks"], json!(["Build the detector"]));
    assert_eq!(answer["most_recent"], answer["crumbs"][0]);
    assert_eq!(answer["summary"]["by_priority"], json!({ "HIGH": 0, "MEDIUM": 1, "LOW": 0 }));
    let fields: Vec<_> = repo
        .text(&["forward", "get", "--json"])
        .lines()
        .filter(|line| line.starts_with("  \""))
        .map(|line| line.split('"').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(fields, ["success", "crumbs", "most_recent", "unfinished_tasks", "key_references", "summary"]);

    insta::assert_snapshot!(repo.trace(&["forward", "status", id, "completed", "--reason", "built"]), @"
    [ID] completed (was active)
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "status", id]), @"
    [ID] completed
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "get"]), @"
    --- stderr
    no forward crumbs of `azoth` found
    [exit 0]
    ");
    assert_eq!(repo.text(&["forward", "get", "--status", "completed", "--oneline"]).lines().count(), 1);
    assert_eq!(repo.text(&["forward", "show", id]), text);
    repo.fsck();
}

#[test]
fn the_agent_is_named_by_flag_environment_or_configuration() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.refused(&["forward", "leave", "--summary", "x"]), @"
    --- stderr
    error: no agent is named
    hint: name the agent with --agent, GITTRACE_AGENT, or `git config trace.agent NAME`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "get"]), @"
    --- stderr
    no agent was named, so there are no forward crumbs
    hint: name the agent with --agent, GITTRACE_AGENT, or `git config trace.agent NAME`
    [exit 0]
    ");
    assert_eq!(pretty(&repo, &["forward", "get", "--json"])["crumbs"], json!([]));
    insta::assert_snapshot!(repo.trace(&["forward", "get", "--agent", "nobody"]), @"
    --- stderr
    no forward crumbs of `nobody` found
    [exit 0]
    ");
    for bad in ["a/b", "..", "", "a b", "-x", "x.lock"] {
        let answer = repo.refused(&["forward", &format!("--agent={bad}"), "get"]);
        assert!(answer.contains("invalid agent name") || answer.contains("a value is required"), "{answer}");
    }
    repo.git(&["config", "trace.agent", "by-config"]);
    repo.text(&["forward", "leave", "--summary", "x"]);
    let mut command = repo.command("git-trace");
    let output = crate::unit::repo::run(
        command.args(["forward", "leave", "--summary", "x"]).env("GITTRACE_AGENT", "by-env"),
        b"",
    );
    assert!(output.status.success());
    let mut command = repo.command("git-trace");
    command.args(["forward", "leave", "--summary", "x", "--agent", "by-flag"]).env("GITTRACE_AGENT", "by-env");
    assert!(crate::unit::repo::run(&mut command, b"").status.success());
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/crumbs/by-config\nrefs/crumbs/by-env\nrefs/crumbs/by-flag\n");
    let mut command = repo.command("git-trace");
    let output = crate::unit::repo::run(command.args(["forward", "get"]).env("GITTRACE_AGENT", "a/b"), b"");
    insta::assert_snapshot!(repo.exact(&output), @"
    --- stderr
    error: cannot use `GITTRACE_AGENT`: invalid agent name `a/b`: expected 1 to 64 letters, digits, `_`, `-`, and single `.` inside
    hint: name the agent with --agent, GITTRACE_AGENT, or `git config trace.agent NAME`
    [exit 2]
    ");
}

#[test]
fn lists_are_accepted_as_options_or_json() {
    let repo = TestRepo::new();
    let leave = |args: &[&str]| {
        let args = [&["forward", "leave", "--agent", "a", "--summary", "x", "--json"], args].concat();
        let text = repo.json(&args)["text"].as_str().unwrap().to_owned();
        text.lines().skip(6).map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let by_options = leave(&[
        "--discovery",
        "one",
        "--discovery",
        "two",
        "--emotional",
        "W=sharp",
        "--emotional",
        "L=2.1",
        "--unfinished",
        "a task",
        "--ref",
        "thread_ids=a,b",
        "--ref",
        "tools_tested=grep",
        "--if-disoriented",
        "breathe",
    ]);
    let by_json = leave(&[
        "--key-discoveries",
        r#"["one","two"]"#,
        "--emotional-state",
        r#"{"W":"sharp","L":2.1}"#,
        "--unfinished-business",
        r#"["a task"]"#,
        "--references",
        r#"{"thread_ids":["a","b"],"tools_tested":["grep"]}"#,
        "--if-disoriented",
        r#"["breathe"]"#,
    ]);
    assert_eq!(by_options, by_json);
    insta::assert_snapshot!(by_json, @"

    SESSION SUMMARY:
    x

    KEY DISCOVERIES:
    - one
    - two

    EMOTIONAL STATE:
    - W: sharp
    - L: 2.1

    UNFINISHED BUSINESS:
    - a task

    REFERENCES:
    - thread_ids: a, b
    - tools_tested: grep

    IF DISORIENTED:
    1. breathe

    ════════════════════════════════════════════════════════════════════════════════
    ∴ End Forward Crumb ∴
    🎺⊙⟨∞⟩⊙🎺
    ");
    assert!(leave(&["--discovery", "[WIP] not a list"]).contains("- [WIP] not a list\n"));
    let refused = |args: &[&str]| {
        let args = [&["forward", "leave", "--agent", "a", "--summary", "x"], args].concat();
        repo.refused(&args)
    };
    insta::assert_snapshot!(refused(&["--discovery", "[not json]"]), @r#"
    --- stderr
    error: --discovery: cannot read `[not json]`
    hint: a value in [] must be a JSON array of texts, such as ["one", "two"]
    [exit 2]
    "#);
    insta::assert_snapshot!(refused(&["--discovery", "[1]"]), @r#"
    --- stderr
    error: --discovery: cannot read `[1]`
    hint: a value in [] must be a JSON array of texts, such as ["one", "two"]
    [exit 2]
    "#);
    insta::assert_snapshot!(refused(&["--emotional", "sharp"]), @"
    --- stderr
    error: --emotional: cannot read `sharp`
    hint: NAME=VALUE is expected
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["--ref", "a:b=c"]), @"
    --- stderr
    error: references: a kind is one line without `:` and `,`
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["--priority", "urgent"]), @"
    --- stderr
    error: invalid value `urgent` of `--importance <PRIORITY>`: `URGENT` is not one of HIGH, MEDIUM, LOW
    hint: for example `git trace forward leave --agent ada --summary 'The parser works; its tests are missing.'`; `git trace forward leave -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["forward", "leave", "--agent", "a", "--summary", " \n"]), @"
    --- stderr
    error: summary: the text is empty; describe what happened: `--summary TEXT`
    [exit 2]
    ");
}

#[test]
fn templates_contain_the_fields_of_their_kind() {
    let repo = TestRepo::new();
    let leave =
        |args: &[&str]| repo.json(&[&["forward", "leave", "--agent", "a", "--json", "--template"], args].concat());
    let task = leave(&["task", "--unfinished", "Rename the module", "--deadline", "Friday"]);
    assert!(task["text"].as_str().unwrap().contains("\nTasks to complete by Friday\n"));
    assert_eq!(task["metadata"]["crumb_priority"], "HIGH");
    assert_eq!(task["metadata"]["crumb_type"], "task");
    let low = leave(&["task", "--unfinished", "Rename the module", "--priority", "low"]);
    assert_eq!(low["metadata"]["crumb_priority"], "LOW");
    let orientation = leave(&["orientation", "--summary", "x"]);
    assert_eq!(orientation["metadata"]["crumb_type"], "orientation");
    leave(&["handover", "--summary", "x", "--unfinished", "the rest", "--if-disoriented", "begin with the test"]);
    for args in [
        &["handover", "--summary", "x"][..],
        &["task"],
        &["orientation"],
        &["orientation", "--summary", "x", "--deadline", "now"],
    ] {
        let answer = repo.refused(&[&["forward", "leave", "--agent", "a", "--template"], args].concat());
        assert!(answer.contains("error: "), "{answer}");
    }
}

#[test]
fn expiry_removes_only_what_was_requested() {
    let repo = TestRepo::new();
    let at = |date: &str, args: &[&str]| {
        let mut command = repo.command("git-trace");
        command.args(["forward", "--agent", "a"]).args(args).env("GIT_COMMITTER_DATE", date);
        repo.snapshot(&crate::unit::repo::run(&mut command, b""))
    };
    at("1767225600 +0000", &["leave", "--summary", "old and low", "--priority", "LOW"]);
    at("1767225600 +0000", &["leave", "--summary", "old and high", "--priority", "HIGH"]);
    insta::assert_snapshot!(at("1769904000 +0000", &["expire"]), @"
    [ID] 2026-01-01T00:00:00Z LOW orientation active old and low
    --- stderr
    expired forward crumbs: 1; delete them with --delete
    [exit 0]
    ");
    assert!(at("1769904000 +0000", &["get", "--lookback-hours", "9999", "--all", "--oneline"]).contains("old and low"));
    assert!(!at("1769904000 +0000", &["get", "--lookback-hours", "9999", "--oneline"]).contains("old and low"));
    insta::assert_snapshot!(at("1769904000 +0000", &["expire", "--delete"]), @"
    [ID] 2026-01-01T00:00:00Z LOW orientation active old and low
    --- stderr
    expired forward crumbs deleted: 1; history keeps them
    [exit 0]
    ");
    assert!(
        !at("1769904000 +0000", &["get", "--lookback-hours", "9999", "--all", "--oneline"]).contains("old and low")
    );
    insta::assert_snapshot!(at("1769904000 +0000", &["expire"]), @"
    --- stderr
    no forward crumb has expired
    [exit 0]
    ");
    assert_eq!(repo.git(&["log", "--format=%s", "refs/crumbs/a"]).lines().count(), 3);
    repo.fsck();
}

#[test]
fn forward_crumbs_are_private() {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "private"]);
    repo.say("a trace");
    let (remote, clone) = (repo.home().join("remote.git"), repo.home().join("clone"));
    repo.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
    repo.git(&["push", "--quiet", remote.to_str().unwrap(), "code"]);
    repo.git(&["push", "--quiet", "--tags", remote.to_str().unwrap()]);
    repo.git(&["clone", "--quiet", repo.folder().to_str().unwrap(), clone.to_str().unwrap()]);
    for folder in [&remote, &clone] {
        let refs = repo.git(&["-C", folder.to_str().unwrap(), "for-each-ref", "--format=%(refname)"]);
        assert!(refs.contains("code") && !refs.contains("crumbs"), "{refs}");
    }
}

#[test]
fn doctor_leaves_no_files() {
    let repo = TestRepo::new();
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "x"]);
    let state = || (repo.refs(), repo.git(&["count-objects", "-v"]), repo.git(&["status", "--porcelain"]));
    let before = state();
    let answer = repo.trace(&["doctor"]);
    assert!(answer.contains("ok       forward-crumbs: a new forward crumb can be written and read\n"), "{answer}");
    assert_eq!(state(), before);
}
