//! Records: the content of one line.
//!
//! Parsing is lenient where that loses nothing: members may be in any order, times may be missing or invalid (and are then
//! earlier than any valid time), and unknown members keep their spelling. Key and value are required. As in Synapse, `null` is no
//! time, and a member that is missing may be spelled in another case.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use jiff::civil::DateTime;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::Serializer;
use serde_json::value::RawValue;

use super::invalid_line::{LineError, diagnose};
use super::json::{MAX_DEPTH, Text, canonical_json, depth, join_members, json};
use crate::base::time::Time;

/// One breadcrumb. It borrows from its line where no decoding is needed.
///
/// Its JSON has the members in the order of these fields, and omits those that are absent.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Record<'a> {
    /// Any text; [`super::Key`] checks the keys that we write.
    pub key: Cow<'a, str>,
    pub value: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Cow<'a, str>>,
    /// The other members, in the order and spelling of the line.
    #[serde(flatten, serialize_with = "serialize_members")]
    pub unknown: Vec<(Cow<'a, str>, Cow<'a, RawValue>)>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(key: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            task_id: None,
            created_at: None,
            updated_at: None,
            expires_at: None,
            unknown: Vec::new(),
        }
    }

    /// Parses one line, with or without its line ending.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let text = std::str::from_utf8(line).ok();
        if let Some(record) = text.and_then(parse_plain) {
            return Ok(record);
        }
        match text.and_then(|text| serde_json::from_str::<Self>(text).ok()) {
            Some(record) if record.unknown.iter().all(|(_, raw)| depth(raw.get()) < MAX_DEPTH) => Ok(record),
            _ => Err(diagnose(line)),
        }
    }

    pub(crate) fn created(&self) -> Option<Time> {
        self.created_at.as_deref().and_then(parse_time)
    }

    pub(crate) fn updated(&self) -> Option<Time> {
        self.updated_at.as_deref().and_then(parse_time)
    }

    /// The time of expiry; `None` also if it is invalid.
    pub(crate) fn expires(&self) -> Option<Time> {
        self.expires_at.as_deref().and_then(parse_time)
    }

    pub(crate) fn is_expired(&self, now: Time) -> bool {
        self.expires().is_some_and(|expiry| expiry <= now)
    }

    pub(crate) fn render(&self) -> String {
        json(self)
    }

    /// The same text for every spelling of the same record: members sorted, escapes and spaces removed, times in UTC.
    ///
    /// Numbers keep their digits, so `1` and `1.0` differ.
    pub(crate) fn canonical(&self) -> String {
        let time =
            |text: &Cow<'_, str>| json(&parse_time(text).map_or_else(|| text.to_string(), |time| time.to_string()));
        let mut members = vec![("key", json(&self.key)), ("value", json(&self.value))];
        members.extend(self.task_id.map(|id| ("task_id", id.to_string())));
        members.extend(self.times().into_iter().filter_map(|(name, text)| Some((name, time(text.as_ref()?)))));
        members.extend(self.unknown.iter().map(|(name, raw)| (name.as_ref(), canonical_json(raw.get()))));
        join_members(members)
    }

    pub(crate) fn times(&self) -> [(&'static str, &Option<Cow<'a, str>>); 3] {
        [("created_at", &self.created_at), ("updated_at", &self.updated_at), ("expires_at", &self.expires_at)]
    }

    /// A sentence about each time that is set and cannot be read.
    pub(crate) fn bad_times(&self) -> impl Iterator<Item = String> {
        self.times().into_iter().filter_map(|(name, text)| {
            let text = text.as_deref().filter(|text| parse_time(text).is_none())?;
            Some(format!("`{name}` of `{}` is not a valid time: `{text}`", self.key))
        })
    }

    pub(crate) fn means_same(&self, other: &Record<'_>) -> bool {
        fn spelling<'r>((name, raw): &'r (Cow<'_, str>, Cow<'_, RawValue>)) -> (&'r str, &'r str) {
            (name, raw.get())
        }
        // Compare the members first: rendering the canonical forms costs more, and a merge asks this for every changed record.
        self.key == other.key
            && self.value == other.value
            && self.task_id == other.task_id
            && self.times().iter().zip(other.times()).all(|(a, b)| is_same_time(a.1.as_deref(), b.1.as_deref()))
            && (self.unknown.iter().map(spelling).eq(other.unknown.iter().map(spelling))
                || self.canonical() == other.canonical())
    }

    /// Orders records of one key; the greatest wins. A valid time is above an invalid one, a later time above an earlier
    /// one, and then the greater canonical form is above the lesser.
    ///
    /// Records that mean the same are equal here. Callers then compare their bytes.
    pub(crate) fn precedence(&self, other: &Record<'_>) -> Ordering {
        self.updated().cmp(&other.updated()).then_with(|| self.canonical().cmp(&other.canonical()))
    }

    pub(crate) fn into_owned(self) -> Record<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
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

