//! Fetched histories that a purge rewrote before a pull merged them, `refs/trace-kept/<oid>`.
//!
//! A later fetch moves the remote-tracking ref to the result of another purge, which may contain the text that was purged here. Only a
//! comparison with the kept form shows this.

use std::collections::{HashMap, HashSet};

use super::rewrite::read_item;
use crate::git::{Oid, RefChange, Repo};
use crate::trace::model::name::{REMOTE_RECORDS, REMOTES, TRACES};
use crate::trace::store::archived;
use crate::trace::store::priority::{HISTORY, RECORD};
use crate::trace::store::tombstone::Tombstones;
use crate::trace::store::walk::changes_of;
use crate::trace::sync::{forget_fetched, tracking_ref};
use crate::trace::{Tip, TraceError};

pub(super) const KEPT: &str = "refs/trace-kept/";

/// The refs that keep what a purge leaves of the traces and priorities of remotes, apart from archived traces, which no pull fetches.
pub(super) fn keep(repo: &Repo, refs: &[RefChange]) -> Result<Vec<RefChange>, TraceError> {
    let archived = archived::all(repo)?.into_iter().map(|one| tracking_ref(&one.remote, one.name.as_str()));
    let archived: HashSet<String> = archived.collect();
    let shared = format!("/{}", HISTORY.shared);
    let is_fetched = |refname: &str| {
        refname.starts_with(REMOTES) || (refname.starts_with(REMOTE_RECORDS) && refname.ends_with(&shared))
    };
    let (mut kept, known) = (HashMap::new(), Tombstones::find(repo)?.unwrap_or_default());
    let moved: HashMap<&str, Oid> = refs.iter().map(|change| (change.refname.as_str(), change.new)).collect();
    for change in refs.iter().filter(|change| is_fetched(&change.refname) && !archived.contains(&change.refname)) {
        let refname = format!("{KEPT}{}", change.new);
        let is_known = repo.find_ref(&refname)?.is_some();
        if !is_known && !is_purged(repo, &known, change.new)? && !is_merged(repo, change.new, &moved)? {
            kept.insert(refname, change.new);
        }
    }
    Ok(kept.into_iter().map(|(refname, new)| RefChange { refname, old: None, new }).collect())
}

/// Forgets what was merged since, or joined with what another purge left, and what contains something purged: all that a comparison
/// could show is in the tombstones then.
pub(crate) fn forget_settled(repo: &Repo) -> Result<(), TraceError> {
    let (tombstones, mut settled) = (Tombstones::find(repo)?.unwrap_or_default(), Vec::new());
    for (refname, tip) in repo.list_refs(KEPT)? {
        let is_joined = tombstones.of_object(tip).is_some();
        if is_joined || is_purged(repo, &tombstones, tip)? || is_merged(repo, tip, &HashMap::new())? {
            settled.push((refname, tip));
        }
    }
    if settled.is_empty() { Ok(()) } else { forget_fetched(repo, &settled) }
}

/// Whether something in a history was purged, or is what a purge left of an item that did not know of another purge.
fn is_purged(repo: &Repo, known: &Tombstones, tip: Oid) -> Result<bool, TraceError> {
    if HISTORY.format.is_of(repo, tip) {
        return Ok(!known.in_lines(repo, tip, None)?.is_empty());
    }
    for oid in repo.commits_beyond(tip, None)? {
        for change in changes_of(repo, &Tip::read(repo, oid)?)? {
            let Some(entry) = change.sides().1.filter(|entry| known.of_id(entry.id).is_some()) else { continue };
            if known.of_item(&read_item(entry.id, &repo.read_blob(entry.blob)?)).is_some() {
                return Ok(true);
            }
        }
    }
    Ok(!known.in_history(repo, tip, None)?.is_empty())
}

/// Whether a local trace has a commit, or the record of priorities has all of its lines. `moved` names the refs that are about to move.
fn is_merged(repo: &Repo, oid: Oid, moved: &HashMap<&str, Oid>) -> Result<bool, TraceError> {
    let now = |(refname, tip): (&str, Oid)| moved.get(refname).copied().unwrap_or(tip);
    // `fsck` reports damaged tips.
    let is_whole = |tip: &Oid| repo.read_commit(*tip).is_ok();
    if HISTORY.format.is_of(repo, oid) {
        let Some(ours) = repo.find_ref(RECORD)?.map(|tip| now((RECORD, tip))).filter(is_whole) else {
            return Ok(false);
        };
        let (ours, theirs) = (repo.read_commit(ours)?.tree, repo.read_commit(oid)?.tree);
        return Ok(HISTORY.format.union(repo, Some(ours), theirs, |_| Ok(true))?.paths.is_empty());
    }
    let tips: Vec<Oid> = repo.list_refs(TRACES)?.iter().map(|(name, tip)| now((name, *tip))).filter(is_whole).collect();
    Ok(repo.commits_only_in(&[oid], &tips)?.is_empty())
}
