//! Allowed secrets: a list of fingerprints.

use std::collections::HashSet;
use std::fmt;

use super::Secret;

/// 16 digits of a keyed hash of a secret. They do not reveal it unless it can be guessed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(String);

impl Fingerprint {
    pub(crate) fn of(secret: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("git-trace 2026 fingerprint of a secret");
        hasher.update(secret);
        let mut digits = hasher.finalize().to_hex().to_string();
        digits.truncate(16);
        Self(digits)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Allowed(HashSet<String>);

impl Allowed {
    /// A value may hold several fingerprints, separated by spaces or commas.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let words = |value: String| {
            let words = value.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty());
            words.map(str::to_ascii_lowercase).collect::<Vec<_>>()
        };
        Self(values.into_iter().flat_map(words).collect())
    }

    pub(crate) fn others(&self, text: &[u8], secrets: Vec<Secret>) -> Vec<Secret> {
        secrets.into_iter().filter(|secret| !self.0.contains(&secret.fingerprint(text).0)).collect()
    }
}
