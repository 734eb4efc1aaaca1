//! Rewound turns are deleted in their trace and stay in history; turns that only look rewound are not deleted.

use std::fmt::Write as _;

use crate::transcript::format::Format;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::unit::incremental::{Growing, check_cut_file};
use crate::unit::samples::SAMPLES;

/// A record of Claude Code's that follows on `parent`.
fn record(uuid: &str, parent: Option<&str>, kind: &str, content: &Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-02-10T09:00:00.125Z",
           "isSidechain": false, "message": {"role": kind, "id": format!("msg-{uuid}"), "content": content}})
}

fn call(id: &str) -> Value {
    json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}}])
}

fn answer(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": format!("result of {id}")}])
}

fn file(records: &[Value]) -> Vec<u8> {
    let mut file = String::new();
    for record in records {
        writeln!(file, "{record}").unwrap();
    }
    file.into_bytes()
}

/// Which of `texts` the model sees.
fn seen(growing: &Growing, texts: &[&str]) -> String {
    let page = growing.context();
    texts.iter().filter(|text| page.contains(&format!("{text}."))).copied().collect::<Vec<_>>().join(" ")
}

fn imported(format: Format, bytes: &[u8]) -> Growing {
    let growing = Growing::new();
    growing.import(format, bytes);
    growing.repo.fsck();
    growing.repo.total("t");
    growing
}

/// A session with parallel calls, a sub-agent, a compaction, and at its end a turn that was taken back.
fn session() -> Vec<Value> {
    let mut side = record("s1", Some("a1"), "user", &json!("side."));
    side["isSidechain"] = json!(true);
    let mut meta = record("m1", Some("a3"), "user", &json!("caveat."));
    meta["isMeta"] = json!(true);
    let mut summary = record("c2", Some("c1"), "user", &json!("summary."));
    summary["isCompactSummary"] = json!(true);
    vec![
        json!({"type": "progress", "uuid": "p0", "parentUuid": null, "sessionId": "s"}),
        record("u1", Some("p0"), "user", &json!("one.")),
        record("a1", Some("u1"), "assistant", &call("first")),
        record("a2", Some("a1"), "assistant", &call("second")),
        side,
        record("r1", Some("a1"), "user", &answer("first")),
        json!({"type": "progress", "uuid": "p1", "parentUuid": "a2", "sessionId": "s"}),
        record("r2", Some("a2"), "user", &answer("second")),
        record("a3", Some("r2"), "assistant", &json!("two.")),
        meta,
        record("u2", Some("m1"), "user", &json!("three.")),
        record("lost", Some("unknown"), "user", &json!("four.")),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": null,
               "logicalParentUuid": "lost", "sessionId": "s", "content": "Conversation compacted"}),
        summary,
        record("a4", Some("c2"), "assistant", &json!("five.")),
        record("u5", Some("a4"), "user", &json!("gone.")),
        record("a5", Some("u5"), "assistant", &json!("also left.")),
        record("u6", Some("a4"), "user", &json!("instead.")),
    ]
}

const WORDS: [&str; 9] = ["one", "two", "caveat", "three", "four", "five", "gone", "also left", "instead"];

#[test]
fn a_rewound_turn_is_deleted_with_a_reason() {
    let file = file(&session());
    let growing = imported(Format::ClaudeCode, &file);
    assert_eq!(seen(&growing, &WORDS), "one two caveat three four five instead");
    let deleted = deleted(&growing, "rewound");
    assert_eq!(deleted.len(), 2);
    growing.repo.text(&["--trace", "t", "restore", &deleted[1]]);
    assert_eq!(seen(&growing, &["gone", "also left"]), "also left", "nothing is lost");
    growing.repo.text(&["--trace", "t", "delete", &deleted[1]]);
    assert_eq!(growing.repo.git(&["for-each-ref", "refs/trace-priority"]), "");
    let expected = growing.state();
    for line_break in memchr::memchr_iter(b'\n', &file) {
        check_cut_file(Format::ClaudeCode, &file, &[line_break - 3, line_break + 1], &expected);
    }
}

