//! Signed commits of a trace: `trace.sign` asks for them.
//!
//! Signing is a matter of who writes, so the shared settings have no say in it. The record of priorities and the archives
//! of crumb files are no traces, and are not signed.

use crate::git::{Ident, NewCommit, Oid, Repo};
use crate::trace::error::TraceError;

/// Whether the commits of traces are signed.
///
/// # Errors
///
/// If the setting is not a truth.
pub(crate) fn is_asked(repo: &Repo) -> Result<bool, TraceError> {
    Ok(repo.config()?.boolean("trace.sign")?.unwrap_or(false))
}

/// Writes a commit of a trace, signed if that was asked for.
///
/// # Errors
///
/// [`crate::git::GitError::Unsigned`] if it was and could not be; then there is no commit.
pub(crate) fn write_commit(repo: &Repo, commit: &NewCommit<'_>) -> Result<Oid, TraceError> {
    let oid = if is_asked(repo)? { repo.write_signed_commit(commit)? } else { repo.write_commit(commit)? };
    Ok(oid)
}

/// Writes a commit of `author` once more, signed.
///
/// # Errors
///
/// As [`write_commit`].
pub(crate) fn again(repo: &Repo, oid: Oid, author: &Ident, committer: &Ident) -> Result<Oid, TraceError> {
    let commit = repo.read_commit(oid)?;
    let (parents, message) = (&commit.parents, &commit.message);
    let commit = NewCommit { tree: commit.tree, parents, author, committer, message };
    Ok(repo.write_signed_commit(&commit)?)
}
