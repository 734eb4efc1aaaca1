//! A segment: entries with their words, in a file that never changes.
//!
//! ```text
//! magic, number of entries, number of terms, length of the postings          8 bytes each
//! digest, time, source, length in words, start and length of the record      48 bytes per entry
//! term, start of its postings                                                16 bytes per term, sorted; and the end
//! postings of a term: entry as a difference, occurrences, words of the entry
//! records of the entries
//! ```
//!
//! - A query reads the postings of its words, and the rows and records of its hits. Everything else stays on disk.
//! - A term is the FNV-1a hash of a field and a stem: terms of one length are found by binary search.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::codec::{Cursor, put_number, put_word};

const MAGIC: u64 = u64::from_be_bytes(*b"gtrecal1");
const HEAD: u64 = 32;
const ROW_LEN: usize = 48;
const ROW: u64 = ROW_LEN as u64;
const TERM: u64 = 16;

/// How many rows are read at once. Larger blocks cost page faults.
const BLOCK: u32 = 1024;

pub(super) type Term = u64;

/// The term of a stem in a field; that of the text has no name.
pub(super) fn term(field: &str, stem: &str) -> Term {
    let bytes = field.bytes().chain([b':']).chain(stem.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub digest: u64,
    /// In seconds since 1970; the smallest number if it is unknown.
    pub time: i64,
    pub source: u64,
    /// In words.
    pub length: u64,
    start: u64,
    len: u64,
}

/// An occurrence of a term: the entry, how often the term is in it, and how long it is.
pub(super) type Posting = (u32, u32, u32);

impl Row {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let mut next = || cursor.word();
        let (digest, time, source, length) = (next()?, next()?.cast_signed(), next()?, next()?);
        Some(Self { digest, time, source, length, start: next()?, len: next()? })
    }
}

enum Bytes {
    File(File, u64),
    Memory(Vec<u8>),
}

/// Fails only if the bytes are damaged or cannot be read.
pub(super) struct Segment {
    bytes: Bytes,
    pub docs: u32,
    terms: u64,
    postings: u64,
}

impl Segment {
    pub(super) fn open(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Self::of(Bytes::File(file, len))
    }

    pub(super) fn in_memory(bytes: Vec<u8>) -> io::Result<Self> {
        Self::of(Bytes::Memory(bytes))
    }

    fn of(bytes: Bytes) -> io::Result<Self> {
        let mut segment = Self { bytes, docs: 0, terms: 0, postings: 0 };
        let head = segment.read(0, HEAD)?;
        let mut head = Cursor(&head);
        let mut word = || head.word().ok_or_else(damaged);
        if word()? != MAGIC {
            return Err(damaged());
        }
        segment.docs = word()?.try_into().map_err(|_| damaged())?;
        (segment.terms, segment.postings) = (word()?, word()?);
        let end = segment.terms_at().saturating_add(segment.terms.saturating_mul(TERM));
        let end = segment.read(end, TERM)?;
        let mut end = Cursor(&end);
        let is_complete = (end.word(), end.word()) == (Some(u64::MAX), Some(segment.postings));
        if is_complete { Ok(segment) } else { Err(damaged()) }
    }

    fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::File(_, len) => *len,
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let end = at.checked_add(len).filter(|end| *end <= self.len()).ok_or_else(damaged)?;
        let size = usize::try_from(len).map_err(|_| damaged())?;
        match &self.bytes {
            Bytes::File(file, _) => {
                let (mut file, mut bytes) = (file, Vec::with_capacity(size));
                file.seek(SeekFrom::Start(at))?;
                file.take(len).read_to_end(&mut bytes)?;
                if bytes.len() == size { Ok(bytes) } else { Err(damaged()) }
            }
            Bytes::Memory(bytes) => {
                let [at, end] = [at, end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                bytes.get(at..end).map(<[u8]>::to_vec).ok_or_else(damaged)
            }
        }
    }

    fn terms_at(&self) -> u64 {
        HEAD + u64::from(self.docs) * ROW
    }

    fn postings_at(&self) -> u64 {
        self.terms_at().saturating_add(self.terms.saturating_add(1).saturating_mul(TERM))
    }

    /// The rows of some entries that follow each other.
    pub(super) fn rows(&self, from: u32, count: u32) -> io::Result<Vec<Row>> {
        self.rows_bytes(from, count)?.chunks(ROW_LEN).map(|row| Row::parse(row).ok_or_else(damaged)).collect()
    }

    fn rows_bytes(&self, from: u32, count: u32) -> io::Result<Vec<u8>> {
        self.read(HEAD + u64::from(from) * ROW, u64::from(count) * ROW)
    }

    /// The rows of these entries, which are sorted.
    pub(super) fn rows_of(&self, docs: &[u32]) -> io::Result<Vec<Row>> {
        let mut rows = Vec::with_capacity(docs.len());
        for near in docs.chunk_by(|one, other| one / BLOCK == other / BLOCK) {
            // A block of rows is read as fast as a few single ones.
            let whole = near.len() > 8;
            let from = near[0] / BLOCK * BLOCK;
            let block =
                if whole { self.rows_bytes(from, BLOCK.min(self.docs.saturating_sub(from)))? } else { Vec::new() };
            for doc in near {
                let row = if whole {
                    let at = (doc - from) as usize * ROW_LEN;
                    block.get(at..at + ROW_LEN).and_then(Row::parse)
                } else {
                    Row::parse(&self.rows_bytes(*doc, 1)?)
                };
                rows.push(row.ok_or_else(damaged)?);
            }
        }
        Ok(rows)
    }

