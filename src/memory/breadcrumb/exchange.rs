//! Import and export: as a JSON array, or as JSON Lines.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use serde_json::value::RawValue;
use thiserror::Error;

use super::key::{InvalidKey, Key};
use super::store::lines::{BOM, numbered};
use super::{InvalidLine, LineError, Record};
use crate::base::error::Diagnostic;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Format {
    #[default]
    Json,
    Jsonl,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum OnConflict {
    /// The record with the later `updated_at` wins, as in a merge.
    #[default]
    Newest,
    Keep,
    Replace,
}

impl OnConflict {
    pub(crate) fn replaces(self, old: &Record<'_>, new: &Record<'_>) -> bool {
        match self {
            Self::Newest => new.precedence(old).is_gt(),
            Self::Keep => false,
            Self::Replace => !new.means_same(old),
        }
    }
}

/// Why an import is refused. Elements and records count from 0.
#[derive(Debug, Error)]
pub(crate) enum ImportError {
    #[error(transparent)]
    Line(InvalidLine),
    #[error("element {index} of the array is invalid: {reason}")]
    Element { index: usize, reason: LineError },
    #[error("cannot read the JSON array")]
    Json(#[from] serde_json::Error),
    #[error("cannot import breadcrumb {index}")]
    Key { index: usize, source: InvalidKey },
}

impl Diagnostic for ImportError {}

/// How many bytes are written at once.
const BLOCK: usize = 64 * 1024;

pub(crate) fn export(records: &[Record<'_>], format: Format, out: &mut impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BLOCK, out);
    match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, records)?;
            out.write_all(b"\n")?;
        }
        Format::Jsonl => {
            for record in records {
                serde_json::to_writer(&mut out, record)?;
                out.write_all(b"\n")?;
            }
        }
    }
    out.flush()
}

/// Parses breadcrumbs: an array if the text starts with `[`, else JSON Lines. One invalid breadcrumb fails the import.
pub(crate) fn parse(text: &[u8]) -> Result<Vec<Record<'static>>, ImportError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
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
        Ok(remove_line_breaks(record.into_owned()))
    };
    elements.into_iter().enumerate().map(parse).collect()
}

/// Removes line breaks from unknown members, because a record is one line.
fn remove_line_breaks(mut record: Record<'static>) -> Record<'static> {
    for (_, raw) in &mut record.unknown {
        if raw.get().contains(['\n', '\r']) {
            // JSON strings contain no raw line breaks, so each is between tokens.
            let spaced = raw.get().replace(['\n', '\r'], " ");
            if let Ok(spaced) = RawValue::from_string(spaced) {
                *raw = Cow::Owned(spaced);
            }
        }
    }
    record
}

fn parse_lines(text: &[u8]) -> Result<Vec<Record<'static>>, ImportError> {
    let parse = |(number, line)| {
        let record = Record::parse(line).map(Record::into_owned);
        record.map_err(|reason| ImportError::Line(InvalidLine { line: number, reason }))
    };
    numbered(text).map(parse).collect()
}
