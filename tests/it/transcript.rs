//! Transcripts are read whole, and the same wherever the file is cut.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use git_trace::trace::item::{Direction, Draft, Role, Status};
use git_trace::trace::schema;
use git_trace::transcript::claude_code::Reader;
use git_trace::transcript::{Entry, Position, Tally};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) const SAMPLES: [(&str, &[u8]); 5] = [
    ("branching-parallel", include_bytes!("../fixtures/transcripts/claude-code/branching-parallel.jsonl")),
    ("compact-boundary", include_bytes!("../fixtures/transcripts/claude-code/compact-boundary.jsonl")),
    ("dangling-tool-use", include_bytes!("../fixtures/transcripts/claude-code/dangling-tool-use.jsonl")),
    ("large-compacted", include_bytes!("../fixtures/transcripts/claude-code/large-compacted.jsonl")),
    ("small-thinking-tools", include_bytes!("../fixtures/transcripts/claude-code/small-thinking-tools.jsonl")),
];

struct Reading {
    entries: Vec<Entry>,
    tally: Tally,
    position: Position,
}

fn finish(mut reader: Reader<&[u8]>) -> Reading {
    let entries = reader.by_ref().map(|entry| entry.expect("memory does not fail")).collect();
    Reading { entries, tally: reader.tally().clone(), position: reader.position() }
}

fn read(bytes: &[u8]) -> Reading {
    finish(Reader::new(bytes))
}

fn read_on(bytes: &[u8], position: &Position) -> Reading {
    let mut reader = Reader::new(bytes);
    assert!(reader.skip_to(position).unwrap(), "the file still begins with these bytes");
    finish(reader)
}

fn read_text(text: &str) -> Reading {
    read(text.as_bytes())
}

fn body(entry: &Entry) -> &str {
    std::str::from_utf8(&entry.draft.body).unwrap()
}

fn bodies(reading: &Reading) -> Vec<&str> {
    reading.entries.iter().map(body).collect()
}

/// A record of the user's that says `content`.
fn user(uuid: &str, content: &Value) -> Value {
    json!({"type": "user", "uuid": uuid, "sessionId": "s", "timestamp": "2026-02-10T09:00:00.125Z",
           "message": {"role": "user", "content": content}})
}

/// A record of one block of a message of the model's.
fn assistant(uuid: &str, message: &str, block: &Value) -> Value {
    json!({"type": "assistant", "uuid": uuid, "message": {"id": message, "model": "m", "content": [block]}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}})
}

fn result(id: &str, content: &Value) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn file(records: &[Value]) -> String {
    records.iter().fold(String::new(), |mut file, record| {
        writeln!(file, "{record}").unwrap();
        file
    })
}

/// What a transcript says, found without the reader: each text, and each call's arguments.
pub(crate) fn said(bytes: &[u8]) -> Vec<Value> {
    let mut said = Vec::new();
    for line in std::str::from_utf8(bytes).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        said.extend(record.get("summary").cloned());
        if record["type"] == "system" && record["subtype"] == "local_command" {
            said.push(record["content"].clone());
        }
        match &record["message"]["content"] {
            Value::Array(blocks) => said.extend(blocks.iter().map(|block| match block["type"].as_str().unwrap() {
                "tool_result" => match &block["content"] {
                    Value::Array(pieces) => {
                        let texts: Vec<&str> = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
                        texts.join("\n").into()
                    }
                    text => text.clone(),
                },
                "tool_use" => block["input"].clone(),
                kind => block[kind].clone(),
            })),
            Value::Null => {}
            text => said.push(text.clone()),
        }
    }
    said
}

/// What holds for the entries of any file whatsoever.
fn check(entries: &[Entry]) {
    let mut before = HashSet::new();
    for entry in entries {
        let Draft { mut fields, body } = entry.draft.clone();
        schema::complete(&mut fields);
        let draft = Draft { fields, body };
        schema::validate(&draft).unwrap_or_else(|error| panic!("{error}: {:?}", draft.fields));
        if let Some(reply_to) = draft.fields.reply_to {
            assert!(before.contains(&reply_to), "{reply_to} is answered before it was said");
        }
        assert!(before.insert(entry.id), "{} is given twice", entry.id);
    }
    assert!(entries.is_sorted_by_key(|entry| entry.end_offset));
}

