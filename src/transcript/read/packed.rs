//! Serializes numbers as base64: the state that a reader keeps between imports is mostly hashes, and a hook reads all of it.
//!
//! For `#[serde(with = "packed")]` on maps of numbers.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Deserializer, Serializer, de};

pub(crate) fn serialize<S: Serializer>(map: &HashMap<u64, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let numbers = map.iter().flat_map(|(key, value)| [*key, *value]);
    serializer.serialize_str(&BASE64.encode(numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashMap<u64, u64>, D::Error> {
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
    let (pairs, []) = bytes.as_chunks::<16>() else { return Err(de::Error::custom("an incomplete pair")) };
    let number = |half: &[u8]| half.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    Ok(pairs.iter().map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect())
}
