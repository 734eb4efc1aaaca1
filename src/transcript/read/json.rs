//! Views of JSON objects: the members that matter, undecoded; everything else is skipped without decoding.
//!
//! Lenient on purpose: of repeated members the last counts, `null` means absent, and a member of an unexpected type affects
//! nothing but itself.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use super::header;
use super::object::Object;

/// Declares a view: a struct with one undecoded member per field. A field has the member's name unless another is given.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident { $($field:ident $(= $key:literal)?),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<&'a serde_json::value::RawValue>),+
        }

        impl<'de> serde::de::Deserialize<'de> for $name<'de> {
            fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut view = $name::default();
                        while let Some(key) = map.next_key::<$crate::transcript::read::json::Text<'de>>()? {
                            // The given name, or else that of the field.
                            $(if key.0 == [$($key,)? stringify!($field)][0] {
                                view.$field = $crate::transcript::read::json::present(map.next_value()?);
                                continue;
                            })+
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                        Ok(view)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };
}
pub(crate) use view;

pub(crate) fn present(value: &RawValue) -> Option<&RawValue> {
    (value.get() != "null").then_some(value)
}

/// The members in which formats keep what a user, an assistant, or a tool said.
const CONTENT: [&str; 14] = [
    "message",
    "content",
    "text",
    "parts",
    "output",
    "result",
    "arguments",
    "payload",
    "data",
    "part",
    "value",
    "toolCallResult",
    "functionResponse",
    "resultDisplay",
];

/// Deeper values are not searched for content. No known format has such.
const MAX_DEPTH: usize = 64;

/// Whether a record contains a message, a text, or a tool's output.
pub(crate) fn has_content(record: &[u8]) -> bool {
    fn is_filled(value: &RawValue, depth: usize) -> bool {
        if let Some(text) = text(value) {
            return !text.trim().is_empty();
        }
        if depth == MAX_DEPTH {
            return value.get().starts_with(['[', '{']);
        }
        if let Some(values) = list(value) {
            return values.iter().any(|value| is_filled(value, depth + 1));
        }
        let members = Object::of(value);
        CONTENT.iter().any(|name| members.get(name).is_some_and(|value| is_filled(value, depth + 1)))
    }
    serde_json::from_slice(record).is_ok_and(|record| is_filled(record, 0))
}

/// A value in which each half of a surrogate pair is U+FFFD. `serde_json` rejects halves.
pub(crate) fn value<V: DeserializeOwned>(json: &[u8]) -> Result<V, serde_json::Error> {
    serde_json::from_slice(json).or_else(|error| match replace_halves(json) {
        Some(json) => serde_json::from_slice(&json),
        None => Err(error),
    })
}

/// JSON with `\ufffd` in place of each escaped half of a surrogate pair; `None` if there is none.
fn replace_halves(json: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut replaced, mut at, mut is_changed) = (Vec::with_capacity(json.len()), 0, false);
    while at < json.len() {
        let length = match (json[at], unit(at)) {
            (b'\\', Some(0xd800..0xdc00)) if unit(at + 6).is_some_and(|low| (0xdc00..0xe000).contains(&low)) => 12,
            (b'\\', Some(0xd800..0xe000)) => {
                replaced.extend_from_slice(b"\\ufffd");
                is_changed = true;
                at += 6;
                continue;
            }
            (b'\\', _) => 2,
            _ => 1,
        };
        let end = json.len().min(at + length);
        replaced.extend_from_slice(&json[at..end]);
        at = end;
    }
    is_changed.then_some(replaced)
}

pub(crate) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|text| text.0)
}

pub(crate) fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    value.get().starts_with('[').then(|| serde_json::from_str(value.get()).ok()).flatten()
}

/// A view of an object; of any other value, a view without members.
pub(crate) fn view_of<'a, V: Deserialize<'a> + Default>(value: &'a RawValue) -> V {
    serde_json::from_str(value.get()).unwrap_or_default()
}

pub(crate) fn json_or(value: Option<&RawValue>, default: &str) -> Vec<u8> {
    value.map_or(default, RawValue::get).as_bytes().to_vec()
}

pub(crate) fn member_text(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    value.and_then(text).filter(|text| !text.is_empty())
}

/// The text of a string as one line, see [`header::one_line`].
pub(crate) fn line(value: Option<&RawValue>, max: usize) -> Option<String> {
    header::one_line(&text(value?)?, max)
}

pub(crate) fn is_true(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// A JSON string in which each half of a surrogate pair, left by JavaScript when it truncates text, becomes U+FFFD.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                match std::str::from_utf8(bytes) {
                    Ok(text) => Ok(Text(Cow::Borrowed(text))),
                    Err(_) => self.visit_bytes(bytes),
                }
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(replace_surrogates(bytes.to_vec()))))
            }
        }

        // As bytes: only then does serde_json accept half a surrogate pair instead of rejecting the record.
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The bytes as text, with each encoded surrogate (`ED A0..BF xx`, which UTF-8 excludes) replaced by U+FFFD.
fn replace_surrogates(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut bytes = error.into_bytes();
        for at in 0..bytes.len().saturating_sub(2) {
            if bytes[at] == 0xed && bytes[at + 1] >= 0xa0 {
                bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/json.rs"]
mod tests;
