//! Whether something was purged while a command worked.

use super::PURGED;
use crate::git::{GitError, ObjectsLock, Repo};
use crate::trace::TraceError;

/// Notes the purges that were applied, for [`require_no_purge`]. Everything that is read from now on may be used only if no other
/// follows: it may contain what a later purge removes, in texts that the tombstones do not recognize. Only the first note counts.
pub(crate) fn note_purges(repo: &Repo) -> Result<(), GitError> {
    repo.watch_ref(PURGED, false)
}

/// As [`note_purges`], where nothing that was read before is used any more.
pub(crate) fn note_purges_again(repo: &Repo) -> Result<(), GitError> {
    repo.watch_ref(PURGED, true)
}

/// Keeps purges from running, and fails with [`TraceError::PurgedMeanwhile`] if one ran since [`note_purges`].
pub(crate) fn require_no_purge(repo: &Repo) -> Result<ObjectsLock, TraceError> {
    let lock = repo.lock_objects()?;
    if repo.has_moved(PURGED)? { Err(TraceError::PurgedMeanwhile) } else { Ok(lock) }
}
