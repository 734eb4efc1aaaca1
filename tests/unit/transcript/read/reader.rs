//! Tests of `src/transcript/read/reader.rs`, in that module.

use super::Transcript as _;
use crate::transcript::agents::claude_code::ClaudeCode;

type Reader<R> = super::TranscriptReader<R, ClaudeCode>;

fn salvage(bytes: &[u8], from: usize) -> Option<usize> {
    super::salvage::<ClaudeCode>(bytes, from)
}

fn bodies(reader: &mut Reader<&[u8]>) -> Vec<String> {
    reader.map(|entry| String::from_utf8(entry.unwrap().draft.body).unwrap()).collect()
}

fn record(text: &str) -> String {
    format!("{{\"type\":\"user\",\"uuid\":\"{}\",\"message\":\"{text}\"}}", text.len())
}

#[test]
fn a_line_over_the_limit_is_damaged_except_for_complete_records_at_its_start() {
    let file = format!("{}\n{}{}\n{}\n", record("a"), record("bb"), record(&"x".repeat(500)), record("ccc"));
    let mut whole = Reader::with_max_line(file.as_bytes(), ClaudeCode::default(), 200);
    assert_eq!(bodies(&mut whole), ["a", "bb", "ccc"]);
    assert_eq!(whole.output().tally.damaged_lines, [2]);
    assert_eq!(whole.consumed().offset, file.len() as u64);
    for at in 0..file.len() {
        let mut part = Reader::with_max_line(&file.as_bytes()[..at], ClaudeCode::default(), 200);
        let mut all = bodies(&mut part);
        let mut rest = Reader::with_max_line(file.as_bytes(), ClaudeCode::default(), 200);
        assert!(rest.skip_to(&part.consumed()).unwrap());
        all.extend(bodies(&mut rest));
        assert_eq!(all, ["a", "bb", "ccc"], "cut at {at}");
    }
}

#[test]
fn a_record_after_an_incomplete_one_is_found() {
    let line = format!("{{\"message\":{{\"a\":[{}{}", record("a"), record("bb"));
    assert_eq!(salvage(line.as_bytes(), 1), line.find("{\"type"));
    assert_eq!(salvage(b"{\"a\":{\"type\":\"x\"}", 1), Some(5));
    assert_eq!(salvage(b"{\"a\":{\"type\":\"x\"},", 1), None);
    assert_eq!(salvage(b"{\"a\":{\"kind\":\"x\"}", 1), None);
    assert_eq!(salvage(b"{", 1), None);
    assert_eq!(salvage(b"", 1), None);
}
