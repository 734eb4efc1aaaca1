//! States that are not from this trace, on which it is to continue: none is taken over that was purged, that is to be signed and is
//! not, or whose files only make a small fetch a large context.

use std::collections::{HashMap, HashSet};

use super::commit::require_signed_trace;
use super::tombstone::{self, Tombstones};
use super::walk::changes_of;
use crate::git::{BACKUP_REFS, Oid, Repo, short_oid};
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTES, TRACES};
use crate::trace::model::tree::{self, CAPACITY};
use crate::trace::{ItemEntry, Tip, TraceError};

/// How many items may have one file, as after several files were emptied by hand.
const SHARED_MAX: usize = 8;

/// Refuses a state whose history has something purged that the history of `known` does not have, and one that is not from this
/// repository and is not signed although it must be, or fails [`require_sound`]. `known` may be damaged.
pub(crate) fn refuse_state(repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
    // A purge may have removed it since it was named.
    if repo.find_ref(tombstone::HISTORY.refname)?.is_some() && repo.existing(&HashSet::from([tip]))?.is_empty() {
        return Err(TraceError::PurgedMeanwhile);
    }
    let known = known.filter(|known| repo.read_commit(*known).is_ok());
    if known == Some(tip) {
        return Ok(());
    }
    let what = || format!("commit {}", short_oid(tip));
    if let Some(tombstones) = Tombstones::find(repo)? {
        tombstones.refuse(repo, &what(), tip, known)?;
    }
    require_signed_if_foreign(repo, what, tip)?;
    match require_sound(repo, &Tip::read(repo, tip)?, known) {
        Err(_) if !is_foreign(repo, tip, known)? => Ok(()),
        checked => checked,
    }
}

/// Whether no local trace has a commit in its history, and no backup of one. The history of `known` is searched first.
fn is_foreign(repo: &Repo, oid: Oid, known: Option<Oid>) -> Result<bool, TraceError> {
    // `fsck` reports damaged tips.
    let is_in =
        |tips: &[Oid]| tips.contains(&oid) || tips.iter().any(|tip| repo.is_ancestor(oid, *tip).unwrap_or(false));
    let traces = repo.list_refs(TRACES)?.into_iter().map(|(_, tip)| tip);
    if is_in(&known.into_iter().chain(traces).collect::<Vec<_>>()) {
        return Ok(false);
    }
    let (mut backups, others) = (repo.list_refs(BACKUP_REFS)?, backups_of_others(repo)?);
    backups.retain(|(refname, _)| !others.contains(refname));
    Ok(!is_in(&backups.into_iter().map(|(_, tip)| tip).collect::<Vec<_>>()))
}

/// The backups that no trace left, as far as the operation log tells: remote-tracking refs leave tips that may have been refused, and a
/// record's history may have anything in it.
fn backups_of_others(repo: &Repo) -> Result<HashSet<String>, TraceError> {
    let operations = repo.operations()?;
    let (theirs, ours): (Vec<_>, Vec<_>) = operations
        .iter()
        .flat_map(|operation| &operation.refs)
        .partition(|made| [TRACES, FORWARD_CRUMBS].iter().all(|prefix| !made.refname.starts_with(prefix)));
    let [theirs, ours] =
        [theirs, ours].map(|moves| moves.iter().filter_map(|made| made.old.as_deref()).collect::<HashSet<_>>());
    Ok((&theirs - &ours).into_iter().map(|oid| format!("{BACKUP_REFS}{oid}")).collect())
}

/// The next position and the number of `slots`, the items of a commit, if it leaves few positions to later items although it has few.
/// A trace would soon be full.
pub(crate) fn wastes_positions(tip: &Tip, slots: &[ItemEntry]) -> Option<(u32, usize)> {
    let next = tip.next_after(slots.last());
    (next > CAPACITY / 2 && slots.len() < CAPACITY as usize / 4).then_some((next, slots.len()))
}

/// Refuses a commit that leaves few positions to later items although it has few items, one that has one file for many items:
/// each file contains the id of its item, so this could only make a small fetch a large context; and a history that
/// [`require_files`] refuses.
pub(crate) fn require_sound(repo: &Repo, tip: &Tip, known: Option<Oid>) -> Result<(), TraceError> {
    let oid = tip.commit.oid;
    require_files(repo, oid, known)?;
    let slots = tree::list(repo, tip.commit.tree)?;
    if let Some((next, items)) = wastes_positions(tip, &slots) {
        return Err(TraceError::FewPositions { oid, next, items });
    }
    // Of two files of an item, a commit may hide one.
    let known = known.map_or(Ok(Vec::new()), |known| tree::list(repo, repo.read_commit(known)?.tree))?;
    let known: HashSet<Oid> = known.into_iter().map(|slot| slot.blob).collect();
    for slot in slots.iter().filter(|slot| !known.contains(&slot.blob)) {
        if !repo.is_blob(slot.blob)? {
            return Err(TraceError::NotAFile { oid, object: slot.blob });
        }
    }
    let mut counts: HashMap<Oid, usize> = HashMap::new();
    for slot in slots {
        *counts.entry(slot.blob).or_default() += 1;
    }
    match counts.into_iter().filter(|(_, items)| *items > SHARED_MAX).max() {
        Some((blob, items)) => Err(TraceError::SharedFile { oid, blob, items }),
        None => Ok(()),
    }
}

/// Refuses a history that, unlike that of `known`, names another object than a file as the file of an item. Git accepts such a tree, and
/// nothing could read the trace. Reads trees and the headers of files.
pub(crate) fn require_files(repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
    let mut seen = HashSet::new();
    let mut is_new_and_bad = |blob: Oid| Ok::<_, TraceError>(seen.insert(blob) && !repo.is_blob(blob)?);
    for oid in repo.commits_beyond(tip, known)? {
        for change in changes_of(repo, &Tip::read(repo, oid)?)? {
            if let Some(entry) = change.sides().1
                && is_new_and_bad(entry.blob)?
            {
                return Err(TraceError::NotAFile { oid, object: entry.blob });
            }
        }
    }
    Ok(())
}

/// Refuses a commit that no local trace has, and no backup, if `trace.requireSigned` is set and git accepts no signature of it or of a
/// later commit of a remote. It may have been fetched by plain git, as a branch or a tag.
pub(crate) fn require_signed_if_foreign(repo: &Repo, what: impl Fn() -> String, oid: Oid) -> Result<(), TraceError> {
    let Err(refusal) = require_signed_trace(repo, what, oid) else { return Ok(()) };
    if !is_foreign(repo, oid, None)? {
        return Ok(());
    }
    for (_, tip) in repo.list_refs(REMOTES)? {
        // `fsck` reports damaged tips.
        if repo.is_ancestor(oid, tip).unwrap_or(false) && require_signed_trace(repo, String::new, tip).is_ok() {
            return Ok(());
        }
    }
    Err(refusal)
}
