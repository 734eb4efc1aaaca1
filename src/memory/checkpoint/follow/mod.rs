//! Following a breadcrumb of a checkpoint: to a file, a function's source, the reason for a decision, an address.
//!
//! Nothing outside of the repository is read, and nothing is fetched. What is no longer there is stale, which is an answer
//! and not an error: it may be back on another branch.

pub(crate) mod cost;
mod external;
#[cfg(feature = "functions")]
mod function;
mod inside;
pub(crate) mod json;

use std::path::Path;

use thiserror::Error;

use super::document::{Document, Reference, ReferenceKind};
use crate::base::error::Diagnostic;
use crate::git::{Git, GitError};

pub(crate) use external::address;

/// Where a breadcrumb led.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Followed {
    /// A file.
    File {
        /// Its path in the repository.
        path: String,
        /// What it holds.
        content: Vec<u8>,
    },
    /// A folder, with the names in it.
    Folder {
        /// Its path in the repository.
        path: String,
        /// Names, sorted; a folder's ends in a slash.
        names: Vec<String>,
    },
    /// Definitions of a function, the likeliest first.
    Function(Vec<Definition>),
    /// Why something was decided: the hint.
    Decision(String),
    /// An address, which was not fetched.
    External(String),
    /// Nothing is there any more, or not yet.
    Stale(String),
}

/// Where and how a function is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Definition {
    /// Path of the file in the repository.
    pub path: String,
    /// Line it starts in, from 1, with the comment above it.
    pub line: usize,
    /// Its source: whole lines.
    pub source: String,
}

/// Why a breadcrumb was not followed.
#[derive(Debug, Error)]
pub(crate) enum FollowError {
    /// It leads out of the repository.
    #[error("`{reference}` is not followed: {why}")]
    Outside {
        /// What it refers to.
        reference: String,
        /// In which way.
        why: &'static str,
    },
    /// There is no such breadcrumb.
    #[error("the checkpoint has no breadcrumb `{reference}`")]
    Unknown {
        /// What was asked for.
        reference: String,
    },
    /// Several breadcrumbs are meant.
    #[error("`{reference}` is in more than one breadcrumb: {}", found.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// What they refer to.
        found: Vec<String>,
    },
    /// This build cannot find functions.
    #[error("this build of git-trace cannot find functions")]
    NoFunctions,
    /// Git could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Diagnostic for FollowError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { .. } => "`git trace checkpoint breadcrumbs` lists them; --type follows what is not listed",
            Self::Ambiguous { .. } => "name it by its number, such as `#2`",
            Self::NoFunctions => "build it with the feature `functions`",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// What following needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail<'a> {
    /// Root of the working tree.
    pub root: &'a Path,
    /// Git, called in that root.
    pub git: &'a Git,
    /// The breadcrumbs of the checkpoint, whose files are looked into first.
    pub breadcrumbs: &'a [Reference],
    /// The files of its Artifact Trail, which come next.
    pub artifacts: &'a [String],
}

/// The breadcrumb that a text means: `#2` or `2` for the second, what it refers to, or a part of that.
///
/// # Errors
///
/// [`FollowError::Unknown`], [`FollowError::Ambiguous`].
pub(crate) fn find<'r>(breadcrumbs: &'r [Reference], wanted: &str) -> Result<&'r Reference, FollowError> {
    let unknown = || FollowError::Unknown { reference: wanted.to_owned() };
    let plain = super::outline::plain(wanted);
    let exact: Vec<_> = breadcrumbs.iter().filter(|one| one.reference == plain).collect();
    if let [one, ..] = exact[..] {
        return Ok(one);
    }
    let number = plain.strip_prefix('#').unwrap_or(plain).parse::<usize>().ok();
    if let Some(number) = number {
        return number.checked_sub(1).and_then(|at| breadcrumbs.get(at)).ok_or_else(unknown);
    }
    let lower = plain.to_lowercase();
    let like: Vec<_> = breadcrumbs.iter().filter(|one| one.reference.to_lowercase().contains(&lower)).collect();
    match like[..] {
        _ if plain.is_empty() => Err(unknown()),
        [] => Err(unknown()),
        [one] => Ok(one),
        _ => {
            let found = like.iter().map(|one| one.reference.clone()).collect();
            Err(FollowError::Ambiguous { reference: wanted.to_owned(), found })
        }
    }
}

/// Follows a breadcrumb. A type that is not known is followed to its hint.
///
/// A file costs its reading. For a function the files of the checkpoint are read, and, where it is in none of them, those
/// tracked files in which `git grep` finds its name.
///
/// # Errors
///
/// [`FollowError`].
pub(crate) fn follow(trail: &Trail<'_>, reference: &Reference) -> Result<Followed, FollowError> {
    match reference.known_kind() {
        Some(ReferenceKind::File) => inside::read(trail.root, &reference.reference),
        Some(ReferenceKind::Function) => find_function(trail, &reference.reference),
        Some(ReferenceKind::External) => Ok(match address(&reference.reference) {
            Some(address) => Followed::External(address),
            None => Followed::Stale("it is neither a URL nor a DOI nor an arXiv id".to_owned()),
        }),
        Some(ReferenceKind::Decision) | None => Ok(Followed::Decision(reference.hint.clone())),
    }
}

#[cfg(feature = "functions")]
fn find_function(trail: &Trail<'_>, reference: &str) -> Result<Followed, FollowError> {
    function::find(trail, reference)
}

#[cfg(not(feature = "functions"))]
fn find_function(_: &Trail<'_>, _: &str) -> Result<Followed, FollowError> {
    Err(FollowError::NoFunctions)
}

/// The breadcrumbs and files of a checkpoint, for a [`Trail`].
#[must_use]
pub(crate) fn trail_of(document: &Document<'_>) -> (Vec<Reference>, Vec<String>) {
    (document.breadcrumbs(), document.artifacts())
}
