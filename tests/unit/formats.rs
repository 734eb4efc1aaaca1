//! The formats of Codex, Gemini CLI, and SWE-agent: nothing is lost, duplicates are imported once, and files may grow.

use std::fs;

use crate::transcript::format::{Format, InputFormat};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::unit::incremental::{Growing, check_cut_file};
use crate::unit::repo::TestRepo;

const SMALL: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-small.jsonl");
const MATRIX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-record-matrix.jsonl");
const CHAT: &[u8] = include_bytes!("../fixtures/transcripts/gemini-cli/session-chat.json");
const TRAJECTORY: &[u8] = include_bytes!("../fixtures/transcripts/swe-agent/function-calling.traj");

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// The items of a trace as JSON, skipped ones included.
fn items(growing: &Growing) -> Vec<Value> {
    let lines = growing.repo.lines(&["export", "t"]);
    lines.into_iter().filter(|line| line["op"] == "import").collect()
}

fn import(format: Format, bytes: &[u8]) -> (Growing, Vec<Value>) {
    let growing = Growing::new();
    growing.import(format, bytes);
    let items = items(&growing);
    growing.repo.fsck();
    growing.repo.total("t");
    (growing, items)
}

fn texts(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["text"].as_str().unwrap_or_default()).collect()
}

/// Every text under `text`, `content`, `arguments`, `input`, `output` and `thought` of what the model saw.
fn said(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| said(value, found)),
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text)
                        if matches!(
                            key.as_str(),
                            "text" | "content" | "arguments" | "input" | "output" | "description"
                        ) =>
                    {
                        found.push(text.clone());
                    }
                    _ => said(value, found),
                }
            }
        }
        _ => {}
    }
}

fn check_nothing_lost(items: &[Value], source: &Value) {
    let mut found = Vec::new();
    said(source, &mut found);
    assert!(!found.is_empty());
    for text in found.iter().filter(|text| !text.is_empty()) {
        let quoted = Value::from(text.as_str()).to_string();
        let there = texts(items).iter().any(|body| body.contains(text.as_str()) || body.contains(&quoted));
        assert!(there, "this was said and is not there: {text}");
    }
}

#[test]
fn rollouts_lose_no_text() {
    for bytes in [SMALL, MATRIX] {
        let (growing, items) = import(Format::Codex, bytes);
        for line in std::str::from_utf8(bytes).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["type"] == "response_item" && record["payload"]["type"] != "ghost_snapshot" {
                check_nothing_lost(&items, &json!([record["payload"], {"text": ""}]));
            }
        }
        let again = growing.import(Format::Codex, bytes);
        assert_eq!(again.traces[0].1.recorded, 0);
        let tally = growing.import(Format::Codex, bytes).tally;
        assert_eq!((tally.unknown.len(), tally.damaged, tally.cut), (0, 0, false));
    }
}

#[test]
fn codex_settings_belong_to_the_next_message_of_the_user() {
    let record =
        |kind: &str, payload: Value| json!({"type": kind, "timestamp": "2026-08-03T10:48:56.000Z", "payload": payload});
    let said = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let settings = |name: &str, len: usize| record("turn_context", json!({"name": name, "filler": "x".repeat(len)}));
    let mut records = vec![
        record("session_meta", json!({"id": "s"})),
        record("response_item", said("user", "one")),
        record("response_item", said("assistant", "two")),
        settings("first", 0),
        record("response_item", json!({"type": "message", "role": "user"})),
        record(
            "compacted",
            json!({"message": "so far", "replacement_history": [said("user", "new"), said("user", "so far")]}),
        ),
        record("response_item", said("user", "three")),
    ];
    records.extend((0..5).map(|number| settings(&number.to_string(), 20_000)));
    records.push(record("response_item", said("user", "four")));
    let (_, items) = import(Format::Codex, &lines(&records));
    let with_settings: Vec<Value> = items
        .iter()
        .filter_map(|item| {
            let records = item["meta"]["settings"].as_array()?;
            let names: Vec<_> = records.iter().map(|record| record["payload"]["name"].clone()).collect();
            Some(json!([item["text"], names]))
        })
        .collect();
    assert_eq!(with_settings, [json!(["three", ["first"]]), json!(["four", ["0", "1", "2"]])]);
}