/// Parses a line with our members, in our order and spelling, as we and Synapse write them. This takes a tenth of the time of parsing
/// any JSON; `None` means nothing.
pub(crate) fn parse_plain(line: &str) -> Option<Record<'_>> {
    let line = match line.as_bytes() {
        [.., b'\r', b'\n'] => &line[..line.len() - 2],
        [.., b'\r' | b'\n'] => &line[..line.len() - 1],
        _ => line,
    };
    if has_control(line.as_bytes()) {
        return None;
    }
    let (key, rest) = plain_text(after(line, b"{\"key\":\"")?)?;
    let (value, mut rest) = plain_text(after(rest, b",\"value\":\"")?)?;
    let mut record = Record::new(key, value);
    if let Some(number) = after(rest, b",\"task_id\":") {
        let (digits, after) = number.split_at(number.bytes().position(|b| !b.is_ascii_digit())?);
        record.task_id = Some(digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'))?);
        rest = after;
    }
    let times = [
        (b",\"created_at\":\"", &mut record.created_at),
        (b",\"updated_at\":\"", &mut record.updated_at),
        (b",\"expires_at\":\"", &mut record.expires_at),
    ];
    for (name, time) in times {
        if let Some(text) = after(rest, name) {
            let (text, after) = plain_text(text)?;
            *time = Some(text.into());
            rest = after;
        }
    }
    (rest == "}").then_some(record)
}

/// The text after a prefix. Of arrays, because comparing slices calls `memcmp`, which takes longer than the rest.
fn after<'t, const N: usize>(text: &'t str, prefix: &[u8; N]) -> Option<&'t str> {
    (text.as_bytes().first_chunk::<N>()? == prefix).then(|| &text[N..])
}

/// Splits a text after its first quote, before which there is no escape.
fn plain_text(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    (text.as_bytes()[end] == b'"').then(|| (&text[..end], &text[end + 1..]))
}

/// Whether one of the bytes is below 0x20. Eight are compared at once.
fn has_control(bytes: &[u8]) -> bool {
    const LOW: u64 = u64::from_ne_bytes([0x20; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (chunks, rest) = bytes.as_chunks::<8>();
    // A borrow reaches the highest bit of a byte below 0x20, and of its neighbors only if there is such a byte.
    let of_chunk = |chunk: &[u8; 8]| {
        let word = u64::from_ne_bytes(*chunk);
        word.wrapping_sub(LOW) & !word & HIGH != 0
    };
    chunks.iter().any(of_chunk) || rest.iter().any(|byte| *byte < 0x20)
}

pub(crate) fn keep_winners(records: &mut Vec<Record<'_>>) {
    if records.is_sorted_by(|a, b| a.key < b.key) {
        return;
    }
    records.sort_by(|a, b| a.key.cmp(&b.key).then_with(|| b.precedence(a)));
    records.dedup_by(|later, first| later.key == first.key);
}

/// Parses RFC 3339 with date, time, and zone, and any number of fractional digits. Digits after the ninth are ignored.
pub(crate) fn parse_time(text: &str) -> Option<Time> {
    if let Some(time) = parse_utc(text) {
        return Some(time);
    }
    let (date, rest) = text.split_at_checked(19)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).filter(|len| *len > 0)?),
        None => ("", rest),
    };
    let has_zone = zone.eq_ignore_ascii_case("z") || has_shape(zone, "+00:00");
    if !has_shape(date, "0000-00-00T00:00:00") || !has_zone {
        return None;
    }
    let time: Time = match fraction.split_at_checked(9) {
        Some((kept, cut)) if !cut.is_empty() => format!("{date}.{kept}{zone}").parse().ok()?,
        _ => text.parse().ok()?,
    };
    // In UTC, the first day of year 0 may be in year -1, which RFC 3339 cannot express.
    (time.as_second() >= START_OF_YEAR_0).then_some(time)
}

