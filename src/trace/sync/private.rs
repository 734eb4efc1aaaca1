//! Private refs of a remote, the forward crumbs of agents and the archives of crumb files, while a purge needs all of them. No other
//! command fetches one that nobody named.

use std::collections::HashSet;

use super::is_private;
use super::lines::fetched_ref;
use crate::git::{Destination, GitError, Repo};
use crate::trace::TraceError;

/// Below `refs/`.
const FOLDERS: [&str; 2] = ["crumbs/", "crumb-archive/"];

/// The private refs of a remote as last fetched.
pub(crate) fn fetched_private_refs(repo: &Repo, remote: &str) -> Result<HashSet<String>, TraceError> {
    let mut found = HashSet::new();
    for folder in FOLDERS {
        found.extend(repo.list_refs(&fetched_ref(remote, folder))?.into_iter().map(|(refname, _)| refname));
    }
    Ok(found)
}

/// Fetches all private refs of a remote. Returns the names of those that cannot be fetched, and the reasons.
pub(crate) fn fetch_private_refs(repo: &Repo, from: Destination<'_>) -> Result<Vec<(String, String)>, TraceError> {
    let remote = from.remote;
    let patterns = FOLDERS.map(|folder| format!("refs/{folder}*"));
    let mut there = repo.list_remote(from, &patterns.each_ref().map(String::as_str))?;
    there.retain(|(refname, _)| is_private(refname));
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let refspecs = FOLDERS.map(|folder| format!("+refs/{folder}*:{}", fetched_ref(remote, &format!("{folder}*"))));
    let is_complete = match repo.fetch(from, &refspecs, &["--quiet"]) {
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

/// Deletes the private refs of a remote that were fetched in addition to those that are `known`.
pub(crate) fn forget_private_refs(repo: &Repo, remote: &str, known: &HashSet<String>) -> Result<(), TraceError> {
    let new = fetched_private_refs(repo, remote)?;
    Ok(repo.delete_refs(new.difference(known).map(String::as_str))?)
}
