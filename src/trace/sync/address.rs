//! Addresses of remotes: remote-tracking refs report the state of one address, and nothing about another.
//!
//! Addresses are those that git names after `url.<base>.insteadOf` and its like.

use std::fs;
use std::path::PathBuf;

use super::lines::fetched_ref;
use super::{leave_out_others, tracking_ref};
use crate::base::replace::{Access, put};
use crate::git::{Destination, GitError, PushedRef, Repo};
use crate::trace::TraceError;

/// Deletes the remote-tracking refs of a remote whose addresses, or the one that is fetched from, have changed since the last call, or are
/// not known to be the same.
pub(super) fn forget_other_address<'a>(repo: &Repo, from: impl Into<Destination<'a>>) -> Result<(), TraceError> {
    let from = from.into();
    let (remote, digest) = (from.remote, digest(repo, from)?);
    if fs::read_to_string(path(repo, remote)).is_ok_and(|known| known == digest) {
        return Ok(());
    }
    repo.delete_refs(fetched(repo, remote)?.iter().map(String::as_str))?;
    remember(repo, remote, &digest);
    Ok(())
}

/// Remembers the addresses of a remote from which nothing was fetched yet.
pub(super) fn note_address(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    if fetched(repo, remote)?.is_empty() {
        remember(repo, remote, &digest(repo, remote.into())?);
    }
    Ok(())
}

/// The remote-tracking refs of a remote.
fn fetched(repo: &Repo, remote: &str) -> Result<Vec<String>, GitError> {
    let mut fetched = repo.list_refs(&tracking_ref(remote, ""))?;
    fetched.extend(repo.list_refs(&fetched_ref(remote, ""))?);
    leave_out_others(repo, remote, &mut fetched)?;
    Ok(fetched.into_iter().map(|(refname, _)| refname).collect())
}

fn remember(repo: &Repo, remote: &str, digest: &str) {
    let path = path(repo, remote);
    // Other users read it, too. Without the file, the next call knows as little.
    let _ = put(&path, Access::Cache, digest.as_bytes()).map(|()| repo.share_file(&path));
}

/// An address may contain a password.
fn digest(repo: &Repo, from: Destination<'_>) -> Result<String, GitError> {
    let fetched = match from.address {
        Some(address) => Some(address.to_owned()),
        None => fetch_address(repo, from.remote)?,
    };
    let both = [fetched.into_iter().collect(), repo.addresses(from.remote, true)?];
    Ok(blake3::hash(both.map(|list| list.join("\n")).join("\n\n").as_bytes()).to_hex().to_string())
}

fn path(repo: &Repo, remote: &str) -> PathBuf {
    let file = &blake3::hash(remote.as_bytes()).to_hex()[..16];
    repo.common_dir().join("trace").join("cache").join("remotes").join(file)
}

/// Leaves out the address that git fetches from in answers, which name the remote.
pub(super) fn leave_out_fetched(repo: &Repo, remote: &str, answers: &mut [PushedRef]) -> Result<(), GitError> {
    let fetched = fetch_address(repo, remote)?.map(|address| shown_address(&address));
    for answer in answers {
        answer.address.take_if(|address| fetched.as_ref() == Some(address));
    }
    Ok(())
}

/// The address that git fetches from.
fn fetch_address(repo: &Repo, remote: &str) -> Result<Option<String>, GitError> {
    Ok(repo.addresses(remote, false)?.into_iter().next())
}

/// An address of a remote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) remote: String,
    /// `None`: the remote as it is.
    push: Option<String>,
    /// Where its state is fetched from; `None`: the remote, whose state was fetched.
    fetch: Option<String>,
    /// Git pushes to other addresses.
    pub(super) is_fetched_only: bool,
    /// Git fetches from it.
    pub(super) is_fetched: bool,
}

impl Target {
    /// For messages.
    pub(super) fn address(&self) -> String {
        self.push.as_deref().map_or(self.remote.clone(), shown_address)
    }

    /// Whether an answer to a push to the remote came from this address.
    pub(super) fn is_answered_by(&self, pushed: &PushedRef) -> bool {
        self.push.as_deref().is_none_or(|push| pushed.address.as_deref() == Some(&*shown_address(push)))
    }

    pub(super) fn push(&self) -> Destination<'_> {
        Destination { remote: &self.remote, address: self.push.as_deref() }
    }

    pub(crate) fn fetch(&self) -> Destination<'_> {
        Destination { remote: &self.remote, address: self.fetch.as_deref() }
    }

    /// Answers to a push to this address alone.
    pub(super) fn name_pushed(&self, answers: &mut [PushedRef]) {
        for answer in answers {
            answer.address = self.push.as_deref().map(shown_address).or(answer.address.take());
        }
    }

    /// Answers of the remote as answers of this address.
    pub(super) fn name(&self, answers: &mut [PushedRef]) {
        for answer in answers {
            answer.address = self.fetch.as_deref().map(shown_address);
        }
    }
}

/// Where pushes to a remote go. Each of several addresses may have another state. The one that fetches come from is the last, so that
/// the remote-tracking ref has its state afterwards.
pub(super) fn targets(repo: &Repo, remote: &str) -> Result<Vec<Target>, TraceError> {
    let mut targets = all_targets(repo, remote)?;
    targets.retain(|target| !target.is_fetched_only);
    Ok(targets)
}

/// As [`targets`], with the address from which git only fetches, if there is one.
pub(crate) fn all_targets(repo: &Repo, remote: &str) -> Result<Vec<Target>, TraceError> {
    let from = fetch_address(repo, remote)?;
    let mut to = repo.addresses(remote, true)?;
    to.sort_by_key(|address| from.as_ref() == Some(address));
    let is_single = to.len() == 1;
    let target = |address: String| Target {
        remote: remote.to_owned(),
        is_fetched: from.as_ref() == Some(&address),
        push: (!is_single).then(|| address.clone()),
        fetch: (!is_single || from.as_ref() != Some(&address)).then_some(address),
        is_fetched_only: false,
    };
    let fetched_only = from.clone().filter(|from| !to.contains(from));
    let fetched_only = fetched_only.map(|address| Target {
        remote: remote.to_owned(),
        push: None,
        fetch: Some(address),
        is_fetched_only: true,
        is_fetched: true,
    });
    Ok(to.into_iter().map(target).chain(fetched_only).collect())
}

/// An address as git shows it after a push (`transport_anonymize_url`): without a user and a password, unless it is a path or begins with
/// the name of a remote helper, such as `codecommit::us-east-1://profile@repo`.
fn shown_address(url: &str) -> String {
    let is_path = !url.split('/').next().is_some_and(|first| first.contains(':'));
    let is_scheme = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let shown = match url.split_once("://") {
        _ if is_path => None,
        Some((scheme, rest)) => {
            let user = rest.split('/').next().and_then(|host| host.split_once('@')).filter(|_| is_scheme(scheme));
            user.map(|(user, _)| format!("{scheme}://{}", &rest[user.len() + 1..]))
        }
        None => url.split_once('@').filter(|(_, host)| host.contains(':')).map(|(_, host)| host.to_owned()),
    };
    shown.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
#[path = "../../../tests/unit/address.rs"]
mod tests;
