//! Keys: which keys may be set, and which are secret.

use std::str::FromStr;

use thiserror::Error;

/// A key that may be set: 1 to 256 ASCII letters, digits, dots, and underscores.
///
/// Other programs may have written other keys. Those can be read, listed, deleted, and renamed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key(String);

const MAX_LEN: usize = 256;

impl Key {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub(crate) enum InvalidKey {
    #[error("a key cannot be empty")]
    Empty,
    #[error("key too long: {len} bytes, the limit is {MAX_LEN}")]
    TooLong { len: usize },
    #[error("invalid key `{key}`: {found:?} is not an ASCII letter, digit, dot, or underscore")]
    Character { key: String, found: char },
}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        if text.is_empty() {
            return Err(InvalidKey::Empty);
        }
        if text.len() > MAX_LEN {
            return Err(InvalidKey::TooLong { len: text.len() });
        }
        match text.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')) {
            Some(found) => Err(InvalidKey::Character { key: text.to_owned(), found }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

/// The part of a key before its first dot, or all of it.
pub(crate) fn namespace_of(key: &str) -> &str {
    key.split_once('.').map_or(key, |(namespace, _)| namespace)
}

pub(crate) fn is_secret(key: &str) -> bool {
    namespace_of(key).eq_ignore_ascii_case("secret")
}

pub(crate) fn is_conventional(key: &str) -> bool {
    !key.bytes().any(|b| b.is_ascii_uppercase()) && key.split('.').all(|segment| !segment.is_empty())
}
