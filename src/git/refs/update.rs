//! The only compare-and-swap loop: build a new state from a ref's current oid, then move the ref from that oid.

use super::{LogLine, PAUSE, RefStorage};
use crate::git::error::GitError;
use crate::git::ident::Ident;
use crate::git::lock::{LOCK_PATIENCE, RefLock, Wait};
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::tree::TreeStore as _;

pub(crate) enum RefUpdate<T> {
    Keep(T),
    Move { to: Oid, log: String, value: T },
}

impl Repo {
    /// Moves the locked ref to the commit that `build` makes of its current oid (`None`: there is no such ref).
    ///
    /// Our lock does not stop plain git. If git moves the ref meanwhile, `build` is called again with the new oid, until
    /// [`LOCK_PATIENCE`] ends. A ref that somebody removed without git is not started again. The ref never moves to a commit that is
    /// missing or whose tree is missing. A commit that it leaves and that is not in the new one's history is backed up.
    pub(crate) fn update_ref<T, E: From<GitError>>(
        &self,
        lock: &RefLock,
        who: &Ident,
        mut build: impl FnMut(Option<Oid>) -> Result<RefUpdate<T>, E>,
    ) -> Result<T, E> {
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        loop {
            let old = self.present_oid(lock.refname())?;
            let (to, log, value) = match build(old)? {
                RefUpdate::Keep(value) => return Ok(value),
                RefUpdate::Move { to, log, value } => (to, log, value),
            };
            if self.try_move((lock.refname(), old, to), LogLine { who, why: &log }, &mut wait)? {
                self.take_note_along(lock.refname(), old, to);
                return Ok(value);
            }
        }
    }

    fn present_oid(&self, refname: &str) -> Result<Option<Oid>, GitError> {
        let oid = self.find_ref(refname)?;
        if oid.is_none() && self.has_vanished(refname)? {
            return Err(GitError::RefGone { refname: refname.to_owned() });
        }
        Ok(oid)
    }

    /// Moves a ref; false if somebody else has moved it meanwhile and there is time to try again.
    fn try_move(
        &self,
        (refname, old, to): (&str, Option<Oid>, Oid),
        line: LogLine,
        wait: &mut Wait,
    ) -> Result<bool, GitError> {
        let commit = self.read_commit(to)?;
        self.tree(commit.tree)?;
        // A commit on top of the old one keeps it, so the usual move costs no more than this comparison.
        let left = old.filter(|old| !commit.parents.contains(old) && !self.is_ancestor(*old, to).unwrap_or(false));
        match self.move_ref((refname, old, to), left, line) {
            Ok(()) => Ok(true),
            Err(error @ (GitError::RefMoved { .. } | GitError::RefLocked { .. })) => {
                if wait.go_on(PAUSE, || error.to_string()) { Ok(false) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a ref that does not exist has a reflog that leads to its last commits. Git removes the reflog with the ref, and a
    /// creation that was interrupted has logged no move from one commit to another. A reftable keeps both in one place.
    fn has_vanished(&self, refname: &str) -> Result<bool, GitError> {
        if let RefStorage::Reftable(_) = self.refs {
            return Ok(false);
        }
        Ok(self.read_reflog(refname)?.iter().any(|moved| moved.old.is_some() && self.read_commit(moved.new).is_ok()))
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/git/update.rs"]
mod tests;
