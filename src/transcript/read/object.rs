//! The members of an object, undecoded, for records in which any of many members may matter.
//!
//! As lenient as a [view](super::json): of repeated members the last counts, and `null` means absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{self, Text};
use crate::base::time::Time;

/// More members are skipped. Real records have at most a few dozen, but an object may have a member for each message.
const MAX_MEMBERS: usize = 100_000;

#[derive(Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Text(name)) = map.next_key()? {
                    if members.len() < MAX_MEMBERS {
                        members.push((name, map.next_value()?));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl<'a> Object<'a> {
    /// An object; of any other value, one without members.
    pub(crate) fn of(value: &'a RawValue) -> Self {
        json::view_of(value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// The names and values of all members; of repeated ones, all.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// Whether there is a member, which may be `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(own, _)| own == name).and_then(|(_, value)| json::present(value))
    }

    /// The first of these members that is present.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&'a RawValue> {
        names.iter().find_map(|name| self.get(name))
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(json::text)
    }

    /// The first of these members that is a text.
    pub(crate) fn any_text(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.text(name))
    }

    /// A member that is an object, or one without members.
    pub(crate) fn object(&self, name: &str) -> Self {
        self.get(name).map(Self::of).unwrap_or_default()
    }

    /// The elements of a member that is a list.
    pub(crate) fn list(&self, name: &str) -> Vec<&'a RawValue> {
        self.get(name).and_then(json::list).unwrap_or_default()
    }

    /// A member that is a number of tokens, or 0.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.get(name).and_then(|value| value.get().parse().ok()).unwrap_or_default()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        json::is_true(self.get(name))
    }

    pub(crate) fn time(&self, name: &str) -> Option<Time> {
        self.get(name).and_then(time)
    }
}

/// A time: text, or a number of seconds, milliseconds, microseconds, or nanoseconds since 1970, told apart by its size.
pub(crate) fn time(value: &RawValue) -> Option<Time> {
    let text = json::text(value);
    let text = match &text {
        Some(text) => match text.parse() {
            Ok(time) => return Some(time),
            Err(_) => text,
        },
        None => value.get(),
    };
    // The fraction of a second is not worth a floating-point number.
    let number: i128 = text.split('.').next()?.parse().ok().filter(|number| *number > 0)?;
    let digits = number.checked_ilog10()?;
    let scale = match digits {
        0..11 => 1_000_000_000,
        11..14 => 1_000_000,
        14..17 => 1_000,
        _ => 1,
    };
    Time::from_nanosecond(number.checked_mul(scale)?).filter(|time| time.is_plausible())
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/object.rs"]
mod tests;
