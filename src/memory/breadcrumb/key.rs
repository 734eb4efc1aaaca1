//! Keys: what may be set, and which half of the store holds it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A key that may be set: letters, digits, dots and underscores of ASCII, 256 at most.
///
/// Files may hold other keys, written by other programs; they are read, listed, deleted and renamed all the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(String);

impl Key {
    /// Length of the longest key.
    pub const MAX_LEN: usize = 256;

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a key.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BadKey {
    /// No text at all.
    #[error("a key is empty")]
    Empty,
    /// More than [`Key::MAX_LEN`] bytes.
    #[error("a key of {len} bytes is too long: {} are allowed", Key::MAX_LEN)]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A character that keys do not have.
    #[error("`{key}` is not a key: {found:?} is not a letter, digit, dot or underscore of ASCII")]
    Character {
        /// The text as it was given.
        key: String,
        /// The first character that is not allowed.
        found: char,
    },
}

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        if text.is_empty() {
            return Err(BadKey::Empty);
        }
        if text.len() > Self::MAX_LEN {
            return Err(BadKey::TooLong { len: text.len() });
        }
        match text.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_')) {
            Some(found) => Err(BadKey::Character { key: text.to_owned(), found }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

/// The namespace of a key: what stands before its first dot, or all of it.
#[must_use]
pub(crate) fn namespace(key: &str) -> &str {
    key.split_once('.').map_or(key, |(namespace, _)| namespace)
}

/// Whether a key belongs into the half of the store that git ignores.
#[must_use]
pub(crate) fn is_secret(key: &str) -> bool {
    namespace(key).eq_ignore_ascii_case("secret")
}

/// Whether a key is written as custom has it: lower case, and something between any two dots.
#[must_use]
pub(crate) fn is_customary(key: &str) -> bool {
    !key.bytes().any(|b| b.is_ascii_uppercase()) && key.split('.').all(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ascii_letters_digits_dots_and_underscores() {
        for good in ["auth.method", "A", "_", "a..b", "1.2_3"] {
            assert_eq!(good.parse::<Key>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a-b", "a/b", "ключ", "a\n", "a\0", &"k".repeat(257)] {
            assert!(bad.parse::<Key>().is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_told_by_their_namespace() {
        assert!(["secret.token", "secret", "Secret.a", "SECRET.a"].into_iter().all(is_secret));
        assert!(!["secrets.token", "auth.secret", ""].into_iter().any(is_secret));
        assert!(is_customary("auth.token_expiry"));
        assert!(["Auth.method", "auth..method", ".auth", "auth."].into_iter().all(|key| !is_customary(key)));
    }
}
