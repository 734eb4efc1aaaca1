//! Lines that are not valid records, and why.

use serde_json::error::Category;
use serde_json::value::RawValue;
use thiserror::Error;

use super::json::{MAX_DEPTH, Members, Text, depth};
use crate::base::merge::conflict;

/// Why a line is not a record. `at` is an offset in the line, in bytes.
#[derive(Debug, Error, Clone, PartialEq, Eq, Hash)]
pub(crate) enum LineError {
    #[error("the line is not valid UTF-8")]
    NotUtf8 { at: usize },
    #[error("the line is a conflict marker")]
    ConflictMarker,
    #[error("the line is truncated")]
    Truncated,
    #[error("the line is not a JSON object")]
    NotAnObject,
    #[error("unexpected text after the JSON object")]
    TrailingText { at: usize },
    #[error("invalid JSON: {problem}")]
    NotJson { at: usize, problem: String },
    #[error("the line nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("the record has no `{name}`")]
    Missing { name: &'static str },
    #[error("the record has `{name}` twice")]
    Repeated { name: &'static str },
    #[error("`{name}` is not {expected}")]
    WrongType { name: &'static str, expected: &'static str },
}

impl LineError {
    /// The name of the rule in findings, which never changes, and what the user should do.
    pub(crate) fn code_and_remedy(&self) -> (&'static str, &'static str) {
        const RESTORE: &str = "restore the line from git or delete it";
        const CORRECT: &str = "correct the record or delete the line";
        match self {
            Self::NotUtf8 { .. } => ("not-utf8", RESTORE),
            Self::ConflictMarker => ("conflict-marker", "`git trace breadcrumb resolve` merges both sides"),
            Self::Truncated => ("cut-off", RESTORE),
            Self::NotAnObject => ("not-an-object", RESTORE),
            Self::TrailingText { .. } => ("more-than-one", "put each object on its own line"),
            Self::NotJson { .. } => ("not-json", RESTORE),
            Self::TooDeep => ("too-deep", RESTORE),
            Self::Missing { .. } => ("missing-member", CORRECT),
            Self::Repeated { .. } => ("repeated-member", "keep one of the two"),
            Self::WrongType { .. } => ("wrong-type", CORRECT),
        }
    }

    /// The offset of the problem in the line, in bytes.
    pub(crate) fn offset(&self) -> usize {
        match self {
            Self::NotUtf8 { at } | Self::TrailingText { at } | Self::NotJson { at, .. } => *at,
            _ => 0,
        }
    }
}

/// A line that was skipped while reading. Lines count from 1.
#[derive(Debug, Error, Clone, PartialEq, Eq, Hash)]
#[error("line {line} is invalid: {reason}")]
pub(crate) struct InvalidLine {
    pub line: usize,
    pub reason: LineError,
}

/// Determines why a line is not a record. The line must not be a valid one.
pub(crate) fn diagnose(line: &[u8]) -> LineError {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return LineError::NotUtf8 { at: error.valid_up_to() },
    };
    if conflict::is_marker(line) {
        return LineError::ConflictMarker;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let first = match values.next() {
        None => return LineError::Truncated,
        Some(Ok(value)) => value.get(),
        Some(Err(error)) if error.classify() == Category::Eof => return LineError::Truncated,
        Some(Err(error)) => return not_json(text, &error),
    };
    if !first.starts_with('{') {
        return LineError::NotAnObject;
    }
    let after = text[values.byte_offset()..].trim_start();
    if !after.is_empty() {
        return LineError::TrailingText { at: text.len() - after.len() };
    }
    if depth(first) > MAX_DEPTH {
        return LineError::TooDeep;
    }
    match serde_json::from_str::<Members<'_>>(first) {
        Ok(members) => diagnose_members(&members.0),
        Err(error) => not_json(text, &error),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> LineError {
    let full = error.to_string();
    // Remove the position: serde_json sees this line only, and calls it line 1.
    let problem = full.rsplit_once(" at line ").map_or(full.as_str(), |(problem, _)| problem).to_owned();
    LineError::NotJson { at: error.column().saturating_sub(1).min(text.len()), problem }
}

fn diagnose_members(members: &[(Text<'_>, &RawValue)]) -> LineError {
    for name in ["key", "value", "task_id", "created_at", "updated_at", "expires_at"] {
        let exact: Vec<_> = members.iter().filter(|(member, _)| member.0 == name).collect();
        let other = members.iter().rfind(|(member, _)| member.0.eq_ignore_ascii_case(name));
        let chosen = if exact.is_empty() { Vec::from_iter(other) } else { exact };
        let mut values = chosen.into_iter().map(|(_, raw)| raw.get());
        let (is_valid, expected) = match (name, values.next()) {
            ("key" | "value", None) => return LineError::Missing { name },
            (_, None) => continue,
            _ if values.next().is_some() => return LineError::Repeated { name },
            ("task_id", Some(raw)) => (serde_json::from_str::<Option<i64>>(raw).is_ok(), "a 64-bit integer"),
            ("key" | "value", Some(raw)) => (serde_json::from_str::<String>(raw).is_ok(), "a string"),
            (_, Some(raw)) => (serde_json::from_str::<Option<String>>(raw).is_ok(), "a string"),
        };
        if !is_valid {
            return LineError::WrongType { name, expected };
        }
    }
    LineError::TooDeep
}
