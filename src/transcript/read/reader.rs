//! Reads records from lines of JSON, whatever the format, and yields their entries.

use std::collections::VecDeque;
use std::io::{self, Read};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::active::Rewound;
use super::lines::{Ending, Lines};
use crate::tokens::UsageReader;
use crate::transcript::{Position, Tally, TranscriptEntry, TranscriptError, count};

/// The maximum length of a line in bytes; a longer one counts as damaged. The largest known lines hold a few pasted images.
pub(crate) const MAX_LINE: usize = 256 * 1024 * 1024;

/// Lines longer than this are not searched for a record after damage.
const MAX_SALVAGE: usize = 16 * 1024 * 1024;

const SALVAGE_TRIES: usize = 64;

/// How many entries wait for the usage of their request.
const MAX_AWAITING: usize = 64;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Imported,
    Repeated,
    Ignored(String),
    Unknown(String),
}

#[derive(Default)]
pub(crate) struct Output {
    /// Whether the summary of a compaction replaces what it summarizes, see [`TranscriptEntry::replaces`]. Set this before
    /// taking the first entry.
    pub replays_compactions: bool,
    /// Whether the agent rewrites the file, so that reading cannot continue at a position.
    pub is_document: bool,
    /// The session's id, once a record named it. The file of a resumed session may contain records of others; the first
    /// counts.
    pub session_id: Option<String>,
    /// The number of independent conversations that began; 0 if the format has only one per file.
    pub conversations: usize,
    pub tally: Tally,
    pub end_offset: u64,
    pub entries: VecDeque<TranscriptEntry>,
    pub rewound: Rewound,
    /// How usage is read. Set this before taking the first entry.
    pub usage: UsageReader,
    /// Whether the usage of an entry may follow in a later record.
    pub awaits_usage: bool,
}

/// How sure a reader is that a record is of its format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Certainty {
    #[default]
    No,
    /// Other formats may have such records, too. This alone decides nothing.
    Possible,
    /// No other known format has such records.
    Likely,
    /// The record names the format, or has members that only this format has.
    Sure,
}

/// The meaning of one format's records, given the earlier ones. The value is stored as JSON between two imports.
pub(crate) trait RecordReader: Default + Serialize + DeserializeOwned {
    type Record<'a>: Deserialize<'a>;

