//! Earlier revisions of an item in history.

use std::collections::{HashMap, HashSet};

use super::total::{self, Reading};
use super::walk::{Parents, Walk, changes_of};
use crate::git::Repo;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::Change;
use crate::trace::{Item, ItemEntry, ItemId, Tip, TraceError, TraceName};

#[derive(Debug)]
pub(crate) struct Found {
    pub newest: Item,
    /// The commit that removed it; `None` if it was only changed there.
    pub removed: Option<Trailers>,
    pub wanted: (ItemEntry, Item),
}

/// Finds the newest revision of an item in the history of `tip`, and `revision` (none: the newest). Walks history back to it.
pub(crate) fn find(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    id: ItemId,
    revision: Option<u32>,
) -> Result<Found, TraceError> {
    let mut newest: Option<(Item, Option<Trailers>)> = None;
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if earlier.item().is_some_and(|item| item != id) {
            continue;
        }
        let changes = changes_of(repo, &earlier)?;
        for slot in changes.iter().flat_map(Change::newest_first).filter(|slot| slot.id == id) {
            // A damaged file contains no revision.
            let Reading { item, damage: None } = total::read(repo, slot)? else { continue };
            let (newest, removed) = newest.get_or_insert_with(|| (item.clone(), removal(&earlier, &changes, id)));
            if revision.is_none_or(|revision| revision == item.revision) {
                let (newest, removed) = (newest.clone(), removed.clone());
                return Ok(Found { newest, removed, wanted: (slot.clone(), item) });
            }
        }
    }
    Err(missing(name, id, revision))
}

/// Finds the newest revisions of items in the history of `tip`, in the same order.
pub(crate) fn newest(repo: &Repo, name: &TraceName, tip: &Tip, ids: &[ItemId]) -> Result<Vec<Found>, TraceError> {
    let mut found = find_known(repo, tip, ids)?;
    ids.iter().map(|id| found.remove(id).ok_or_else(|| missing(name, *id, None))).collect()
}

/// As [`newest`], of the items that the history has, by one walk that ends when all are found.
pub(crate) fn find_known(repo: &Repo, tip: &Tip, ids: &[ItemId]) -> Result<HashMap<ItemId, Found>, TraceError> {
    let mut wanted: HashSet<ItemId> = ids.iter().copied().collect();
    let mut found: HashMap<ItemId, Found> = HashMap::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if wanted.is_empty() {
            break;
        }
        if earlier.item().is_some_and(|item| !wanted.contains(&item)) {
            continue;
        }
        let changes = changes_of(repo, &earlier)?;
        for slot in changes.iter().flat_map(Change::newest_first) {
            if wanted.contains(&slot.id)
                && let Reading { item, damage: None } = total::read(repo, slot)?
            {
                wanted.remove(&slot.id);
                let removed = removal(&earlier, &changes, slot.id);
                found.insert(slot.id, Found { newest: item.clone(), removed, wanted: (slot.clone(), item) });
            }
        }
    }
    Ok(found)
}

fn removal(commit: &Tip, changes: &[Change], id: ItemId) -> Option<Trailers> {
    let is_it = |change: &Change| matches!(change, Change::Removed(entry) if entry.id == id);
    changes.iter().any(is_it).then(|| commit.trailers.clone())
}

fn missing(name: &TraceName, id: ItemId, revision: Option<u32>) -> TraceError {
    match revision {
        Some(revision) => TraceError::NoSuchRevision { item: id, revision, trace: name.clone() },
        None => TraceError::UnknownItem { spec: id.to_string(), trace: name.clone() },
    }
}
