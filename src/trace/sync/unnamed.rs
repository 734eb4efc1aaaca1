//! The refs of a remote that no command but a purge fetches unless somebody names them: private ones, which are the forward crumbs of
//! agents and the archives of crumb files, and all those of git-trace that `git push --mirror` copied. Each fetch brings records of other
//! names, too, and forgets them.

use std::collections::HashSet;

use super::lines::{fetched_ref, shared_ref};
use super::purged::{ARCHIVED, delete_fetched, drop_objects, fetched_tombstones, find_purged, is_ours};
use super::{is_private, leave_out_others, tracking_ref};
use crate::git::{Destination, GitError, Oid, Repo};
use crate::trace::TraceError;
use crate::trace::store::priority;
use crate::trace::store::tombstone::{self, Tombstones};

/// Below `refs/`.
const BEGINNINGS: [&str; 3] = ["crumbs/", "crumb-archive/", "trace-"];

/// All refs of this kind as last fetched, by name.
pub(crate) fn fetched_unnamed_refs(repo: &Repo, remote: &str) -> Result<Vec<(String, Oid)>, TraceError> {
    let prefix = fetched_ref(remote, "");
    let mut found = repo.list_refs(&prefix)?;
    found.retain(|(refname, _)| BEGINNINGS.iter().any(|beginning| refname[prefix.len()..].starts_with(beginning)));
    Ok(found)
}

/// Forgets records of other names, such as a copy that somebody made on the server: nothing reads them.
pub(super) fn forget_other_records(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    let (known, prefix) = ([priority::HISTORY.shared, tombstone::HISTORY.shared], fetched_ref(remote, ""));
    let mut others = repo.list_refs(&prefix)?;
    others.retain(|(refname, _)| {
        let name = &refname[prefix.len()..];
        name.starts_with('p') && !known.contains(&name)
    });
    if others.is_empty() {
        return Ok(());
    }
    leave_out_others(repo, remote, &mut others)?;
    forget_known(repo, &others, Tombstones::with_fetched(repo, fetched_tombstones(repo, remote)?)?.as_ref())
}

/// The private ones as last fetched, which somebody may have named.
pub(crate) fn fetched_private_refs(repo: &Repo, remote: &str) -> Result<HashSet<String>, TraceError> {
    let prefix = fetched_ref(remote, "");
    let is_named = |refname: &String| is_private(&format!("refs/{}", &refname[prefix.len()..]));
    Ok(fetched_unnamed_refs(repo, remote)?.into_iter().map(|(refname, _)| refname).filter(is_named).collect())
}

/// A ref of a remote to which no ref here leads, and why. Its objects may have been fetched.
pub(super) struct Skipped {
    pub(super) name: String,
    pub(super) reason: String,
    pub(super) tip: Oid,
}

impl Skipped {
    pub(super) fn not_stored(name: impl Into<String>, tip: Oid) -> Self {
        let reason = "git could not store it here: its name is too long, or also that of a folder of other refs, or it is locked";
        Self { name: name.into(), reason: reason.to_owned(), tip }
    }

    /// Whether it is one of these.
    pub(super) fn is_in(skipped: &[Self], name: &str) -> bool {
        skipped.iter().any(|one| one.name == name)
    }
}

/// Deletes fetched refs that nothing here can name.
pub(super) fn skip_unnamable(repo: &Repo, remote: &str) -> Result<Vec<Skipped>, TraceError> {
    let folders = [tracking_ref(remote, ""), fetched_ref(remote, "")];
    let shown = |name: String| match name.strip_prefix(&folders[0]) {
        Some(name) => name.to_owned(),
        None => name.strip_prefix(&folders[1]).map_or(name.clone(), |name| format!("refs/{name}")),
    };
    let deleted = repo.delete_unnamable(&folders.each_ref().map(String::as_str))?.into_iter();
    let reason = "its name is not UTF-8";
    Ok(deleted.map(|(name, tip)| Skipped { name: shown(name), reason: reason.to_owned(), tip }).collect())
}

