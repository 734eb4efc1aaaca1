//! Serializes numbers as base64: the state that a reader keeps between imports is mostly hashes, and a hook reads it completely.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Numbers of eight bytes, as one string.
#[derive(Default)]
pub(crate) struct Numbers(pub(crate) Vec<u64>);

/// A map whose keys are hashes, which are not hashed again.
pub(crate) type HashedMap<T> = HashMap<u64, T, BuildHasherDefault<KeyAsHash>>;

#[derive(Default)]
pub(crate) struct KeyAsHash(u64);

impl Hasher for KeyAsHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = vec![0; self.0.len() * 8];
        for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(&self.0) {
            *place = number.to_le_bytes();
        }
        serializer.serialize_str(&BASE64.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
        let (numbers, []) = bytes.as_chunks::<8>() else { return Err(incomplete()) };
        Ok(Self(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect()))
    }
}

/// The numbers of something end too early.
pub(crate) fn incomplete<E: de::Error>() -> E {
    E::custom("incomplete numbers")
}

/// For `#[serde(with = "packed")]` on a map of numbers.
pub(crate) fn serialize<S: Serializer>(map: &HashedMap<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut numbers = Vec::with_capacity(map.len() * 2);
    for (key, value) in map {
        numbers.extend([*key, *value]);
    }
    Numbers(numbers).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashedMap<u64>, D::Error> {
    let Numbers(numbers) = Numbers::deserialize(deserializer)?;
    let (pairs, []) = numbers.as_chunks::<2>() else { return Err(incomplete()) };
    Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
}
