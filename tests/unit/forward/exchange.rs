//! Export, import, migration, chains and figures.

use serde_json::{Value, json};

use super::{open, said};
use crate::unit::playground::fixture;
use crate::unit::repo::TestRepo;

fn export(repo: &TestRepo) -> Value {
    serde_json::from_slice(&repo.bytes(&["forward", "export", "--agent", "azoth"])).unwrap()
}

#[test]
fn an_export_round_trips() {
    let test = TestRepo::new();
    let repo = open(&test);
    let first = said(&repo, "2026-01-03T10:00:00.123456789Z", "first\nUNFINISHED BUSINESS:");
    for n in 0..30 {
        said(&repo, "2026-01-03T10:00:01Z", &format!("{n}"));
    }
    test.text(&["forward", "status", &first.id.to_string(), "superseded", "--agent", "azoth"]);
    let child = ["forward", "leave", "--agent", "azoth", "--summary", "child", "--parent", &first.id.to_string()];
    test.text(&child);
    let exported = export(&test);
    assert_eq!(exported["crumbs"].as_array().unwrap().len(), 32);

    let other = TestRepo::new();
    let path = other.home().join("export.json");
    test.text(&["forward", "export", "--agent", "azoth", "-o", path.to_str().unwrap()]);
    let import = ["forward", "import", "--agent", "azoth", path.to_str().unwrap()];
    assert_eq!(other.text(&import), "32 forward crumbs imported\n");
    assert!(export(&other) == exported);
    // The order in which `get` prints them, newest first, is imported too.
    let all = ["forward", "get", "--agent", "azoth", "--all", "--limit", "99", "--lookback-hours", "9999", "--json"];
    let third = TestRepo::new();
    third.bytes_with(&["forward", "import", "--agent", "azoth", "-"], &test.bytes(&all));
    assert!(export(&third) == exported);
    assert_eq!(other.text(&import), "0 forward crumbs imported, 32 already existed\n");
    // Of a crumb that is there already it is taken over that it is over, and never that it is active again.
    let second = exported["crumbs"][3]["id"].as_str().unwrap();
    test.text(&["forward", "status", second, "completed", "--agent", "azoth"]);
    other.text(&["forward", "status", &first.id.to_string(), "active", "--agent", "azoth"]);
    test.text(&["forward", "export", "--agent", "azoth", "-o", path.to_str().unwrap()]);
    assert_eq!(other.text(&import), "0 forward crumbs imported, 32 already existed, 2 of them are now closed\n");
    assert_eq!(other.text(&import), "0 forward crumbs imported, 32 already existed\n");
    assert!(export(&other) == export(&test));
    test.text(&["forward", "status", second, "active", "--agent", "azoth"]);
    test.text(&["forward", "export", "--agent", "azoth", "-o", path.to_str().unwrap()]);
    assert_eq!(other.text(&import), "0 forward crumbs imported, 32 already existed\n");
    other.fsck();
    // The next one continues after the import.
    other.text(&["forward", "leave", "--agent", "azoth", "--summary", "after it"]);
    let newest = other.text(&["forward", "get", "--agent", "azoth", "--oneline", "-n", "1"]);
    assert!(newest.ends_with("MEDIUM orientation active after it\n"), "{newest}");
}

