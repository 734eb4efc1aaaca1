//! Records: what one line of a store says.
//!
//! Readers are lenient where nothing is lost by it: members may stand in any order, times may be missing or nonsense (they
//! then count as older than any), unknown members are kept as they are written. Key and value must be there.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::unreadable::{LineError, diagnose};
use crate::base::time::Time;

/// How deep a line may nest, its own braces counted: as deep as `serde_json` reads, and other readers with it.
pub(crate) const MAX_DEPTH: usize = 127;

/// One breadcrumb, borrowing from its line what needs no decoding.
///
/// Its JSON has the members in the order of these fields; absent ones are left out.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// What it is found by; any text here, see [`super::Key`] for what may be set.
    pub key: Cow<'a, str>,
    /// What was stored.
    pub value: Cow<'a, str>,
    /// The task that found it out.
    pub task_id: Option<i64>,
    /// When the key was first set, as written.
    pub created_at: Option<Cow<'a, str>>,
    /// When it was last set, as written.
    pub updated_at: Option<Cow<'a, str>>,
    /// From when on it is left out of reading, as written.
    pub expires_at: Option<Cow<'a, str>>,
    /// All else, in the order and the spelling of the line.
    pub unknown: Vec<(Cow<'a, str>, Cow<'a, RawValue>)>,
}

impl<'a> Record<'a> {
    /// Reads one line, with or without its end.
    ///
    /// # Errors
    ///
    /// The [`LineError`] why the line cannot be read.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let record = std::str::from_utf8(line).ok().and_then(|text| serde_json::from_str::<Self>(text).ok());
        match record {
            Some(record) if record.unknown.iter().all(|(_, raw)| depth(raw.get()) < MAX_DEPTH) => Ok(record),
            _ => Err(diagnose(line)),
        }
    }

    /// When the key was first set, where that can be read.
    #[must_use]
    pub fn created(&self) -> Option<Time> {
        self.created_at.as_deref().and_then(instant)
    }

    /// When the key was last set, where that can be read.
    #[must_use]
    pub fn updated(&self) -> Option<Time> {
        self.updated_at.as_deref().and_then(instant)
    }

    /// When it expires; `None` for never, and for a time that cannot be read.
    #[must_use]
    pub fn expires(&self) -> Option<Time> {
        self.expires_at.as_deref().and_then(instant)
    }

    /// Whether it is out of reading at `now`.
    #[must_use]
    pub fn is_expired(&self, now: Time) -> bool {
        self.expires().is_some_and(|expiry| expiry <= now)
    }

    /// The line this record is written as, without its end.
    #[must_use]
    pub fn render(&self) -> String {
        json(self)
    }

    /// The same text for every spelling of the same record: members sorted, escapes and spaces gone, times in UTC.
    ///
    /// Numbers keep their digits, so `1` and `1.0` differ.
    #[must_use]
    pub fn canonical(&self) -> String {
        let time =
            |text: &Cow<'_, str>| quoted(&instant(text).map_or_else(|| text.to_string(), |time| time.to_string()));
        let mut members = vec![("key", quoted(&self.key)), ("value", quoted(&self.value))];
        members.extend(self.task_id.map(|id| ("task_id", id.to_string())));
        members.extend(self.created_at.as_ref().map(|text| ("created_at", time(text))));
        members.extend(self.updated_at.as_ref().map(|text| ("updated_at", time(text))));
        members.extend(self.expires_at.as_ref().map(|text| ("expires_at", time(text))));
        members.extend(self.unknown.iter().map(|(name, raw)| (name.as_ref(), canonical_json(raw.get()))));
        joined_members(members)
    }

    /// Whether both say the same, however it is spelled: have one canonical form.
    #[must_use]
    pub fn means_same(&self, other: &Record<'_>) -> bool {
        // As the canonical form has it, without the work of writing it: this is asked for every record that changed.
        let same_times = [
            (&self.created_at, &other.created_at),
            (&self.updated_at, &other.updated_at),
            (&self.expires_at, &other.expires_at),
        ];
        self.key == other.key
            && self.value == other.value
            && self.task_id == other.task_id
            && same_times.into_iter().all(|(a, b)| same_time(a.as_deref(), b.as_deref()))
            && (self.has_same_unknown(other) || self.canonical() == other.canonical())
    }

    fn has_same_unknown(&self, other: &Record<'_>) -> bool {
        self.unknown.len() == other.unknown.len()
            && self.unknown.iter().zip(&other.unknown).all(|(a, b)| a.0 == b.0 && a.1.get() == b.1.get())
    }

    /// Orders records of one key by which counts: readable time before unreadable, later instant, greater canonical form.
    ///
    /// Records that mean the same are equal here; their bytes decide then.
    #[must_use]
    pub fn precedence(&self, other: &Record<'_>) -> Ordering {
        self.updated().cmp(&other.updated()).then_with(|| self.canonical().cmp(&other.canonical()))
    }

    /// The record without the line it was read from.
    #[must_use]
    pub fn into_owned(self) -> Record<'static> {
        fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        Record {
            key: owned(self.key),
            value: owned(self.value),
            task_id: self.task_id,
            created_at: self.created_at.map(owned),
            updated_at: self.updated_at.map(owned),
            expires_at: self.expires_at.map(owned),
            unknown: self.unknown.into_iter().map(|(name, raw)| (owned(name), Cow::Owned(raw.into_owned()))).collect(),
        }
    }
}

