//! Views of JSON objects: the members that matter, not yet decoded; the rest is skipped where it stands.
//!
//! Lenient on purpose: of a member that occurs twice the last counts, `null` is absence, and a member of an unexpected
//! type spoils nothing but itself.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// Declares a view: a struct whose fields are the undecoded members of these names.
macro_rules! view {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($field:ident: $key:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        $vis struct $name<'a> {
            $(pub(super) $field: Option<&'a serde_json::value::RawValue>),+
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
                        while let Some(key) = map.next_key::<$crate::transcript::raw::Text<'de>>()? {
                            match key.0.as_bytes() {
                                $($key => view.$field = $crate::transcript::raw::present(map.next_value()?),)+
                                _ => {
                                    map.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(view)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };
}
pub(super) use view;

/// `null` is absence.
pub(super) fn present(value: &RawValue) -> Option<&RawValue> {
    (value.get() != "null").then_some(value)
}

/// The text of a JSON string; `None` for any other value.
pub(super) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|text| text.0)
}

/// The elements of a JSON array; `None` for any other value.
pub(super) fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    value.get().starts_with('[').then(|| serde_json::from_str(value.get()).ok()).flatten()
}

/// Whether the value is `true`.
pub(super) fn is_true(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// A JSON string in which a half of a surrogate pair, which JavaScript leaves when it cuts a text, is U+FFFD.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

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
                Ok(Text(Cow::Owned(mend_surrogates(bytes.to_vec()))))
            }
        }

        // As bytes, since that is how serde_json hands out half a surrogate pair instead of refusing the whole record.
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The bytes as text, with each encoded surrogate (`ED A0..BF xx`, of which UTF-8 has none) replaced by U+FFFD.
fn mend_surrogates(bytes: Vec<u8>) -> String {
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
mod tests {
    use super::*;

    view! {
        /// For the tests.
        pub(super) Sample { kind: b"type", body: b"body" }
    }

    fn sample(json: &str) -> Sample<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_last_of_a_name_counts_and_types_do_not_matter() {
        let view = sample(r#"{"type":1,"b\u006fdy":{"a":[1, 2]},"other":[{}],"ty\ud800":0,"type":"x"}"#);
        assert_eq!(text(view.kind.unwrap()).unwrap(), "x");
        assert_eq!(view.body.unwrap().get(), r#"{"a":[1, 2]}"#);
        assert!(text(view.body.unwrap()).is_none());
        assert!(sample(r#"{"type":null}"#).kind.is_none());
        assert!(serde_json::from_str::<Sample<'_>>("[]").is_err());
    }

    #[test]
    fn half_a_surrogate_pair_costs_one_character() {
        let view = sample(r#"{"type":"a\ud83db\udc00","body":"\ud83d\ude00 ä\n"}"#);
        assert_eq!(text(view.kind.unwrap()).unwrap(), "a\u{fffd}b\u{fffd}");
        assert_eq!(text(view.body.unwrap()).unwrap(), "😀 ä\n");
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{{\"body\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(sample(&deep).body.unwrap().get().len(), 200_000);
    }
}
