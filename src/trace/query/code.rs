//! The part of a trace that belongs to a change of the code.

use std::collections::HashSet;

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::{GitError, Oid, Repo};
use crate::trace::{Tip, TraceError};

/// A range of code commits, and the work that led from its start to its end.
///
/// A trace commit belongs to the range if its `Trace-Code` is the start or between start and end: the work at a code commit led
/// to the next one. A trace commit without it, such as an import of an old session, belongs to the range by its time.
#[derive(Clone, Debug)]
pub(crate) struct CodeRange {
    stood_at: HashSet<String>,
    after: i64,
    until: i64,
}

#[derive(Debug, Error)]
pub(crate) enum BadRange {
    #[error("`{rev}` is not a commit of the code")]
    NoCommit { rev: String },
    #[error("`{rev}` has no parent; give a range, A..B")]
    NoParent { rev: String },
    #[error(transparent)]
    Git(#[from] GitError),
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
    /// Resolves `A..B`. `B` alone means from its first parent to `B`, and an omitted end is `HEAD`.
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

    pub(crate) fn holds(&self, tip: &Tip) -> bool {
        match tip.trailers.code.as_deref().filter(|_| tip.is_ours()) {
            Some(code) => self.stood_at.contains(code),
            None => (self.after + 1..=self.until).contains(&tip.time().as_second()),
        }
    }
}
