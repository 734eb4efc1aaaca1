//! Where an imported item came from.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Names one block of one record of somebody else's file: `claude-code 6b2e…-uuid 0`.
///
/// The id of an imported item is derived from this alone, so a record is never imported twice, and two clones that import
/// the same transcript hold the same items.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Source {
    format: String,
    record: String,
    block: usize,
}

/// Why a text is not a source.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not a source: format, record id and block number with a space between are")]
pub struct BadSource {
    /// The text as it was given.
    pub text: String,
}

impl Source {
    /// Names block `block` (from 0) of the record that its format calls `record`.
    ///
    /// A record id that is not one plain word (a file may hold anything) is replaced by the hash of its bytes.
    #[must_use]
    pub fn new(format: &str, record: &str, block: usize) -> Self {
        let plain = (1..=128).contains(&record.len()) && record.bytes().all(|b| b.is_ascii_graphic());
        let record = if plain { record.to_owned() } else { Self::content_hash(record.as_bytes()) };
        Self { format: format.to_owned(), record, block }
    }

    /// Names block `block` of a record without an id of its own: by the hash of its bytes.
    #[must_use]
    pub fn of_content(format: &str, record: &[u8], block: usize) -> Self {
        Self { format: format.to_owned(), record: Self::content_hash(record), block }
    }

    fn content_hash(bytes: &[u8]) -> String {
        format!("blake3:{}", &blake3::hash(bytes).to_hex()[..32])
    }

    /// The format that was read, such as `claude-code`.
    #[must_use]
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The record's id in that format.
    #[must_use]
    pub fn record(&self) -> &str {
        &self.record
    }

    /// Which block of the record, from 0.
    #[must_use]
    pub fn block(&self) -> usize {
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
        let bad = || BadSource { text: text.to_owned() };
        let mut words = text.split(' ');
        let (Some(format), Some(record), Some(block), None) = (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad());
        };
        if format.is_empty() || record.is_empty() {
            return Err(bad());
        }
        Ok(Self { format: format.to_owned(), record: record.to_owned(), block: block.parse().map_err(|_| bad())? })
    }
}
