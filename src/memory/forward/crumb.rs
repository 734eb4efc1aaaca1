//! One forward crumb: its values, its headers, and how it is read from its item file.

use std::fmt::Display;
use std::str::FromStr;

use memchr::memmem;

use super::newest;
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
    /// A forward crumb expires after this many hours.
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
    /// The protocol's `crumb_type`.
    CrumbType {
        Orientation = "orientation",
        Technical = "technical",
        Emotional = "emotional",
        Task = "task",
    }
}

string_enum! {
    /// Whether a forward crumb still requires action.
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

/// The headers of a forward crumb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Metadata {
    pub created: Time,
    pub priority: Priority,
    pub crumb_type: CrumbType,
    pub status: CrumbStatus,
    pub session_id: String,
    /// The forward crumb that this one continues.
    pub parent: Option<ItemId>,
    /// The origin of an imported forward crumb.
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
        header(newest::HEADER, newest::header_value(seq, newest));
        Draft { fields, body: text.as_bytes().to_vec() }
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

fn header<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    fields.unknown.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// Sets the status header.
pub(crate) fn put_status(fields: &mut Fields, status: CrumbStatus) {
    match fields.unknown.iter_mut().find(|(key, _)| key == STATUS) {
        Some((_, value)) => status.as_str().clone_into(value),
        None => fields.unknown.push((STATUS.to_owned(), status.to_string())),
    }
}

/// Why the headers of an item are not those of a forward crumb.
pub(crate) fn header_problem(fields: &Fields) -> Option<String> {
    Metadata::of_fields(fields).err()
}

/// An unreadable forward crumb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DamagedCrumb {
    pub id: ItemId,
    /// Its path in the tree of the trace.
    pub path: String,
    pub cause: String,
}

/// A forward crumb as read, and an upper bound for its time and for the times of those before it.
pub(crate) type Read = (Result<ForwardCrumb, DamagedCrumb>, Option<Time>);

/// The same; `None` for a forward crumb that a [`HeaderFilter`] excluded.
pub(crate) type FilteredRead = (Option<Result<ForwardCrumb, DamagedCrumb>>, Option<Time>);

/// Header values that a query asks for.
///
/// They are compared in the text of the header, so that excluded items need not be parsed. That halves the time of a search
/// that finds nothing.
pub(crate) struct HeaderFilter(Vec<(&'static str, &'static str, &'static [&'static str])>);

impl HeaderFilter {
    pub(crate) fn new(priority: Option<Priority>, crumb_type: Option<CrumbType>, status: Option<CrumbStatus>) -> Self {
        let status = status.map(|wanted| (STATUS, wanted.as_str(), CrumbStatus::VALUES));
        let priority = priority.map(|wanted| (PRIORITY, wanted.as_str(), Priority::VALUES));
        let crumb_type = crumb_type.map(|wanted| (TYPE, wanted.as_str(), CrumbType::VALUES));
        Self([status, priority, crumb_type].into_iter().flatten().collect())
    }

    /// Whether a header has another valid value than the one asked for. Invalid values are left to the parser to report.
    fn excludes(&self, headers: &str) -> bool {
        self.0.iter().any(|(key, wanted, valid)| {
            header_line(headers, key).is_some_and(|value| value != *wanted && valid.contains(&value))
        })
    }
}

fn header_line<'h>(headers: &'h str, key: &str) -> Option<&'h str> {
    headers.split('\n').find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

/// Reads the forward crumb in `slot`. A missing object or one of the wrong kind is damage of this forward crumb alone.
pub(crate) fn read(repo: &Repo, slot: &ItemEntry) -> Result<Read, TraceError> {
    match repo.read_blob(slot.blob) {
        Ok(bytes) => Ok(parse(slot, &bytes)),
        Err(error @ (GitError::MissingObject { .. } | GitError::WrongKind { .. })) => {
            Ok((Err(DamagedCrumb { id: slot.id, path: slot.path.clone(), cause: error.to_string() }), None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the forward crumbs in `slots`, in that order; faster than reading them one by one.
pub(crate) fn read_many(
    repo: &Repo,
    slots: &[&ItemEntry],
    filter: &HeaderFilter,
) -> Result<Vec<FilteredRead>, TraceError> {
    let mut all = Vec::with_capacity(slots.len());
    let read_all = repo.for_each_blob(slots.iter().map(|slot| (*slot, slot.blob)), |slot, _, bytes| {
        all.push(parse_filtered(slot, bytes, filter));
        Ok(())
    });
    match read_all {
        Ok(()) => Ok(all),
        // Reading one by one finds out which object is missing.
        Err(GitError::MissingObject { .. } | GitError::WrongKind { .. }) => {
            let read_one = |slot: &&ItemEntry| read(repo, slot).map(|(crumb, newest)| (Some(crumb), newest));
            slots.iter().map(read_one).collect()
        }
        Err(error) => Err(error.into()),
    }
}

fn parse_filtered(slot: &ItemEntry, bytes: &[u8], filter: &HeaderFilter) -> FilteredRead {
    let headers = memmem::find(bytes, b"\n\n").and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
    if let Some(headers) = headers.filter(|headers| filter.excludes(headers)) {
        let newest = header_line(headers, newest::HEADER).and_then(|value| newest::parse_header(slot.seq, value));
        return (None, newest);
    }
    let (crumb, newest) = parse(slot, bytes);
    (Some(crumb), newest)
}

fn parse(slot: &ItemEntry, bytes: &[u8]) -> Read {
    let damaged = |cause: String| DamagedCrumb { id: slot.id, path: slot.path.clone(), cause };
    let Reading { item, damage } = Reading::of(slot, bytes);
    if let Some(damage) = damage {
        return (Err(damaged(damage.to_string())), None);
    }
    let newest = header(&item.fields, newest::HEADER).and_then(|value| newest::parse_header(slot.seq, value));
    let crumb = Metadata::of_fields(&item.fields).and_then(|metadata| {
        let text = String::from_utf8(item.body).map_err(|_| "the text is not UTF-8".to_owned())?;
        Ok(ForwardCrumb { id: slot.id, seq: slot.seq, metadata, text })
    });
    (crumb.map_err(damaged), newest)
}
