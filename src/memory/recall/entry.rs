//! Entries: what a search finds, and how the index stores it.

use std::collections::HashMap;

use super::codec::{Cursor, put_number, put_text};
use super::segment::{Term, term};
use super::words::words;
use crate::base::string_enum::string_enum;

string_enum! {
    /// Which memory an entry is in.
    Kind("kind") {
        Breadcrumb = "breadcrumb",
        Crumb = "crumb",
        Forward = "forward",
        Archive = "archive",
        Checkpoint = "checkpoint",
        Trace = "trace",
    }
}

/// The fields that a query can ask for.
pub(super) const FIELDS: [&str; 4] = ["agent", "kind", "key", "section"];

/// How often a word of a key or a section counts, compared with one of the text.
const BOOST: u32 = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub kind: Kind,
    /// The path of a file, or the name of a ref.
    pub place: String,
    /// What names it in its place: a key, an id, or a path.
    pub id: String,
    pub agent: String,
    pub key: String,
    pub section: String,
    /// In seconds since 1970.
    pub time: Option<i64>,
    /// Until when it is valid.
    pub until: Option<i64>,
    pub text: String,
    /// The object that has the text. The index does not store such a text again.
    pub blob: String,
}

impl Entry {
    pub(super) fn new(kind: Kind, place: &str) -> Self {
        let (place, text) = (place.to_owned(), String::new);
        let (time, until) = (None, None);
        Self {
            kind,
            place,
            id: text(),
            agent: text(),
            key: text(),
            section: text(),
            time,
            until,
            text: text(),
            blob: text(),
        }
    }

    /// The terms with their weights, and the number of words.
    pub(super) fn terms(&self) -> (HashMap<Term, u32>, u32) {
        let (mut terms, mut length) = (HashMap::new(), 0);
        let mut add = |field: &str, weight: u32, text: &str| {
            words(text, &mut |_, stem| {
                length += u32::from(field.is_empty());
                let count = terms.entry(term(field, stem)).or_insert(0u32);
                *count = count.saturating_add(weight);
            });
        };
        for (field, value) in FIELDS.into_iter().zip([&*self.agent, self.kind.as_str(), &self.key, &self.section]) {
            add(field, 1, value);
        }
        for (weight, text) in [(BOOST, &self.key), (BOOST, &self.section), (1, &self.text)] {
            add("", weight, text);
        }
        (terms, length)
    }

    pub(super) fn record(&self) -> Vec<u8> {
        let mut record = Vec::new();
        put_number(&mut record, self.kind as u64);
        let text = if self.blob.is_empty() { &*self.text } else { "" };
        for text in [&*self.place, &self.id, &self.agent, &self.key, &self.section, text, &self.blob] {
            put_text(&mut record, text);
        }
        for time in [self.time, self.until] {
            put_number(&mut record, time.unwrap_or(i64::MIN).cast_unsigned());
        }
        record
    }

    /// `None` if the record is damaged.
    pub(super) fn parse(record: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(record);
        let kind = Kind::VALUES.get(usize::try_from(cursor.number()?).ok()?)?.parse().ok()?;
        let mut text = || cursor.text().map(str::to_owned);
        let mut entry = Self::new(kind, &text()?);
        for field in
            [&mut entry.id, &mut entry.agent, &mut entry.key, &mut entry.section, &mut entry.text, &mut entry.blob]
        {
            *field = text()?;
        }
        for field in [&mut entry.time, &mut entry.until] {
            *field = Some(cursor.number()?.cast_signed()).filter(|time| *time != i64::MIN);
        }
        Some(entry)
    }

    /// The command that prints the complete entry, as words.
    pub(crate) fn command(&self) -> Vec<String> {
        let (place, id) = (&*self.place, &*self.id);
        let words: &[&str] = match self.kind {
            Kind::Breadcrumb => &["git", "trace", "breadcrumb", "get", id],
            Kind::Crumb => &["git", "trace", "crumb", "show", place],
            Kind::Forward => &["git", "trace", "forward", "show", "--agent", &self.agent, id],
            Kind::Archive => &["git", "show", &format!("{place}:{id}")],
            Kind::Checkpoint => &["cat", place],
            Kind::Trace => &["git", "trace", "show", "--trace", place, id],
        };
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        // A key or a file in a clone may be named like an option.
        if let Some(last) = words.pop() {
            words.extend(last.starts_with('-').then(|| "--".to_owned()));
            words.push(last);
        }
        words
    }

    /// Where it is, in a few words.
    pub(crate) fn label(&self) -> String {
        let section = if self.section.is_empty() { String::new() } else { format!(" §{}", self.section) };
        match self.kind {
            Kind::Breadcrumb => self.key.clone(),
            Kind::Crumb | Kind::Checkpoint => format!("{}{section}", self.place),
            Kind::Forward => format!("{} {}", self.agent, self.id),
            Kind::Archive => self.agent.clone(),
            Kind::Trace => format!("{} {}", self.place, self.id),
        }
    }
}
