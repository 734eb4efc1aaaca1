//! Addresses of remotes: remote-tracking refs report the state of one address, and nothing about another.
//!
//! Addresses are those that git names after `url.<base>.insteadOf` and its like.

use std::fs;
use std::path::{Path, PathBuf};

use super::lines::fetched_ref;
use super::tracking_ref;
use crate::base::replace::{Access, put};
use crate::git::{Destination, GitError, Repo};
use crate::trace::TraceError;

/// Deletes the remote-tracking refs of a remote whose addresses have changed since the last call, or are not known to be the same.
pub(super) fn forget_other_address(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    let digest = digest(repo, remote)?;
    let path = path(repo, remote);
    if fs::read_to_string(&path).is_ok_and(|known| known == digest) {
        return Ok(());
    }
    repo.delete_refs(fetched(repo, remote)?.iter().map(String::as_str))?;
    remember(&path, &digest);
    Ok(())
}

/// Remembers the addresses of a remote from which nothing was fetched yet.
pub(super) fn note_address(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    if fetched(repo, remote)?.is_empty() {
        remember(&path(repo, remote), &digest(repo, remote)?);
    }
    Ok(())
}

/// The remote-tracking refs of a remote.
fn fetched(repo: &Repo, remote: &str) -> Result<Vec<String>, GitError> {
    let traces = repo.list_refs(&tracking_ref(remote, ""))?;
    let others = repo.list_refs(&fetched_ref(remote, ""))?;
    Ok(traces.into_iter().chain(others).map(|(refname, _)| refname).collect())
}

fn remember(path: &Path, digest: &str) {
    if let Some(folder) = path.parent() {
        // Without the file, the next call knows as little.
        let _ = fs::create_dir_all(folder).and_then(|()| put(path, Access::Cache, digest.as_bytes()));
    }
}

/// An address may contain a password.
fn digest(repo: &Repo, remote: &str) -> Result<String, GitError> {
    let both = [repo.addresses(remote, false)?, repo.addresses(remote, true)?];
    Ok(blake3::hash(both.map(|list| list.join("\n")).join("\n\n").as_bytes()).to_hex().to_string())
}

fn path(repo: &Repo, remote: &str) -> PathBuf {
    let file = &blake3::hash(remote.as_bytes()).to_hex()[..16];
    repo.common_dir().join("trace").join("cache").join("remotes").join(file)
}

/// Where a history of lines is pushed to.
pub(super) struct Target {
    /// `None`: the remote as it is.
    push: Option<String>,
    /// Where its state is fetched from; `None`: the remote, whose state was fetched.
    fetch: Option<String>,
}

impl Target {
    pub(super) fn push<'a>(&'a self, remote: &'a str) -> Destination<'a> {
        Destination { remote, address: self.push.as_deref() }
    }

    pub(super) fn fetch<'a>(&'a self, remote: &'a str) -> Destination<'a> {
        Destination { remote, address: self.fetch.as_deref() }
    }

    pub(super) fn is_fetched(&self) -> bool {
        self.fetch.is_none()
    }
}

/// Where pushes to a remote go. Each of several addresses may have another state. The one that fetches come from is the last, so that
/// the remote-tracking ref has its state afterwards.
pub(super) fn targets(repo: &Repo, remote: &str) -> Result<Vec<Target>, TraceError> {
    let from = repo.addresses(remote, false)?.into_iter().next();
    let mut to = repo.addresses(remote, true)?;
    if let [address] = &*to {
        let fetch = (from.as_ref() != Some(address)).then(|| address.clone());
        return Ok(vec![Target { push: None, fetch }]);
    }
    to.sort_by_key(|address| from.as_ref() == Some(address));
    Ok(to.into_iter().map(|address| Target { push: Some(address.clone()), fetch: Some(address) }).collect())
}
