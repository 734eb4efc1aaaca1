//! The answers of tools, and how much of each a model receives.
//!
//! Some clients show a model only `content`, some only `structuredContent`. So a text has no structured form, and a record is the
//! same JSON in both. Either way, all that a model receives counts.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::page::char_boundary;
use crate::tokens::Counter;

/// The most tokens of a record: a breadcrumb's value of 10 KiB fits, unless each byte is a token.
const MAX_RECORD: u64 = 8_000;
/// The most characters of an error, which may quote what it refuses.
const MAX_ERROR: usize = 2_000;
const MAX_WARNINGS: usize = 5;
const MAX_WARNING: usize = 300;

pub(crate) enum Answer {
    /// Texts for a model; all but the first are notes.
    Text(Vec<String>),
    /// An object.
    Record(Value),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Record(value)
    }
}

impl Answer {
    /// A record with problems that do not make it useless.
    pub(crate) fn with_warnings(value: Value, warnings: &[String]) -> Self {
        let mut value = value;
        if let Some(warnings) = warning_lines(warnings) {
            value["warnings"] = warnings.lines().collect();
        }
        Self::Record(value)
    }

    pub(crate) fn into_result(self, counter: Counter) -> CallToolResult {
        match self {
            Self::Text(texts) => CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect()),
            Self::Record(mut value) => {
                shrink(&mut value, counter, MAX_RECORD);
                let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
                result.structured_content = Some(value);
                result
            }
        }
    }
}

/// Warnings as lines, the first few of them.
pub(crate) fn warning_lines(warnings: &[String]) -> Option<String> {
    let shorten = |warning: &String| warning.replace('\n', " ").chars().take(MAX_WARNING).collect::<String>();
    let mut lines: Vec<String> = warnings.iter().take(MAX_WARNINGS).map(shorten).collect();
    if warnings.len() > MAX_WARNINGS {
        lines.push(format!("warning: {} more warnings", warnings.len() - MAX_WARNINGS));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

pub(crate) fn error(text: &str) -> CallToolResult {
    let shortened = if text.chars().count() > MAX_ERROR {
        text.chars().take(MAX_ERROR).chain(['…']).collect()
    } else {
        text.to_owned()
    };
    CallToolResult::error(vec![ContentBlock::text(shortened)])
}

/// Shortens the longest arrays and texts of a record until it fits, and says so in its member `shortened`.
fn shrink(value: &mut Value, counter: Counter, max: u64) {
    loop {
        let text = value.to_string();
        let tokens = counter.count(text.as_bytes());
        if tokens <= max {
            return;
        }
        value["shortened"] = true.into();
        // A little more than the excess, so that few rounds are needed.
        let excess = text.len() as u64 * (tokens - max) / tokens;
        if !cut_longest(value, usize::try_from(excess + excess / 8).unwrap_or(usize::MAX) + 32) {
            return;
        }
    }
}

/// Removes about `excess` bytes from the longest array or text in a value; whether there was anything to remove.
fn cut_longest(value: &mut Value, excess: usize) -> bool {
    let len = |value: &Value| value.to_string().len();
    match value {
        Value::String(text) if text.is_empty() => false,
        Value::String(text) => {
            text.truncate(char_boundary(text, text.len().saturating_sub(excess)));
            true
        }
        Value::Array(entries) => {
            let all: usize = entries.iter().map(len).sum();
            match entries.iter_mut().max_by_key(|entry| len(entry)) {
                None => false,
                Some(longest) if len(longest) > all / 2 => cut_longest(longest, excess),
                Some(_) => {
                    let mut removed = 0;
                    while removed < excess
                        && let Some(last) = entries.pop()
                    {
                        removed += len(&last) + 1;
                    }
                    true
                }
            }
        }
        Value::Object(members) => {
            members.values_mut().max_by_key(|member| len(member)).is_some_and(|longest| cut_longest(longest, excess))
        }
        _ => false,
    }
}
