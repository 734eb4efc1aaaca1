//! Item ids: 16 lower-case hex digits that name an item permanently.
//!
//! An id survives edit, merge, cherry-pick, rebase, and compress; all references to content use it. Ids are derived, not
//! random, so that importing the same transcript in two clones gives the same items.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::source::Source;
use crate::base::time::Time;

/// A permanent name of an item: eight bytes, written as 16 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ItemId(u64);

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid item id `{0}`: expected 16 hex digits")]
pub struct BadItemId(String);

impl ItemId {
    /// Derives the id of an item that a person or program commits.
    ///
    /// `parent` is the commit below it (none for the first), `text` the item file without its id, `author` the author as
    /// `Name <email>`. The parent and the times distinguish equal texts: `at` is that of the commit, which may be the same in two
    /// traces, one nanosecond after a parent from the future, and `now` the one that the author asked for.
    pub(crate) fn derive(parent: Option<&[u8]>, text: &[u8], author: &str, at: Time, now: Time) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        };
        for part in [parent.unwrap_or_default(), text, author.as_bytes(), &at.as_nanosecond().to_be_bytes()] {
            add(part);
        }
        if now != at {
            add(&now.as_nanosecond().to_be_bytes());
        }
        Self::from_hash(&hasher.finalize())
    }

    /// Derives the id of an imported item from its source alone.
    pub(crate) fn of_source(source: &Source) -> Self {
        Self::from_hash(&blake3::hash(source.to_string().as_bytes()))
    }

    fn from_hash(hash: &blake3::Hash) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_bytes()[..8]);
        Self(u64::from_be_bytes(first))
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }

    pub(crate) fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// The two parts of the id's path in the record of priorities: two digits and fourteen.
    pub(crate) fn fan_out(self) -> (String, String) {
        let mut head = self.to_string();
        let tail = head.split_off(2);
        (head, tail)
    }

    pub(crate) fn has_prefix(self, prefix: &str) -> bool {
        self.to_string().starts_with(prefix)
    }

    /// The first eight digits, for short lines.
    pub(crate) fn short(self) -> String {
        format!("{:08x}", self.0 >> 32)
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemId({self})")
    }
}

impl From<ItemId> for String {
    fn from(id: ItemId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for ItemId {
    type Error = BadItemId;

    fn try_from(text: String) -> Result<Self, BadItemId> {
        text.parse()
    }
}

impl FromStr for ItemId {
    type Err = BadItemId;

    fn from_str(text: &str) -> Result<Self, BadItemId> {
        // Listing a trace parses one id per item. This is faster than the general parser of the standard library.
        let value = text.bytes().try_fold(0, |value: u64, byte| match byte {
            b'0'..=b'9' => Some(value << 4 | u64::from(byte - b'0')),
            b'a'..=b'f' => Some(value << 4 | u64::from(byte - b'a' + 10)),
            _ => None,
        });
        match value {
            Some(value) if text.len() == 16 => Ok(Self(value)),
            _ => Err(BadItemId(text.to_owned())),
        }
    }
}