/// Parses a time as we and Synapse write it, in a tenth of the time that any other takes.
fn parse_utc(text: &str) -> Option<Time> {
    fn number(digits: &[u8]) -> Option<i32> {
        let add = |number, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i32::from(byte - b'0'));
        digits.iter().try_fold(0, add)
    }
    let [date_and_fraction @ .., b'Z'] = text.as_bytes() else { return None };
    let (date, fraction) = date_and_fraction.split_first_chunk::<19>()?;
    let signs = [date[4], date[7], date[10], date[13], date[16]];
    let nanoseconds = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            number(digits)? * 10_i32.pow(9 - u32::try_from(digits.len()).ok()?)
        }
        _ => return None,
    };
    let year = i16::try_from(number(&date[..4])?).ok()?;
    let pair = |at: usize| i8::try_from(number(&date[at..at + 2])?).ok();
    let civil = DateTime::new(year, pair(5)?, pair(8)?, pair(11)?, pair(14)?, pair(17)?, nanoseconds).ok()?;
    Time::of_civil(civil).filter(|_| matches!(&signs, b"--T::" | b"--t::"))
}

/// Whether a text has a digit for each `0`, a sign for each `+`, and the other characters of the shape.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'+' => matches!(byte, b'+' | b'-'),
        _ => byte.eq_ignore_ascii_case(&shape),
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

/// 0000-01-01T00:00:00Z, in seconds since 1970.
const START_OF_YEAR_0: i64 = -62_167_219_200;

fn is_same_time(a: Option<&str>, b: Option<&str>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    a == b || parse_time(a).is_some_and(|a| Some(a) == parse_time(b))
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
        fn once<T, E: serde::de::Error>(member: &mut Option<T>, value: T) -> Result<(), E> {
            if member.replace(value).is_some() { Err(E::custom("repeated member")) } else { Ok(()) }
        }
        let (mut key, mut value, mut task_id) = (None, None, None);
        let (mut created_at, mut updated_at, mut expires_at) = (None, None, None);
        let mut unknown = Vec::new();
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "key" => once(&mut key, map.next_value::<Text<'de>>()?.0)?,
                "value" => once(&mut value, map.next_value::<Text<'de>>()?.0)?,
                "task_id" => once(&mut task_id, map.next_value::<Option<i64>>()?)?,
                "created_at" => once(&mut created_at, map.next_value::<Option<Text<'de>>>()?)?,
                "updated_at" => once(&mut updated_at, map.next_value::<Option<Text<'de>>>()?)?,
                "expires_at" => once(&mut expires_at, map.next_value::<Option<Text<'de>>>()?)?,
                _ => unknown.push((name, map.next_value::<&'de RawValue>()?)),
            }
        }
        if key.is_none() {
            key = in_other_case(&mut unknown, "key")?.map(|text: Text<'de>| text.0);
        }
        if value.is_none() {
            value = in_other_case(&mut unknown, "value")?.map(|text: Text<'de>| text.0);
        }
        let mut time = |text: Option<Option<Text<'de>>>, name| -> Result<Option<Cow<'de, str>>, A::Error> {
            let text = if text.is_some() { text } else { in_other_case(&mut unknown, name)? };
            Ok(text.flatten().map(|text| text.0))
        };
        let created_at = time(created_at, "created_at")?;
        let updated_at = time(updated_at, "updated_at")?;
        let expires_at = time(expires_at, "expires_at")?;
        let task_id = if task_id.is_some() { task_id } else { in_other_case(&mut unknown, "task_id")? };
        Ok(Record {
            key: key.ok_or_else(|| A::Error::missing_field("key"))?,
            value: value.ok_or_else(|| A::Error::missing_field("value"))?,
            task_id: task_id.flatten(),
            created_at,
            updated_at,
            expires_at,
            unknown: unknown.into_iter().map(|(name, raw)| (name, Cow::Borrowed(raw))).collect(),
        })
    }
}

/// Takes the member whose name differs from `name` only in case; of several, the last one.
fn in_other_case<'de, T: Deserialize<'de>, E: serde::de::Error>(
    unknown: &mut Vec<(Cow<'de, str>, &'de RawValue)>,
    name: &str,
) -> Result<Option<T>, E> {
    let Some(at) = unknown.iter().rposition(|(other, _)| other.eq_ignore_ascii_case(name)) else { return Ok(None) };
    serde_json::from_str(unknown.remove(at).1.get()).map(Some).map_err(E::custom)
}

fn serialize_members<S: Serializer>(
    members: &[(Cow<'_, str>, Cow<'_, RawValue>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, raw)| (name, raw)))
}
