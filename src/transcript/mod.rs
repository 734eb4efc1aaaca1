//! Transcripts: the files in which agents record their sessions, and the requests and responses of providers.
//!
//! | To do this | Change this |
//! | --- | --- |
//! | add a transcript reader | a file in [`agents`], and its name in [`format`] |
//! | change how all readers parse lines, build entries, or resume | [`read`] |
//! | change what an import writes, hooks, or the list of sessions | [`import`] |
//! | import requests and responses of a provider | [`provider`] |
//! | write a trace as a transcript that an agent can resume | [`export`], and `export.rs` of the agent |
//! | write a trace as a document for people or fine-tuning | [`documents`] |
//! | tell which words name a session | [`title`] |
//! | tie an exported session to its trace | [`continuation`] |
//!
//! A reader yields [`TranscriptEntry`] values in file order, one for each piece of content. It holds no more of the file in
//! memory than the longest record. Invariants of every reader:
//!
//! - No text is lost. Content of an unknown shape becomes a `freeform` item with the original bytes.
//! - Nothing in a file is fatal. Unreadable lines and records without content are counted in a [`Tally`].
//! - An entry depends only on its own record and earlier ones. A file that is cut at any byte therefore yields the first
//!   entries of the complete file, and reading can continue in a longer file from a [`Position`]. The only exception is the usage
//!   of a request, which an agent may write after it: an entry waits for it, but not beyond the end of the file.
//! - Every draft passes [`crate::trace::model::schema::validate`].

pub(crate) mod agents;
pub(crate) mod api_request;
pub(crate) mod continuation;
pub(crate) mod documents;
pub(crate) mod export;
pub(crate) mod format;
pub(crate) mod import;
pub(crate) mod read;
pub(crate) mod title;

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::trace::change::bulk::{Removal, Replaced, Usage};
use crate::trace::model::id::ItemId;
use crate::trace::model::item::Draft;
use read::{header, json};

const MAX_LISTED_LINES: usize = 20;

/// A hostile file may contain any number of kinds.
const MAX_KINDS: usize = 64;

/// One piece of a session's content, ready to be committed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TranscriptEntry {
    pub id: ItemId,
    pub draft: Draft,
    /// The sub-agent that this belongs to, as `[A-Za-z0-9_-]{1,64}`; `None` for the main thread.
    pub thread: Option<String>,
    /// Why it is deleted in its trace as soon as it is added.
    pub removal: Option<Removal>,
    /// The items that this summary of a compaction replaces, when compactions are replayed.
    pub replaces: Option<Replaced>,
    /// A more useful commit subject than a preview of the body: one line of at most 72 characters.
    pub subject: Option<String>,
    pub usage: Usage,
    /// The end of the entry's record, in bytes from the start of the file, without its line break.
    pub end_offset: u64,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tally {
    pub imported: u64,
    /// Records that occurred before with the same content; each is yielded once.
    pub repeated: u64,
    /// Records of kinds without content, such as `progress` or `system/turn_duration`.
    pub ignored: BTreeMap<String, u64>,
    /// Records of unknown kinds; kinds after the first 64 are counted under `…`.
    pub unknown: BTreeMap<String, u64>,
    /// Records of unknown kinds that contain a message, a text, or a tool's output.
    pub dropped: u64,
    /// The bytes of all records, and of those of unknown kinds.
    pub bytes: u64,
    pub unknown_bytes: u64,
    pub damaged: u64,
    /// The numbers, from 1, of the first twenty damaged lines.
    pub damaged_lines: Vec<u64>,
    /// Whether the file ends inside a record. The next import reads that record, once it is complete.
    pub cut: bool,
    /// Whether the file ends in bytes that cannot begin a record; `cut` is set too.
    pub ends_in_garbage: bool,
}

impl Tally {
    /// Whether the bytes that were read are something other than records. No bytes, or the start of a first record, are not.
    pub(crate) fn is_foreign(&self) -> bool {
        let found_none = self.imported + self.repeated == 0 && self.ignored.is_empty() && self.unknown.is_empty();
        found_none && (self.damaged > 0 || self.ends_in_garbage)
    }

    /// Whether nothing that may be content was left out.
    pub(crate) fn is_complete(&self) -> bool {
        self.dropped == 0 && self.damaged == 0
    }

    /// Whether most of the file's bytes are in records of unknown kinds.
    pub(crate) fn is_mostly_unknown(&self) -> bool {
        self.unknown_bytes * 2 > self.bytes
    }

    fn add_unknown(&mut self, kind: &str, record: &[u8]) {
        count(&mut self.unknown, kind);
        self.unknown_bytes += record.len() as u64;
        self.dropped += u64::from(json::has_content(record));
    }

    fn add_damaged(&mut self, line: u64) {
        self.damaged += 1;
        if self.damaged_lines.len() < MAX_LISTED_LINES {
            self.damaged_lines.push(line);
        }
    }
}

/// Counts a record of a kind, which may be any text.
fn count(kinds: &mut BTreeMap<String, u64>, kind: &str) {
    let mut kind = header::one_line(kind, 64).unwrap_or_else(|| "(no type)".to_owned());
    if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
        "…".clone_into(&mut kind);
    }
    *kinds.entry(kind).or_insert(0) += 1;
}

/// How many bytes before a position its digest covers. These distinguish a file that has grown from one that was rewritten, at
/// a cost that does not depend on the file's length.
pub(crate) const DIGEST_WINDOW: usize = 64 * 1024;

/// How far a file was read. A longer file with the same bytes before it is a later version of the same transcript.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Bytes consumed as complete records, from the start of the file.
    pub offset: u64,
    /// The first 32 hex digits of BLAKE3 over the last [`DIGEST_WINDOW`] consumed bytes, or over all if there are fewer.
    pub digest: String,
}

impl Position {
    /// The end of a complete file.
    pub(crate) fn end_of(bytes: &[u8]) -> Self {
        let digest = digest_of(&bytes[bytes.len().saturating_sub(DIGEST_WINDOW)..]);
        Self { offset: bytes.len() as u64, digest }
    }

    /// The bytes that the digest covers, if `reader` has them at this position; leaves the reader behind them.
    pub(crate) fn find(&self, mut reader: impl Read + Seek) -> io::Result<Option<Vec<u8>>> {
        let length = self.offset.min(DIGEST_WINDOW as u64);
        reader.seek(SeekFrom::Start(self.offset - length))?;
        let mut window = Vec::new();
        reader.take(length).read_to_end(&mut window)?;
        let same = window.len() as u64 == length && digest_of(&window) == self.digest;
        Ok(same.then_some(window))
    }
}

fn digest_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[derive(Debug, Error)]
#[error("cannot read the transcript after byte {offset}")]
pub(crate) struct TranscriptError {
    pub offset: u64,
    pub source: io::Error,
}

#[cfg(test)]
#[path = "../../tests/unit/transcript/tally.rs"]
mod tests;
