//! Backup refs: the tip that a trace had before it was moved back or deleted.
//!
//! `refs/trace-orig/<name>` points to that tip, so that `git gc` keeps commits that only a reflog would keep otherwise; its
//! own reflog lists earlier tips. A `/` in the name is written as `%2F` (and `%` as `%25`): traces `a` and, later, `a/b` may
//! both have existed, and a ref cannot also be a folder.

use crate::git::{LogLine, Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;

pub(crate) const BACKUP_REFS: &str = "refs/trace-orig/";

#[must_use]
pub(crate) fn backup_refname(name: &TraceName) -> String {
    format!("{BACKUP_REFS}{}", name.as_str().replace('%', "%25").replace('/', "%2F"))
}

/// Points the backup ref of a trace to `oid` and returns its name.
///
/// The caller holds the trace's lock and moves the trace afterwards: a backup without a move does no harm. Whether the
/// commit is complete does not matter, since a reset is the way out of a damaged trace.
pub(crate) fn back_up(repo: &Repo, name: &TraceName, oid: Oid, log: LogLine<'_>) -> Result<String, TraceError> {
    let refname = backup_refname(name);
    let _lock = repo.lock(&refname)?;
    let old = repo.find_ref(&refname)?;
    if old != Some(oid) {
        repo.move_ref(&refname, old, oid, log)?;
    }
    Ok(refname)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_of_different_traces_have_different_names() {
        let backup = |name: &str| backup_refname(&name.parse().unwrap());
        assert_eq!(backup("main"), "refs/trace-orig/main");
        assert_eq!(backup("a/b"), "refs/trace-orig/a%2Fb");
        assert_eq!(backup("a%2Fb"), "refs/trace-orig/a%252Fb");
    }
}
