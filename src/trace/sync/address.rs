//! Addresses of remotes: remote-tracking refs report the state of one address, and nothing about another.

use std::fs;

use super::lines::fetched_ref;
use super::tracking_ref;
use crate::base::replace::{Access, put};
use crate::git::Repo;
use crate::trace::TraceError;

fn addresses(repo: &Repo, remote: &str, kind: &str) -> Result<Vec<String>, TraceError> {
    Ok(repo.config()?.texts(&format!("remote.{remote}.{kind}"))?)
}

/// Deletes the remote-tracking refs of a remote whose addresses have changed since the last call.
pub(super) fn forget_other_address(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    let both = [addresses(repo, remote, "url")?, addresses(repo, remote, "pushurl")?];
    // An address may contain a password.
    let digest = blake3::hash(both.map(|list| list.join("\n")).join("\n\n").as_bytes()).to_hex();
    let file = &blake3::hash(remote.as_bytes()).to_hex()[..16];
    let path = repo.common_dir().join("trace").join("cache").join("remotes").join(file);
    let known = fs::read_to_string(&path).ok();
    if known.as_deref() == Some(digest.as_str()) {
        return Ok(());
    }
    if known.is_some() {
        for prefix in [tracking_ref(remote, ""), fetched_ref(remote, "")] {
            let refs = repo.list_refs(&prefix)?;
            repo.delete_refs(refs.iter().map(|(refname, _)| refname.as_str()))?;
        }
    }
    if let Some(folder) = path.parent() {
        // Without the file, the next call knows as little.
        let _ = fs::create_dir_all(folder).and_then(|()| put(&path, Access::Cache, digest.as_bytes()));
    }
    Ok(())
}

/// The address that pushes go to, if fetches come from others.
pub(super) fn push_address(repo: &Repo, remote: &str) -> Result<Option<String>, TraceError> {
    let (from, to) = (addresses(repo, remote, "url")?, addresses(repo, remote, "pushurl")?);
    let is_other = !to.iter().any(|address| from.contains(address));
    Ok(to.into_iter().next().filter(|_| is_other))
}
