//! Names of objects.

use std::fmt;

use git2::ObjectFormat;

/// The id of a git object, SHA-1 or SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub(super) git2::Oid);

impl Oid {
    /// Reads a complete oid in hex digits.
    pub(crate) fn parse(digits: &str, format: ObjectFormat) -> Option<Self> {
        // libgit2 also accepts fewer digits.
        let oid = git2::Oid::from_str_ext(digits, format).ok()?;
        (digits.len() == 2 * oid.as_bytes().len()).then_some(Self(oid))
    }

    /// From its bytes, 20 or 32.
    pub(super) fn from_raw(bytes: &[u8]) -> Option<Self> {
        git2::Oid::from_bytes(bytes).ok().map(Self)
    }

    /// Its bytes, 20 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first seven digits of an oid, which git shows at least.
pub(crate) fn short_oid(oid: Oid) -> String {
    let mut digits = oid.to_string();
    digits.truncate(7);
    digits
}
