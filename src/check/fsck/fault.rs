//! What fsck says: where, which rule, what is wrong, what to do.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::base::finding::{Plain, Weight};
use crate::git::{GitError, Oid, short_oid};
use crate::trace::{ItemId, TraceError, TraceName};

/// One thing that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Fault {
    /// Whether something is lost or told wrongly, or only worth a look.
    pub(crate) weight: Weight,
    /// Name of the rule, for good: `object-missing`.
    pub(crate) rule: &'static str,
    /// The trace, or the ref or file that is no trace's.
    pub(crate) place: String,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "oid_text")]
    pub(crate) commit: Option<Oid>,
    /// The item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<ItemId>,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it, in the imperative.
    pub(crate) remedy: String,
    /// What `--repair` can do about it.
    #[serde(skip)]
    pub(crate) repair: Option<Repair>,
    /// The tree or blob that is missing, which a remote may have promised.
    #[serde(skip)]
    pub(crate) missing: Option<Oid>,
}

/// What can be derived again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Repair {
    /// A `.lock` file of the ref that a dead process left.
    Lock(String),
    /// A ref that cannot be read, where its reflog tells where it was.
    Ref(String),
    /// A reflog that does not end where the ref is.
    Reflog(String),
    /// The record of priorities: its lines in order, those that can be read.
    Record,
    /// The tag of an item, at the commit that brought it in.
    Tag(ItemId, Oid),
    /// A tag of an item that has no priority.
    StaleTag(String),
    /// A commit whose trailers are true, with true token counts in its items.
    Totals(TraceName),
}

impl Fault {
    /// A fault at a place; what it is of is added by the methods below.
    pub(crate) fn new(weight: Weight, rule: &'static str, place: impl fmt::Display, message: String) -> Self {
        let place = place.to_string();
        let remedy = String::new();
        Self { weight, rule, place, commit: None, item: None, message, remedy, repair: None, missing: None }
    }

    /// An error at a place.
    pub(crate) fn error(rule: &'static str, place: impl fmt::Display, message: impl Into<String>) -> Self {
        Self::new(Weight::Error, rule, place, message.into())
    }

    /// A warning at a place.
    pub(crate) fn warning(rule: &'static str, place: impl fmt::Display, message: impl Into<String>) -> Self {
        Self::new(Weight::Warning, rule, place, message.into())
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
        Self { remedy: "`git trace fsck --repair` puts it right".to_owned(), repair: Some(repair), ..self }
    }

    /// An object that could not be read.
    pub(crate) fn object(place: impl fmt::Display, what: &str, oid: Oid, error: &GitError) -> Self {
        let elsewhere = "bring it back with `git trace fetch`, or copy it from another clone";
        let (rule, message, remedy) = match error {
            GitError::MissingObject { .. } => {
                ("object-missing", format!("{what} {oid} is not in this repository"), elsewhere)
            }
            GitError::WrongKind { expected, .. } => {
                let remedy = "see what it is with `git cat-file -p`, and point whatever names it elsewhere";
                ("object-kind", format!("{oid} stands where a {expected} is expected, and is none"), remedy)
            }
            _ => {
                let message = format!("{what} {oid} cannot be read, or is not what its name says");
                ("object-corrupt", message, elsewhere)
            }
        };
        let is_missing = matches!(error, GitError::MissingObject { .. }) && what != "commit";
        Self { missing: is_missing.then_some(oid), ..Self::error(rule, place, message).remedy(remedy) }
    }
}

impl fmt::Display for Fault {
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

/// The git error behind an error of reading objects; others are not of one object.
pub(crate) fn as_git(error: TraceError) -> Result<GitError, TraceError> {
    match error {
        TraceError::Git(error) => Ok(error),
        other => Err(other),
    }
}
