//! Serializes numbers as base64: the state that a reader keeps between imports is mostly hashes, and a hook reads all of it.
//!
//! For `#[serde(with = "packed")]` on maps and sets of numbers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Deserializer, Serializer, de};

/// A collection that is a flat list of numbers.
pub(crate) trait Packed: Sized {
    fn to_numbers(&self) -> Vec<u64>;
    fn from_numbers(numbers: &[u64]) -> Self;
}

impl Packed for HashMap<u64, u64> {
    fn to_numbers(&self) -> Vec<u64> {
        self.iter().flat_map(|(key, value)| [*key, *value]).collect()
    }

    fn from_numbers(numbers: &[u64]) -> Self {
        numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

impl Packed for HashSet<u64> {
    fn to_numbers(&self) -> Vec<u64> {
        self.iter().copied().collect()
    }

    fn from_numbers(numbers: &[u64]) -> Self {
        numbers.iter().copied().collect()
    }
}

pub(crate) fn serialize<S: Serializer>(packed: &impl Packed, serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = packed.to_numbers().into_iter().flat_map(u64::to_le_bytes).collect();
    serializer.serialize_str(&BASE64.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, P: Packed>(deserializer: D) -> Result<P, D::Error> {
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
    let mut numbers = Vec::with_capacity(bytes.len() / 8);
    for number in bytes.chunks(8) {
        numbers.push(u64::from_le_bytes(number.try_into().map_err(de::Error::custom)?));
    }
    Ok(P::from_numbers(&numbers))
}