/// The instant that a time names: RFC 3339 with date, time and zone all there, any number of digits after the second.
///
/// Digits past the nanosecond do not count.
#[must_use]
pub(crate) fn instant(text: &str) -> Option<Time> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() >= 20
        && bytes[..19].iter().zip(b"0000-00-00T00:00:00").all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            _ => byte == shape,
        });
    if !shaped {
        return None;
    }
    let rest = &bytes[19..];
    let digits = match rest {
        [b'.', rest @ ..] => rest.iter().take_while(|b| b.is_ascii_digit()).count(),
        _ => 0,
    };
    let zone = match (rest[0], digits) {
        (b'.', 0) => return None,
        (b'.', _) => &rest[1 + digits..],
        _ => rest,
    };
    let zoned = match zone {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !zoned {
        return None;
    }
    let time: Time = if digits > 9 {
        format!("{}{}", &text[..29], &text[20 + digits..]).parse().ok()?
    } else {
        text.parse().ok()?
    };
    // A zone can carry the first day of year 0 out of what RFC 3339 can write.
    (time.as_second() >= START_OF_YEAR_0).then_some(time)
}

/// 0000-01-01T00:00:00Z, in seconds since 1970.
const START_OF_YEAR_0: i64 = -62_167_219_200;

/// Whether two times are one instant, or one text that cannot be read.
fn same_time(a: Option<&str>, b: Option<&str>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    a == b || instant(a).is_some_and(|a| Some(a) == instant(b))
}

/// How deep a JSON text nests.
pub(crate) fn depth(json: &str) -> usize {
    if !json.starts_with(['{', '[']) {
        return 0;
    }
    let (mut deepest, mut level) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                level += 1;
                deepest = deepest.max(level);
            }
            b'}' | b']' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A JSON text with members sorted by name, strings spelled one way and spaces gone; as it is where it cannot be read.
fn canonical_json(json: &str) -> String {
    let json = json.trim_matches([' ', '\t', '\r', '\n']);
    let canonical = match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str(json).ok().map(|text: String| quoted(&text)),
        Some(b'[') => serde_json::from_str(json).ok().map(|items: Vec<&RawValue>| {
            let items: Vec<_> = items.into_iter().map(|item| canonical_json(item.get())).collect();
            format!("[{}]", items.join(","))
        }),
        Some(b'{') => serde_json::from_str(json).ok().map(|Members(members)| {
            joined_members(members.iter().map(|(name, raw)| (name.0.as_ref(), canonical_json(raw.get()))).collect())
        }),
        _ => None,
    };
    canonical.unwrap_or_else(|| json.to_owned())
}

fn joined_members(mut members: Vec<(&str, String)>) -> String {
    // Stable: where a name occurs twice, which comes first is part of the meaning.
    members.sort_by(|a, b| a.0.cmp(b.0));
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    json(text)
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts, numbers, and objects of them serialize")
}