/// Removes the purged objects of such refs. Returns their names, and the reasons.
pub(super) fn drop_skipped(
    repo: &Repo,
    remote: &str,
    skipped: Vec<Skipped>,
) -> Result<Vec<(String, String)>, TraceError> {
    if !skipped.is_empty() {
        let tombstones = Tombstones::with_fetched(repo, fetched_tombstones(repo, remote)?)?;
        drop_objects(repo, purged_of(repo, tombstones.as_ref(), skipped.iter().map(|one| one.tip)))?;
    }
    Ok(skipped.into_iter().map(|one| (one.name, one.reason)).collect())
}

/// Fetches them, but keeps no ref to anything else than a commit. Returns the names of those that cannot be fetched, and the reasons.
pub(crate) fn fetch_unnamed_refs(repo: &Repo, from: Destination<'_>) -> Result<Vec<(String, String)>, TraceError> {
    let remote = from.remote;
    let patterns = BEGINNINGS.map(|beginning| format!("refs/{beginning}*"));
    let mut there = repo.list_remote(from, &patterns.each_ref().map(String::as_str))?;
    let fetched = [&priority::HISTORY, &tombstone::HISTORY].map(shared_ref);
    there.retain(|(refname, _)| is_private(refname) || (is_ours(refname) && !fetched.contains(refname)));
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let refspec = |beginning| format!("+refs/{beginning}*:{}", fetched_ref(remote, &format!("{beginning}*")));
    let refspecs = BEGINNINGS.map(refspec).into_iter().chain(fetched.map(|refname| format!("^{refname}")));
    let is_complete = match repo.fetch(from, &refspecs.collect::<Vec<String>>(), &["--quiet"]) {
        Err(GitError::NotStored) => false,
        fetched => fetched.map(|()| true)?,
    };
    let mut skipped = skip_unnamable(repo, remote)?;
    for (refname, oid) in there {
        let found = repo.find_ref(&fetched_ref(remote, &refname)).unwrap_or_default();
        // A ref that moved meanwhile was fetched as it is now, if all were.
        if (found.is_none() || (found != Some(oid) && !is_complete)) && !Skipped::is_in(&skipped, &refname) {
            skipped.push(Skipped::not_stored(refname, oid));
        }
    }
    let mut strange = fetched_unnamed_refs(repo, remote)?;
    strange.retain(|(_, tip)| matches!(repo.read_raw_commit(*tip), Err(GitError::WrongKind { .. })));
    repo.delete_refs(strange.iter().map(|(refname, _)| &**refname))?;
    drop_skipped(repo, remote, skipped)
}

/// Forgets all but those that are `kept`.
pub(crate) fn forget_unnamed_refs(repo: &Repo, remote: &str, kept: &HashSet<String>) -> Result<(), TraceError> {
    let mut new = fetched_unnamed_refs(repo, remote)?;
    new.retain(|(refname, _)| !kept.contains(refname));
    forget(repo, &new)
}

/// Deletes refs as last fetched, and purged objects to which they led.
pub(crate) fn forget(repo: &Repo, refs: &[(String, Oid)]) -> Result<(), TraceError> {
    forget_known(repo, refs, Tombstones::find(repo)?.as_ref())
}

fn forget_known(repo: &Repo, refs: &[(String, Oid)], tombstones: Option<&Tombstones>) -> Result<(), TraceError> {
    let objects = purged_of(repo, tombstones, refs.iter().map(|(_, tip)| *tip));
    delete_fetched(repo, refs.iter().map(|(refname, _)| &**refname), objects)
}

/// The purged objects to which commits lead.
fn purged_of(repo: &Repo, tombstones: Option<&Tombstones>, tips: impl Iterator<Item = Oid>) -> HashSet<Oid> {
    let Some(tombstones) = tombstones else { return HashSet::new() };
    let of_tip = |tip: Oid| {
        let format = [priority::HISTORY.format, ARCHIVED].into_iter().find(|format| format.is_of(repo, tip));
        // A remote may have any history. One that is damaged needs no removal to be unreachable.
        find_purged(repo, tombstones, (tip, None), format).ok().flatten().map(|(_, purged)| purged)
    };
    tips.filter_map(of_tip).flatten().collect()
}
