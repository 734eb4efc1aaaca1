//! Lines that oppose those of an operation: each item gets the level that it had before.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::git::{Entry, Oid, Operation, Repo, TreeStore};
use crate::trace::model::item::ItemType;
use crate::trace::model::tree;
use crate::trace::model::types::Types;
use crate::trace::store::priority::{InForce, RECORD, Record, Request, Setting, item_of, tags};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::Tombstones;
use crate::trace::{ItemId, Tip, TraceError};

/// The items whose lines differ between two states of the record. Reads only folders that differ.
pub(super) fn changed(repo: &Repo, old: Option<Oid>, new: Oid) -> Result<Vec<ItemId>, TraceError> {
    let folders = |oid: Oid| repo.read_tree(repo.read_commit(oid)?.tree);
    let before = old.map_or(Ok(Vec::new()), folders)?;
    let same =
        |entries: &[Entry], entry: &Entry| entries.iter().any(|old| old.name == entry.name && old.oid == entry.oid);
    let mut items = Vec::new();
    for folder in folders(new)?.into_iter().filter(|folder| !same(&before, folder)) {
        let old = before.iter().find(|old| old.name == folder.name);
        let files = old.map_or(Ok(Vec::new()), |old| repo.read_tree(old.oid))?;
        for file in repo.read_tree(folder.oid)?.into_iter().filter(|file| !same(&files, file)) {
            let path = [folder.name.as_slice(), b"/", &file.name].concat();
            items.extend(std::str::from_utf8(&path).ok().and_then(item_of));
        }
    }
    Ok(items)
}

/// Requests that oppose the lines of these moves of the record, oldest first. `tips` are those of moved traces before, and those of all
/// afterwards. The caller holds the lock of the record.
///
/// Fails with [`TraceError::SetSince`] if the level of an item was set later.
pub(super) fn opposing(
    repo: &Repo,
    signature: &Signature,
    moves: &[(Option<Oid>, Oid)],
    tips: &[Vec<Oid>; 2],
    operation: &Operation,
) -> Result<Vec<Request>, TraceError> {
    let mut ends: BTreeMap<ItemId, (Option<Oid>, Oid)> = BTreeMap::new();
    for (old, new) in moves {
        for item in changed(repo, *old, *new)? {
            ends.entry(item).or_insert((*old, *new)).1 = *new;
        }
    }
    let (now, types) = (repo.find_ref(RECORD)?, Types::read(repo)?);
    let tombstones = Tombstones::find(repo)?.unwrap_or_default();
    let mut requests = Vec::new();
    let [had, live] = tips.each_ref().map(|tips| live(repo, tips, ends.keys().copied().collect()));
    for (item, (old, new)) in ends {
        let (before, after) = (in_force(repo, old, item)?, in_force(repo, Some(new), item)?);
        if is_dispute(before.as_ref(), after.as_ref()) {
            continue;
        }
        // The level of an item that goes with its trace is shown nowhere, and comes back with it.
        if had.contains_key(&item) && !live.contains_key(&item) && !is_in_history(repo, item, &tips[1])? {
            continue;
        }
        let Some((introduced, item_type)) = origin(repo, item, live.get(&item))? else { continue };
        if is_set_since(after.as_ref(), in_force(repo, now, item)?.as_ref()) {
            let (operation, command) = (operation.id.clone(), operation.command.clone());
            return Err(TraceError::SetSince { operation, command, item });
        }
        let (level, reason) = match before {
            Some(InForce { setting: Setting { level, reason, .. }, .. }) => {
                let clean = reason.clone().map(|reason| tombstones.reason(item, reason));
                // Nothing but a purged reason would come back.
                if clean != reason && after.as_ref().is_some_and(|after| after.setting.level == level) {
                    continue;
                }
                (level, clean)
            }
            None => (types.rules(&item_type).priority, None),
        };
        let seq = after.and_then(|after| after.setting.seq);
        requests.push(Request { reason, seq, ..Request::now(item, level, signature.at, introduced) });
    }
    Ok(requests)
}

/// Whether only concurrent changes came, and the level stayed. An undo does not settle these.
fn is_dispute(before: Option<&InForce>, after: Option<&InForce>) -> bool {
    before.map(|before| before.setting.level) == after.map(|after| after.setting.level)
        && after.is_some_and(|after| !after.rivals.is_empty())
}

/// Whether a move of the record brought disputes, and nothing else.
pub(super) fn brings_only_disputes(repo: &Repo, old: Option<Oid>, new: Oid) -> Result<bool, TraceError> {
    for item in changed(repo, old, new)? {
        if !is_dispute(in_force(repo, old, item)?.as_ref(), in_force(repo, Some(new), item)?.as_ref()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a level was set again. An undo of a later change sets the same one, in a separate line, which settles a dispute.
fn is_set_since(after: Option<&InForce>, now: Option<&InForce>) -> bool {
    let meaning = |change: Option<&InForce>| change.map(|one| (one.setting.level, one.setting.reason.clone()));
    let rivals = |change: Option<&InForce>| change.map(|one| one.rivals.clone()).unwrap_or_default();
    let known = rivals(after);
    meaning(after) != meaning(now) || rivals(now).iter().any(|rival| !known.contains(rival))
}

fn in_force(repo: &Repo, record: Option<Oid>, item: ItemId) -> Result<Option<InForce>, TraceError> {
    let tree = record.map(|record| repo.read_commit(record)).transpose()?.map(|commit| commit.tree);
    Record::of_tree(repo, tree)?.in_force(repo, item)
}

/// Those of some items that the traces with these tips have, each with its first tip and the type there. Damaged ones are left out.
fn live(repo: &Repo, tips: &[Oid], mut wanted: HashSet<ItemId>) -> HashMap<ItemId, (Oid, ItemType)> {
    let mut found = HashMap::new();
    for tip in tips {
        if wanted.is_empty() {
            break;
        }
        let slots = repo.read_commit(*tip).and_then(|commit| tree::list(repo, commit.tree)).unwrap_or_default();
        let ours = slots.into_iter().filter(|slot| wanted.remove(&slot.id));
        found.extend(ours.map(|slot| (slot.id, (*tip, slot.item_type))));
    }
    found
}

/// Whether an item can be restored in a trace with one of these tips.
fn is_in_history(repo: &Repo, item: ItemId, tips: &[Oid]) -> Result<bool, TraceError> {
    let Some(introduced) = tags::tagged(repo, &tags::prefix(repo)?, item)? else { return Ok(false) };
    for tip in tips {
        if repo.is_ancestor(introduced, *tip)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The commit that introduced an item, which its tag points to, and its type in a trace, or else in that commit.
fn origin(repo: &Repo, item: ItemId, live: Option<&(Oid, ItemType)>) -> Result<Option<(Oid, ItemType)>, TraceError> {
    let tagged = tags::tagged(repo, &tags::prefix(repo)?, item)?;
    match (tagged, live) {
        (Some(commit), Some((_, item_type))) => Ok(Some((commit, item_type.clone()))),
        (None, Some((tip, item_type))) => {
            let introduced = tags::introduction(repo, &Tip::read(repo, *tip)?, item)?;
            Ok(Some((introduced.unwrap_or(*tip), item_type.clone())))
        }
        (Some(commit), None) => {
            let slots = tree::list(repo, repo.read_commit(commit)?.tree)?;
            Ok(slots.into_iter().find(|slot| slot.id == item).map(|slot| (commit, slot.item_type)))
        }
        // The levels of items that no trace has yet are shown nowhere.
        (None, None) => Ok(None),
    }
}