#[test]
fn codex_events_duplicate_messages() {
    let (_, items) = import(Format::Codex, SMALL);
    let question = "can you analyse the MD files";
    assert_eq!(texts(&items).iter().filter(|text| text.starts_with(question)).count(), 1);
}

/// A rollout with a tool's use and two compactions, in the old form or the new.
fn rollout(bare: bool) -> Vec<u8> {
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let items = [
        message("developer", "be careful"),
        message("user", "list the files"),
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"}),
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{\"command\":[\"ls\"]}"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "a.txt"}),
        json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin"}),
        json!({"type": "custom_tool_call_output", "call_id": "c2", "output": {"content": "no", "success": false}}),
        message("assistant", "there is one"),
        message("user", "continue"),
        message("user", "continue"),
    ];
    let mut records = vec![if bare {
        json!({"id": "s1", "timestamp": "2025-08-18T01:16:13.522Z", "instructions": "read AGENTS.md", "git": {}})
    } else {
        json!({"timestamp": "2026-08-03T10:48:56.000Z", "type": "session_meta",
               "payload": {"id": "s1", "cwd": "/x", "base_instructions": {"text": "you are Codex"}}})
    }];
    records.push(json!({"record_type": "state"}));
    let wrap = |number: usize, kind: &str, payload: Value| json!({"timestamp": format!("2026-08-03T10:49:{number:02}.000Z"), "type": kind, "payload": payload});
    let wrapped = items.into_iter().enumerate();
    records.extend(wrapped.map(|(number, item)| if bare { item } else { wrap(number, "response_item", item) }));
    if !bare {
        let mut history = vec![message("user", "list the files"), message("user", "so far: one file")];
        records.push(wrap(20, "compacted", json!({"message": "so far: one file", "replacement_history": history})));
        history.push(message("user", "more"));
        records.push(wrap(30, "response_item", message("user", "more")));
        records.push(wrap(40, "compacted", json!({"message": "", "replacement_history": history})));
        records.push(wrap(50, "novelty", json!({})));
    }
    lines(&records)
}

#[test]
fn a_rollout_reads_in_order() {
    for (bare, extra) in [(true, &[][..]), (false, &["so far: one file", "more"])] {
        let (growing, items) = import(Format::Codex, &rollout(bare));
        let head = if bare { "read AGENTS.md" } else { "you are Codex" };
        let expected = [
            &[head, "be careful", "list the files", "hm", "{\"command\":[\"ls\"]}", "a.txt", "\"*** Begin\"", "no"][..],
            &["there is one", "continue", "continue"],
            extra,
        ];
        assert_eq!(texts(&items), expected.concat());
        let kinds: Vec<_> = items.iter().map(|item| item["type"].as_str().unwrap()).take(6).collect();
        assert_eq!(kinds, ["instruction", "instruction", "dialogue", "reasoning", "tool_io", "tool_io"]);
        assert_eq!((items[5]["reply_to"].as_str(), &items[5]["name"]), (items[4]["id"].as_str(), &json!("shell")));
        assert_eq!(items[7]["status"], "error");
        assert_eq!((&items[3]["signature"], &items[3]["meta"]["id"]), (&json!("gAAA"), &json!("rs_1")));
        let lines = growing.repo.lines(&["export", "t"]);
        let removed: Vec<&Value> =
            lines.iter().filter(|line| line["op"] == "delete").map(|line| &line["reason"]).collect();
        assert_eq!(removed, [if bare { "repeated" } else { "compaction" }]);
        let tally = Growing::new().import(Format::Codex, &rollout(bare)).tally;
        assert_eq!(tally.unknown.get("novelty"), (!bare).then_some(&1));
        assert_eq!(tally.repeated, u64::from(!bare), "all that the second compaction left was said");
    }
}

fn message(id: &str, kind: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-01-15T20:51:48.582Z", "type": kind, "content": text})
}

/// The sample as the log that newer versions write: each message first without its calls, then complete.
fn chat_as_log() -> Vec<u8> {
    let chat: Value = serde_json::from_slice(CHAT).unwrap();
    let mut records = vec![
        json!({"sessionId": chat["sessionId"], "projectHash": chat["projectHash"], "startTime": chat["startTime"]}),
    ];
    for whole in chat["messages"].as_array().unwrap() {
        let mut first = whole.clone();
        for call in first["toolCalls"].as_array_mut().into_iter().flatten() {
            call["result"] = Value::Null;
        }
        records.extend([first, json!({"$set": {"lastUpdated": "2026-01-15T20:52:56.382Z"}}), whole.clone()]);
    }
    lines(&records)
}

