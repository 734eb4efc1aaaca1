//! One forward crumb: its values, its headers, and how it is read from its item file.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;

use super::text::TextHeader;
use crate::base::string_enum::string_enum;
use crate::git::{GitError, Repo};
use crate::trace::model::source::Source;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total::Reading;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, TraceError};

string_enum! {
    /// How important a forward crumb is, which also determines when it expires.
    Priority {
        High = "HIGH",
        Medium = "MEDIUM",
        Low = "LOW",
    }
}

impl Priority {
    pub(crate) fn lifetime_hours(self) -> u64 {
        let days = match self {
            Self::High => 90,
            Self::Medium => 30,
            Self::Low => 7,
        };
        days * 24
    }
}

string_enum! {
    CrumbType {
        Orientation = "orientation",
        Technical = "technical",
        Emotional = "emotional",
        Task = "task",
    }
}

string_enum! {
    CrumbStatus {
        Active = "active",
        Completed = "completed",
        /// A later forward crumb replaces it.
        Superseded = "superseded",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ForwardCrumb {
    pub id: ItemId,
    pub seq: u32,
    pub metadata: Metadata,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Metadata {
    pub created: Time,
    pub priority: Priority,
    pub crumb_type: CrumbType,
    pub status: CrumbStatus,
    pub session_id: String,
    pub parent: Option<ItemId>,
    pub source: Option<Source>,
}

impl Metadata {
    pub(crate) fn is_expired(&self, now: Time) -> bool {
        now.hours_earlier(self.priority.lifetime_hours()).is_some_and(|oldest| self.created < oldest)
    }

    /// The item to write at position `seq`; no forward crumb up to that position is later than `newest`.
    pub(crate) fn draft(&self, text: &str, seq: u32, newest: Time) -> Draft {
        let mut fields = Fields::new(ItemType::freeform());
        fields.created = Some(self.created);
        fields.source.clone_from(&self.source);
        let mut header = |key: &str, value: String| fields.unknown.push((key.to_owned(), value));
        header(PRIORITY, self.priority.to_string());
        header(TYPE, self.crumb_type.to_string());
        header(STATUS, self.status.to_string());
        header(SESSION, self.session_id.clone());
        if let Some(parent) = self.parent {
            header(PARENT, parent.to_string());
        }
        header(NEWEST, format!("{seq} {newest}"));
        Draft { fields, body: text.as_bytes().to_vec() }
    }

    /// The headers for a text that was not imported from a forward crumb.
    pub(crate) fn of_text(header: &TextHeader, source: Option<Source>) -> Self {
        Self {
            created: header.at,
            priority: header.priority,
            crumb_type: header.crumb_type,
            status: CrumbStatus::Active,
            session_id: header.session_id.clone(),
            parent: None,
            source,
        }
    }

    fn of_fields(fields: &Fields) -> Result<Self, String> {
        fn parse<T: FromStr<Err: Display>>(fields: &Fields, key: &str) -> Result<T, String> {
            let value = header(fields, key).ok_or_else(|| format!("the header `{key}` is missing"))?;
            value.parse().map_err(|error| format!("header `{key}`: {error}"))
        }
        Ok(Self {
            created: fields.created.ok_or("the header `created` is missing")?,
            priority: parse(fields, PRIORITY)?,
            crumb_type: parse(fields, TYPE)?,
            status: parse(fields, STATUS)?,
            session_id: parse(fields, SESSION)?,
            parent: header(fields, PARENT).map(|_| parse(fields, PARENT)).transpose()?,
            source: fields.source.clone(),
        })
    }
}

const PRIORITY: &str = "crumb-priority";
const TYPE: &str = "crumb-type";
const STATUS: &str = "crumb-status";
const SESSION: &str = "session-id";
const PARENT: &str = "parent-crumb";
/// The latest time up to a position, such as `41 2026-01-03T18:30:45Z`, with which a query can stop early.
///
/// Positions are nearly in the order of times, but a clock may have been set back, or older forward crumbs imported. If a merge
/// or a renumbering moved the file, the header is ignored: the query is slower, and still correct.
const NEWEST: &str = "newest";

fn header<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    fields.unknown.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

pub(crate) fn put_status(fields: &mut Fields, status: CrumbStatus) {
    put_header(fields, STATUS, status.as_str());
}

/// States that no forward crumb up to position `seq` is later than `newest`.
pub(crate) fn put_newest(fields: &mut Fields, seq: u32, newest: Time) {
    put_header(fields, NEWEST, &format!("{seq} {newest}"));
}

fn put_header(fields: &mut Fields, key: &str, value: &str) {
    match fields.unknown.iter_mut().find(|(known, _)| known == key) {
        Some((_, known)) => value.clone_into(known),
        None => fields.unknown.push((key.to_owned(), value.to_owned())),
    }
}

/// Why the headers of an item are not those of a forward crumb.
pub(crate) fn header_problem(fields: &Fields) -> Option<String> {
    Metadata::of_fields(fields).err()
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct DamagedCrumb {
    pub id: ItemId,
    pub path: String,
    pub cause: String,
}

/// A forward crumb as read, and an upper bound for its time and for the times of those before it.
pub(crate) type Read = (Result<ForwardCrumb, DamagedCrumb>, Option<Time>);

/// Reads one forward crumb. A missing object or one of the wrong kind is damage of this forward crumb alone.
pub(crate) fn read(repo: &Repo, entry: &ItemEntry) -> Result<Read, TraceError> {
    match repo.read_blob(entry.blob) {
        Ok(bytes) => Ok(parse(entry, &bytes)),
        Err(error @ (GitError::MissingObject { .. } | GitError::WrongKind { .. })) => {
            Ok((Err(damaged(entry, error.to_string())), None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads forward crumbs, newest position first; faster than reading them one by one.
pub(crate) fn read_backwards(repo: &Repo, entries: &[ItemEntry]) -> Result<Vec<Read>, TraceError> {
    let mut all = Vec::with_capacity(entries.len());
    let read_all = repo.for_each_blob(entries.iter().rev().map(|entry| (entry, entry.blob)), |entry, _, bytes| {
        all.push(parse(entry, bytes));
        Ok(())
    });
    match read_all {
        Ok(()) => Ok(all),
        // Reading one by one finds out which object is missing.
        Err(GitError::MissingObject { .. } | GitError::WrongKind { .. }) => {
            entries.iter().rev().map(|entry| read(repo, entry)).collect()
        }
        Err(error) => Err(error.into()),
    }
}

fn damaged(entry: &ItemEntry, cause: String) -> DamagedCrumb {
    DamagedCrumb { id: entry.id, path: entry.path.clone(), cause }
}

fn parse(entry: &ItemEntry, bytes: &[u8]) -> Read {
    let Reading { item, damage } = Reading::of(entry, bytes);
    if let Some(damage) = damage {
        return (Err(damaged(entry, damage.to_string())), None);
    }
    let newest = header(&item.fields, NEWEST).and_then(|value| value.split_once(' '));
    let newest = newest.filter(|(seq, _)| seq.parse() == Ok(entry.seq)).and_then(|(_, newest)| newest.parse().ok());
    let crumb = Metadata::of_fields(&item.fields).and_then(|metadata| {
        let text = String::from_utf8(item.body).map_err(|_| "the text is not UTF-8".to_owned())?;
        Ok(ForwardCrumb { id: entry.id, seq: entry.seq, metadata, text })
    });
    (crumb.map_err(|cause| damaged(entry, cause)), newest)
}
