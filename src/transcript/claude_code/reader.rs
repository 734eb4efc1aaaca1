//! The reader: from bytes to entries, through lines and records.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::record::Record;
use super::scribe::{Outcome, Scribe};
use crate::transcript::lines::{Ending, Lines};
use crate::transcript::raw;
use crate::transcript::{Entry, Position, Tally, TranscriptError};

/// The longest line that is read, in bytes; one past it counts as damaged. The largest seen hold a few pasted images.
pub const MAX_LINE: usize = 256 * 1024 * 1024;

/// Lines longer than this are not searched for a record behind damage.
const MAX_SALVAGE: usize = 16 * 1024 * 1024;

/// How many places are tried in that search.
const SALVAGE_TRIES: usize = 64;

/// Reads a transcript as a stream of entries, in the order of the file.
///
/// Memory is bounded by the longest line ([`MAX_LINE`] at most) and by a few words for each record: the calls that
/// results may answer, the chains of sub-agents, and what was said under which uuid.
pub struct Reader<R> {
    lines: Lines<R>,
    scribe: Scribe,
    entries: VecDeque<Entry>,
    tally: Tally,
    session_id: Option<String>,
    damaged_line: u64,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Starts at the first byte of a transcript. The reader need not be buffered.
    pub fn new(reader: R) -> Self {
        Self::with_max_line(reader, MAX_LINE)
    }

    fn with_max_line(reader: R, max_line: usize) -> Self {
        Self {
            lines: Lines::new(reader, max_line),
            scribe: Scribe::default(),
            entries: VecDeque::new(),
            tally: Tally::default(),
            session_id: None,
            damaged_line: 0,
            ended: false,
        }
    }

    /// Passes over what an earlier reader consumed, learning from it what later records refer to; the entries from there
    /// on are the same as if all had been read.
    ///
    /// To be called before the first entry is taken. False if the file does not begin with these very bytes; then this
    /// reader is spent, and the file is to be read from its start with a new one. The tally counts from here on.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::Read`], as when reading.
    pub fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError> {
        self.lines.end_at(position.offset);
        self.scribe.writes = false;
        while self.read_record()? {
            self.entries.clear();
        }
        let same = self.lines.position() == *position;
        self.lines.end_at(u64::MAX);
        self.scribe.writes = true;
        self.tally = Tally::default();
        self.ended = !same;
        Ok(same)
    }

    /// The session's id, once a record was read that tells it. A resumed session's file may hold records of others; the
    /// first counts.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// What was met so far beside the entries.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How far whole records were consumed; of use once the last entry was taken.
    #[must_use]
    pub fn position(&self) -> Position {
        self.lines.position()
    }

    /// Reads the next record, or passes over something that is none; false at the end.
    fn read_record(&mut self) -> Result<bool, TranscriptError> {
        let offset = self.lines.offset();
        self.try_read_record().map_err(|source| TranscriptError::Read { offset, source })
    }