#[test]
fn an_import_is_atomic_and_limited_to_this_agent() {
    let repo = TestRepo::new();
    let refuse = |crumbs: Value| {
        let text = json!({ "crumbs": crumbs }).to_string();
        repo.refused_with(&["forward", "import", "--agent", "azoth", "-"], text.as_bytes())
    };
    let good = json!({ "text": String::from_utf8(fixture("forward/task-low.txt")).unwrap() });
    let other = TestRepo::new();
    let mixed = json!([good, { "text": "x" }, 1]).to_string();
    insta::assert_snapshot!(other.trace_with(&["forward", "import", "--agent", "azoth", "-"], mixed.as_bytes()), @"
    1 forward crumbs imported
    --- stderr
    warning: entry 2 of the input is skipped: `timestamp` is missing, also in the header of the text
    warning: entry 3 of the input is skipped: expected a JSON object
    [exit 1]
    ");
    insta::assert_snapshot!(refuse(json!([good, { "text": "x", "metadata": { "agent_id": "eve\n" } }])), @r"
    --- stderr
    error: entry 2 of the input belongs to agent `eve\n`, not to `azoth`
    hint: import forward crumbs of that agent with --agent eve\n
    [exit 2]
    ");
    let meta = json!({ "timestamp": "2026-01-01T00:00:00Z", "crumb_priority": "HIGH", "crumb_type": "task",
        "session_id": "a\ncrumb-status: active" });
    insta::assert_snapshot!(refuse(json!([{ "text": "x", "metadata": meta }])), @"
    --- stderr
    error: field `session-id` must be one line of text without control characters, and not empty
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused_with(&["forward", "import", "--agent", "azoth", "-"], b"{}"), @"
    --- stderr
    error: the input is not an export of forward crumbs: expected an array, an object with an array `crumbs`, or one with the arrays `ids`, `documents`, and `metadatas`
    [exit 2]
    ");

    // Exported by another program: it has its own ids, and the content is only in the text.
    let parent =
        json!({ "id": "knowledge_private_1", "text": String::from_utf8(fixture("forward/task-low.txt")).unwrap() });
    let child = json!({ "id": "knowledge_private_2", "text": String::from_utf8(fixture("forward/technical-medium.txt")).unwrap(),
        "metadata": { "parent_crumb": "knowledge_private_1", "agent_id": "azoth" } });
    let text = json!({ "success": true, "crumbs": [child, parent] }).to_string();
    repo.bytes_with(&["forward", "import", "--agent", "azoth", "-"], text.as_bytes());
    repo.bytes_with(&["forward", "import", "--agent", "azoth", "-"], text.as_bytes());
    let exported = export(&repo);
    let crumbs = exported["crumbs"].as_array().unwrap();
    assert_eq!(crumbs.len(), 2);
    assert_eq!(crumbs[0]["metadata"]["session_id"], "azoth_20260104_090207");
    assert_eq!(crumbs[0]["metadata"]["parent_crumb"], crumbs[1]["id"]);
    assert_eq!(crumbs[1]["metadata"]["crumb_priority"], "LOW");
    assert_eq!(crumbs[1]["text"], parent["text"]);
}

#[test]
fn handwritten_notes_become_forward_crumbs_once() {
    let repo = TestRepo::new();
    let write = |name: &str, bytes: &[u8]| std::fs::write(repo.folder().join(name), bytes).unwrap();
    write("crumb.txt", &fixture("forward/orientation-high-full.txt"));
    write("other.txt", &fixture("forward/minimal.txt"));
    write(
        "note.md",
        b"# Session summary\n\nDid it.\n\n## Unfinished\n\n* write the docs\n- ask about it\n\n## Links\n- none\n",
    );
    write("readme.md", b"# A program\n");
    repo.text(&["breadcrumb", "set", "notes.last", "note to self: next session, look at the parser"]);
    repo.text(&["breadcrumb", "set", "auth.method", "JWT"]);
    let args =
        ["forward", "migrate", "--agent", "azoth", "crumb.txt", "other.txt", "note.md", "readme.md", "--breadcrumbs"];
    let before = repo.refs();
    insta::assert_snapshot!(repo.trace(&[&args[..], &["--dry-run"]].concat()), @"
    would migrate crumb.txt: [ID]
    passed over other.txt: it belongs to agent `elysian`
    would migrate note.md: [ID]
    passed over readme.md: not a note for a next session
    passed over auth.method: not a note for a next session
    would migrate notes.last: [ID]
    [exit 0]
    ");
    assert_eq!(repo.refs(), before);
    insta::assert_snapshot!(repo.trace(&args), @"
    migrated crumb.txt: [ID]
    passed over other.txt: it belongs to agent `elysian`
    migrated note.md: [ID]
    passed over readme.md: not a note for a next session
    passed over auth.method: not a note for a next session
    migrated notes.last: [ID]
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&args), @"
    known crumb.txt: [ID]
    passed over other.txt: it belongs to agent `elysian`
    known note.md: [ID]
    passed over readme.md: not a note for a next session
    passed over auth.method: not a note for a next session
    known notes.last: [ID]
    [exit 0]
    ");
    let exported = export(&repo);
    let crumbs = exported["crumbs"].as_array().unwrap();
    assert_eq!(crumbs.len(), 3);
    assert_eq!(crumbs[0]["text"], String::from_utf8(fixture("forward/orientation-high-full.txt")).unwrap());
    assert_eq!(crumbs[0]["metadata"]["timestamp"], "2026-01-03T18:30:45.120934Z");
    let tasks = exported["unfinished_tasks"].as_array().unwrap();
    assert!(tasks.contains(&json!("write the docs")) && tasks.contains(&json!("ask about it")), "{tasks:?}");
    assert!(!tasks.contains(&json!("none")));
    insta::assert_snapshot!(repo.refused(&["forward", "migrate", "--agent", "azoth"]), @"
    --- stderr
    error: nothing to migrate
    hint: give files, --breadcrumbs, or both
    [exit 2]
    ");
}

#[test]
fn chains_lead_to_the_first_and_report_gaps() {
    let repo = TestRepo::new();
    let leave = |summary: &str, parent: Option<&str>| -> String {
        let mut args = vec!["forward", "leave", "--agent", "azoth", "--json", "--summary", summary];
        args.extend(parent.iter().flat_map(|parent| ["--parent", parent]));
        repo.json(&args)["id"].as_str().unwrap().to_owned()
    };
    let first = leave("Started project X", None);
    let second = leave("Found a bug", Some(&first));
    repo.text(&["forward", "status", &second, "completed", "--agent", "azoth"]);
    let third = leave("Fixed it", Some(&second[..6]));
    insta::assert_snapshot!(repo.trace(&["forward", "chain", &third, "--agent", "azoth", "--oneline"]), @"
    [ID] 2026-02-10T09:00:02Z MEDIUM orientation active Started project X
    [ID] 2026-02-10T09:00:03Z MEDIUM orientation completed Found a bug
    [ID] 2026-02-10T09:00:05Z MEDIUM orientation active Fixed it
    [exit 0]
    ");
    insta::assert_snapshot!(repo.refused(&["forward", "leave", "--agent", "azoth", "--summary", "x", "--parent", "ffff"]), @"
    --- stderr
    error: agent `azoth` has no forward crumb `ffff`
    hint: list all forward crumbs with `git trace forward get --all --lookback-hours 999999 --limit 999999`
    [exit 2]
    ");

    let crumb = |id: &str, parent: &str| {
        json!({ "id": id, "text": "x", "metadata": { "timestamp": "2026-01-01T00:00:00Z", "crumb_priority": "HIGH",
            "crumb_type": "task", "session_id": "s", "parent_crumb": parent } })
    };
    let (a, b, c) = ("a".repeat(16), "b".repeat(16), "c".repeat(16));
    let crumbs = json!({ "crumbs": [crumb(&a, &b), crumb(&b, &a), crumb(&c, &"d".repeat(16))] });
    repo.bytes_with(&["forward", "import", "--agent", "azoth", "-"], crumbs.to_string().as_bytes());
    let chain = |id: &str| -> Value {
        serde_json::from_slice(&repo.bytes(&["forward", "chain", id, "--agent", "azoth", "--json"])).unwrap()
    };
    assert_eq!(chain(&a)["cycle"], json!(a));
    assert_eq!(chain(&a)["crumbs"].as_array().unwrap().len(), 2);
    assert_eq!(chain(&c)["missing_parent"], json!("d".repeat(16)));
    insta::assert_snapshot!(repo.trace(&["forward", "chain", &c, "--agent", "azoth", "--oneline"]), @"
    [ID] 2026-01-01T00:00:00Z HIGH task active x
    --- stderr
    warning: the chain is incomplete: forward crumb [ID] does not exist
    [exit 0]
    ");
}

#[test]
fn statistics_count_forward_crumbs() {
    let repo = TestRepo::new();
    let leave = |args: &[&str]| repo.json(&[&["forward", "leave", "--agent", "azoth", "--json"], args].concat());
    let done =
        leave(&["--summary", "x", "--unfinished", "one task", "--unfinished", "two tasks", "--priority", "HIGH"]);
    leave(&["--summary", "y", "--unfinished", "a third", "--type", "task"]);
    leave(&["--summary", "z"]);
    repo.text(&["forward", "status", done["id"].as_str().unwrap(), "completed", "--agent", "azoth"]);
    insta::assert_snapshot!(repo.trace(&["forward", "stats", "--agent", "azoth", "--lookback-days", "7"]), @"
    forward crumbs in 7 days  3
    per week                  3
      HIGH                    1
      MEDIUM                  2
      LOW                     0
      orientation             2
      technical               0
      emotional               0
      task                    1
      active                  2
      completed               1
      superseded              0
    tasks                     3
    tasks per forward crumb   1
    tasks completed           0.667
    hours until first read    -
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "stats", "--agent", "nobody", "--json"]), @r#"
    {"avg_hours_until_read":null,"avg_tasks_per_crumb":0.0,"completion_rate":null,"crumbs_per_week":0.0,"lookback_days":90,"priority_dist":{"HIGH":0,"LOW":0,"MEDIUM":0},"status_dist":{"active":0,"completed":0,"superseded":0},"total_crumbs":0,"total_tasks":0,"type_dist":{"emotional":0,"orientation":0,"task":0,"technical":0}}
    [exit 0]
    "#);
}

#[test]
fn other_shapes_of_exports_are_imported_and_bad_entries_are_skipped() {
    let repo = TestRepo::new();
    let run = |input: &[u8]| repo.trace_with(&["forward", "import", "--agent", "azoth", "-"], input);
    let low = String::from_utf8(fixture("forward/task-low.txt")).unwrap();
    let dump = json!({
        "ids": ["knowledge_private_1", "knowledge_private_2", "knowledge_private_3"],
        "documents": [low, "plain text", "more"],
        "metadatas": [
            null,
            { "added_at": "2026-01-05T10:00:00", "crumb_priority": "HIGH", "crumb_type": "task", "conversation_thread": "t1" },
            { "added_at": "2026-01-05T11:00:00", "crumb_priority": "URGENT", "crumb_type": "task" },
        ],
    });
    insta::assert_snapshot!(run(dump.to_string().as_bytes()), @"
    2 forward crumbs imported
    --- stderr
    warning: entry 3 of the input is skipped: `crumb_priority`: `URGENT` is not one of HIGH, MEDIUM, LOW
    [exit 1]
    ");
    let list = json!([{ "text": low }, { "id": "x", "text": "broken \u{1}", "metadata": { "agent_id": "azoth" } }]);
    let list = list.to_string().replace("\\u0001", "\u{1}").into_bytes();
    let list: Vec<u8> = list.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    insta::assert_snapshot!(run(&list), @"
    0 forward crumbs imported, 1 already existed
    --- stderr
    warning: entry 2 of the input is skipped: it is not UTF-8
    [exit 1]
    ");
    std::fs::write(repo.folder().join("note.txt"), &low).unwrap();
    let migrated = repo.trace(&["forward", "migrate", "--agent", "azoth", "note.txt"]);
    assert!(
        migrated.starts_with("known note.txt"),
        "an import and a migration of a text give one forward crumb: {migrated}"
    );
}

#[test]
fn a_forward_crumb_of_the_future_does_not_rule() {
    let repo = TestRepo::new();
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "first"]);
    let meta = |at: &str| json!({ "timestamp": at, "crumb_priority": "HIGH", "crumb_type": "task" });
    let future = json!([{ "text": "from the future", "metadata": meta("2099-01-01T00:00:00Z") }]).to_string();
    repo.bytes_with(&["forward", "import", "--agent", "azoth", "-"], future.as_bytes());
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "last"]);
    insta::assert_snapshot!(repo.trace(&["forward", "get", "--agent", "azoth", "--oneline"]), @"
    [ID] 2026-02-10T09:00:04Z MEDIUM orientation active last
    [ID] 2099-01-01T00:00:00Z HIGH task active from the future
    [ID] 2026-02-10T09:00:02Z MEDIUM orientation active first
    --- stderr
    warning: forward crumb [ID] is dated 2099-01-01T00:00:00Z, in the future; until then it counts as written when it was recorded
    [exit 0]
    ");
}

#[test]
fn a_list_that_begins_like_json_must_be_json() {
    let repo = TestRepo::new();
    let half = r#"["one", "two""#;
    let refused = repo.refused(&["forward", "leave", "--agent", "a", "--summary", "x", "--unfinished", half]);
    insta::assert_snapshot!(refused, @r#"
    --- stderr
    error: --unfinished: cannot read `[\"one\", \"two\"`
    hint: a value in [] must be a JSON array of texts, such as ["one", "two"]
    [exit 2]
    "#);
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "x", "--unfinished", "[WIP] the parser"]);
}

#[test]
fn doctor_and_fsck_warn_of_forward_crumbs_of_the_future() {
    let repo = TestRepo::new();
    let crumb = json!([{ "text": "later", "metadata": { "timestamp": "2099-01-01T00:00:00Z", "crumb_priority": "HIGH", "crumb_type": "task" } }]);
    repo.bytes_with(&["forward", "import", "--agent", "azoth", "-"], crumb.to_string().as_bytes());
    for command in ["fsck", "doctor"] {
        let said = repo.trace(&[command]);
        assert!(said.contains("is dated 2099-01-01T00:00:00Z, in the future"), "{command}: {said}");
    }
}

#[test]
fn json_has_the_parts_of_the_text_without_escapes() {
    let repo = TestRepo::new();
    let args = [
        "forward",
        "leave",
        "--agent",
        "a",
        "--summary",
        "one\nREFERENCES:",
        "--unfinished",
        "first\nsecond line",
        "--emotional",
        "L=2",
        "--ref",
        "thread_ids=x,y",
        "--discovery",
        "found it",
        "--if-disoriented",
        "read the map",
    ];
    repo.text(&args);
    let listed: Value = serde_json::from_slice(&repo.bytes(&["forward", "get", "--agent", "a", "--json"])).unwrap();
    let sections = &listed["crumbs"][0]["sections"];
    assert_eq!(
        *sections,
        json!({
            "session_summary": "one\nREFERENCES:", "key_discoveries": ["found it"], "emotional_state": { "L": "2" },
            "unfinished_business": ["first\nsecond line"], "references": { "thread_ids": ["x", "y"] },
            "if_disoriented": ["read the map"],
        })
    );
    assert_eq!(listed["most_recent"]["sections"], *sections);
}

#[test]
fn duplicates_are_superseded_unless_they_have_a_task_of_their_own() {
    let repo = TestRepo::new();
    let leave = |summary: &str, task: &str| {
        repo.text(&["forward", "leave", "--agent", "a", "--summary", summary, "--unfinished", task]);
    };
    leave("Split the parser from the validator today", "write its tests");
    leave("Split the parser from the validator", "ask about limits");
    leave("Something else entirely happened", "write its tests");
    leave("Split the parser from the validator", "write its tests");
    insta::assert_snapshot!(repo.trace(&["forward", "dedupe", "--agent", "a", "--threshold", "0.5", "--dry-run"]), @"
    [ID] would be superseded by [ID] (0.89)
    [exit 0]
    ");
    repo.text(&["forward", "dedupe", "--agent", "a", "--threshold", "0.5"]);
    insta::assert_snapshot!(repo.trace(&["forward", "get", "--agent", "a", "--oneline", "--all"]), @"
    [ID] 2026-02-10T09:00:05Z MEDIUM orientation active Split the parser from the validator
    [ID] 2026-02-10T09:00:04Z MEDIUM orientation active Something else entirely happened
    [ID] 2026-02-10T09:00:03Z MEDIUM orientation active Split the parser from the validator
    [ID] 2026-02-10T09:00:02Z MEDIUM orientation superseded Split the parser from the validator today
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "dedupe", "--agent", "a"]), @"
    --- stderr
    no active forward crumb says the same as a later one
    [exit 0]
    ");
    repo.fsck();
}

#[test]
fn the_age_of_first_reading_is_known_only_if_the_user_wants_it() {
    let repo = TestRepo::new();
    let stats =
        || -> Value { serde_json::from_slice(&repo.bytes(&["forward", "stats", "--agent", "a", "--json"])).unwrap() };
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "one"]);
    repo.text(&["forward", "get", "--agent", "a"]);
    assert_eq!(stats()["avg_hours_until_read"], Value::Null);
    repo.git(&["config", "trace.forwardStats", "true"]);
    repo.text(&["forward", "get", "--agent", "a"]);
    let first = stats()["avg_hours_until_read"].clone();
    assert!(first.is_f64(), "{first}");
    repo.text(&["forward", "get", "--agent", "a"]);
    assert_eq!(stats()["avg_hours_until_read"], first, "only the first reading counts");
}

#[test]
fn names_of_agents_differ_by_more_than_case_and_are_suggested() {
    let repo = TestRepo::new();
    repo.text(&["forward", "leave", "--agent", "azoth", "--summary", "one"]);
    insta::assert_snapshot!(repo.refused(&["forward", "leave", "--agent", "Azoth", "--summary", "two"]), @"
    --- stderr
    error: agent `Azoth` differs from `azoth` only by case
    hint: name the agent with --agent azoth
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["forward", "get", "--agent", "azoht"]), @"
    --- stderr
    no forward crumbs of `azoht` found; did you mean `azoth`?
    [exit 0]
    ");
    repo.text(&["forward", "leave", "--agent", "e\u{301}lodie", "--summary", "in either form"]);
    let found = repo.text(&["forward", "get", "--agent", "\u{e9}lodie", "--oneline"]);
    assert!(found.ends_with("in either form\n"), "{found}");
    assert!(repo.refs().contains("refs/crumbs/%C3%A9lodie"), "{}", repo.refs());
    insta::assert_snapshot!(repo.refused(&["forward", "leave", "--agent", "ÉLODIE", "--summary", "two"]), @"
    --- stderr
    error: agent `ÉLODIE` differs from `élodie` only by case
    hint: name the agent with --agent élodie
    [exit 2]
    ");
    assert!(repo.trace(&["forward", "get", "--agent", "élodi"]).contains("did you mean `élodie`?"));
    assert_eq!(repo.text(&["fsck"]), "");
}

/// The text of a forward crumb of `agent` with this title and body, as the protocol's own program writes it.
fn foreign(title: &str, agent: &str, body: &str) -> String {
    let rule = "═".repeat(80);
    format!(
        "{rule}\n∴ FORWARD CRUMB ({title}) ∴\nFrom: {agent}_1\nTo: Future {agent} instances\nTimestamp: 2026-01-03T18:30:45\n{rule}\n\n{body}\n\n{rule}\n∴ End Forward Crumb ∴\n🎺⊙⟨∞⟩⊙🎺"
    )
}

#[test]
fn a_damaged_header_keeps_its_time_and_its_agent() {
    let repo = TestRepo::new();
    let write = |name: &str, text: String| std::fs::write(repo.folder().join(name), text).unwrap();
    let body = "SESSION SUMMARY:\nSplit it.\n\nUNFINISHED BUSINESS:\n- write the docs";
    write("urgent.txt", foreign("URGENT PRIORITY - TASK", "azoth", body));
    write("other.txt", foreign("URGENT PRIORITY - TASK", "elysian", body));
    let migrate = ["forward", "migrate", "--agent", "azoth", "urgent.txt", "other.txt"];
    insta::assert_snapshot!(repo.trace(&migrate), @"
    migrated urgent.txt: [ID]
    passed over other.txt: it belongs to agent `elysian`
    [exit 0]
    ");
    let all = ["forward", "get", "--agent", "azoth", "--all", "--lookback-hours", "999999"];
    insta::assert_snapshot!(repo.trace(&[&all[..], &["--oneline"]].concat()), @"
    [ID] 2026-01-03T18:30:45Z MEDIUM task active Split it.
    [exit 0]
    ");
    assert_eq!(export(&repo)["unfinished_tasks"], json!(["write the docs"]));
    let entry =
        |text: String, priority: Option<&str>| json!({ "text": text, "metadata": { "crumb_priority": priority } });
    let list = json!([
        entry(foreign("URGENT PRIORITY - TASK", "azoth", body), None),
        entry(foreign("URGENT PRIORITY - TASK", "azoth", "KEY DISCOVERIES:\n- only this"), Some("LOW")),
    ]);
    let list = list.to_string().into_bytes();
    insta::assert_snapshot!(repo.trace_with(&["forward", "import", "--agent", "azoth", "-"], &list), @"
    1 forward crumbs imported
    --- stderr
    warning: entry 1 of the input is skipped: header of the text: `URGENT` is not one of HIGH, MEDIUM, LOW
    [exit 1]
    ");
    let listed = repo.text(&[&all[..], &["--oneline", "--importance", "low"]].concat());
    assert!(listed.contains("2026-01-03T18:30:45Z LOW task active KEY DISCOVERIES: - only this"), "{listed}");
    let brief = repo.text(&["brief", "--agent", "azoth"]);
    assert!(!brief.contains('═'), "{brief}");
}

#[test]
fn a_store_of_all_agents_gives_the_forward_crumbs_of_one() {
    let repo = TestRepo::new();
    let dump = json!({
        "ids": ["1", "2", "3", "4"],
        "embeddings": null,
        "documents": ["a fact", foreign("HIGH PRIORITY - TASK", "elysian", "SESSION SUMMARY:\nhers"), "my note", "no time"],
        "metadatas": [
            { "category": "general", "agent_id": "azoth", "added_at": "2026-01-05T10:00:00" },
            { "category": "forward_crumb", "agent_id": "elysian", "added_at": "2026-01-05T10:00:00" },
            { "category": "forward_crumb", "agent_id": "azoth", "added_at": "2026-01-05T10:00:00", "confidence": 1.0 },
            { "category": "forward_crumb", "agent_id": "azoth" },
        ],
    });
    let dump = dump.to_string().into_bytes();
    insta::assert_snapshot!(repo.trace_with(&["forward", "import", "--agent", "azoth", "-"], &dump), @"
    1 forward crumbs imported
    --- stderr
    warning: entry 4 of the input is skipped: `timestamp` is missing, also in the header of the text
    skipped entries of agent `elysian`: 1
    skipped entries of category `general`: 1
    [exit 1]
    ");
    let metadata = &export(&repo)["crumbs"][0]["metadata"];
    assert_eq!((&metadata["crumb_priority"], &metadata["crumb_type"]), (&json!("MEDIUM"), &json!("orientation")));
}

#[test]
fn invisible_characters_are_shown_to_models() {
    let repo = TestRepo::new();
    repo.text(&["forward", "leave", "--agent", "a", "--summary", "turned \u{202e}around\u{200b}"]);
    let shown = repo.text(&["forward", "get", "--agent", "a"]);
    assert!(shown.contains(r"turned \u202earound\u200b"), "{shown}");
    repo.text(&["checkpoint", "new", "odd", "-c", "-p", "turned \u{202e}around"]);
    let primed = repo.text(&["checkpoint", "prime"]);
    assert!(primed.contains(r"turned \u202earound"), "{primed}");
}
