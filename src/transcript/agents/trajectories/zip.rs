//! The samples in a zip file of Inspect, each as a line.
//!
//! The archive is read from its start, without the directory at its end. So a log of an evaluation that still runs can be read.
//! A part that is compressed in an unknown way becomes a line that is no JSON.

use std::io::{self, BufRead as _, BufReader, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::transcript::read::reader::Certainty;

/// Signature, version, flags, method, time, date, checksum, two sizes, and two lengths.
const HEADER: usize = 30;

const SIGNATURE: &[u8] = b"PK\x03\x04";

/// The starts of the directory: of its entries, and of its two ends.
const ENDS: [&[u8]; 3] = [b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06"];

/// The part that begins each archive, and what begins the names of samples.
const START: &[u8] = b"_journal/start.json";
const SAMPLES: &[u8] = b"samples/";

const CHUNK: usize = 64 * 1024;

pub(super) struct ZippedSamples<'r> {
    archive: BufReader<Box<dyn Read + 'r>>,
    part: Option<Part>,
    output: Vec<u8>,
    given: usize,
}

/// The part that is read.
struct Part {
    left: u64,
    /// `None`: it is stored without compression.
    inflate: Option<Decompress>,
    /// What ends its line; `None` if it is skipped.
    end: Option<&'static [u8]>,
}

impl<'r> ZippedSamples<'r> {
    pub(super) fn new(archive: Box<dyn Read + 'r>) -> Self {
        Self { archive: BufReader::new(archive), part: None, output: Vec::new(), given: 0 }
    }

    /// How sure it is that a file that starts with these bytes is a log.
    pub(super) fn certainty(start: &[u8]) -> Certainty {
        let is_log = start.starts_with(SIGNATURE)
            && start.get(HEADER..).is_some_and(|name| name.starts_with(START))
            && matches!(start[8..10], [0 | 8, 0]);
        if is_log { Certainty::Sure } else { Certainty::No }
    }

    /// Starts the next part; false at the end.
    fn next_part(&mut self) -> io::Result<bool> {
        let mut header = Vec::new();
        (&mut self.archive).take(HEADER as u64).read_to_end(&mut header)?;
        if header.len() < HEADER || !header.starts_with(SIGNATURE) {
            // What follows the parts is the directory. Anything else is damaged, unless the archive is still written.
            let is_damaged = header.len() >= HEADER && !ENDS.iter().any(|end| header.starts_with(end));
            self.output.extend_from_slice(if is_damaged { b"?\n" } else { b"" });
            io::copy(&mut self.archive, &mut io::sink())?;
            return Ok(is_damaged);
        }
        let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (flags, method) = (number(6), number(8));
        let left = u64::from(number(18)) | u64::from(number(20)) << 16;
        let mut name = Vec::new();
        (&mut self.archive).take(number(26).into()).read_to_end(&mut name)?;
        io::copy(&mut (&mut self.archive).take(number(28).into()), &mut io::sink())?;
        let is_sample = name.starts_with(SAMPLES);
        let is_known = matches!(method, 0 | 8) && flags & 8 == 0 && left < u64::from(u32::MAX);
        let end: Option<&[u8]> = if !is_known {
            // Where the next part begins is unknown, too, if the length is.
            self.output.extend_from_slice(b"?\n");
            None
        } else if is_sample {
            self.output.extend_from_slice(b"{\"samples\":");
            Some(b"}\n")
        } else {
            (name == START).then_some(b"\n")
        };
        let inflate = (method == 8).then(|| Decompress::new(false));
        self.part = Some(Part { left, inflate, end });
        Ok(true)
    }

    /// Reads more of a part; false at its end.
    fn read_part(&mut self) -> io::Result<bool> {
        let Some(part) = &mut self.part else { return Ok(false) };
        let input = self.archive.fill_buf()?;
        let length = input.len().min(usize::try_from(part.left).unwrap_or(usize::MAX));
        let input = &input[..length];
        let start = self.output.len();
        let (used, is_done) = match (&mut part.inflate, part.end) {
            (Some(inflate), Some(_)) => {
                self.output.reserve(CHUNK);
                let before = inflate.total_in();
                match inflate.decompress_vec(input, &mut self.output, FlushDecompress::None) {
                    Ok(status) => {
                        let used = usize::try_from(inflate.total_in() - before).unwrap_or(length);
                        let is_stuck = used == 0 && self.output.len() == start;
                        (used, status == Status::StreamEnd || is_stuck)
                    }
                    Err(_) => (length, true),
                }
            }
            (None, Some(_)) => {
                self.output.extend_from_slice(input);
                (length, length == 0)
            }
            (_, None) => (length, length == 0),
        };
        // Line breaks have no meaning in a document.
        self.output[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        self.archive.consume(used);
        part.left -= used as u64;
        if is_done {
            let (left, end) = (part.left, part.end);
            let skipped = io::copy(&mut (&mut self.archive).take(left), &mut io::sink())?;
            if skipped == left {
                self.output.extend_from_slice(end.unwrap_or_default());
            }
            self.part = None;
        }
        Ok(!is_done)
    }
}

impl Read for ZippedSamples<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            self.output.clear();
            self.given = 0;
            if self.part.is_some() {
                self.read_part()?;
            } else if !self.next_part()? {
                return Ok(0);
            }
        }
        let length = into.len().min(self.output.len() - self.given);
        into[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}
