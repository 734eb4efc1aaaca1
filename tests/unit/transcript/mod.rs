//! Transcripts are read completely, with the same result wherever the file is cut.

mod content;
mod damage;
mod records;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use crate::trace::model::item::Draft;
use crate::trace::model::schema;
use crate::transcript::agents::claude_code::Reader;
use crate::transcript::read::reader::Transcript as _;
use crate::transcript::{Position, Tally, TranscriptEntry};
use serde_json::{Value, json};

use crate::unit::samples::{SAMPLES, said};

struct Reading {
    entries: Vec<TranscriptEntry>,
    tally: Tally,
    position: Position,
}

fn finish(mut reader: Reader<&[u8]>) -> Reading {
    let entries = reader.by_ref().map(|entry| entry.expect("memory does not fail")).collect();
    Reading { entries, tally: reader.output().tally.clone(), position: reader.consumed() }
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

fn body(entry: &TranscriptEntry) -> &str {
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

/// What holds for the entries of any file whatsoever.
fn check(entries: &[TranscriptEntry]) {
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

/// Checks that a file cut at `at` gives the first entries of the complete file, and that reading on gives the others.
fn check_cut(bytes: &[u8], whole: &Reading, at: usize) {
    let part = read(&bytes[..at]);
    assert!(part.position.offset <= at as u64);
    assert_eq!(part.entries[..], whole.entries[..part.entries.len()], "cut at {at}");
    let rest = read_on(bytes, &part.position);
    assert_eq!(rest.entries[..], whole.entries[part.entries.len()..], "read on from {at}");
    assert_eq!(rest.position, whole.position);
}

#[test]
fn samples_are_read_without_losing_text() {
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
fn samples_read_the_same_at_any_cut() {
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
fn a_small_session_reads_in_order() {
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
            entry.removal.map(|reason| format!("removal={reason}")),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let text: String = body(entry).chars().take(48).collect();
        writeln!(listing, "{} {text:?}", words.join(" ")).unwrap();
    }
    writeln!(listing, "ignored {:?}", reading.tally.ignored).unwrap();
    insta::assert_snapshot!(listing);
}
