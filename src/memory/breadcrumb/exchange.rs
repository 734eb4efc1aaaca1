//! Breadcrumbs in and out: as a JSON array, or as JSON Lines.

use std::io::{self, Write};

use serde_json::value::RawValue;
use thiserror::Error;

use super::key::{BadKey, Key};
use super::lines::{is_blank, split_bom};
use super::record::Record;
use super::unreadable::{InvalidLine, LineError};
use crate::base::error::Diagnostic;

/// A form for many breadcrumbs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Format {
    /// One array of objects.
    #[default]
    Json,
    /// One object a line, as the store has it.
    Jsonl,
}

/// What becomes of a key that an import brings and that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OnExisting {
    /// The one that was set later stays, as in a merge.
    #[default]
    Later,
    /// The one that is there stays.
    Keep,
    /// The one that comes in stays.
    Replace,
}

impl OnExisting {
    pub(crate) fn takes(self, old: &Record<'_>, new: &Record<'_>) -> bool {
        match self {
            Self::Later => new.precedence(old).is_gt(),
            Self::Keep => false,
            Self::Replace => !new.means_same(old),
        }
    }
}

/// Why breadcrumbs from elsewhere are refused.
#[derive(Debug, Error)]
pub(crate) enum ImportError {
    /// A line cannot be read.
    #[error(transparent)]
    Line(InvalidLine),
    /// An element of the array cannot be read.
    #[error("element {index} of the array cannot be read: {reason}")]
    Element {
        /// Which, from 0.
        index: usize,
        /// What is the matter with it.
        reason: LineError,
    },
    /// The array itself cannot be read.
    #[error("cannot read the JSON array")]
    Json(#[from] serde_json::Error),
    /// A key that may not be set.
    #[error("breadcrumb {index} cannot be taken in")]
    Key {
        /// Which, from 0.
        index: usize,
        /// What is the matter with its key.
        source: BadKey,
    },
}

impl Diagnostic for ImportError {}

/// Writes breadcrumbs with all their members.
///
/// # Errors
///
/// Whatever `out` gives.
pub(crate) fn export(records: &[Record<'_>], format: Format, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, records)?;
            out.write_all(b"\n")
        }
        Format::Jsonl => records.iter().try_for_each(|record| writeln!(out, "{}", record.render())),
    }
}

/// Reads breadcrumbs in either form: an array where the text starts with `[`, else JSON Lines.
///
/// # Errors
///
/// [`ImportError`] for the first that cannot be taken in; an import is all or nothing.
pub(crate) fn parse(text: &[u8]) -> Result<Vec<Record<'static>>, ImportError> {
    let (_, text) = split_bom(text);
    let records = if text.trim_ascii_start().starts_with(b"[") { parse_array(text)? } else { parse_lines(text)? };
    for (index, record) in records.iter().enumerate() {
        record.key.parse::<Key>().map_err(|source| ImportError::Key { index, source })?;
    }
    Ok(records)
}

fn parse_array(text: &[u8]) -> Result<Vec<Record<'static>>, ImportError> {
    let elements: Vec<&RawValue> = serde_json::from_slice(text)?;
    let parse = |(index, element): (usize, &RawValue)| {
        let record =
            Record::parse(element.get().as_bytes()).map_err(|reason| ImportError::Element { index, reason })?;
        Ok(one_line(record.into_owned()))
    };
    elements.into_iter().enumerate().map(parse).collect()
}

/// Takes line ends out of the members that are kept as they were written: a record is one line.
fn one_line(mut record: Record<'static>) -> Record<'static> {
    for (_, raw) in &mut record.unknown {
        if raw.get().contains(['\n', '\r']) {
            // Within strings JSON has no raw line ends, so each is a space between tokens.
            let spaced = raw.get().replace(['\n', '\r'], " ");
            if let Ok(spaced) = RawValue::from_string(spaced) {
                *raw = std::borrow::Cow::Owned(spaced);
            }
        }
    }
    record
}

fn parse_lines(text: &[u8]) -> Result<Vec<Record<'static>>, ImportError> {
    let lines = text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !is_blank(line));
    let parse = |(index, line)| {
        let record = Record::parse(line);
        record.map(Record::into_owned).map_err(|reason| ImportError::Line(InvalidLine { line: index + 1, reason }))
    };
    lines.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"key\":\"a.b\",\"value\":\"1\",\"n\":1.50}\n{\"key\":\"c\",\"value\":\"2\",\"task_id\":3}\n";

    #[test]
    fn what_goes_out_comes_in() {
        let records = parse(LINES.as_bytes()).unwrap();
        for format in [Format::Json, Format::Jsonl] {
            let mut out = Vec::new();
            export(&records, format, &mut out).unwrap();
            let again: String = parse(&out).unwrap().iter().map(|record| record.render() + "\n").collect();
            assert_eq!(again, LINES);
        }
        assert!(parse(b"\xef\xbb\xbf \n").unwrap().is_empty());
        let pretty = parse(b"[{\"key\":\"a\",\"value\":\"1\",\"o\":{\r\n\"x\":[1,\n2]}}]").unwrap();
        assert_eq!(pretty[0].render().lines().count(), 1);
    }

    #[test]
    fn what_cannot_be_taken_in_is_named() {
        for (text, message) in [
            ("{\"key\":\"a\",\"value\":\"1\"}\n\n[]", "line 3 cannot be read: the line is not a JSON object"),
            ("[{\"key\":\"a\",\"value\":1}]", "element 0 of the array cannot be read: `value` is not a string"),
            ("[{\"key\":\"a\"", "cannot read the JSON array"),
            ("{\"key\":\"a b\",\"value\":\"1\"}", "breadcrumb 0 cannot be taken in"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
        }
    }
}
