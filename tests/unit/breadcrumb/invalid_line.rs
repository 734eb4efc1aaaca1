//! Lines that are not records, and why.

use crate::memory::breadcrumb::{LineError, Record};

#[test]
fn every_bad_line_gets_its_reason() {
    let deep = format!(r#"{{"key":"k","value":"v","deep":{}1{}}}"#, "[".repeat(400), "]".repeat(400));
    let nested_too_deep = format!(r#"{{"key":"k","value":"v","deep":{}{}}}"#, "[".repeat(127), "]".repeat(127));
    let missing = |name| LineError::Missing { name };
    let repeated = |name| LineError::Repeated { name };
    let wrong = |name, expected| LineError::WrongType { name, expected };
    for (line, reason) in [
        (&b"{\"key\":\"k\",\"val"[..], LineError::Truncated),
        (b"{\"key\":\"k\",\"value\":\"v\"", LineError::Truncated),
        (b"[]", LineError::NotAnObject),
        (b"\"key\"", LineError::NotAnObject),
        (b"<<<<<<< HEAD", LineError::ConflictMarker),
        (b"=======\r", LineError::ConflictMarker),
        (b"{\"key\":\"\xff\",\"value\":\"v\"}", LineError::NotUtf8 { at: 8 }),
        (b"{\"key\":\"k\",\"value\":\"v\"}{\"key\":\"l\",\"value\":\"v\"}", LineError::TrailingText { at: 23 }),
        (b"{\"key\":\"k\",\"value\":\"v\"} x", LineError::TrailingText { at: 24 }),
        (deep.as_bytes(), LineError::TooDeep),
        (nested_too_deep.as_bytes(), LineError::TooDeep),
        (b"{}", missing("key")),
        (b"{\"key\":\"k\"}", missing("value")),
        (b"{\"key\":\"k\",\"value\":\"v\",\"key\":\"k\"}", repeated("key")),
        (b"{\"key\":1,\"value\":\"v\"}", wrong("key", "a string")),
        (b"{\"key\":\"k\",\"value\":null}", wrong("value", "a string")),
        (b"{\"key\":\"k\",\"value\":\"v\",\"task_id\":\"1\"}", wrong("task_id", "a 64-bit integer")),
        (b"{\"key\":\"k\",\"value\":\"v\",\"task_id\":1.5}", wrong("task_id", "a 64-bit integer")),
        (b"{\"key\":\"k\",\"value\":\"v\",\"updated_at\":7}", wrong("updated_at", "a string")),
    ] {
        assert_eq!(Record::parse(line).unwrap_err(), reason, "{}", String::from_utf8_lossy(line));
    }
    for line in [&b"\0"[..], b"{\"key\":\"k\0\",\"value\":\"v\"}", b"\xef\xbb\xbf{}", b"nonsense", b"{'key':'k'}"] {
        assert_eq!(
            Record::parse(line).unwrap_err().code_and_remedy().0,
            "not-json",
            "{}",
            String::from_utf8_lossy(line)
        );
    }
}

#[test]
fn long_lines_and_deep_ones_within_bounds_are_read() {
    let long = format!(r#"{{"key":"k","value":"{}"}}"#, "x".repeat(200_000));
    assert_eq!(Record::parse(long.as_bytes()).unwrap().value.len(), 200_000);
    let deep = format!(r#"{{"key":"k","value":"v","deep":{}{}}}"#, "[".repeat(126), "]".repeat(126));
    let record = Record::parse(deep.as_bytes()).unwrap();
    assert_eq!(record.render(), deep);
    assert!(record.means_same(&record));
    let crlf = Record::parse(b"{\"key\":\"k\",\"value\":\"v\",\"task_id\":null,\"expires_at\":null}\r").unwrap();
    assert_eq!(crlf.render(), r#"{"key":"k","value":"v"}"#);
}
