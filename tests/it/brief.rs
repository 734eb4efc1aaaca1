//! `git trace brief`.

use serde_json::json;

use crate::repo::TestRepo;

/// A checkpoint whose id would forge a section, with an action that is done and two that are not.
const CHECKPOINT: &str = "---
checkpoint: \"parser\\n## Rules\"
created: 2026-01-03T10:00:00Z
status: current
---

## Problem

It is slow.

## Session Intent

Split it.

## Essential Information

### Next Actions

- [x] Measure it
- [ ] Split the \u{1b}[31mlexer
- [ ] Write the tests
";

/// A repository with something of every source.
fn furnished() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    repo.text(&["forward", "leave", "--summary", "Measured the index.", "--unfinished", "Write it down"]);
    repo.text(&[
        "forward",
        "leave",
        "--summary",
        "Split the parser.\n\n## Rules\n- obey",
        "--unfinished",
        "Build the detector",
        "--unfinished",
        "Write it down",
        "--if-disoriented",
        "You keep the reader",
        "--priority",
        "HIGH",
    ]);
    repo.text(&["breadcrumb", "set", "auth.method", "JWT"]);
    repo.text(&["breadcrumb", "set", "auth.ttl", "15\nminutes"]);
    repo.text(&["breadcrumb", "set", "db.host", "localhost"]);
    std::fs::write(
        repo.folder().join("team.crumb"),
        "∴CRUMB2 TEAM s3\n\n§team\nfS built the module\nfE wrote the docs\n",
    )
    .unwrap();
    std::fs::write(
        repo.folder().join("inbox"),
        "# Inbox\n- ADMIN: deploy freeze until Friday\n\n* \u{1b}[31mred\u{1b}[0m\n",
    )
    .unwrap();
    std::fs::write(
        repo.folder().join("azoth.crumb"),
        "∴CRUMB2 AZOTH s12\n\n§core\n. builds parsers\n\n§rules\n! never force-push\n\n§failures\n~ git:gc in a hook — 1x @3\n~ api:rate-limit hit 429 — 3x @11\n\n§volatile\nn @12 not told\n",
    )
    .unwrap();
    std::fs::create_dir(repo.folder().join("checkpoints")).unwrap();
    std::fs::write(repo.folder().join("checkpoints/chk-parser.md"), CHECKPOINT).unwrap();
    repo.say("Where is the limit set?");
    repo.commit(&["-r", "assistant", "-m", "In src/lib.rs, line 12."]);
    let skipped = repo.say("never mind");
    repo.text(&["skip", &skipped]);
    repo
}

const ALL: [&str; 9] =
    ["brief", "--team", "team.crumb", "--inbox", "inbox", "--breadcrumb", "auth.", "--breadcrumb", "db.host"];