/// That a file cut at `at` gives the first of the whole's entries, and that reading on from there gives the others.
fn check_cut(bytes: &[u8], whole: &Reading, at: usize) {
    let part = read(&bytes[..at]);
    assert!(part.position.offset <= at as u64);
    assert_eq!(part.entries[..], whole.entries[..part.entries.len()], "cut at {at}");
    let rest = read_on(bytes, &part.position);
    assert_eq!(rest.entries[..], whole.entries[part.entries.len()..], "read on from {at}");
    assert_eq!(rest.position, whole.position);
}

#[test]
fn samples_are_read_without_losing_a_word() {
    for (name, bytes) in SAMPLES {
        let reading = read(bytes);
        check(&reading.entries);
        let mut entries = reading.entries.iter();
        for what in said(bytes) {
            let found = entries.any(|entry| match &what {
                Value::String(text) => body(entry) == text,
                input => entry.draft.fields.is_call() && serde_json::from_str::<Value>(body(entry)).unwrap() == *input,
            });
            assert!(found, "{name}: not found, or not in order: {what}");
        }
        for call in reading.entries.iter().filter(|entry| entry.draft.fields.is_call()) {
            let as_written = memchr::memmem::find(bytes, &call.draft.body).is_some();
            assert!(as_written, "{name}: not as it stands in the file: {}", body(call));
        }
        for result in reading.entries.iter().filter(|entry| entry.draft.fields.is_result()) {
            assert!(result.draft.fields.reply_to.is_some() && result.draft.fields.name.is_some(), "{name}");
        }
        assert_eq!(reading.tally.unknown.len(), 0, "{name}");
        assert_eq!((reading.tally.damaged, reading.tally.cut), (0, false), "{name}");
        assert_eq!(reading.position.offset, bytes.len() as u64, "{name}: the last line needs no line break");
        assert!(reading.position.find(io::Cursor::new(bytes)).unwrap().is_some());
    }
}

#[test]
fn samples_are_the_same_wherever_they_are_cut() {
    for (_, bytes) in SAMPLES {
        let whole = read(bytes);
        // At every line the small ones; the large one, for the time it takes, at some.
        let step = if bytes.len() > 1_000_000 { 150 } else { 1 };
        for line_break in memchr::memchr_iter(b'\n', bytes).step_by(step) {
            check_cut(bytes, &whole, line_break + 1);
        }
        for part in 1..8 {
            check_cut(bytes, &whole, bytes.len() * part / 8);
        }
    }
}

#[test]
fn a_small_session_reads_as_it_went() {
    let mut listing = String::new();
    let (_, bytes) = SAMPLES[4];
    let reading = read(bytes);
    for entry in &reading.entries {
        let fields = &entry.draft.fields;
        let words = [
            Some(entry.id.short()),
            Some(fields.item_type.to_string()),
            fields.role.map(|role| role.to_string()),
            fields.name.clone(),
            fields.turn.as_ref().map(|turn| format!("turn={}", &turn[turn.len() - 4..])),
            fields.reply_to.map(|id| format!("reply-to={}", id.short())),
            fields.signature.as_ref().map(|signature| format!("signature={}", signature.len())),
            fields.meta.get("usage").map(|usage| format!("usage={}", usage["output_tokens"])),
            entry.skip.as_ref().map(|reason| format!("skip={reason}")),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let text: String = body(entry).chars().take(48).collect();
        writeln!(listing, "{} {text:?}", words.join(" ")).unwrap();
    }
    writeln!(listing, "ignored {:?}", reading.tally.ignored).unwrap();
    insta::assert_snapshot!(listing);
}

#[test]
fn a_message_is_regrouped_and_its_last_usage_counts() {
    let mut records = vec![
        assistant("a1", "msg", &json!({"type": "thinking", "thinking": "", "signature": "sig"})),
        assistant("a2", "msg", &call("t1")),
        user("u1", &json!([result("t1", &json!("one"))])),
        assistant("a3", "msg", &call("t2")),
        user("u2", &json!([result("t2", &json!("two")), {"type": "text", "text": "go on"}])),
    ];
    for (record, tokens) in [(0, 5), (1, 5), (3, 70)] {
        records[record]["message"]["usage"] = json!({"output_tokens": tokens});
    }
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let turns: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.turn.as_deref()).collect();
    assert_eq!(turns, [Some("msg"), Some("msg"), None, Some("msg"), Some("u2"), Some("u2")]);
    let usage: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.meta.contains_key("usage")).collect();
    assert_eq!(usage, [true, false, false, true, false, false]);
    let fields = &reading.entries[0].draft.fields;
    assert_eq!((fields.signature.as_deref(), &fields.meta["model"]), (Some("sig"), &json!("m")));
    assert_eq!(reading.entries[4].draft.fields.reply_to, Some(reading.entries[3].id));
    assert_eq!(reading.entries[1].subject.as_deref(), Some("tool_io call Bash: ls"));
    assert_eq!(reading.entries[2].draft.fields.created.unwrap().to_string(), "2026-02-10T09:00:00.125Z");
}

