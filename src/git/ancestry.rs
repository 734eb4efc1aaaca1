//! What commits have in common.

use git2::{ErrorCode, Oid, Sort};

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// The best common ancestors of two commits, none of which is in the history of another; several after merges that
    /// crossed, none where the two have nothing in common. Walks back from both to there.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if the object database cannot be read.
    pub fn merge_bases(&self, one: Oid, two: Oid) -> Result<Vec<Oid>, GitError> {
        self.loose.read(one)?;
        self.loose.read(two)?;
        match self.inner.merge_bases(one, two) {
            Ok(bases) => Ok(bases.to_vec()),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(Vec::new()),
            Err(source) => Err(GitError::Store { action: format!("find what {one} and {two} have in common"), source }),
        }
    }

    /// The commits of `tip` that `other` does not have, parents before children. Walks both back to what they share.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if the object database cannot be read.
    pub fn commits_beyond(&self, tip: Oid, other: Option<Oid>) -> Result<Vec<Oid>, GitError> {
        let listed = || -> Result<Vec<Oid>, git2::Error> {
            let mut walk = self.inner.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.push(tip)?;
            other.map_or(Ok(()), |other| walk.hide(other))?;
            walk.collect()
        };
        listed().map_err(|source| GitError::Store { action: format!("walk back from {tip}"), source })
    }
}