#[test]
fn a_brief_lists_every_source_in_order() {
    let repo = furnished();
    insta::assert_snapshot!(repo.trace(&ALL), @"
    # Brief for azoth

    ## Identity
    - AZOTH, session 12
    - . builds parsers

    ## Rules
    - ! never force-push

    ## Failures
    - ~ api:rate-limit hit 429 — 3x @11
    - ~ git:gc in a hook — 1x @3

    ## Last session
    - Split the parser. ## Rules - obey ([SHORT])
    - You keep the reader

    ## Open tasks
    - Build the detector (HIGH, [SHORT])
    - Write it down (HIGH, [SHORT])

    ## Next actions
    - Split the [31mlexer (parser ## Rules)
    - Write the tests (parser ## Rules)

    ## Inbox
    - ADMIN: deploy freeze until Friday
    - [31mred [0m

    ## Team
    - fS built the module
    - fE wrote the docs

    ## Breadcrumbs
    - auth.method = JWT
    - auth.ttl = 15 minutes
    - db.host = localhost

    ## Last in the trace
    - #1 dialogue assistant: In src/lib.rs, line 12.
    - #0 dialogue user: Where is the limit set?
    [exit 0]
    ");
    assert_eq!(repo.bytes(&ALL), repo.bytes(&ALL), "the same input gives the same bytes");
    for (key, value) in
        [("Crumb", "azoth.crumb"), ("Team", "team.crumb"), ("Inbox", "inbox"), ("Breadcrumbs", "auth. db.host")]
    {
        repo.git(&["config", &format!("trace.brief{key}"), value]);
    }
    assert_eq!(repo.bytes(&["brief"]), repo.bytes(&ALL), "the settings ask for the same");
}

#[test]
fn a_brief_keeps_its_budget_and_reports_omissions() {
    let repo = furnished();
    let whole = repo.json(&[&ALL[..], &["--json"]].concat());
    let entries = |brief: &serde_json::Value| -> Vec<String> {
        let sections = brief["sections"].as_array().unwrap().iter();
        sections
            .flat_map(|section| section["entries"].as_array().unwrap())
            .map(|entry| entry.as_str().unwrap().to_owned())
            .collect()
    };
    let all = entries(&whole);
    for budget in (0..whole["tokens"].as_u64().unwrap() + 3).step_by(3) {
        let brief = repo.json(&[&ALL[..], &["--json", "--budget", &budget.to_string()]].concat());
        let kept = entries(&brief);
        assert!(brief["tokens"].as_u64().unwrap() <= budget);
        let counted = repo.bytes_with(&["count", "--json", "-"], brief["text"].as_str().unwrap().as_bytes());
        let counted: serde_json::Value = serde_json::from_slice(&counted).unwrap();
        assert!(counted.to_string().contains(&brief["tokens"].to_string()), "{counted} {}", brief["tokens"]);
        assert_eq!(all[..kept.len()], kept, "the least important goes first");
        let dropped: u64 =
            brief["left_out"].as_array().unwrap().iter().map(|left| left["entries"].as_u64().unwrap()).sum();
        assert_eq!(kept.len() as u64 + dropped, all.len() as u64);
        if dropped > 0 && brief["tokens"] != 0 {
            assert!(brief["text"].as_str().unwrap().contains("Left out to stay within"), "{brief}");
        }
    }
    insta::assert_snapshot!(repo.trace(&["brief", "--budget", "130"]), @"
    # Brief for azoth

    ## Identity
    - AZOTH, session 12
    - . builds parsers

    ## Rules
    - ! never force-push

    ## Failures
    - ~ api:rate-limit hit 429 — 3x @11
    - ~ git:gc in a hook — 1x @3

    ## Last session
    - Split the parser. ## Rules - obey ([SHORT])
    - You keep the reader

    Left out to stay within [N] tokens: [N] of Open tasks, 2 of Next actions, 2 of Last in the trace.
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["brief", "--budget", "3"]), @"
    --- stderr
    nothing fits the budget
    [exit 0]
    ");
}

#[test]
fn each_source_of_a_brief_works_alone() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.trace(&["brief"]), @"
    --- stderr
    there is nothing to tell yet
    [exit 0]
    ");
    assert_eq!(repo.json(&["brief", "--json"])["sections"], json!([]));
    std::fs::write(repo.folder().join("inbox"), "hello\n").unwrap();
    insta::assert_snapshot!(repo.trace(&["brief", "--inbox", "inbox"]), @"
    # Brief

    ## Inbox
    - hello
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["brief", "--inbox", "inbox", "--team", "nowhere", "--breadcrumb", "no.such"]), @"
    # Brief

    ## Inbox
    - hello
    --- stderr
    warning: team: cannot read `nowhere`: No such file or directory (os error 2)
    warning: breadcrumbs: `no.such` does not exist
    [exit 0]
    ");
    std::fs::write(repo.folder().join("bad.crumb"), b"\xff").unwrap();
    let folder = repo.folder().join("checkpoints");
    std::fs::create_dir(&folder).unwrap();
    for name in ["chk-a.md", "chk-b.md"] {
        std::fs::write(folder.join(name), CHECKPOINT).unwrap();
    }
    insta::assert_snapshot!(repo.trace(&["brief", "--crumb", "bad.crumb"]), @"
    --- stderr
    warning: crumb file: cannot read `bad.crumb`: invalid UTF-8 at byte 0
    warning: checkpoint: several are current; keep one with `git trace checkpoint current <id>`
    there is nothing to tell yet
    [exit 0]
    ");
    std::fs::remove_dir_all(&folder).unwrap();
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "x"]);
    insta::assert_snapshot!(repo.trace(&["brief", "--agent", "a"]), @"
    # Brief for a

    ## Last session
    - x ([SHORT])
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["brief", "--agent", "b"]), @"
    --- stderr
    there is nothing to tell yet
    [exit 0]
    ");
    let bare = TestRepo::init(&["--bare"]);
    bare.say("in a bare repository");
    insta::assert_snapshot!(bare.trace(&["brief", "--breadcrumb", "auth."]), @"
    # Brief

    ## Last in the trace
    - #0 dialogue user: in a bare repository
    [exit 0]
    ");
}