    fn try_read_record(&mut self) -> io::Result<bool> {
        let offset = self.lines.offset();
        let Some(rest) = self.lines.rest()? else { return Ok(false) };
        let (number, ending) = (rest.number, rest.ending);

        let start = start_of_record(rest.bytes, offset == 0);
        if start == rest.bytes.len() && ending != Ending::TooLong {
            // White space before the end may yet turn out to stand before half a record, which is not consumed.
            return Ok(ending == Ending::Newline && self.lines.consume_line()?);
        }
        if let Some((record, length)) = parse(&rest.bytes[start..]) {
            let end = start + length;
            if self.session_id.is_none() {
                self.session_id = record.session.and_then(raw::text).filter(|id| !id.is_empty()).map(Into::into);
            }
            let bytes = &rest.bytes[start..end];
            match self.scribe.take(&record, bytes, offset + end as u64, &mut self.entries) {
                Outcome::Imported => self.tally.imported += 1,
                Outcome::Repeated => self.tally.repeated += 1,
                Outcome::Ignored(kind) => self.tally.ignore(&kind),
                Outcome::Unknown(kind) => self.tally.not_known(&kind),
            }
            self.lines.consume(end);
            return Ok(true);
        }

        let salvaged = (ending == Ending::Newline).then(|| salvage(rest.bytes, start + 1)).flatten();
        match salvaged {
            Some(at) => self.lines.consume(at),
            None if ending == Ending::EndOfFile || !self.lines.consume_line()? => {
                self.tally.cut = true;
                return Ok(false);
            }
            None => {}
        }
        if self.damaged_line != number {
            self.damaged_line = number;
            self.tally.damage(number);
        }
        Ok(true)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Entry, TranscriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.pop_front() {
                return Some(Ok(entry));
            }
            if self.ended {
                return None;
            }
            match self.read_record() {
                Ok(more) => self.ended = !more,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// How many bytes stand before the record: white space and, at the very start of a file, a byte order mark.
fn start_of_record(bytes: &[u8], first: bool) -> usize {
    let mark = if first && bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    mark + bytes[mark..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count()
}

/// The record that the bytes begin with, and its length.
fn parse(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let mut objects = serde_json::Deserializer::from_slice(bytes).into_iter();
    let record = objects.next()?.ok()?;
    Some((record, objects.byte_offset()))
}

/// Where, behind damage, whole records fill the line to its end.
///
/// A process that dies while it writes leaves half a record without a line break, and the next one's first record follows
/// on the same line.
fn salvage(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes.len() > MAX_SALVAGE {
        return None;
    }
    let tail = bytes.get(from..)?;
    memchr::memmem::find_iter(tail, b"{\"").take(SALVAGE_TRIES).map(|at| from + at).find(|&at| {
        let mut left = &bytes[at..];
        while !left.trim_ascii_start().is_empty() {
            match parse(left) {
                Some((record, length)) if record.kind.and_then(raw::text).is_some() => left = &left[length..],
                _ => return false,
            }
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(reader: &mut Reader<&[u8]>) -> Vec<String> {
        reader.map(|entry| String::from_utf8(entry.unwrap().draft.body).unwrap()).collect()
    }

    fn record(text: &str) -> String {
        format!("{{\"type\":\"user\",\"uuid\":\"{}\",\"message\":\"{text}\"}}", text.len())
    }

    #[test]
    fn a_line_past_the_bound_is_damage_but_for_whole_records_before_it() {
        let file = format!("{}\n{}{}\n{}\n", record("a"), record("bb"), record(&"x".repeat(500)), record("ccc"));
        let mut whole = Reader::with_max_line(file.as_bytes(), 200);
        assert_eq!(said(&mut whole), ["a", "bb", "ccc"]);
        assert_eq!(whole.tally().damaged_lines, [2]);
        assert_eq!(whole.position().offset, file.len() as u64);
        for at in 0..file.len() {
            let mut part = Reader::with_max_line(&file.as_bytes()[..at], 200);
            let mut all = said(&mut part);
            let mut rest = Reader::with_max_line(file.as_bytes(), 200);
            assert!(rest.skip_to(&part.position()).unwrap());
            all.extend(said(&mut rest));
            assert_eq!(all, ["a", "bb", "ccc"], "cut at {at}");
        }
    }

    #[test]
    fn a_record_behind_half_a_one_is_found() {
        let line = format!("{{\"message\":{{\"a\":[{}{}", record("a"), record("bb"));
        assert_eq!(salvage(line.as_bytes(), 1), line.find("{\"type"));
        assert_eq!(salvage(b"{\"a\":{\"type\":\"x\"}", 1), Some(5));
        assert_eq!(salvage(b"{\"a\":{\"type\":\"x\"},", 1), None);
        assert_eq!(salvage(b"{\"a\":{\"kind\":\"x\"}", 1), None);
        assert_eq!(salvage(b"{", 1), None);
        assert_eq!(salvage(b"", 1), None);
    }
}
