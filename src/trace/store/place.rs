//! Moving a trace to where it was not led by a commit, and keeping the place it leaves.
//!
//! Before a trace is moved back or deleted, `refs/trace-orig/<name>` is pointed at its tip, so that `git gc` keeps what would
//! otherwise hang on a reflog alone, and its reflog remembers earlier places. A `/` of the name is written `%2F` there (and
//! `%` as `%25`): traces `a` and, later, `a/b` may both have been, and refs cannot be folders too.

use super::advance::{Advance, advance};
use super::tip::Tip;
use crate::git::{Ident, LogLine, Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;

/// Where the places are kept that traces were moved from.
pub(crate) const KEPT: &str = "refs/trace-orig/";

/// The ref that keeps the place which a trace was last moved from.
#[must_use]
pub(crate) fn kept_refname(name: &TraceName) -> String {
    format!("{KEPT}{}", name.as_str().replace('%', "%25").replace('/', "%2F"))
}

/// Keeps `oid`, the tip of a trace that is about to be moved or deleted, under [`kept_refname`], which is returned.
///
/// The caller holds the trace's lock. It is to be called before the move: what was kept and then not moved does no harm.
///
/// # Errors
///
/// [`crate::git::GitError::Busy`] and its kin.
pub(crate) fn keep_place(repo: &Repo, name: &TraceName, oid: Oid, log: LogLine<'_>) -> Result<String, TraceError> {
    let refname = kept_refname(name);
    let _lock = repo.lock(&refname)?;
    let kept = repo.find_ref(&refname)?;
    if kept != Some(oid) {
        repo.move_ref(&refname, kept, oid, log)?;
    }
    Ok(refname)
}

/// Moves a trace to where `decide` says, given its tip, under the trace's lock; `None` leaves it where it is. The place
/// that it leaves is kept. If somebody without our lock moved it meanwhile, `decide` is called again.
///
/// # Errors
///
/// [`TraceError::NoSuchTrace`], what `decide` returns, and the errors of [`Repo::move_ref`]; then it was not moved.
pub(crate) fn relocate<T>(
    repo: &Repo,
    name: &TraceName,
    who: &Ident,
    mut decide: impl FnMut(&Tip) -> Result<(Option<Advance>, T), TraceError>,
) -> Result<T, TraceError> {
    let (_, answer) = advance(repo, name, who, |tip| {
        let tip = tip.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
        let (step, answer) = decide(tip)?;
        if let Some(Advance { log, .. }) = &step {
            keep_place(repo, name, tip.commit.oid, LogLine { who, why: log })?;
        }
        Ok((step, answer))
    })?;
    Ok(answer)
}

/// Moves a trace to `to`; its tip before, or `None` if it was there already.
///
/// # Errors
///
/// As [`relocate`].
pub(crate) fn reset(
    repo: &Repo,
    name: &TraceName,
    who: &Ident,
    to: Oid,
    spec: &str,
) -> Result<Option<Tip>, TraceError> {
    relocate(repo, name, who, |tip| {
        if tip.commit.oid == to {
            return Ok((None, None));
        }
        Ok((Some(Advance { to, log: format!("reset: to {spec}") }), Some(tip.clone())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_different_traces_never_meet() {
        let kept = |name: &str| kept_refname(&name.parse().unwrap());
        assert_eq!(kept("main"), "refs/trace-orig/main");
        assert_eq!(kept("a/b"), "refs/trace-orig/a%2Fb");
        assert_eq!(kept("a%2Fb"), "refs/trace-orig/a%252Fb");
    }
}
