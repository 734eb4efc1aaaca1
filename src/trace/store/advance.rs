//! Moving a trace on: under its lock, from where it was seen, again from the start where somebody was quicker.
//!
//! A trace that was there is never started anew: whoever waits for the lock of a trace that is being renamed would else make a
//! second one under the old name.

use std::thread;
use std::time::{Duration, Instant};

use super::tip::Tip;
use crate::git::{GitError, Ident, LOCK_PATIENCE, LogLine, Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;

/// Where a trace goes, and what its reflog says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Advance {
    /// The commit that becomes its tip; it is written already.
    pub to: Oid,
    /// The line of the reflog.
    pub log: String,
}

/// Moves a trace to where `build` says, which sees the tip under the trace's lock; `None` leaves it where it is.
///
/// If somebody without our lock moved the ref meanwhile, `build` is called again with the new tip.
///
/// # Errors
///
/// What `build` returns; [`TraceError::Vanished`]; [`GitError::Busy`], [`GitError::RefMoved`] or [`GitError::RefLocked`] when
/// the ref was not to be had for [`LOCK_PATIENCE`]; then nothing was changed.
pub(crate) fn advance<T>(
    repo: &Repo,
    name: &TraceName,
    who: &Ident,
    mut build: impl FnMut(Option<&Tip>) -> Result<(Option<Advance>, T), TraceError>,
) -> Result<(Option<Oid>, T), TraceError> {
    let refname = name.refname();
    Tip::note(repo, name)?;
    let _lock = repo.lock(&refname)?;
    let start = Instant::now();
    loop {
        let tip = Tip::find(repo, name)?;
        if tip.is_none() && repo.was_there(&refname) {
            return Err(TraceError::Vanished { name: name.clone() });
        }
        let (advance, answer) = build(tip.as_ref())?;
        let Some(Advance { to, log }) = advance else { return Ok((None, answer)) };
        let seen = tip.map(|tip| tip.commit.oid);
        match repo.move_ref(&refname, seen, to, LogLine { who, why: &log }) {
            Ok(()) => return Ok((Some(to), answer)),
            Err(GitError::RefMoved { .. } | GitError::RefLocked { .. }) if start.elapsed() < LOCK_PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
