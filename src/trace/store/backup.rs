//! Backup refs: the tip that a trace had before it was moved back or deleted.
//!
//! `refs/trace-orig/<name>` points to that tip, so that `git gc` keeps its commits. Its reflog lists earlier tips. In the name, `/`
//! is written as `%2F`, and `%` as `%25`, because traces `a` and later `a/b` may both have existed.

use crate::git::{LogLine, Oid, Repo};
use crate::trace::{TraceError, TraceName};

pub(crate) const BACKUP_REFS: &str = "refs/trace-orig/";

pub(crate) fn backup_refname(name: &TraceName) -> String {
    format!("{BACKUP_REFS}{}", name.as_str().replace('%', "%25").replace('/', "%2F"))
}

/// Points the backup ref of a trace to `oid` and returns its name.
///
/// The caller holds the trace's lock and moves the trace afterwards, because a backup without a move does no harm. The commit may be
/// incomplete, because a reset repairs a damaged trace.
pub(crate) fn back_up(repo: &Repo, name: &TraceName, oid: Oid, log: LogLine<'_>) -> Result<String, TraceError> {
    let refname = backup_refname(name);
    let _lock = repo.lock(&refname)?;
    let old = repo.find_ref(&refname)?;
    if old != Some(oid) {
        repo.move_ref(&refname, old, oid, log)?;
    }
    Ok(refname)
}
