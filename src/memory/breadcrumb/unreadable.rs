//! Lines that cannot be read, and why.

use serde_json::error::Category;
use serde_json::value::RawValue;
use thiserror::Error;

use super::record::{MAX_DEPTH, Members, depth};
use crate::base::merge::conflict;

/// Why a line is not a record.
#[derive(Debug, Error, Clone, PartialEq, Eq, Hash)]
pub enum LineError {
    /// Bytes that are not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8 {
        /// Byte within the line, from 0.
        at: usize,
    },
    /// A conflict marker.
    #[error("the line is a conflict marker")]
    ConflictMarker,
    /// The line ends before its object does.
    #[error("the line is cut off")]
    CutOff,
    /// JSON, but not an object.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// Something follows the object.
    #[error("something follows the object")]
    MoreThanOne {
        /// Byte within the line, from 0.
        at: usize,
    },
    /// Not JSON.
    #[error("the line is not JSON: {problem}")]
    NotJson {
        /// Byte within the line, from 0.
        at: usize,
        /// What the reader met.
        problem: String,
    },
    /// Nested past what readers take.
    #[error("the line nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A member of ours that is not there.
    #[error("the record has no `{name}`")]
    Missing {
        /// Name of the member.
        name: &'static str,
    },
    /// A member of ours that is there twice.
    #[error("the record has `{name}` twice")]
    Repeated {
        /// Name of the member.
        name: &'static str,
    },
    /// A member of ours that holds something else.
    #[error("`{name}` is not {expected}")]
    WrongType {
        /// Name of the member.
        name: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
}

impl LineError {
    /// Name of the rule, for good.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => "not-utf8",
            Self::ConflictMarker => "conflict-marker",
            Self::CutOff => "cut-off",
            Self::NotAnObject => "not-an-object",
            Self::MoreThanOne { .. } => "more-than-one",
            Self::NotJson { .. } => "not-json",
            Self::TooDeep => "too-deep",
            Self::Missing { .. } => "missing-member",
            Self::Repeated { .. } => "repeated-member",
            Self::WrongType { .. } => "wrong-type",
        }
    }

    /// What to do about it, in the imperative.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::ConflictMarker => "resolve the conflict",
            Self::MoreThanOne { .. } => "give each object a line of its own",
            Self::Repeated { .. } => "keep one of the two",
            Self::Missing { .. } | Self::WrongType { .. } => "correct the record or delete the line",
            _ => "restore the line from git or delete it",
        }
    }

    /// Where in the line the trouble is, in bytes from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        match self {
            Self::NotUtf8 { at } | Self::MoreThanOne { at } | Self::NotJson { at, .. } => *at,
            _ => 0,
        }
    }
}

/// A line that was passed over in reading.
#[derive(Debug, Error, Clone, PartialEq, Eq, Hash)]
#[error("line {line} cannot be read: {reason}")]
pub struct InvalidLine {
    /// Number of the line in its file, from 1.
    pub line: usize,
    /// What is the matter with it.
    pub reason: LineError,
}