#[test]
fn a_gemini_chat_and_its_log_give_the_same_items() {
    let chat: Value = serde_json::from_slice(CHAT).unwrap();
    let (_, of_document) = import(Format::GeminiCli, CHAT);
    check_nothing_lost(&of_document, &chat["messages"].as_array().unwrap().iter().map(|message| {
        json!({"content": message["content"], "thoughts": message["thoughts"],
               "calls": message["toolCalls"].as_array().map(|calls| calls.iter().map(|call| json!({"result": call["result"], "args": call["args"]})).collect::<Vec<_>>())})
    }).collect());
    let (_, of_log) = import(Format::GeminiCli, &chat_as_log());
    let ids = |items: &[Value]| {
        let mut ids: Vec<_> = items.iter().map(|item| item["id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&of_log), ids(&of_document));
    let results: Vec<_> = of_log.iter().filter(|item| item["direction"] == "result").collect();
    assert!(!results.is_empty() && results.iter().all(|result| result["reply_to"].is_string()));
}

#[test]
fn rewound_turns_are_skipped() {
    let log = lines(&[
        json!({"sessionId": "s", "projectHash": "h"}),
        message("a", "user", "first"),
        message("b", "gemini", "reply"),
        message("c", "user", "second"),
        json!({"$rewindTo": "b"}),
        message("d", "user", "third"),
        message("e", "info", "update"),
        json!({"$set": {"messages": [message("a", "user", "first"), message("f", "user", "fourth")]}}),
        json!({"x": 1}),
    ]);
    for cut in [log.len(), memchr::memmem::find(&log, b"{\"$rewindTo").unwrap()] {
        let growing = Growing::new();
        growing.import(Format::GeminiCli, &log[..cut]);
        let tally = growing.import(Format::GeminiCli, &log).tally;
        assert_eq!(tally.unknown.len(), usize::from(cut != log.len()));
        let page = growing.repo.text(&["materialize", "--format", "text", "t"]);
        let seen: Vec<_> =
            ["first", "reply", "second", "third", "update", "fourth"].map(|text| page.contains(text)).into();
        assert_eq!(seen, [true, false, false, false, false, true]);
        growing.repo.total("t");
    }
}

#[test]
fn a_trajectory_loses_no_text() {
    let whole: Value = serde_json::from_slice(TRAJECTORY).unwrap();
    let (growing, items) = import(Format::SweAgent, TRAJECTORY);
    check_nothing_lost(&items, &whole["history"]);
    assert_eq!(items[0]["type"], "instruction");
    let answered = |item: &&Value| item["direction"] == "result" && item["reply_to"].is_null();
    assert_eq!(items.iter().filter(answered).count(), 0);
    let again = growing.import(Format::SweAgent, TRAJECTORY);
    assert_eq!((again.traces[0].1.recorded, again.tally.unknown.len()), (0, 0));
}

#[test]
fn growing_samples_add_only_new_items() {
    let samples =
        [(Format::Codex, SMALL), (Format::Codex, MATRIX), (Format::GeminiCli, CHAT), (Format::SweAgent, TRAJECTORY)];
    for (format, bytes) in samples {
        let cuts: Vec<usize> = (1..6).map(|part| bytes.len() * part / 6).collect();
        check_cut_file(format, bytes, &cuts, &import(format, bytes).0.state());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn growing_files_give_the_same_trace(points in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        for (format, bytes) in [(Format::Codex, rollout(false)), (Format::Codex, rollout(true)), (Format::GeminiCli, chat_as_log())] {
            let mut cuts: Vec<usize> = points.iter().map(|point| point.index(bytes.len())).collect();
            cuts.sort_unstable();
            check_cut_file(format, &bytes, &cuts, &import(format, &bytes).0.state());
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::all() {
            let read = (format.agent().open)(Box::new(&bytes[..])).unwrap();
            prop_assert!(read.into_iter().all(|entry| entry.is_ok()));
        }
    }
}

#[test]
fn formats_are_detected_by_content() {
    let bare = rollout(true);
    let log = chat_as_log();
    let document = [b"\xef\xbb\xbf", CHAT].concat();
    let cases = [
        (Format::Codex, SMALL),
        (Format::Codex, MATRIX),
        (Format::Codex, &bare),
        (Format::GeminiCli, CHAT),
        (Format::GeminiCli, &log),
        (Format::GeminiCli, &document),
        (Format::SweAgent, TRAJECTORY),
        (Format::SweAgent, &TRAJECTORY[..5000]),
    ];
    for (format, bytes) in cases {
        assert_eq!(InputFormat::detect(bytes), Ok(InputFormat::Session(format)));
    }
    for (name, bytes) in crate::unit::samples::SAMPLES {
        assert_eq!(InputFormat::detect(bytes), Ok(InputFormat::Session(Format::ClaudeCode)), "{name}");
    }
    for bytes in [&b""[..], b"{}", b"[1]", b"{\"messages\":[]}", b"\xff\xfe", b"{\"role\":\"user\",\"text\":\"x\"}"] {
        assert_eq!(InputFormat::detect(bytes), Err(Vec::new()));
    }
}

/// Gemini CLI's stream and Continue: they share ids and kinds with the known formats, but not where text is.
const RELATIVES: [&str; 2] = [
    r#"{"type":"message","timestamp":"2026-08-06T09:14:02.121Z","role":"user","content":"hi"}"#,
    r#"{"sessionId":"1","history":[{"message":{"role":"user","content":"hi"}}]}"#,
];

const QWEN: &str = r#"{"uuid":"1","parentUuid":null,"sessionId":"2","type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}
{"uuid":"3","parentUuid":"1","sessionId":"2","type":"system","subtype":"ui_telemetry","systemPayload":{}}"#;

#[test]
fn a_related_format_is_not_taken_for_a_known_one() {
    let repo = TestRepo::new();
    for text in RELATIVES {
        fs::write(repo.folder().join("session.jsonl"), text).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.refused(&["import", "session.jsonl"]), @r"
            --- stderr
            error: `session.jsonl` is not a session of a known agent
            hint: name its format, one of claude-code, codex, gemini-cli, opencode, copilot-cli, cursor, pi, droid, aider, qwen-code, atif, otel-genai, swe-agent, vscode-copilot, inspect, langsmith, langfuse, chatgpt, claude-export, sharegpt, codex-exec, gemini-stream-json, cline, openhands, mini-swe-agent, jsonl, openai, responses, anthropic, gemini
            [exit 2]
            ");
        }
    }
    // Who names the format nevertheless learns what was not imported.
    fs::write(repo.folder().join("session.jsonl"), QWEN).unwrap();
    let imported = repo.run(&["import", "claude-code", "session.jsonl"], b"");
    insta::assert_snapshot!(repo.snapshot(&imported), @r"
    0 imported into trace `claude-code/2`
    --- stderr
    of unknown kinds, not imported: 1 system/ui_telemetry, 1 user without content
    warning: 1 of these records contain messages or outputs of tools
    warning: LESS THAN HALF OF THE FILE WAS IMPORTED: 215 of 215 bytes are in records of unknown kinds
    [exit 1]
    ");
}

#[test]
fn the_command_line_accepts_a_file_or_a_format() {
    let repo = TestRepo::new();
    fs::write(repo.folder().join("session.traj"), TRAJECTORY).unwrap();
    fs::write(repo.folder().join("notes.txt"), "hello").unwrap();
    insta::assert_snapshot!(repo.trace(&["import", "session.traj"]), @r"
    35 imported into trace `swe-agent/session`
    --- stderr
    not messages, so not imported: 1 environment, 1 info, 1 replay_config, 11 trajectory
    the current trace is now `swe-agent/session`
    [exit 0]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "notes.txt"]), @r"
    --- stderr
    error: `notes.txt` is not a session of a known agent
    hint: name its format, one of claude-code, codex, gemini-cli, opencode, copilot-cli, cursor, pi, droid, aider, qwen-code, atif, otel-genai, swe-agent, vscode-copilot, inspect, langsmith, langfuse, chatgpt, claude-export, sharegpt, codex-exec, gemini-stream-json, cline, openhands, mini-swe-agent, jsonl, openai, responses, anthropic, gemini
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import"]), @r"
    --- stderr
    error: no format and no file were given
    hint: git trace import claude-code, or git trace import FILE
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "swe-agent"]), @r"
    --- stderr
    error: no file was given
    hint: name a file: git trace import swe-agent FILE
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "codex"]), @r"
    --- stderr
    error: Codex has no session of this folder under `[HOME]/.codex`
    hint: name a file: git trace import codex FILE
    [exit 2]
    ");
    let day = repo.home().join(".codex/sessions/2026/08/03");
    fs::create_dir_all(&day).unwrap();
    let head = json!({"type": "session_meta", "payload": {"id": "here", "cwd": repo.folder().to_str().unwrap()}});
    let item = json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hi"}});
    fs::write(day.join("rollout-1.jsonl"), lines(&[head, item])).unwrap();
    assert_eq!(repo.json(&["import", "codex", "--json"])["traces"][0]["trace"], "codex/here");
}