    /// How sure it is that a record in the head of a file is of this format.
    fn certainty(record: &Self::Record<'_>) -> Certainty;

    /// Whether an object found after damage is a record, not part of one.
    fn is_record(record: &Self::Record<'_>) -> bool;

    fn session(&self, record: &Self::Record<'_>) -> Option<String>;

    /// Converts a record, `bytes` in the file, to entries.
    fn read(&mut self, record: &Self::Record<'_>, bytes: &[u8], output: &mut Output) -> Outcome;

    /// Passes on what waited for the end of the file, before the state is stored.
    fn end(&mut self, _output: &mut Output) {}
}

#[derive(Serialize, Deserialize)]
struct SavedState<S> {
    position: Position,
    line: u64,
    session_id: Option<String>,
    replays_compactions: bool,
    #[serde(default)]
    awaits_usage: bool,
    records: S,
}

/// A transcript of any format.
pub(crate) trait Transcript: Iterator<Item = Result<TranscriptEntry, TranscriptError>> {
    fn output(&self) -> &Output;
    fn output_mut(&mut self) -> &mut Output;
    /// The end of the last complete record; meaningful after the last entry.
    fn consumed(&self) -> Position;
    /// Before the first entry is taken, skips what an earlier reader consumed, but learns from it. The tally starts here.
    /// Returns false if the file does not begin with the same bytes; then read it again with a new reader.
    fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError>;
    /// The state that [`TranscriptReader::resume`] needs to continue here.
    fn saved_state(&self) -> Option<Vec<u8>>;
}

/// Reads a transcript as a stream of entries, in file order. Memory holds the longest line (at most [`MAX_LINE`]) and a few
/// words per record: open tool calls, threads of sub-agents, and hashes of the records read.
pub(crate) struct TranscriptReader<R, S> {
    lines: Lines<R>,
    pub(super) records: S,
    output: Output,
    damaged_line: u64,
    ended: bool,
}

impl<R: Read, S: RecordReader> TranscriptReader<R, S> {
    pub(crate) fn new(reader: R) -> Self {
        Self::with(reader, S::default())
    }

    /// Reads the lines of a document, which the agent rewrites each time.
    pub(crate) fn of_document(reader: R) -> Self {
        Self::document_of(reader, S::default())
    }

    pub(super) fn document_of(reader: R, records: S) -> Self {
        let mut document = Self::with(reader, records);
        document.output.is_document = true;
        document
    }

    pub(super) fn with(reader: R, records: S) -> Self {
        Self::with_max_line(reader, records, MAX_LINE)
    }

    fn with_max_line(reader: R, records: S, max_line: usize) -> Self {
        Self { lines: Lines::new(reader, max_line), records, output: Output::default(), damaged_line: 0, ended: false }
    }

    /// Continues at `position`, after the bytes that its digest covers, with the saved state; `None` if the state belongs to
    /// another position.
    pub(crate) fn resume(reader: R, position: &Position, window: Vec<u8>, state: &[u8]) -> Option<Self> {
        let saved: SavedState<S> = serde_json::from_slice(state).ok()?;
        let SavedState { position: saved_position, line, session_id, replays_compactions, awaits_usage, records } =
            saved;
        if saved_position != *position {
            return None;
        }
        let lines = Lines::resume(reader, MAX_LINE, window, position.offset, line);
        let output = Output { replays_compactions, session_id, awaits_usage, ..Output::default() };
        Some(Self { lines, records, output, damaged_line: 0, ended: false })
    }

    /// Reads the next record, or skips something that is none; false at the end.
    fn read_record(&mut self) -> Result<bool, TranscriptError> {
        let offset = self.lines.offset();
        self.try_read_record().map_err(|source| TranscriptError { offset, source })
    }

    fn try_read_record(&mut self) -> io::Result<bool> {
        let offset = self.lines.offset();
        let Some(rest) = self.lines.rest()? else { return Ok(false) };
        let (number, ending) = (rest.number, rest.ending);

        let start = start_of_record(rest.bytes, offset == 0);
        if start == rest.bytes.len() && ending != Ending::TooLong {
            // Leaves white space at the end of the file, which may precede an incomplete record.
            return Ok(ending == Ending::Newline && self.lines.consume_line()?);
        }
        let read = parse::<S>(&rest.bytes[start..]).map(|(record, length)| {
            let end = start + length;
            if self.output.session_id.is_none() {
                self.output.session_id = self.records.session(&record).filter(|id| !id.is_empty());
            }
            self.output.end_offset = offset + end as u64;
            let outcome = self.records.read(&record, &rest.bytes[start..end], &mut self.output);
            let tally = &mut self.output.tally;
            match outcome {
                Outcome::Imported => tally.imported += 1,
                Outcome::Repeated => tally.repeated += 1,
                Outcome::Ignored(kind) => count(&mut tally.ignored, &kind),
                Outcome::Unknown(kind) => tally.add_unknown(&kind, &rest.bytes[start..end]),
            }
            tally.bytes += length as u64;
            end
        });
        if let Some(end) = read {
            self.lines.consume(end);
            return Ok(true);
        }

        let begins_record = ending != Ending::Newline && is_incomplete(&rest.bytes[start..]);
        let salvaged = (ending == Ending::Newline).then(|| salvage::<S>(rest.bytes, start + 1)).flatten();
        match salvaged {
            Some(at) => self.lines.consume(at),
            None if ending == Ending::EndOfFile || !self.lines.consume_line()? => {
                self.output.tally.cut = true;
                self.output.tally.ends_in_garbage = !begins_record;
                return Ok(false);
            }
            None => {}
        }
        if self.damaged_line != number {
            self.damaged_line = number;
            self.output.tally.add_damaged(number);
        }
        Ok(true)
    }
}

impl<R: Read, S: RecordReader> Iterator for TranscriptReader<R, S> {
    type Item = Result<TranscriptEntry, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let awaits = self.output.awaits_usage && self.output.entries.len() < MAX_AWAITING && !self.ended;
            if let Some(entry) = (!awaits).then(|| self.output.entries.pop_front()).flatten() {
                return Some(Ok(entry));
            }
            if self.ended {
                return None;
            }
            match self.read_record() {
                Ok(true) => {}
                Ok(false) => {
                    self.ended = true;
                    self.records.end(&mut self.output);
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl<R: Read, S: RecordReader> Transcript for TranscriptReader<R, S> {
    fn output(&self) -> &Output {
        &self.output
    }

    fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }

    fn consumed(&self) -> Position {
        self.lines.position()
    }

    fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError> {
        self.lines.end_at(position.offset);
        while self.read_record()? {
            self.output.entries.clear();
        }
        // The earlier reader ended here.
        self.records.end(&mut self.output);
        self.output.entries.clear();
        let same = self.lines.position() == *position;
        self.lines.end_at(u64::MAX);
        self.output.tally = Tally::default();
        self.ended = !same;
        Ok(same)
    }

    fn saved_state(&self) -> Option<Vec<u8>> {
        let (position, line, records) = (self.lines.position(), self.lines.number(), &self.records);
        let Output { session_id, replays_compactions, awaits_usage, .. } = &self.output;
        let (session_id, replays_compactions, awaits_usage) = (session_id.clone(), *replays_compactions, *awaits_usage);
        serde_json::to_vec(&SavedState { position, line, session_id, replays_compactions, awaits_usage, records }).ok()
    }
}

/// The number of bytes before the record: white space and, at the start of a file, a byte order mark.
fn start_of_record(bytes: &[u8], first: bool) -> usize {
    let mark = if first && bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    mark + bytes[mark..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count()
}

fn parse<S: RecordReader>(bytes: &[u8]) -> Option<(S::Record<'_>, usize)> {
    let mut objects = serde_json::Deserializer::from_slice(bytes).into_iter();
    let record = objects.next()?.ok()?;
    Some((record, objects.byte_offset()))
}

/// Whether the bytes are the start of an object.
fn is_incomplete(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

/// The position after damage from which complete records fill the line to its end.
///
/// A process that dies while writing leaves an incomplete record without a line break, and the first record of the next
/// process follows on the same line.
fn salvage<S: RecordReader>(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes.len() > MAX_SALVAGE {
        return None;
    }
    let tail = bytes.get(from..)?;
    memchr::memmem::find_iter(tail, b"{\"").take(SALVAGE_TRIES).map(|at| from + at).find(|&at| {
        let mut left = &bytes[at..];
        while !left.trim_ascii_start().is_empty() {
            match parse::<S>(left) {
                Some((record, length)) if S::is_record(&record) => left = &left[length..],
                _ => return false,
            }
        }
        true
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/reader.rs"]
mod tests;