/// Says why a line is not a record; only called for lines that are not.
pub(crate) fn diagnose(line: &[u8]) -> LineError {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return LineError::NotUtf8 { at: error.valid_up_to() },
    };
    if conflict::marker(line).is_some_and(|(_, size)| size >= conflict::Markers::DEFAULT_SIZE) {
        return LineError::ConflictMarker;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let first = match values.next() {
        None => return LineError::CutOff,
        Some(Ok(value)) => value.get(),
        Some(Err(error)) if error.classify() == Category::Eof => return LineError::CutOff,
        Some(Err(error)) => return not_json(text, &error),
    };
    if !first.starts_with('{') {
        return LineError::NotAnObject;
    }
    let after = &text[values.byte_offset()..];
    if !after.trim_start().is_empty() {
        return LineError::MoreThanOne { at: text.len() - after.trim_start().len() };
    }
    if depth(first) > MAX_DEPTH {
        return LineError::TooDeep;
    }
    match serde_json::from_str(first) {
        Ok(Members(members)) => {
            diagnose_members(&members.iter().map(|(name, raw)| (&*name.0, raw.get())).collect::<Vec<_>>())
        }
        Err(error) => not_json(text, &error),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> LineError {
    let full = error.to_string();
    // The place is ours to tell: the reader only knows about this one line.
    let problem = full.rsplit_once(" at line ").map_or(full.as_str(), |(problem, _)| problem).to_owned();
    LineError::NotJson { at: error.column().saturating_sub(1).min(text.len()), problem }
}

fn diagnose_members(members: &[(&str, &str)]) -> LineError {
    const STRING: &str = "a string";
    let ours = [
        ("key", STRING),
        ("value", STRING),
        ("task_id", "a whole number of 64 bits"),
        ("created_at", STRING),
        ("updated_at", STRING),
        ("expires_at", STRING),
    ];
    for (name, expected) in ours {
        let mut values = members.iter().filter(|(member, _)| *member == name).map(|(_, raw)| *raw);
        let Some(raw) = values.next() else {
            if matches!(name, "key" | "value") {
                return LineError::Missing { name };
            }
            continue;
        };
        if values.next().is_some() {
            return LineError::Repeated { name };
        }
        let fits = match name {
            "task_id" => serde_json::from_str::<Option<i64>>(raw).is_ok(),
            "expires_at" => serde_json::from_str::<Option<String>>(raw).is_ok(),
            _ => serde_json::from_str::<String>(raw).is_ok(),
        };
        if !fits {
            return LineError::WrongType { name, expected };
        }
    }
    LineError::TooDeep
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::breadcrumb::Record;

    #[test]
    fn every_bad_line_gets_its_reason() {
        let deep = format!(r#"{{"key":"k","value":"v","deep":{}1{}}}"#, "[".repeat(400), "]".repeat(400));
        let nested_too_deep = format!(r#"{{"key":"k","value":"v","deep":{}{}}}"#, "[".repeat(127), "]".repeat(127));
        let missing = |name| LineError::Missing { name };
        let repeated = |name| LineError::Repeated { name };
        let wrong = |name, expected| LineError::WrongType { name, expected };
        for (line, reason) in [
            (&b"{\"key\":\"k\",\"val"[..], LineError::CutOff),
            (b"{\"key\":\"k\",\"value\":\"v\"", LineError::CutOff),
            (b"[]", LineError::NotAnObject),
            (b"\"key\"", LineError::NotAnObject),
            (b"<<<<<<< HEAD", LineError::ConflictMarker),
            (b"=======\r", LineError::ConflictMarker),
            (b"{\"key\":\"\xff\",\"value\":\"v\"}", LineError::NotUtf8 { at: 8 }),
            (b"{\"key\":\"k\",\"value\":\"v\"}{\"key\":\"l\",\"value\":\"v\"}", LineError::MoreThanOne { at: 23 }),
            (b"{\"key\":\"k\",\"value\":\"v\"} x", LineError::MoreThanOne { at: 24 }),
            (deep.as_bytes(), LineError::TooDeep),
            (nested_too_deep.as_bytes(), LineError::TooDeep),
            (b"{}", missing("key")),
            (b"{\"key\":\"k\"}", missing("value")),
            (b"{\"key\":\"k\",\"value\":\"v\",\"key\":\"k\"}", repeated("key")),
            (b"{\"key\":1,\"value\":\"v\"}", wrong("key", "a string")),
            (b"{\"key\":\"k\",\"value\":null}", wrong("value", "a string")),
            (b"{\"key\":\"k\",\"value\":\"v\",\"task_id\":\"1\"}", wrong("task_id", "a whole number of 64 bits")),
            (b"{\"key\":\"k\",\"value\":\"v\",\"task_id\":1.5}", wrong("task_id", "a whole number of 64 bits")),
            (b"{\"key\":\"k\",\"value\":\"v\",\"updated_at\":7}", wrong("updated_at", "a string")),
        ] {
            assert_eq!(Record::parse(line).unwrap_err(), reason, "{}", String::from_utf8_lossy(line));
        }
        for line in [&b"\0"[..], b"{\"key\":\"k\0\",\"value\":\"v\"}", b"\xef\xbb\xbf{}", b"nonsense", b"{'key':'k'}"] {
            assert_eq!(Record::parse(line).unwrap_err().code(), "not-json", "{}", String::from_utf8_lossy(line));
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
}
