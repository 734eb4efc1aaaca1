//! A commit of a trace, as its trailers and its tree tell of it.

use super::priority::RECORD;
use super::total;
use crate::base::time::Time;
use crate::git::{Commit, Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Basis, Total, Trailers};
use crate::trace::model::tree;

/// One commit of a trace: its tip, or an earlier one.
#[derive(Clone, Debug)]
pub struct Tip {
    /// The commit.
    pub commit: Commit,
    /// What its trailers say, whoever wrote them.
    pub trailers: Trailers,
}

impl Tip {
    /// Reads a commit.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn read(repo: &Repo, oid: Oid) -> Result<Self, TraceError> {
        let commit = repo.read_commit(oid)?;
        let trailers = Trailers::parse(&commit.message);
        Ok(Self { commit, trailers })
    }

    /// The oid of a trace's tip. That it is there is noted: the trace is not started anew where another process renames or
    /// deletes it meanwhile.
    ///
    /// # Errors
    ///
    /// If its ref cannot be read.
    pub fn note(repo: &Repo, name: &TraceName) -> Result<Option<Oid>, TraceError> {
        // Whoever reads a trace goes on to the record of priorities.
        repo.expect_ref(RECORD);
        let refname = name.refname();
        let oid = repo.find_ref(&refname)?;
        if oid.is_some() {
            repo.note_there(&refname);
        }
        Ok(oid)
    }

    /// Reads the tip of a trace; `None` where it has no commit yet.
    ///
    /// # Errors
    ///
    /// As [`Tip::read`].
    pub fn find(repo: &Repo, name: &TraceName) -> Result<Option<Self>, TraceError> {
        Self::note(repo, name)?.map(|oid| Self::read(repo, oid)).transpose()
    }

    /// Reads the tip of a trace that is there.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`] where it is not.
    pub fn of_trace(repo: &Repo, name: &TraceName) -> Result<Self, TraceError> {
        Self::find(repo, name)?.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })
    }

    /// Whether the trailers are of this very tree; plain git's cherry-pick copies them from another.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.trailers.tree.as_deref() == Some(self.commit.tree.to_string().as_str())
    }

    /// When the commit was made, to the nanosecond where it is ours.
    #[must_use]
    pub fn time(&self) -> Time {
        self.trailers.time.filter(|_| self.is_ours()).unwrap_or_else(|| Time::from_second(self.commit.commit_time))
    }

    /// The position that the next item gets: from the trailer, or behind the last file of the tree.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn next_seq(&self, repo: &Repo) -> Result<u32, TraceError> {
        match self.trailers.next.filter(|_| self.is_ours()) {
            Some(next) => Ok(next),
            None => Ok(tree::list(repo, self.commit.tree)?.last().map_or(0, |slot| slot.seq + 1)),
        }
    }

    /// The total of the whole tree, skipped items included: from the trailer where it holds, else counted anew.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn total(&self, repo: &Repo, encoding: Encoding) -> Result<Total, TraceError> {
        let counted = Basis::Counted(encoding);
        let holds = |total: &Total| self.is_ours() && (total.basis == counted || total.basis == Basis::Reported);
        match self.trailers.total.filter(holds) {
            Some(total) => Ok(total),
            None => Ok(Total { tokens: total::recount(repo, self.commit.tree, encoding)?, basis: counted }),
        }
    }
}
