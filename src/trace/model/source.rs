//! The source of an imported item.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A block of a record in a transcript: `claude-code 6b2e…-uuid 0`.
///
/// The id of an imported item is derived from it alone, so a record is never imported twice, and two clones that import the
/// same transcript contain the same items.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Source {
    format: String,
    record: String,
    block: usize,
}

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid source `{0}`: expected format, record id, and block number, separated by spaces")]
pub struct BadSource(String);

impl Source {
    /// Block `block` (from 0) of the record with the id `record`. An id that is not one plain word is replaced by its hash.
    pub(crate) fn new(format: &str, record: &str, block: usize) -> Self {
        let plain = (1..=128).contains(&record.len()) && record.bytes().all(|b| b.is_ascii_graphic());
        let record = if plain { record.to_owned() } else { Self::content_hash(record.as_bytes()) };
        Self { format: format.to_owned(), record, block }
    }

    /// Block `block` of a record without an id, named by the hash of its bytes.
    pub(crate) fn of_content(format: &str, record: &[u8], block: usize) -> Self {
        Self { format: format.to_owned(), record: Self::content_hash(record), block }
    }

    /// The same with the hash of the record's id in place of the id.
    pub(crate) fn without_record(&self) -> Self {
        Self { record: Self::content_hash(self.record.as_bytes()), ..self.clone() }
    }

    fn content_hash(bytes: &[u8]) -> String {
        format!("blake3:{}", &blake3::hash(bytes).to_hex()[..32])
    }

    /// The format that was read, such as `claude-code`.
    pub(crate) fn format(&self) -> &str {
        &self.format
    }

    pub(crate) fn record(&self) -> &str {
        &self.record
    }

    /// The number of the block in the record, from 0.
    pub(crate) fn block(&self) -> usize {
        self.block
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.format, self.record, self.block)
    }
}

impl FromStr for Source {
    type Err = BadSource;

    fn from_str(text: &str) -> Result<Self, BadSource> {
        let bad = || BadSource(text.to_owned());
        match text.split(' ').collect::<Vec<_>>().as_slice() {
            [format, record, block] if !format.is_empty() && !record.is_empty() => {
                let block = block.parse().map_err(|_| bad())?;
                Ok(Self { format: (*format).to_owned(), record: (*record).to_owned(), block })
            }
            _ => Err(bad()),
        }
    }
}
