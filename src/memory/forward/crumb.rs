//! A forward crumb as a value, and its headers.

use memchr::memmem::{self, Finder};

use crate::base::string_enum::string_enum;
use crate::git::{GitError, Repo};
use crate::trace::model::source::Source;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total::Reading;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, TraceError};

use super::order;

string_enum! {
    /// How much a crumb matters, and with that how long it is read.
    Priority {
        /// Ninety days.
        High = "HIGH",
        /// Thirty days.
        Medium = "MEDIUM",
        /// Seven days.
        Low = "LOW",
    }
}

impl Priority {
    /// All of them, the highest first.
    pub(crate) const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// After how many hours a crumb is out of reading.
    #[must_use]
    pub(crate) fn hours(self) -> u64 {
        let days = match self {
            Self::High => 90,
            Self::Medium => 30,
            Self::Low => 7,
        };
        days * 24
    }
}

string_enum! {
    /// What a crumb is about.
    CrumbType {
        /// Where things stand.
        Orientation = "orientation",
        /// What was found out.
        Technical = "technical",
        /// How it felt.
        Emotional = "emotional",
        /// What is to be done.
        Task = "task",
    }
}

impl CrumbType {
    /// All of them, in the order of the protocol.
    pub(crate) const ALL: [Self; 4] = [Self::Orientation, Self::Technical, Self::Emotional, Self::Task];
}

string_enum! {
    /// Whether a crumb still asks for something.
    CrumbStatus {
        /// It does.
        Active = "active",
        /// What it asked for is done.
        Completed = "completed",
        /// A later one takes its place.
        Superseded = "superseded",
    }
}

impl CrumbStatus {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Active, Self::Completed, Self::Superseded];
}

/// One forward crumb.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Crumb {
    /// Its lasting id.
    pub id: ItemId,
    /// Its position among the agent's crumbs.
    pub seq: u32,
    /// What is said of it.
    pub about: About,
    /// The text, as it was left.
    pub text: String,
}

/// What is said of a crumb beside its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct About {
    /// When it was left.
    pub created: Time,
    /// How much it matters.
    pub priority: Priority,
    /// What it is about.
    pub crumb_type: CrumbType,
    /// Whether it still asks for something.
    pub status: CrumbStatus,
    /// The session that left it.
    pub session_id: String,
    /// The crumb that it goes on from.
    pub parent: Option<ItemId>,
    /// Where an imported one came from.
    pub source: Option<Source>,
}

impl About {
    /// Whether its time is over at `now`.
    #[must_use]
    pub(crate) fn is_expired(&self, now: Time) -> bool {
        now.hours_earlier(self.priority.hours()).is_some_and(|oldest| self.created < oldest)
    }

    /// The item to be written for a crumb that gets the position `seq`, where no crumb up to there is later than `newest`.
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
        header(order::HEADER, order::value(seq, newest));
        Draft { fields, body: text.as_bytes().to_vec() }
    }
}

const PRIORITY: &str = "crumb-priority";
const TYPE: &str = "crumb-type";
const STATUS: &str = "crumb-status";
const SESSION: &str = "session-id";
const PARENT: &str = "parent-crumb";

/// The value of a header that forward crumbs have of their own.
pub(crate) fn header<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    fields.unknown.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// Sets the status in a crumb's headers.
pub(crate) fn put_status(fields: &mut Fields, status: CrumbStatus) {
    match fields.unknown.iter_mut().find(|(key, _)| key == STATUS) {
        Some((_, value)) => status.as_str().clone_into(value),
        None => fields.unknown.push((STATUS.to_owned(), status.to_string())),
    }
}

/// A crumb that cannot be read; it hides no other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Damaged {
    /// Its id, from its file's name.
    pub id: ItemId,
    /// Its file's path in the tree.
    pub path: String,
    /// What is wrong with it.
    pub cause: String,
}

/// A crumb as it was read, with what bounds the times of those before it.
pub(crate) type Read = (Result<Crumb, Damaged>, Option<Time>);

/// The same, with nothing for a crumb that a [`Sieve`] passed over.
pub(crate) type Sifted = (Option<Result<Crumb, Damaged>>, Option<Time>);

/// Filters as lines of headers, so that what they pass over need not be parsed: half the time of a search that finds nothing.
pub(crate) struct Sieve {
    /// The lines that are asked for, each with those that say otherwise.
    lines: Vec<(Finder<'static>, Vec<Finder<'static>>)>,
    newest: Finder<'static>,
}