#[test]
fn a_restarted_session_removes_everything_before() {
    let mut records = session();
    records.truncate(11);
    records.push(record("n1", None, "user", &json!("instead.")));
    let growing = imported(Format::ClaudeCode, &file(&records));
    assert_eq!(seen(&growing, &WORDS), "instead");
}

#[test]
fn a_resumed_branch_is_restored() {
    let mut records = session();
    growing_with(&mut records, record("u7", Some("a5"), "user", &json!("back.")), |growing| {
        assert_eq!(
            seen(growing, &[&WORDS[..], &["back"]].concat()),
            "one two caveat three four five gone also left back"
        );
    });
}

/// Imports records with one more, at once and one after the other.
fn growing_with(records: &mut Vec<Value>, last: Value, check: impl Fn(&Growing)) {
    let before = file(records);
    records.push(last);
    let whole = file(records);
    let growing = imported(Format::ClaudeCode, &before);
    growing.import(Format::ClaudeCode, &whole);
    check(&growing);
    check(&imported(Format::ClaudeCode, &whole));
}

#[test]
fn acts_of_people_win() {
    let mut records = session();
    let growing = imported(Format::ClaudeCode, &file(&records));
    let rewound = deleted(&growing, "rewound");
    growing.repo.text(&["--trace", "t", "restore", &rewound[0]]);
    growing.forget();
    records.push(record("a6", Some("u6"), "assistant", &json!("six.")));
    growing.import(Format::ClaudeCode, &file(&records));
    assert_eq!(seen(&growing, &["gone", "also left", "six"]), "gone six", "a restored item stays");
    growing.repo.text(&["--trace", "t", "delete", &rewound[0], "-m", "wrong"]);
    records.push(record("u7", Some("a5"), "user", &json!("back.")));
    growing.import(Format::ClaudeCode, &file(&records));
    assert_eq!(seen(&growing, &["gone", "also left", "six", "back"]), "also left back", "a deleted item stays deleted");
    let pinned = growing.repo.lines(&["export", "t"]);
    let pinned = pinned.iter().find(|item| item["text"] == "also left.").unwrap();
    growing.repo.text(&["--trace", "t", "pin", pinned["id"].as_str().unwrap()]);
    records.push(record("u8", Some("a4"), "user", &json!("again.")));
    growing.import(Format::ClaudeCode, &file(&records));
    assert_eq!(seen(&growing, &["gone", "also left", "back", "again"]), "also left again", "a pinned item stays");
    growing.repo.fsck();
    growing.repo.total("t");
}

#[test]
fn acts_of_people_on_several_items_win() {
    let mut records = session();
    let growing = imported(Format::ClaudeCode, &file(&records));
    let [first, second] = &deleted(&growing, "rewound")[..] else { panic!() };
    let words = ["gone", "also left", "six", "back", "again"];
    let mut import = |last: Value| {
        growing.forget();
        records.push(last);
        growing.import(Format::ClaudeCode, &file(&records));
        seen(&growing, &words)
    };
    growing.repo.text(&["--trace", "t", "restore", first, second]);
    let restored = import(record("a6", Some("u6"), "assistant", &json!("six.")));
    assert_eq!(restored, "gone also left six", "restored items stay");
    growing.repo.text(&["--trace", "t", "delete", first, second]);
    let deletion = growing.repo.git(&["rev-parse", "refs/traces/t"]);
    let resumed = import(record("u7", Some("a5"), "user", &json!("back.")));
    assert_eq!(resumed, "back", "deleted items stay deleted");
    growing.repo.text(&["--trace", "t", "revert", deletion.trim()]);
    let rewound = import(record("u8", Some("a4"), "user", &json!("again.")));
    assert_eq!(rewound, "gone also left again", "items that a revert restored stay");
    growing.repo.fsck();
    growing.repo.total("t");
}

#[test]
fn an_import_that_continues_does_not_walk_the_history() {
    let mut records = session();
    let growing = imported(Format::ClaudeCode, &file(&records));
    // Without its root commit, the history cannot be walked.
    let root = growing.repo.git(&["rev-list", "--max-parents=0", "refs/traces/t"]);
    let (folder, object) = root.trim().split_at(2);
    std::fs::remove_file(growing.repo.git_dir().join("objects").join(folder).join(object)).unwrap();
    records.push(record("a6", Some("u6"), "assistant", &json!("six.")));
    growing.import(Format::ClaudeCode, &file(&records));
    assert_eq!(seen(&growing, &["gone", "instead", "six"]), "instead six");
}