    pub(super) fn record(&self, row: &Row) -> io::Result<Vec<u8>> {
        let start = self.postings_at().saturating_add(self.postings).saturating_add(row.start);
        self.read(start, row.len)
    }

    /// Passes on the entries with a term, in their order.
    pub(super) fn postings(&self, term: Term, take: &mut dyn FnMut(Posting)) -> io::Result<()> {
        let (mut low, mut high) = (0, self.terms);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle)?.0 < term { low = middle + 1 } else { high = middle }
        }
        match self.term(low)? {
            (found, start) if low < self.terms && found == term => self.decode(start, self.term(low + 1)?.1, take),
            _ => Ok(()),
        }
    }

    fn term(&self, number: u64) -> io::Result<(Term, u64)> {
        let bytes = self.read(self.terms_at() + number * TERM, TERM)?;
        let mut cursor = Cursor(&bytes);
        cursor.word().zip(cursor.word()).ok_or_else(damaged)
    }

    fn decode(&self, start: u64, end: u64, take: &mut dyn FnMut(Posting)) -> io::Result<()> {
        let len = end.checked_sub(start).ok_or_else(damaged)?;
        let bytes = self.read(self.postings_at().saturating_add(start), len)?;
        let (mut cursor, mut next) = (Cursor(&bytes), 0u32);
        while !cursor.0.is_empty() {
            let mut read = || Some((next.checked_add(cursor.small()?)?, cursor.small()?, cursor.small()?));
            let posting = read().filter(|(doc, ..)| *doc < self.docs).ok_or_else(damaged)?;
            next = posting.0 + 1;
            take(posting);
        }
        Ok(())
    }
}

fn damaged() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// The entries of a new segment.
#[derive(Default)]
pub(super) struct Builder {
    rows: Vec<Row>,
    records: Vec<u8>,
    postings: HashMap<Term, Vec<Posting>>,
}

impl Builder {
    pub(super) fn docs(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds an entry with its terms and how often each occurs.
    pub(super) fn add(
        &mut self,
        digest: u64,
        time: i64,
        source: u64,
        record: &[u8],
        terms: &HashMap<Term, u32>,
        length: u32,
    ) {
        let doc = self.docs();
        self.add_row(Row { digest, time, source, length: length.into(), start: 0, len: 0 }, record);
        for (term, count) in terms {
            self.postings.entry(*term).or_default().push((doc, *count, length));
        }
    }

    fn add_row(&mut self, row: Row, record: &[u8]) {
        self.rows.push(Row { start: self.records.len() as u64, len: record.len() as u64, ..row });
        self.records.extend_from_slice(record);
    }

    /// Adds the entries of another segment that are live.
    pub(super) fn absorb(&mut self, segment: &Segment, live: &[bool]) -> io::Result<()> {
        // Its terms are read one by one, which costs more than all bytes at once.
        let segment = &Segment::in_memory(segment.read(0, segment.len())?)?;
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for (row, live) in segment.rows(0, segment.docs)?.iter().zip(live) {
            numbers.push(live.then_some(self.docs()));
            if *live {
                self.add_row(*row, &segment.record(row)?);
            }
        }
        for number in 0..segment.terms {
            let ((term, start), (_, end)) = (segment.term(number)?, segment.term(number + 1)?);
            let known = self.postings.entry(term).or_default();
            segment.decode(start, end, &mut |(doc, count, length)| {
                let kept = numbers.get(doc as usize).copied().flatten();
                known.extend(kept.map(|doc| (doc, count, length)));
            })?;
        }
        Ok(())
    }

    /// The bytes of the segment.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut terms: Vec<_> = self.postings.into_iter().filter(|(_, postings)| !postings.is_empty()).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        let (mut starts, mut postings) = (Vec::new(), Vec::new());
        for (term, found) in &terms {
            put_word(&mut starts, *term);
            put_word(&mut starts, postings.len() as u64);
            let mut next = 0;
            for (doc, count, length) in found {
                put_number(&mut postings, doc.saturating_sub(next).into());
                put_number(&mut postings, (*count).into());
                put_number(&mut postings, (*length).into());
                next = doc + 1;
            }
        }
        put_word(&mut starts, u64::MAX);
        put_word(&mut starts, postings.len() as u64);
        let mut bytes = Vec::new();
        for word in [MAGIC, self.rows.len() as u64, terms.len() as u64, postings.len() as u64] {
            put_word(&mut bytes, word);
        }
        for Row { digest, time, source, length, start, len } in self.rows {
            for word in [digest, time.cast_unsigned(), source, length, start, len] {
                put_word(&mut bytes, word);
            }
        }
        bytes.extend_from_slice(&starts);
        bytes.extend_from_slice(&postings);
        bytes.extend_from_slice(&self.records);
        bytes
    }
}