impl Sieve {
    /// A sieve for those crumbs that have each of these words, where one is given.
    pub(crate) fn new(priority: Option<Priority>, crumb_type: Option<CrumbType>, status: Option<CrumbStatus>) -> Self {
        let line = |key: &str, word: &str| Finder::new(&format!("\n{key}: {word}\n")).into_owned();
        let lines = |key: &str, wanted: &str, all: &[&str]| {
            let others = all.iter().filter(|word| **word != wanted);
            (line(key, wanted), others.map(|word| line(key, word)).collect())
        };
        let by_priority = priority.map(|word| lines(PRIORITY, word.as_str(), &Priority::ALL.map(Priority::as_str)));
        let by_type = crumb_type.map(|word| lines(TYPE, word.as_str(), &CrumbType::ALL.map(CrumbType::as_str)));
        let by_status = status.map(|word| lines(STATUS, word.as_str(), &CrumbStatus::ALL.map(CrumbStatus::as_str)));
        let lines = [by_status, by_priority, by_type].into_iter().flatten().collect();
        Self { lines, newest: Finder::new(&format!("\n{}: ", order::HEADER)).into_owned() }
    }

    /// Reads a file, unless the filters pass over it for certain.
    fn sift(&self, slot: &ItemEntry, bytes: &[u8]) -> Sifted {
        let Some(end) = memmem::find(bytes, b"\n\n") else { return whole(of_bytes(slot, bytes)) };
        let header = &bytes[..=end];
        let has = |line: &Finder<'_>| line.find(header).is_some();
        let is_passed_over = self.lines.iter().any(|(wanted, others)| !has(wanted) && others.iter().any(has));
        if is_passed_over { (None, self.bound(slot.seq, header)) } else { whole(of_bytes(slot, bytes)) }
    }

    /// As [`order::bound`], from the text of a header.
    fn bound(&self, seq: u32, header: &[u8]) -> Option<Time> {
        let rest = &header[self.newest.find(header)? + self.newest.needle().len()..];
        let value = std::str::from_utf8(&rest[..memchr::memchr(b'\n', rest)?]).ok()?;
        order::bound_of(seq, value)
    }
}

/// Reads the crumb that stands in `slot`.
///
/// # Errors
///
/// Those of the object database; an object that is missing or of the wrong kind is damage of this crumb alone.
pub(crate) fn read(repo: &Repo, slot: &ItemEntry) -> Result<Read, TraceError> {
    match repo.read_blob(slot.blob) {
        Ok(bytes) => Ok(of_bytes(slot, &bytes)),
        Err(error @ (GitError::MissingObject { .. } | GitError::WrongKind { .. })) => {
            let damaged = Damaged { id: slot.id, path: slot.path.clone(), cause: error.to_string() };
            Ok((Err(damaged), None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the crumbs that stand in `slots`, in that order; many go faster than one by one. Of those that `sieve` passes over
/// there is only what bounds the times before them.
///
/// # Errors
///
/// As [`read`].
pub(crate) fn read_many(repo: &Repo, slots: &[&ItemEntry], sieve: &Sieve) -> Result<Vec<Sifted>, TraceError> {
    let mut all = Vec::with_capacity(slots.len());
    let read_all = repo.for_each_blob(slots.iter().map(|slot| (*slot, slot.blob)), |slot, _, bytes| {
        all.push(sieve.sift(slot, bytes));
        Ok(())
    });
    match read_all {
        Ok(()) => Ok(all),
        // One that is missing is found by itself, and the others are read.
        Err(GitError::MissingObject { .. } | GitError::WrongKind { .. }) => {
            slots.iter().map(|slot| read(repo, slot).map(whole)).collect()
        }
        Err(error) => Err(error.into()),
    }
}

fn whole((crumb, bound): Read) -> Sifted {
    (Some(crumb), bound)
}

fn of_bytes(slot: &ItemEntry, bytes: &[u8]) -> Read {
    let damaged = |cause: String| Damaged { id: slot.id, path: slot.path.clone(), cause };
    let Reading { item, damage } = Reading::of(slot, bytes);
    if let Some(damage) = damage {
        return (Err(damaged(damage.to_string())), None);
    }
    let bound = order::bound(slot.seq, &item.fields);
    let crumb = about(&item.fields).and_then(|about| {
        let text = String::from_utf8(item.body).map_err(|_| "its text is not UTF-8".to_owned())?;
        Ok(Crumb { id: slot.id, seq: slot.seq, about, text })
    });
    (crumb.map_err(damaged), bound)
}

/// Why the headers of an item are not those of a forward crumb; `None` if they are.
pub(crate) fn fault_of(fields: &Fields) -> Option<String> {
    about(fields).err()
}

fn about(fields: &Fields) -> Result<About, String> {
    fn word<T: std::str::FromStr<Err: std::fmt::Display>>(fields: &Fields, key: &str) -> Result<T, String> {
        let value = header(fields, key).ok_or_else(|| format!("the header `{key}` is missing"))?;
        value.parse().map_err(|error| format!("header `{key}`: {error}"))
    }
    Ok(About {
        created: fields.created.ok_or("the header `created` is missing")?,
        priority: word(fields, PRIORITY)?,
        crumb_type: word(fields, TYPE)?,
        status: word(fields, STATUS)?,
        session_id: word(fields, SESSION)?,
        parent: header(fields, PARENT).map(|_| word(fields, PARENT)).transpose()?,
        source: fields.source.clone(),
    })
}
