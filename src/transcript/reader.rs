//! The reader of every format whose files are lines of JSON: from bytes to entries, through lines and records.

use std::collections::VecDeque;
use std::io::{self, Read, Seek};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lines::{Ending, Lines};
use super::rewind::Rewound;
use super::{Entry, Position, Tally, TranscriptError};

/// The longest line that is read, in bytes; one past it counts as damaged. The largest seen hold a few pasted images.
pub(crate) const MAX_LINE: usize = 256 * 1024 * 1024;

/// Lines longer than this are not searched for a record behind damage.
const MAX_SALVAGE: usize = 16 * 1024 * 1024;

/// How many places are tried in that search.
const SALVAGE_TRIES: usize = 64;

/// What became of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It gave at least one entry.
    Imported,
    /// It was there before.
    Repeated,
    /// It is of a kind, given here, that holds no content.
    Ignored(String),
    /// It is of a kind, given here, that is not known.
    Unknown(String),
}

/// What records mean, given those before: one implementation a format.
///
/// The value itself is what the records so far have taught; what is kept of it between two imports is its JSON.
pub(crate) trait Scribe: Default + Serialize + DeserializeOwned {
    /// The format's name, as sources and traces spell it.
    const FORMAT: &'static str;
    /// A record as a view of its bytes.
    type Record<'a>: Deserialize<'a> + Copy;

