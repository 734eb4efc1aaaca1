//! Splits one JSON document into lines: each element of a member list, and each other member, becomes an object with one
//! member.
//!
//! ```text
//! {"sessionId":"f763…","messages":[{"id":"a"},{"id":"b"}]}
//! ```
//!
//! becomes
//!
//! ```text
//! {"sessionId":"f763…"}
//! {"messages":{"id":"a"}}
//! {"messages":{"id":"b"}}
//! ```
//!
//! So a document of any length is read by the reader of lines, with memory for its longest element. If the document is a list, its
//! elements become the lines.

use std::io::{self, Read};

const CHUNK: usize = 64 * 1024;

/// `Outside` is after the document, or in something that is not a document: bytes pass unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Members,
    Name { escaped: bool },
    Colon,
    Value,
    Inside { depth: usize },
    Text { depth: usize, escaped: bool },
    Elements,
    Outside,
}

pub(crate) struct DocumentLines<R> {
    reader: R,
    state: State,
    name: Vec<u8>,
    in_list: bool,
    input: Box<[u8]>,
    output: Vec<u8>,
    given: usize,
}

impl<R: Read> DocumentLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            state: State::Start,
            name: Vec::new(),
            in_list: false,
            input: vec![0; CHUNK].into_boxed_slice(),
            output: Vec::new(),
            given: 0,
        }
    }
}

impl<R: Read> Read for DocumentLines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            self.output.clear();
            self.given = 0;
            let length = match self.reader.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            if length == 0 {
                return Ok(0);
            }
            let input = std::mem::take(&mut self.input);
            for byte in &input[..length] {
                self.state = self.step(*byte);
            }
            self.input = input;
        }
        let length = into.len().min(self.output.len() - self.given);
        into[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

impl<R> DocumentLines<R> {
    fn step(&mut self, byte: u8) -> State {
        let blank = byte.is_ascii_whitespace();
        match self.state {
            State::Start if blank || matches!(byte, 0xef | 0xbb | 0xbf) => State::Start,
            State::Start if byte == b'{' => State::Members,
            State::Members if blank || byte == b',' => State::Members,
            State::Members if byte == b'"' => {
                self.name.clear();
                self.name.push(byte);
                State::Name { escaped: false }
            }
            State::Members if byte == b'}' => State::Outside,
            State::Name { escaped } => {
                self.name.push(byte);
                match byte {
                    b'"' if !escaped => State::Colon,
                    _ => State::Name { escaped: byte == b'\\' && !escaped },
                }
            }
            State::Colon if blank => State::Colon,
            State::Colon if byte == b':' => State::Value,
            State::Value if blank => State::Value,
            State::Start | State::Value if byte == b'[' => State::Elements,
            State::Value => self.begin(byte, false),
            State::Elements if blank || byte == b',' => State::Elements,
            State::Elements if byte == b']' => State::Members,
            State::Elements => self.begin(byte, true),
            State::Text { depth, escaped } => {
                self.output.push(byte);
                match byte {
                    b'"' if !escaped => State::Inside { depth },
                    _ => State::Text { depth, escaped: byte == b'\\' && !escaped },
                }
            }
            State::Inside { depth } => self.inside(depth, byte),
            State::Outside | State::Start | State::Members | State::Colon => {
                self.output.push(byte);
                State::Outside
            }
        }
    }

    /// Starts the line of a value or an element.
    fn begin(&mut self, byte: u8, in_list: bool) -> State {
        self.in_list = in_list;
        if !self.name.is_empty() {
            self.output.push(b'{');
            self.output.extend_from_slice(&self.name);
            self.output.push(b':');
        }
        self.inside(0, byte)
    }

    /// Handles a byte of a value outside its strings. Line breaks have no meaning there, and would end the line.
    fn inside(&mut self, depth: usize, byte: u8) -> State {
        if depth == 0 && matches!(byte, b',' | b']' | b'}') {
            self.output.extend_from_slice(if self.name.is_empty() { b"\n" } else { b"}\n" });
            return match byte {
                b',' if self.in_list => State::Elements,
                b',' | b']' => State::Members,
                _ => State::Outside,
            };
        }
        if !matches!(byte, b'\n' | b'\r') {
            self.output.push(byte);
        }
        match byte {
            b'"' => State::Text { depth, escaped: false },
            b'{' | b'[' => State::Inside { depth: depth + 1 },
            b'}' | b']' => State::Inside { depth: depth - 1 },
            _ => State::Inside { depth },
        }
    }
}

/// Joins the lines of each value, so that values that are pretty-printed one after another are one line each.
pub(crate) struct JoinedLines<R> {
    reader: R,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl<R: Read> JoinedLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, depth: 0, in_text: false, escaped: false }
    }
}

impl<R: Read> Read for JoinedLines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(into)?;
        for byte in &mut into[..length] {
            if self.in_text {
                self.in_text = *byte != b'"' || self.escaped;
                self.escaped = *byte == b'\\' && !self.escaped;
                continue;
            }
            match *byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'\n' | b'\r' if self.depth > 0 => *byte = b' ',
                _ => {}
            }
        }
        Ok(length)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/document.rs"]
mod tests;
