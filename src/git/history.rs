//! Walking the history of the user's code.

use git2::{Oid, Sort};

use super::error::GitError;
use super::open::Repo;

/// A commit of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeCommit {
    /// The commit.
    pub oid: Oid,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// Its first line.
    pub subject: String,
}

impl Repo {
    /// The commits that are in `newer` and not in `older`.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if history cannot be read.
    pub fn commits_between(&self, older: Oid, newer: Oid) -> Result<Vec<Oid>, GitError> {
        let failed = |source| GitError::Store { action: format!("walk back from {newer}"), source };
        let mut walk = self.inner.revwalk().map_err(failed)?;
        walk.push(newer).map_err(failed)?;
        walk.hide(older).map_err(failed)?;
        walk.collect::<Result<_, _>>().map_err(failed)
    }

    /// The commits of the branches, and of `HEAD`, that were made at `since` or later, newest first.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if history cannot be read.
    pub fn code_since(&self, since: i64) -> Result<Vec<CodeCommit>, GitError> {
        let failed = |source| GitError::Store { action: "walk the history of the code".to_owned(), source };
        let mut walk = self.inner.revwalk().map_err(failed)?;
        walk.set_sorting(Sort::TIME).map_err(failed)?;
        let branches = self.list_refs("refs/heads/")?.into_iter().map(|(_, tip)| tip);
        for tip in branches.chain(self.find_ref("HEAD")?) {
            walk.push(tip).map_err(failed)?;
        }
        let mut found = Vec::new();
        for oid in walk {
            let oid = oid.map_err(failed)?;
            let commit = self.read_commit(oid)?;
            if commit.commit_time < since {
                break;
            }
            found.push(CodeCommit { oid, time: commit.commit_time, subject: commit.subject().to_owned() });
        }
        Ok(found)
    }
}
