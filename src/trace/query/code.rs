//! Which part of a trace belongs to which change of the code.

use std::collections::HashSet;

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::{GitError, Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::store::tip::Tip;

/// A way of the code from one commit to another, and with it the work that led there.
///
/// What was recorded with a commit of the code belongs to the way where the code stood at its start or on it, short of its
/// end: what was said while the code stood at a commit led to the next one. What came in without, as imports of old sessions
/// do, belongs to it by its time.
#[derive(Clone, Debug)]
pub(crate) struct CodeRange {
    stood_at: HashSet<String>,
    after: i64,
    until: i64,
}

/// Why there is no such way.
#[derive(Debug, Error)]
pub(crate) enum BadRange {
    /// It names no commit.
    #[error("`{rev}` is no commit of the code")]
    NoCommit {
        /// What was given.
        rev: String,
    },
    /// One commit alone has no parent that it could be the way from.
    #[error("`{rev}` has no parent; give a range, A..B")]
    NoParent {
        /// What was given.
        rev: String,
    },
    /// The repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A commit cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl Diagnostic for BadRange {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::Trace(error) => Some(error),
            _ => None,
        }
    }
}

impl CodeRange {
    /// Finds the way that `A..B` names; `B` alone is the way from its first parent, and an end left away is `HEAD`.
    ///
    /// # Errors
    ///
    /// [`BadRange`].
    pub(crate) fn resolve(repo: &Repo, spec: &str) -> Result<Self, BadRange> {
        let find = |rev: &str| -> Result<Oid, BadRange> {
            let rev = if rev.is_empty() { "HEAD" } else { rev };
            repo.find_commit(rev)?.ok_or_else(|| BadRange::NoCommit { rev: rev.to_owned() })
        };
        let (older, newer) = if let Some((older, newer)) = spec.split_once("..") {
            (find(older)?, find(newer.trim_start_matches('.'))?)
        } else {
            let newer = find(spec)?;
            let parent = repo.read_commit(newer)?.parents.first().copied();
            (parent.ok_or_else(|| BadRange::NoParent { rev: spec.to_owned() })?, newer)
        };
        let way = repo.commits_between(older, newer)?;
        let stood_at = way.into_iter().filter(|oid| *oid != newer).chain([older]).map(|oid| oid.to_string()).collect();
        let time = |oid| repo.read_commit(oid).map(|commit| commit.commit_time);
        Ok(Self { stood_at, after: time(older)?, until: time(newer)? })
    }

    /// Whether what a commit of a trace did belongs to this way.
    #[must_use]
    pub(crate) fn holds(&self, tip: &Tip) -> bool {
        match tip.trailers.code.as_deref().filter(|_| tip.is_ours()) {
            Some(code) => self.stood_at.contains(code),
            None => (self.after + 1..=self.until).contains(&tip.time().as_second()),
        }
    }
}