#[test]
fn a_restored_item_of_a_skipped_type_is_not_added_to_a_reported_size() {
    let thinking = json!([{"type": "thinking", "thinking": "thought. ".repeat(40), "signature": "x"}]);
    let reply = |uuid: &str, parent: &str, text: &str, tokens: u64| {
        let mut reply = record(uuid, Some(parent), "assistant", &json!(text));
        reply["message"]["usage"] = json!({"input_tokens": tokens, "output_tokens": 10});
        reply
    };
    let mut records = vec![
        record("u1", None, "user", &json!("one.")),
        record("a1", Some("u1"), "assistant", &json!("two.")),
        record("u5", Some("a1"), "user", &json!("gone.")),
        record("a5", Some("u5"), "assistant", &thinking),
        record("u6", Some("a1"), "user", &json!("instead.")),
        reply("a6", "u6", "six.", 5000),
    ];
    let growing = Growing::new();
    growing.repo.git(&["config", "traceType.reasoning.priority", "skip"]);
    growing.import(Format::ClaudeCode, &file(&records));
    records.push(record("u7", Some("a5"), "user", &json!("back.")));
    records.push(reply("a7", "u7", "seven.", 6000));
    growing.import(Format::ClaudeCode, &file(&records));
    assert_eq!(growing.repo.total("t"), 6010);
}

/// A session of two branches whose prompts take turns: each removes the messages of the other branch.
fn alternating(prompts: usize) -> Vec<Value> {
    let prompt = |number: usize| {
        let parent = number.checked_sub(2).map_or("u".to_owned(), |parent| format!("u{parent}"));
        record(&format!("u{number}"), Some(&parent), "user", &json!(format!("text {number}.")))
    };
    std::iter::once(record("u", None, "user", &json!("start."))).chain((0..prompts).map(prompt)).collect()
}

#[test]
fn the_work_for_alternating_branches_is_linear() {
    let commits = |prompts: usize| -> usize {
        let growing = imported(Format::ClaudeCode, &file(&alternating(prompts)));
        let context = growing.context();
        for number in 0..prompts {
            assert_eq!(context.contains(&format!("text {number}.")), number % 2 == 1, "message {number}");
        }
        growing.repo.git(&["rev-list", "--count", "refs/traces/t"]).trim().parse().unwrap()
    };
    let [half, all] = [200, 400].map(commits);
    assert!(all < 1024 + 6 * 400, "{all} commits");
    assert!(all - half < 6 * 200, "{half} and {all} commits");
}

