//! Damage costs only what is damaged, and any bytes are read.

use std::io;

use crate::transcript::agents::claude_code::Reader;
use crate::transcript::read::reader::Transcript as _;
use proptest::prelude::*;
use serde_json::json;

use super::{bodies, body, call, check, check_cut, file, read, read_on, read_text, result, user};

#[test]
fn damage_loses_only_the_damaged_record() {
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
fn a_truncated_last_line_is_read_once_complete() {
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
fn a_failing_reader_returns_its_error() {
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
    assert_eq!(error.to_string(), format!("cannot read the transcript after byte {}", text.len()));
    assert!(reader.next().is_none());
}

#[test]
fn a_rewritten_file_is_detected() {
    let text = file(&[user("1", &json!("one"))]);
    let position = read_text(&text).position;
    for other in [text.replace("one", "eno"), text[..text.len() - 1].to_owned(), String::new()] {
        let mut reader = Reader::new(other.as_bytes());
        assert!(!reader.skip_to(&position).unwrap());
        assert!(reader.next().is_none());
    }
}

/// Pieces of random files: complete records, halves, and the bytes between them.
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
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let reading = read(&bytes);
        check(&reading.entries);
    }

    #[test]
    fn any_file_reads_the_same_at_any_cut(
        pieces in prop::collection::vec(pieces(), 0..12), at in any::<prop::sample::Index>(),
    ) {
        let bytes = pieces.concat();
        let whole = read(&bytes);
        check(&whole.entries);
        check_cut(&bytes, &whole, at.index(bytes.len() + 1));
    }
}