/// A rollout with reports: after a call's result, twice after an answer, of zero, and after the answer to a repeated question.
fn rollout_with_reports() -> Vec<u8> {
    let item =
        |payload: Value| json!({"timestamp": "2026-08-03T10:49:00.000Z", "type": "response_item", "payload": payload});
    let message = |role: &str, text: &str| {
        item(json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
    };
    let report = |input: u64, sum: u64| {
        let usage = json!({"input_tokens": input, "cached_input_tokens": input / 2, "output_tokens": input / 10,
                           "reasoning_output_tokens": 1, "total_tokens": input + input / 10});
        let info = json!({"total_token_usage": {"total_tokens": sum}, "last_token_usage": usage, "model_context_window": 258_400});
        json!({"timestamp": "2026-08-03T10:49:00.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}})
    };
    let mut nothing = report(0, 0);
    nothing["payload"]["info"] = Value::Null;
    lines(&[
        json!({"timestamp": "2026-08-03T10:49:00.000Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/x"}}),
        nothing,
        message("user", "list the files"),
        item(
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"}),
        ),
        item(json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{}"})),
        item(json!({"type": "function_call_output", "call_id": "c1", "output": "a.txt"})),
        report(1000, 1100),
        message("assistant", "there is one"),
        report(2000, 3300),
        report(2000, 3300),
        message("user", "continue"),
        report(2000, 3300),
        message("assistant", "interrupted"),
        message("user", "once more"),
        report(3000, 6600),
        message("assistant", "done"),
        report(0, 6600),
        report(4000, 11_000),
    ])
}

#[test]
fn reports_of_codex_belong_to_the_last_item_of_their_request() {
    let (growing, items) = import(Format::Codex, &rollout_with_reports());
    let reported: Vec<(&str, &Value)> = items
        .iter()
        .filter_map(|item| Some((item["text"].as_str()?, item["meta"].get("usage")?.get("input_tokens")?)))
        .collect();
    let expected = [("{}", json!(1000)), ("there is one", json!(2000)), ("done", json!(4000))];
    assert_eq!(reported, expected.iter().map(|(text, usage)| (*text, usage)).collect::<Vec<_>>());
    let tokens = growing.repo.json(&["status", "--json", "t"])["tokens"].clone();
    assert_eq!((&tokens["total"], &tokens["reported"]["seq"]), (&json!(4400), &json!(8)));
    assert_eq!((&tokens["window"], &tokens["percent"]), (&json!(258_400), &json!(2)));
    let usage = json!({"input_tokens": 2000, "cache_read_tokens": 2000, "cache_write_tokens": 0, "output_tokens": 400});
    assert_eq!(tokens["reported"]["usage"], usage);
}

#[test]
fn a_rolled_back_turn_voids_the_report_before_it() {
    let mut bytes = rollout_with_reports();
    let undo = json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}});
    let next = json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": "instead"}});
    bytes.extend(lines(&[undo, next]));
    let (growing, _) = import(Format::Codex, &bytes);
    assert_eq!(growing.repo.json(&["status", "--json", "t"])["tokens"]["source"], "counted");
}

#[test]
fn the_sample_of_codex_has_one_report() {
    let (_, items) = import(Format::Codex, MATRIX);
    let reported: Vec<&Value> = items.iter().filter_map(|item| item["meta"].get("usage")).collect();
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0]["total_tokens"], 16_422);
}
