//! Transcripts: what agents write down of their sessions, read as drafts of items.
//!
//! One module a format. The [`reader`] takes bytes and yields [`Entry`] values in the order of the file, one for each piece
//! of content, without holding more of the file than its longest record; what a record means is each format's own.
//!
//! What holds for every reader:
//!
//! - No text is lost. Content of a shape that is not known comes in as `freeform` with its bytes as they stand.
//! - Nothing in a file is fatal. What cannot be read, and what is not content, is counted in a [`Tally`].
//! - An entry depends on its own record and on those before it, never on those after. So the entries of a file that is cut
//!   at any byte are the first entries of the whole file, and one that has grown can be read on from a [`Position`].
//! - Every draft passes [`crate::trace::model::schema::validate`].

mod clean;
mod document;
mod lines;
mod memory;
mod packed;
mod raw;
mod rewind;
mod sheet;

pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod export;
pub(crate) mod format;
pub(crate) mod gemini_cli;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod input;
pub(crate) mod provider;
pub(crate) mod reader;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod swe_agent;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

use thiserror::Error;

use crate::trace::change::bulk::{Replaced, Usage};
use crate::trace::model::id::ItemId;
use crate::trace::model::item::Draft;

/// How many damaged lines are named; all are counted.
const NAMED_LINES: usize = 20;

/// How many kinds are told apart in a count; a hostile file may make up any number.
const NAMED_KINDS: usize = 64;

/// One piece of a session's content, ready to be recorded.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// The item's id, derived from `draft.fields.source` alone.
    pub id: ItemId,
    /// What is to be recorded.
    pub draft: Draft,
    /// The sub-agent that this belongs to, as `[A-Za-z0-9_-]{1,64}`; `None` for the main line.
    pub thread: Option<String>,
    /// Why the item comes in with priority skip, when it does.
    pub skip: Option<String>,
    /// What it takes the place of: it is what a compaction left, and these are replayed.
    pub replaces: Option<Replaced>,
    /// A subject that tells more than a preview of the body would: one line of at most 72 characters.
    pub subject: Option<String>,
    /// What the provider said the context took when this came in.
    pub usage: Usage,
    /// Where in the file the entry's record ends, in bytes from the start; its line break is not included.
    pub end_offset: u64,
}

/// What a reader met beside the entries it gave.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tally {
    /// Records that gave at least one entry.
    pub imported: u64,
    /// Records that stood in the file before, with the same content; given once.
    pub repeated: u64,
    /// Records of kinds that are known to hold no content, by kind, such as `progress` or `system/turn_duration`.
    pub ignored: BTreeMap<String, u64>,
    /// Records of kinds that are not known, by kind; past 64 kinds under `…`.
    pub unknown: BTreeMap<String, u64>,
    /// Lines of which something could not be read.
    pub damaged: u64,
    /// The numbers, from 1, of the first twenty of these.
    pub damaged_lines: Vec<u64>,
    /// Whether the file ends in the middle of a record. It is not consumed, so that it is read once it is complete.
    pub cut: bool,
}

impl Tally {
    fn ignore(&mut self, kind: &str) {
        count(&mut self.ignored, kind);
    }

    fn not_known(&mut self, kind: &str) {
        count(&mut self.unknown, kind);
    }

    fn damage(&mut self, line: u64) {
        self.damaged += 1;
        if self.damaged_lines.len() < NAMED_LINES {
            self.damaged_lines.push(line);
        }
    }
}

fn count(kinds: &mut BTreeMap<String, u64>, kind: &str) {
    if let Some(number) = kinds.get_mut(kind) {
        *number += 1;
    } else {
        let kind = if kinds.len() < NAMED_KINDS { kind } else { "…" };
        *kinds.entry(kind.to_owned()).or_insert(0) += 1;
    }
}

/// How many bytes before a position its digest is of.
///
/// Agents append to their files, so the last stretch tells a file that has grown from one that was rewritten, and costs the
/// same at any length.
pub(crate) const STRETCH: usize = 64 * 1024;

/// How far a file was read: the bytes that were consumed as whole records, by number and the digest of the last of them.
///
/// A longer file with the same bytes there is a later version of the same transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    /// Bytes consumed, from the start of the file.
    pub offset: u64,
    /// The first 32 hex digits of BLAKE3 over the last [`STRETCH`] of these bytes, or over all where there are fewer.
    pub digest: String,
}

impl Position {
    /// The bytes that the digest is of, if `reader` has them where they should be, and leaves it behind them.
    ///
    /// Reads [`STRETCH`] bytes at most.
    ///
    /// # Errors
    ///
    /// Whatever reading meets.
    pub(crate) fn find(&self, mut reader: impl Read + Seek) -> io::Result<Option<Vec<u8>>> {
        let length = self.offset.min(STRETCH as u64);
        reader.seek(SeekFrom::Start(self.offset - length))?;
        let mut stretch = Vec::new();
        reader.take(length).read_to_end(&mut stretch)?;
        let same = stretch.len() as u64 == length && digest_of(&stretch) == self.digest;
        Ok(same.then_some(stretch))
    }
}

fn digest_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Why a transcript could not be read on. What stands in it is never the reason.
#[derive(Debug, Error)]
pub(crate) enum TranscriptError {
    /// The file, or whatever the bytes come from, failed.
    #[error("cannot read the transcript past byte {offset}")]
    Read {
        /// How far records were consumed.
        offset: u64,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart_up_to_a_bound() {
        let mut tally = Tally::default();
        for number in 0..1000 {
            tally.not_known(&format!("kind{number}"));
            tally.not_known("kind3");
            tally.damage(number);
        }
        assert_eq!(tally.unknown.len(), NAMED_KINDS + 1);
        assert_eq!(tally.unknown.values().sum::<u64>(), 2000);
        assert_eq!(tally.unknown["…"], 1000 - NAMED_KINDS as u64);
        assert_eq!((tally.damaged, tally.damaged_lines.len()), (1000, NAMED_LINES));
    }

    #[test]
    fn a_position_knows_its_bytes_again() {
        let position = Position { offset: 3, digest: digest_of(b"abc") };
        let find = |bytes: &[u8]| position.find(io::Cursor::new(bytes)).unwrap();
        assert_eq!(find(b"abc").unwrap(), b"abc");
        assert_eq!(find(b"abcdef").unwrap(), b"abc");
        assert_eq!(find(b"ab"), None);
        assert_eq!(find(b"abd"), None);
    }
}
