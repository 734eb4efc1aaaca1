//! The refs of a remote that no command but a purge fetches unless somebody names them: private ones, which are the forward crumbs of
//! agents and the archives of crumb files, and all those of git-trace that `git push --mirror` copied.

use std::collections::HashSet;

use super::is_private;
use super::lines::fetched_ref;
use super::purged::is_ours;
use crate::git::{Destination, GitError, Repo};
use crate::trace::TraceError;

/// Below `refs/`.
const BEGINNINGS: [&str; 3] = ["crumbs/", "crumb-archive/", "trace-"];

/// The lines that are shared, which have other refs when they are fetched.
const RECORDS: &str = "refs/trace-records/";

/// The refs of this kind as last fetched.
pub(crate) fn fetched_unnamed_refs(repo: &Repo, remote: &str) -> Result<HashSet<String>, TraceError> {
    let mut found = HashSet::new();
    for beginning in BEGINNINGS {
        found.extend(repo.list_refs(&fetched_ref(remote, beginning))?.into_iter().map(|(refname, _)| refname));
    }
    Ok(found)
}

/// Fetches them. Returns the names of those that cannot be fetched, and the reasons.
pub(crate) fn fetch_unnamed_refs(repo: &Repo, from: Destination<'_>) -> Result<Vec<(String, String)>, TraceError> {
    let remote = from.remote;
    let patterns = BEGINNINGS.map(|beginning| format!("refs/{beginning}*"));
    let mut there = repo.list_remote(from, &patterns.each_ref().map(String::as_str))?;
    there.retain(|(refname, _)| is_private(refname) || (is_ours(refname) && !refname.starts_with(RECORDS)));
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let refspec = |beginning| format!("+refs/{beginning}*:{}", fetched_ref(remote, &format!("{beginning}*")));
    let refspecs = BEGINNINGS.map(refspec).into_iter().chain([format!("^{RECORDS}*")]);
    let is_complete = match repo.fetch(from, &refspecs.collect::<Vec<String>>(), &["--quiet"]) {
        Err(GitError::NotStored) => false,
        fetched => fetched.map(|()| true)?,
    };
    let mut missing = Vec::new();
    for (refname, oid) in there {
        let found = repo.find_ref(&fetched_ref(remote, &refname))?;
        // A ref that moved meanwhile was fetched as it is now, if all were.
        if found.is_none() || (found != Some(oid) && !is_complete) {
            missing.push((refname, "it cannot be stored beside other refs of the remote".to_owned()));
        }
    }
    Ok(missing)
}

/// Deletes those that were fetched in addition to those that are `known`.
pub(crate) fn forget_unnamed_refs(repo: &Repo, remote: &str, known: &HashSet<String>) -> Result<(), TraceError> {
    let new = fetched_unnamed_refs(repo, remote)?;
    Ok(repo.delete_refs(new.difference(known).map(String::as_str))?)
}
