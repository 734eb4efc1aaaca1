//! Which trace is the current one.

use super::error::TraceError;
use super::name::{TRACE_HEAD, TraceName};
use crate::git::Repo;

/// The current trace of this worktree: what `TRACE_HEAD` names, or `main`.
///
/// # Errors
///
/// If `TRACE_HEAD` cannot be read.
pub fn current(repo: &Repo) -> Result<TraceName, TraceError> {
    Ok(chosen(repo)?.unwrap_or_else(TraceName::default_name))
}

/// The trace that `TRACE_HEAD` names; `None` where nobody has chosen one.
///
/// # Errors
///
/// If `TRACE_HEAD` cannot be read.
pub fn chosen(repo: &Repo) -> Result<Option<TraceName>, TraceError> {
    Ok(repo.find_symbolic_ref(TRACE_HEAD)?.and_then(|refname| TraceName::of_ref(&refname)))
}

/// Makes a trace, which may have no commit yet, the current one of this worktree.
///
/// # Errors
///
/// If `TRACE_HEAD` cannot be written.
pub fn switch(repo: &Repo, name: &TraceName) -> Result<(), TraceError> {
    repo.point_symbolic_ref(TRACE_HEAD, &name.refname(), &format!("switch: to {name}"))?;
    Ok(())
}
