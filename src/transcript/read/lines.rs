//! Splits a JSON Lines file into lines, and computes the digest of the last consumed bytes.
//!
//! A window slides over the file: [`Lines::rest`] returns the rest of the current line, and the caller consumes the part that
//! it understood. The result depends only on the bytes from the first unconsumed one on, so that reading from any
//! consumed position returns the same.

use std::io::{self, Read};

use crate::transcript::{DIGEST_WINDOW, Position, digest_of};

const CHUNK: usize = 64 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Newline,
    /// With the file: the line may still grow.
    EndOfFile,
    TooLong,
}

pub(super) struct Rest<'a> {
    /// The bytes up to the line break, which is excluded.
    pub(super) bytes: &'a [u8],
    /// The line's number, from 1.
    pub(super) number: u64,
    pub(super) ending: Ending,
}

pub(super) struct Lines<R> {
    reader: R,
    max_line: usize,
    /// Bytes of the file; those before `filled` were read.
    buffer: Vec<u8>,
    filled: usize,
    /// Where the unconsumed bytes start in the buffer. Up to [`DIGEST_WINDOW`] consumed bytes are kept before them.
    start: usize,
    /// There is no line break between `start` and this.
    searched: usize,
    base: u64,
    number: u64,
    limit: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R, max_line: usize) -> Self {
        Self {
            reader,
            max_line,
            buffer: Vec::new(),
            filled: 0,
            start: 0,
            searched: 0,
            base: 0,
            number: 1,
            limit: u64::MAX,
            ended: false,
        }
    }

    /// Continues after `window`, the bytes before `offset` that the digest covers, in line `number`.
    pub(super) fn resume(reader: R, max_line: usize, window: Vec<u8>, offset: u64, number: u64) -> Self {
        let start = window.len();
        let base = offset - start as u64;
        let lines = Self::new(reader, max_line);
        Self { filled: start, start, searched: start, buffer: window, base, number, ..lines }
    }

    /// Makes the file appear to end at `limit`; `u64::MAX` removes the limit.
    pub(super) fn end_at(&mut self, limit: u64) {
        self.limit = limit;
        self.ended = false;
    }

    /// The file offset of the unconsumed bytes.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn position(&self) -> Position {
        Position { offset: self.offset(), digest: digest_of(self.window()) }
    }

    fn window(&self) -> &[u8] {
        &self.buffer[self.start - self.start.min(DIGEST_WINDOW)..self.start]
    }

    /// The rest of the current line; `None` at the end of the file.
    pub(super) fn rest(&mut self) -> io::Result<Option<Rest<'_>>> {
        let (mut end, mut ending) = loop {
            if let Some(end) = self.find_newline() {
                break (end, Ending::Newline);
            }
            if self.filled - self.start > self.max_line || !self.fill()? {
                break (self.filled, Ending::EndOfFile);
            }
        };
        // The result must not depend on how much happened to be in the buffer.
        if end - self.start > self.max_line {
            (end, ending) = (self.start + self.max_line, Ending::TooLong);
        }
        if ending == Ending::EndOfFile && self.start == end {
            return Ok(None);
        }
        Ok(Some(Rest { bytes: &self.buffer[self.start..end], number: self.number, ending }))
    }

    fn find_newline(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..self.filled]).map(|at| self.searched + at);
        self.searched = found.unwrap_or(self.filled);
        found
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.start += length;
        self.searched = self.searched.max(self.start);
    }

    /// Consumes the rest and its line break, however long; if the file ends first, returns false and consumes nothing.
    pub(super) fn consume_line(&mut self) -> io::Result<bool> {
        let mut before = None;
        loop {
            if let Some(end) = self.find_newline() {
                self.consume(end + 1 - self.start);
                self.number += 1;
                return Ok(true);
            }
            if self.filled - self.start > self.max_line {
                // Too long to keep: from here on, remember only the last bytes, and the position to return to.
                before.get_or_insert_with(|| (self.offset(), self.window().to_vec()));
                self.consume(self.filled - self.start);
            }
            if !self.fill()? {
                if let Some((offset, window)) = before {
                    let start = window.len();
                    self.base = offset - start as u64;
                    self.buffer = window;
                    (self.start, self.searched, self.filled) = (start, start, start);
                }
                return Ok(false);
            }
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.buffer.len() - self.filled < CHUNK {
            self.make_room();
        }
        let left = self.limit.saturating_sub(self.base + self.filled as u64);
        let room = (self.buffer.len() - self.filled).min(usize::try_from(left).unwrap_or(usize::MAX));
        let length = loop {
            match self.reader.read(&mut self.buffer[self.filled..self.filled + room]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.filled += length;
        self.ended = length == 0;
        Ok(!self.ended)
    }

    /// Drops consumed bytes before the digest window, and grows the buffer if that is not enough.
    fn make_room(&mut self) {
        let gone = self.start - self.start.min(DIGEST_WINDOW);
        self.buffer.copy_within(gone..self.filled, 0);
        self.base += gone as u64;
        self.filled -= gone;
        self.searched -= gone;
        self.start -= gone;
        if self.buffer.len() - self.filled < CHUNK {
            self.buffer.resize((self.buffer.len() * 2).max(DIGEST_WINDOW + 4 * CHUNK), 0);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/lines.rs"]
mod tests;
