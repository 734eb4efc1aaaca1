//! Whether something was purged while a command read its input.

use super::PURGED;
use crate::git::{GitError, ObjectsLock, Oid, Repo};
use crate::trace::TraceError;

/// The purges that were applied before an input was opened. An input that was opened earlier may contain what a later purge
/// removed, in texts that the tombstones do not recognize.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AppliedPurges(Option<Oid>);

impl AppliedPurges {
    /// Notes them for [`require_no_purge`]: what is read from now on may be used only if none follows.
    pub(crate) fn note(repo: &Repo) -> Result<(), GitError> {
        repo.watch_ref(PURGED)
    }

    pub(crate) fn read(repo: &Repo) -> Result<Self, GitError> {
        repo.find_ref(PURGED).map(Self)
    }

    /// Keeps purges from running, and fails with [`TraceError::PurgedMeanwhile`] if one ran.
    pub(crate) fn hold(self, repo: &Repo) -> Result<ObjectsLock, TraceError> {
        let lock = repo.lock_objects()?;
        if repo.find_ref(PURGED)? == self.0 { Ok(lock) } else { Err(TraceError::PurgedMeanwhile) }
    }
}

/// Keeps purges from running, and fails with [`TraceError::PurgedMeanwhile`] if one ran since [`AppliedPurges::note`].
pub(crate) fn require_no_purge(repo: &Repo) -> Result<ObjectsLock, TraceError> {
    let lock = repo.lock_objects()?;
    if repo.has_moved(PURGED)? { Err(TraceError::PurgedMeanwhile) } else { Ok(lock) }
}