/// A string that borrows where it holds no escapes.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// The members of an object in order, a name twice included.
pub(crate) struct Members<'a>(pub(crate) Vec<(Text<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'de> Deserialize<'de> for Record<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a breadcrumb")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
        fn once<T, E: serde::de::Error>(slot: &mut Option<T>, value: T) -> Result<(), E> {
            if slot.replace(value).is_some() { Err(E::custom("a member stands twice")) } else { Ok(()) }
        }
        let (mut key, mut value, mut task_id) = (None, None, None);
        let (mut created_at, mut updated_at, mut expires_at) = (None, None, None);
        let mut unknown = Vec::new();
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "key" => once(&mut key, map.next_value::<Text<'de>>()?.0)?,
                "value" => once(&mut value, map.next_value::<Text<'de>>()?.0)?,
                "task_id" => once(&mut task_id, map.next_value::<Option<i64>>()?)?,
                "created_at" => once(&mut created_at, map.next_value::<Text<'de>>()?.0)?,
                "updated_at" => once(&mut updated_at, map.next_value::<Text<'de>>()?.0)?,
                "expires_at" => once(&mut expires_at, map.next_value::<Option<Text<'de>>>()?)?,
                _ => unknown.push((name, Cow::Borrowed(map.next_value::<&'de RawValue>()?))),
            }
        }
        Ok(Record {
            key: key.ok_or_else(|| A::Error::missing_field("key"))?,
            value: value.ok_or_else(|| A::Error::missing_field("value"))?,
            task_id: task_id.flatten(),
            created_at,
            updated_at,
            expires_at: expires_at.flatten().map(|text| text.0),
            unknown,
        })
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        map.serialize_entry("value", &self.value)?;
        if let Some(task_id) = self.task_id {
            map.serialize_entry("task_id", &task_id)?;
        }
        let times =
            [("created_at", &self.created_at), ("updated_at", &self.updated_at), ("expires_at", &self.expires_at)];
        for (name, time) in times {
            if let Some(time) = time {
                map.serialize_entry(name, time)?;
            }
        }
        for (name, raw) in &self.unknown {
            map.serialize_entry(name, raw.as_ref())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Record<'_> {
        Record::parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn a_record_keeps_what_it_does_not_know() {
        let line = r#"{"pi":3.14000,"key":"a.b","big":123456789012345678901234567890,"value":"v","o":{"z":1,"a":[ 2 ]},"pi":1e2}"#;
        insta::assert_snapshot!(
            parse(line).render(),
            @r#"{"key":"a.b","value":"v","pi":3.14000,"big":123456789012345678901234567890,"o":{"z":1,"a":[ 2 ]},"pi":1e2}"#
        );
    }

    #[test]
    fn spelling_does_not_change_the_meaning() {
        let plain = parse(r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[1,2]}}"#);
        for same in [
            r#"{ "o":{"a":[1, 2] ,"b":"\u0078"},"value":"a\u0026b","key":"\u006b","created_at":"2025-12-21T12:00:00.000+02:00"}"#,
            r#"{"key":"k","value":"a&b","task_id":null,"created_at":"2025-12-21T10:00:00.0000000001Z","o":{"b":"x","a":[1,2]}}"#,
        ] {
            assert!(plain.means_same(&parse(same)), "{same}");
            assert_eq!(plain.canonical(), parse(same).canonical());
        }
        for other in [
            r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:01Z","o":{"b":"x","a":[1,2]}}"#,
            r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[2,1]}}"#,
            r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[1.0,2]}}"#,
            r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z"}"#,
        ] {
            assert!(!plain.means_same(&parse(other)), "{other}");
            assert_ne!(plain.canonical(), parse(other).canonical());
        }
    }

    #[test]
    fn only_whole_times_with_a_zone_can_be_read() {
        for (text, read) in [
            ("2025-12-21T10:00:00Z", Some("2025-12-21T10:00:00Z")),
            ("2025-12-21t10:00:00.5z", Some("2025-12-21T10:00:00.5Z")),
            ("2025-12-21T10:00:00.1234567899999-01:30", Some("2025-12-21T11:30:00.123456789Z")),
            ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z")),
            ("0000-01-01T00:00:00+01:00", None),
            ("2025-12-21T10:00:00", None),
            ("2025-12-21T10:00Z", None),
            ("2025-12-21 10:00:00Z", None),
            ("2025-12-21T10:00:00.Z", None),
            ("2025-12-21T10:00:00Z[UTC]", None),
            ("2025-12-21T10:00:00+0200", None),
            ("2025-02-30T10:00:00Z", None),
            ("20251221T100000Z", None),
            ("now", None),
            ("", None),
            ("ééééééééééééé", None),
        ] {
            assert_eq!(instant(text).map(|time| time.to_string()).as_deref(), read, "{text}");
        }
    }

    #[test]
    fn the_later_instant_counts_and_then_the_greater_text() {
        let later_as_text = parse(r#"{"key":"k","value":"a","updated_at":"2025-12-21T10:00:00+02:00"}"#);
        let later = parse(r#"{"key":"k","value":"a","updated_at":"2025-12-21T09:00:00Z"}"#);
        let unreadable = parse(r#"{"key":"k","value":"z","updated_at":"tomorrow"}"#);
        let none = parse(r#"{"key":"k","value":"a"}"#);
        assert_eq!(later.precedence(&later_as_text), Ordering::Greater);
        assert_eq!(later_as_text.precedence(&unreadable), Ordering::Greater);
        assert_eq!(unreadable.precedence(&none), unreadable.canonical().cmp(&none.canonical()));
        assert_eq!(none.precedence(&none), Ordering::Equal);
    }
}
