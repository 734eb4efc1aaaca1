//! A problem that fsck found: where, which rule, what is wrong, what to do.

use std::cmp::Reverse;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::base::escape::Plain;
use crate::base::finding::Weight;
use crate::git::{GitError, Oid, short_oid};
use crate::trace::store::priority::Level;
use crate::trace::{ItemId, TraceName};

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Problem {
    /// An error if data is lost or wrong, else a warning.
    pub(crate) weight: Weight,
    /// Name of the rule, which never changes: `object-missing`.
    pub(crate) rule: &'static str,
    /// The trace, or a ref or file that belongs to no trace.
    pub(crate) place: String,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "oid_text")]
    pub(crate) commit: Option<Oid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<ItemId>,
    pub(crate) message: String,
    pub(crate) remedy: String,
    #[serde(skip)]
    pub(crate) repair: Option<Repair>,
    /// The missing tree or blob; a promisor remote may have it.
    #[serde(skip)]
    pub(crate) missing: Option<Oid>,
}

/// A repair of data that can be derived from other data.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Repair {
    Lock(String),
    /// Point a missing or damaged ref to the newest complete state in its reflog.
    Ref(String),
    Reflog(String),
    /// Delete the ref of a session that names no trace. After the repairs of refs, because one may bring the trace back.
    Session(String),
    /// Delete a backup ref whose commit cannot be read.
    Backup(String),
    /// Move the damaged file of an object that has another copy out of the object database.
    Copy(Oid),
    Record,
    Tag(ItemId, Oid),
    /// Give an item without a priority the level of its tag. The level that keeps more in the context is first.
    RecordTag(Reverse<Level>, ItemId, Oid),
    /// Add a commit with correct trailers and correct token counts in its items.
    Totals(TraceName),
}

impl Problem {
    pub(crate) fn error(rule: &'static str, place: impl fmt::Display, message: impl Into<String>) -> Self {
        let (place, message, remedy) = (place.to_string(), message.into(), String::new());
        let weight = Weight::Error;
        Self { weight, rule, place, commit: None, item: None, message, remedy, repair: None, missing: None }
    }

    pub(crate) fn warning(rule: &'static str, place: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::error(rule, place, message) }
    }

    pub(crate) fn commit(self, commit: Oid) -> Self {
        Self { commit: Some(commit), ..self }
    }

    pub(crate) fn item(self, item: Option<ItemId>) -> Self {
        Self { item, ..self }
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    pub(crate) fn repair(self, repair: Repair) -> Self {
        Self { remedy: "repair it with `git trace fsck --repair`".to_owned(), repair: Some(repair), ..self }
    }

    pub(crate) fn object(place: impl fmt::Display, what: &str, oid: Oid, error: &GitError) -> Self {
        let elsewhere =
            "`git trace fetch --refetch` brings it back if the remote has it; else copy it from another clone";
        let (rule, message, remedy) = match error {
            GitError::MissingObject { .. } => {
                ("object-missing", format!("{what} {oid} is not in this repository"), elsewhere)
            }
            GitError::WrongKind { expected, .. } => {
                let remedy = "inspect it with `git cat-file -p`, and correct the reference to it";
                ("object-kind", format!("{oid} is not a {expected}, which is expected here"), remedy)
            }
            _ => ("object-corrupt", format!("{what} {oid} cannot be read, or does not match its id"), elsewhere),
        };
        let is_missing = matches!(error, GitError::MissingObject { .. }) && what != "commit";
        Self { missing: is_missing.then_some(oid), ..Self::error(rule, place, message).remedy(remedy) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.weight, Plain(&self.place))?;
        if let Some(commit) = self.commit {
            write!(f, ": commit {}", short_oid(commit))?;
        }
        if let Some(item) = self.item {
            write!(f, ": item {item}")?;
        }
        write!(f, ": {}: {}", self.rule, Plain(&self.message))?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", Plain(&self.remedy)) }
    }
}

#[expect(clippy::ref_option, reason = "serde gives the field")]
fn oid_text<S: Serializer>(oid: &Option<Oid>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&oid.map(|oid| oid.to_string()).unwrap_or_default())
}
