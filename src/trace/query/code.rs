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

    /// The work that led to a commit from its first parent; of a first commit, all earlier work.
    pub(crate) fn to(repo: &Repo, commit: Oid) -> Result<Self, GitError> {
        let commit = repo.read_commit(commit)?;
        let Some(parent) = commit.parents.first() else {
            return Ok(Self { stood_at: HashSet::new(), after: i64::MIN, until: commit.commit_time });
        };
        let after = repo.read_commit(*parent)?.commit_time;
        Ok(Self { stood_at: HashSet::from([parent.to_string()]), after, until: commit.commit_time })
    }

    /// The work since `HEAD`, which is not committed.
    pub(crate) fn since_head(repo: &Repo) -> Result<Self, GitError> {
        let head = repo.find_ref("HEAD")?;
        let after = head.map_or(Ok(i64::MIN), |head| repo.read_commit(head).map(|commit| commit.commit_time))?;
        Ok(Self {
            stood_at: head.iter().map(Oid::to_string).collect(),
            after,
            until: repo.env().clock().now.as_second(),
        })
    }

    pub(crate) fn holds(&self, tip: &Tip) -> bool {
        self.holds_work_at(tip.trailers.code.as_deref().filter(|_| tip.is_ours()), tip.time().as_second())
    }

    /// Whether work belongs to the range that was recorded while the code was at a commit, if that is known, and at a time.
    pub(crate) fn holds_work_at(&self, code: Option<&str>, time: i64) -> bool {
        match code {
            Some(code) => self.stood_at.contains(code),
            None => self.after < time && time <= self.until,
        }
    }

    /// When the work ended.
    pub(crate) fn until(&self) -> i64 {
        self.until
    }
}

/// The commits of `A..B`, newest first, or the one commit; `None` if there is no such commit. An omitted end is `HEAD`.
pub(crate) fn commits(repo: &Repo, spec: &str) -> Result<Option<Vec<Oid>>, GitError> {
    let find = |rev: &str| repo.find_commit(if rev.is_empty() { "HEAD" } else { rev });
    let Some((older, newer)) = spec.split_once("..") else { return Ok(find(spec)?.map(|commit| vec![commit])) };
    let ends = find(older)?.zip(find(newer.trim_start_matches('.'))?);
    ends.map(|(older, newer)| repo.commits_between(older, newer)).transpose()
}