    /// Whether an object that was found behind damage is a record and not a part of one.
    fn is_record(record: &Self::Record<'_>) -> bool;

    /// The session that the record says it is of.
    fn session(&self, record: &Self::Record<'_>) -> Option<String>;

    /// Says whether bodies are wanted; what is learned is the same without.
    fn set_writing(&mut self, writes: bool);

    /// Turns a record, `bytes` in the file, into entries.
    fn take(
        &mut self,
        record: &Self::Record<'_>,
        bytes: &[u8],
        end_offset: u64,
        entries: &mut VecDeque<Entry>,
    ) -> Outcome;

    /// Says whether compactions are replayed; see [`Entry::replaces`]. To be called before the first record.
    fn set_as_seen(&mut self, _: bool) {}

    /// Takes what was left by rewinds since the last call, and what was taken up again.
    fn take_rewound(&mut self) -> Rewound {
        Rewound::default()
    }
}

/// What a reader knows at a position: enough to read on from there without what stands before.
#[derive(Serialize, Deserialize)]
struct Memory<S> {
    offset: u64,
    digest: String,
    line: u64,
    session: Option<String>,
    scribe: S,
}

/// A transcript as the import sees it, whatever its format.
pub(crate) trait Transcript: Iterator<Item = Result<Entry, TranscriptError>> {
    /// The format's name.
    fn format(&self) -> &'static str;
    /// Whether the file only grows, so that reading can go on from a position.
    fn is_appended(&self) -> bool;
    /// The session's id, see [`Reader::session_id`].
    fn session_id(&self) -> Option<&str>;
    /// What was met so far beside the entries.
    fn tally(&self) -> &Tally;
    /// How far whole records were consumed.
    fn position(&self) -> Position;
    /// See [`Reader::skip_to`].
    ///
    /// # Errors
    ///
    /// [`TranscriptError::Read`], as when reading.
    fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError>;
    /// What [`Reader::resume`] needs to go on from here.
    fn memory(&self) -> Option<Vec<u8>>;
    /// Says whether compactions are replayed; to be called before the first entry is taken.
    fn set_as_seen(&mut self, as_seen: bool);
    /// Takes what was left by rewinds since the last call, and what was taken up again; of what was passed over as well.
    fn take_rewound(&mut self) -> Rewound;
}

/// Reads a transcript as a stream of entries, in the order of the file.
///
/// Memory is bounded by the longest line ([`MAX_LINE`] at most) and by a few words for each record: the calls that
/// results may answer, the chains of sub-agents, and what was said under which uuid.
pub(crate) struct Reader<R, S> {
    lines: Lines<R>,
    scribe: S,
    entries: VecDeque<Entry>,
    tally: Tally,
    session_id: Option<String>,
    damaged_line: u64,
    ended: bool,
    of_document: bool,
}

impl<R: Read, S: Scribe> Reader<R, S> {
    /// Starts at the first byte of a transcript. The reader need not be buffered.
    pub(crate) fn new(reader: R) -> Self {
        Self::with_max_line(reader, MAX_LINE)
    }

    /// Starts at the first of the lines that were made of one whole document, which is written anew each time.
    pub(crate) fn of_document(reader: R) -> Self {
        Self { of_document: true, ..Self::new(reader) }
    }

    fn with_max_line(reader: R, max_line: usize) -> Self {
        Self {
            lines: Lines::new(reader, max_line),
            scribe: S::default(),
            entries: VecDeque::new(),
            tally: Tally::default(),
            session_id: None,
            damaged_line: 0,
            ended: false,
            of_document: false,
        }
    }

    /// Goes on from `position` with what `memory` tells of the records before it; `None` where the memory is of another
    /// position or the file has other bytes there. Of the file before, only a stretch is read.
    ///
    /// # Errors
    ///
    /// Whatever reading meets.
    pub(crate) fn resume(mut reader: R, position: &Position, memory: &[u8]) -> io::Result<Option<Self>>
    where
        R: Seek,
    {
        let Ok(memory) = serde_json::from_slice::<Memory<S>>(memory) else { return Ok(None) };
        if memory.offset != position.offset || memory.digest != position.digest {
            return Ok(None);
        }
        let Some(stretch) = position.find(&mut reader)? else { return Ok(None) };
        let mut scribe = memory.scribe;
        scribe.set_writing(true);
        Ok(Some(Self {
            lines: Lines::resume(reader, MAX_LINE, stretch, memory.offset, memory.line),
            scribe,
            entries: VecDeque::new(),
            tally: Tally::default(),
            session_id: memory.session,
            damaged_line: 0,
            ended: false,
            of_document: false,
        }))
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
    pub(crate) fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError> {
        self.lines.end_at(position.offset);
        self.scribe.set_writing(false);
        while self.read_record()? {
            self.entries.clear();
        }
        let same = self.lines.position() == *position;
        self.lines.end_at(u64::MAX);
        self.scribe.set_writing(true);
        self.tally = Tally::default();
        self.ended = !same;
        Ok(same)
    }

    /// The session's id, once a record was read that tells it. A resumed session's file may hold records of others; the
    /// first counts.
    #[must_use]
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// What was met so far beside the entries.
    #[must_use]
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How far whole records were consumed; of use once the last entry was taken.
    #[must_use]
    pub(crate) fn position(&self) -> Position {
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
        if let Some((record, length)) = parse::<S>(&rest.bytes[start..]) {
            let end = start + length;
            if self.session_id.is_none() {
                self.session_id = self.scribe.session(&record).filter(|id| !id.is_empty());
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

        let salvaged = (ending == Ending::Newline).then(|| salvage::<S>(rest.bytes, start + 1)).flatten();
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

impl<R: Read, S: Scribe> Iterator for Reader<R, S> {
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

impl<R: Read, S: Scribe> Transcript for Reader<R, S> {
    fn format(&self) -> &'static str {
        S::FORMAT
    }

    fn is_appended(&self) -> bool {
        !self.of_document
    }

    fn session_id(&self) -> Option<&str> {
        Self::session_id(self)
    }

    fn tally(&self) -> &Tally {
        Self::tally(self)
    }

    fn position(&self) -> Position {
        Self::position(self)
    }

    fn skip_to(&mut self, position: &Position) -> Result<bool, TranscriptError> {
        Self::skip_to(self, position)
    }

    fn memory(&self) -> Option<Vec<u8>> {
        let Position { offset, digest } = self.lines.position();
        let session = self.session_id.clone();
        let memory = Memory { offset, digest, line: self.lines.number(), session, scribe: &self.scribe };
        serde_json::to_vec(&memory).ok()
    }

    fn set_as_seen(&mut self, as_seen: bool) {
        self.scribe.set_as_seen(as_seen);
    }

    fn take_rewound(&mut self) -> Rewound {
        self.scribe.take_rewound()
    }
}

/// How many bytes stand before the record: white space and, at the very start of a file, a byte order mark.
fn start_of_record(bytes: &[u8], first: bool) -> usize {
    let mark = if first && bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    mark + bytes[mark..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count()
}

/// The record that the bytes begin with, and its length.
fn parse<S: Scribe>(bytes: &[u8]) -> Option<(S::Record<'_>, usize)> {
    let mut objects = serde_json::Deserializer::from_slice(bytes).into_iter();
    let record = objects.next()?.ok()?;
    Some((record, objects.byte_offset()))
}

/// Where, behind damage, whole records fill the line to its end.
///
/// A process that dies while it writes leaves half a record without a line break, and the next one's first record follows
/// on the same line.
fn salvage<S: Scribe>(bytes: &[u8], from: usize) -> Option<usize> {
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
mod tests {
    use crate::transcript::claude_code;

    type Reader<R> = claude_code::Reader<R>;

    fn salvage(bytes: &[u8], from: usize) -> Option<usize> {
        super::salvage::<claude_code::Scribe>(bytes, from)
    }

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
