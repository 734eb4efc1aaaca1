//! Numbers as a text of base64: what a reader keeps between imports is mostly hashes, and a hook reads all of it each time.
//!
//! For `#[serde(with = "packed")]` on maps of numbers and on sets of them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Deserializer, Serializer, de};

/// What numbers in a row can stand for.
pub(super) trait Packed: Sized {
    fn to_row(&self) -> Vec<u64>;
    fn of_row(row: &[u64]) -> Self;
}

impl Packed for HashMap<u64, u64> {
    fn to_row(&self) -> Vec<u64> {
        self.iter().flat_map(|(key, value)| [*key, *value]).collect()
    }

    fn of_row(row: &[u64]) -> Self {
        row.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

impl Packed for HashSet<u64> {
    fn to_row(&self) -> Vec<u64> {
        self.iter().copied().collect()
    }

    fn of_row(row: &[u64]) -> Self {
        row.iter().copied().collect()
    }
}

pub(super) fn serialize<S: Serializer>(numbers: &impl Packed, serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = numbers.to_row().into_iter().flat_map(u64::to_le_bytes).collect();
    serializer.serialize_str(&BASE64.encode(bytes))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>, P: Packed>(deserializer: D) -> Result<P, D::Error> {
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
    let mut row = Vec::with_capacity(bytes.len() / 8);
    for number in bytes.chunks(8) {
        row.push(u64::from_le_bytes(number.try_into().map_err(de::Error::custom)?));
    }
    Ok(P::of_row(&row))
}