#[test]
fn a_result_of_pieces_keeps_its_pictures() {
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO\nRw=="}});
    let pieces = json!([
        {"type": "text", "text": "a"}, picture, {"type": "text", "text": "b"}, {"type": "tool_reference", "tool_name": "x"},
        {"type": "image", "source": {"type": "base64", "data": "?"}},
    ]);
    let records = [
        assistant("a1", "msg", &call("t1")),
        user("u1", &json!([result("t1", &pieces), {"type": "image", "source": {"type": "url", "url": "https://x/y"}}])),
        user("u2", &json!([result("t1", &json!({"odd": 1})), result("t0", &Value::Null)])),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let entries = &reading.entries;
    assert_eq!(body(&entries[1]), "a\nb");
    let artifact = &entries[2];
    assert_eq!(artifact.draft.body, b"\x89PNG"[..4]);
    assert_eq!(artifact.draft.fields.media_type.as_deref(), Some("image/png"));
    let shape = |entry: &Entry| {
        let fields = &entry.draft.fields;
        (fields.item_type.to_string(), fields.name.clone(), fields.reply_to)
    };
    let freeform = |name: &str, reply_to| ("freeform".to_owned(), Some(name.to_owned()), reply_to);
    let answer = Some(entries[1].id);
    assert_eq!(artifact.draft.fields.reply_to, answer);
    assert_eq!(shape(&entries[3]), freeform("tool_reference", answer));
    assert_eq!(shape(&entries[4]), freeform("image", answer));
    assert_eq!(shape(&entries[5]), freeform("image", None));
    assert_eq!(body(&entries[5]), "https://x/y");
    assert_eq!(entries[6].draft.body, b"");
    assert_eq!((shape(&entries[7]).1.as_deref(), body(&entries[7])), (Some("block"), "{\"odd\":1}"));
    assert_eq!(entries[8].draft.fields.reply_to, None, "the call is not in this file");
    assert_eq!(entries[8].draft.fields.status, Some(Status::Ok));
}

#[test]
fn what_lacks_what_its_kind_needs_is_kept_as_it_stands() {
    let blocks = [
        json!({"type": "tool_use", "name": "Bash", "input": {"a": 1}}),
        json!({"type": "tool_use", "id": "t1", "name": ""}),
        json!({"type": "tool_result", "content": "x"}),
        json!({"type": "text", "text": 5}),
        json!({"type": "server_tool_use", "id": "t", "name": "web_search"}),
        json!({"type": "a\nid: 0", "x": 1}),
        json!(7),
        json!({}),
    ];
    let reading = read_text(&file(&[user("u1", &json!(blocks))]));
    check(&reading.entries);
    assert_eq!(reading.entries.len(), blocks.len());
    for (entry, block) in reading.entries.iter().zip(&blocks) {
        assert_eq!(entry.draft.fields.item_type.as_str(), "freeform");
        assert_eq!(serde_json::from_str::<Value>(body(entry)).unwrap(), *block);
    }
}

#[test]
fn a_call_keeps_the_bytes_of_its_arguments() {
    let line = r#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"tool_use","id":"t","name":"B\u0007","input":{"z": 1.0,"a":"\ud83d\u00e9" }},{"type":"tool_use","id":"t\n2","name":"C"}]}}"#;
    let reading = read_text(line);
    check(&reading.entries);
    assert_eq!(bodies(&reading), [r#"{"z": 1.0,"a":"\ud83d\u00e9" }"#, "{}"]);
    assert_eq!(reading.entries[0].draft.fields.name.as_deref(), Some("B\u{fffd}"));
    assert_eq!(reading.entries[0].draft.fields.direction, Some(Direction::Call));
}

#[test]
fn a_compaction_is_not_said_twice_unless_it_is_all_there_is() {
    let mut summary = user("c", &json!("so far"));
    summary["isCompactSummary"] = json!(true);
    let after = read_text(&file(&[user("u", &json!("hi")), summary.clone()]));
    assert_eq!(after.entries[1].skip.as_deref(), Some("compaction summary; its originals are here"));
    assert_eq!(after.entries[1].draft.fields.meta["compact_summary"], json!(true));
    let mut in_side = summary.clone();
    in_side["isSidechain"] = json!(true);
    let elsewhere = read_text(&file(&[user("u", &json!("hi")), in_side]));
    assert_eq!(elsewhere.entries[1].skip, None, "what it sums up is not in its thread");
    let alone = read_text(&file(&[json!({"type": "summary", "summary": "title"}), summary]));
    assert_eq!(alone.entries[0].skip.as_deref(), Some("session title, not said to the model"));
    assert_eq!(alone.entries[1].skip, None);
}

#[test]
fn a_record_written_again_is_given_once() {
    let mut again = user("u1", &json!("hi"));
    again["isVisibleInTranscriptOnly"] = json!(true);
    let records = [
        user("u1", &json!("hi")),
        again,
        user("u1", &json!("something else")),
        user("u1", &json!("something else")),
        user("", &json!("continue")),
        user("", &json!("continue")),
        json!({"type": "summary", "summary": "title"}),
        json!({"type": "summary", "summary": "title"}),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    assert_eq!(bodies(&reading), ["hi", "something else", "continue", "continue", "title"]);
    assert_eq!(reading.tally.repeated, 3);
}

#[test]
fn sub_agents_are_told_apart() {
    let side = |uuid: &str, parent: &str, agent: Option<&str>| {
        let mut record = user(uuid, &json!(uuid));
        record["isSidechain"] = json!(true);
        record["parentUuid"] = json!(parent);
        record["agentId"] = json!(agent);
        record
    };
    let mut progress = side("p", "s1", None);
    progress["type"] = json!("progress");
    let records = [
        user("main", &json!("hi")),
        side("s1", "main", None),
        side("r1", "", None),
        progress,
        side("s2", "p", None),
        side("r2", "r1", None),
        side("a", "s2", Some("a1b2")),
        side("b", "", Some("../b")),
    ];
    let text = file(&records);
    let whole = read_text(&text);
    check(&whole.entries);
    let threads: Vec<_> = whole.entries.iter().map(|entry| entry.thread.as_deref()).collect();
    assert_eq!(threads[0], None);
    assert_eq!(threads[1], threads[3], "the chain goes on through a record that is not imported");
    assert_eq!(threads[2], threads[4]);
    assert_ne!(threads[1], threads[2]);
    assert_eq!(threads[5], Some("a1b2"));
    assert!(threads[6].unwrap().bytes().all(|b| b.is_ascii_hexdigit()));
    for at in 0..text.len() {
        check_cut(text.as_bytes(), &whole, at);
    }
}

#[test]
fn nothing_is_answered_across_threads() {
    let mut side = user("u1", &json!([result("t1", &json!("x"))]));
    side["isSidechain"] = json!(true);
    let records = [assistant("a1", "msg", &call("t1")), side, user("u2", &json!([result("t1", &json!("y"))]))];
    let reading = read_text(&file(&records));
    let answers: Vec<_> = reading.entries.iter().map(|entry| entry.draft.fields.reply_to).collect();
    assert_eq!(answers, [None, None, Some(reading.entries[0].id)]);
    assert_eq!(reading.entries[1].draft.fields.name.as_deref(), Some("Bash"));
}

#[test]
fn what_the_model_did_not_see_is_skipped_or_counted() {
    let system =
        |uuid: &str, subtype: &str| json!({"type": "system", "uuid": uuid, "subtype": subtype, "content": subtype});
    let records = [
        system("1", "local_command"),
        system("2", "informational"),
        system("3", "compact_boundary"),
        json!({"type": "system", "subtype": "novelty"}),
        json!({"type": "attachment", "uuid": "4", "attachment": {"type": "queued_command", "prompt": "and this"}}),
        json!({"type": "attachment", "uuid": "5", "attachment": {"type": "hook_cancelled"}}),
        json!({"type": "attachment", "uuid": "6", "attachment": {"type": "todo_reminder", "content": []}}),
        json!({"type": "queue-operation", "operation": "enqueue"}),
        json!({"type": "telemetry\n"}),
        json!({"kind": "none"}),
        json!({"type": "user", "uuid": "7", "message": {"content": []}}),
    ];
    let reading = read_text(&file(&records));
    check(&reading.entries);
    let entries: Vec<_> = reading.entries.iter().map(|entry| (body(entry), entry.skip.is_some())).collect();
    let expected = [
        ("local_command", false),
        ("informational", true),
        ("and this", false),
        (r#"{"type":"hook_cancelled"}"#, true),
        (r#"{"content":[],"type":"todo_reminder"}"#, false),
    ];
    assert_eq!(entries, expected);
    assert_eq!(reading.entries[2].draft.fields.role, Some(Role::User));
    let kinds = |kinds: &std::collections::BTreeMap<String, u64>| kinds.keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(kinds(&reading.tally.ignored), "queue-operation system/compact_boundary user/empty");
    assert_eq!(kinds(&reading.tally.unknown), "(no type) system/novelty telemetry\u{fffd}");
}

#[test]
fn damage_costs_only_what_is_damaged() {
    let one = user("1", &json!("one")).to_string();
    let two = user("2", &json!("two")).to_string();
    let half = &one[..one.len() / 2];
    let cases: [(Vec<u8>, &[&str], &[u64]); 14] = [
        (format!("{one}{two}\n").into(), &["one", "two"], &[]),
        (format!("\u{feff}{one}\r\n\r\n  \n{two}\r\n").into(), &["one", "two"], &[]),
        (format!("{one}\n{half}\n{two}\n").into(), &["one", "two"], &[2]),
        (format!("{half}{two}\n{one}").into(), &["two", "one"], &[1]),
        (format!("{one}{half}{two}\n").into(), &["one", "two"], &[1]),
        (format!("\0\0\0{one}\n\0\0\n{two}\0\n").into(), &["one", "two"], &[1, 2, 3]),
        (format!("[{one}]\n17\n\"x\"\n{two}\n").into(), &["two"], &[1, 2, 3]),
        (format!("\u{feff}\u{feff}{one}\n").into(), &["one"], &[1]),
        ([one.as_bytes(), b"\xff\xfe\n", two.as_bytes()].concat(), &["one", "two"], &[1]),
        ([b"{\"type\":\"user\",\"message\":\"\xff\"}\n", two.as_bytes()].concat(), &["two"], &[1]),
        (format!("{one}\n{half}").into(), &["one"], &[]),
        (Vec::new(), &[], &[]),
        (b" \0".to_vec(), &[], &[]),
        (format!("{{\"type\":\"user\",\"message\":\"bare\"}}\n{}", "[".repeat(300)).into(), &["bare"], &[]),
    ];
    for (bytes, expected, damaged) in cases {
        let shown = String::from_utf8_lossy(&bytes);
        let reading = read(&bytes);
        check(&reading.entries);
        assert_eq!(bodies(&reading), expected, "{shown}");
        assert_eq!(reading.tally.damaged_lines, damaged, "{shown}");
        for at in 0..bytes.len() {
            check_cut(&bytes, &reading, at);
        }
    }
}

#[test]
fn a_cut_last_line_is_read_once_it_is_complete() {
    let text = file(&[user("1", &json!("one")), user("2", &json!("two"))]);
    let first_line = text.find('\n').unwrap() + 1;
    let cut = read_text(&text[..text.len() - 5]);
    assert_eq!((bodies(&cut), cut.tally.cut), (vec!["one"], true));
    assert_eq!(cut.position.offset, first_line as u64);
    let whole_without_break = read_text(text.trim_end());
    assert_eq!((bodies(&whole_without_break), whole_without_break.tally.cut), (vec!["one", "two"], false));
    assert_eq!(bodies(&read_on(text.as_bytes(), &cut.position)), ["two"]);
}

#[test]
fn a_reader_that_fails_ends_with_its_error() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
    let text = file(&[user("1", &json!("one"))]);
    let mut reader = Reader::new(io::Read::chain(text.as_bytes(), Broken));
    assert_eq!(body(&reader.next().unwrap().unwrap()), "one");
    let error = reader.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read the transcript past byte {}", text.len()));
    assert!(reader.next().is_none());
}

#[test]
fn a_file_that_was_rewritten_is_noticed() {
    let text = file(&[user("1", &json!("one"))]);
    let position = read_text(&text).position;
    for other in [text.replace("one", "eno"), text[..text.len() - 1].to_owned(), String::new()] {
        let mut reader = Reader::new(other.as_bytes());
        assert!(!reader.skip_to(&position).unwrap());
        assert!(reader.next().is_none());
    }
}

#[test]
fn a_session_tells_its_id() {
    let mut reader = Reader::new(SAMPLES[0].1);
    assert_eq!(reader.session_id(), None);
    reader.next();
    assert_eq!(reader.session_id(), Some("419f42f0-2fa1-44cc-8b4d-babf59901513"));
}

/// Pieces of which a file is made up at random: whole records, halves, and what stands between them.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let uuid = prop::sample::select(vec!["", "1", "2", "3"]);
    let block = prop_oneof![
        Just(json!({"type": "text", "text": "hi"})),
        Just(json!({"type": "thinking", "thinking": "hm", "signature": "s\n"})),
        Just(json!({"type": "redacted_thinking", "data": "d"})),
        Just(json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}})),
        Just(json!({"type": "document", "title": "t", "source": {"type": "text", "data": "x"}})),
        prop::sample::select(vec!["1", "2", ""]).prop_map(call),
        prop::sample::select(vec!["1", "2", ""]).prop_map(|id| result(id, &json!([{"type": "image"}, "x"]))),
        Just(json!(null)),
    ];
    let usage = prop_oneof![Just(json!(null)), Just(json!({"a": 1})), Just(json!({"a": 2}))];
    let record = (uuid.clone(), uuid, prop::collection::vec(block, 0..3), any::<[bool; 3]>(), usage).prop_map(
        |(uuid, parent, blocks, [by_model, side, compact], usage)| {
            json!({"type": if by_model { "assistant" } else { "user" }, "uuid": uuid, "parentUuid": parent,
                   "isSidechain": side, "isCompactSummary": compact,
                   "message": {"id": uuid, "model": "m", "content": blocks, "usage": usage}})
            .to_string()
            .into_bytes()
        },
    );
    prop_oneof![
        6 => record.clone(),
        1 => (record, any::<prop::sample::Index>()).prop_map(|(mut record, at)| {
            record.truncate(at.index(record.len()));
            record
        }),
        4 => Just(b"\n".to_vec()),
        1 => prop::sample::select(vec![&b"\r\n"[..], b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"{\"", b"12"])
            .prop_map(<[u8]>::to_vec),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let reading = read(&bytes);
        check(&reading.entries);
    }

    #[test]
    fn any_file_reads_the_same_wherever_it_is_cut(
        pieces in prop::collection::vec(pieces(), 0..12), at in any::<prop::sample::Index>(),
    ) {
        let bytes = pieces.concat();
        let whole = read(&bytes);
        check(&whole.entries);
        check_cut(&bytes, &whole, at.index(bytes.len() + 1));
    }
}