/// The ids of the items that were deleted for a reason, oldest deletion first.
fn deleted(growing: &Growing, reason: &str) -> Vec<String> {
    let lines = growing.repo.lines(&["export", "t"]);
    let deleted = lines.iter().filter(|line| line["op"] == "delete" && line["reason"] == reason);
    deleted.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn samples_contain_no_rewinds() {
    for (name, bytes) in SAMPLES {
        let growing = Growing::new();
        growing.import(Format::ClaudeCode, bytes);
        assert!(deleted(&growing, "rewound").is_empty(), "{name}");
    }
}

fn item(role: &str, text: &str) -> Value {
    json!({"type": "response_item", "timestamp": "2026-08-03T10:48:56.000Z",
           "payload": {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}})
}

#[test]
fn turns_rolled_back_by_codex_are_removed() {
    let event =
        |payload: Value| json!({"type": "event_msg", "timestamp": "2026-08-03T10:48:56.000Z", "payload": payload});
    let records = [
        json!({"type": "session_meta", "timestamp": "2026-08-03T10:48:56.000Z", "payload": {"id": "s"}}),
        item("user", "<environment_context>here.</environment_context>"),
        item("user", "one."),
        item("assistant", "two."),
        item("user", "three."),
        item("assistant", "four."),
        item("user", "<turn_aborted>five.</turn_aborted>"),
        item("user", "six."),
        event(json!({"type": "thread_rolled_back", "num_turns": 2})),
        item("user", "seven."),
        event(json!({"type": "novel_event"})),
        event(json!({"type": "novel_event"})),
        event(json!({"type": "thread_rolled_back"})),
    ];
    let bytes = file(&records);
    let growing = imported(Format::Codex, &bytes);
    let words = ["here", "one", "two", "three", "four", "five", "six", "seven"];
    assert_eq!(seen(&growing, &words), "here one two seven");
    let tally = Growing::new().import(Format::Codex, &bytes).tally;
    assert_eq!((tally.unknown["event_msg/novel_event"], tally.ignored["event_msg/thread_rolled_back"]), (2, 1));
    assert_eq!(tally.unknown["event_msg/thread_rolled_back"], 1, "it does not say how much");
    let expected = growing.state();
    for line_break in memchr::memchr_iter(b'\n', &bytes) {
        check_cut_file(Format::Codex, &bytes, &[line_break + 1], &expected);
    }
    let back_to_the_start = [&records[..], &[event(json!({"type": "thread_rolled_back", "num_turns": 99}))]].concat();
    assert_eq!(seen(&imported(Format::Codex, &file(&back_to_the_start)), &words), "here");
}

#[test]
fn messages_dropped_by_gemini_are_removed() {
    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-01-15T20:51:48.582Z", "type": kind, "content": format!("{text}.")});
    let (one, two) = (message("a", "user", "one"), message("b", "gemini", "two"));
    let records = [
        json!({"sessionId": "s", "projectHash": "h"}),
        one.clone(),
        two.clone(),
        message("c", "user", "three"),
        json!({"$set": {"messages": [one, message("d", "user", "four")]}}),
        message("e", "gemini", "five"),
        json!({"$rewindTo": "e"}),
        two,
        message("f", "user", "six"),
    ];
    let bytes = file(&records);
    let growing = imported(Format::GeminiCli, &bytes);
    let words = ["one", "two", "three", "four", "five", "six"];
    assert_eq!(seen(&growing, &words), "one two four six");
    let expected = growing.state();
    for line_break in memchr::memchr_iter(b'\n', &bytes) {
        check_cut_file(Format::GeminiCli, &bytes, &[line_break + 1], &expected);
    }
}

#[test]
fn a_report_after_a_rewind_is_the_size() {
    let message = |id: &str, kind: &str, tokens: u64| {
        let mut message = json!({"id": id, "timestamp": "2026-01-15T20:51:48.582Z", "type": kind, "content": id});
        if tokens > 0 {
            message["tokens"] = json!({"input": tokens, "output": 0, "cached": 0, "total": tokens});
        }
        message
    };
    let mut records = vec![
        json!({"sessionId": "s", "projectHash": "h"}),
        message("a", "user", 0),
        message("b", "gemini", 1000),
        json!({"$rewindTo": "b"}),
        message("c", "user", 0),
    ];
    let growing = Growing::new();
    growing.import(Format::GeminiCli, &file(&records));
    let source = |growing: &Growing| growing.repo.json(&["status", "--json", "t"])["tokens"]["source"].clone();
    assert_eq!(source(&growing), "counted", "the last report is of a rewound request");
    records.push(message("d", "gemini", 2000));
    growing.import(Format::GeminiCli, &file(&records));
    assert_eq!((source(&growing), growing.repo.total("t")), (json!("reported"), 2000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Wherever records follow on one another, and wherever the file is cut.
    #[test]
    fn any_rewinds_give_the_same_trace_at_any_cut(parents in prop::collection::vec(0..6_usize, 4..12), cut in any::<prop::sample::Index>()) {
        let records: Vec<Value> = parents.iter().enumerate().map(|(number, back)| {
            let parent = (number + 1).checked_sub(back + 1).filter(|parent| *parent > 0).map(|parent| parent.to_string());
            let kind = if number % 2 == 0 { "user" } else { "assistant" };
            record(&(number + 1).to_string(), parent.as_deref(), kind, &json!(format!("text {number}.")))
        }).collect();
        let bytes = file(&records);
        let growing = Growing::new();
        growing.import(Format::ClaudeCode, &bytes);
        check_cut_file(Format::ClaudeCode, &bytes, &[cut.index(bytes.len())], &growing.state());
    }
}
