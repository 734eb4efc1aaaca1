//! Deleting items from a trace, and restoring them.

use std::collections::{HashMap, HashSet};

use super::append::Committed;
use super::pending::PendingChange;
use crate::trace::change::bulk::Removal;
use crate::trace::model::trailers::{Trailers, preview};
use crate::trace::model::tree;
use crate::trace::store::resolve::last_touch;
use crate::trace::store::revision::{self, Found};
use crate::trace::store::tombstone::Tombstones;
use crate::trace::store::total::{self, read_item};
use crate::trace::{Draft, Item, ItemEntry, ItemId, Op, Tip, Trace, TraceError};

impl Trace<'_> {
    /// Deletes an item from this trace. It stays in history and in other traces, and [`Self::restore`] brings it back.
    ///
    /// # Errors
    ///
    /// [`TraceError::NotLive`] if the item is not in this trace.
    pub fn delete(&self, id: ItemId, reason: Option<&str>) -> Result<Committed, TraceError> {
        Ok(self.delete_all(&[id], reason)?.remove(0))
    }

    /// Deletes items in one commit. Returns them in the same order; `ids` has at least one, and each once.
    pub(crate) fn delete_all(&self, ids: &[ItemId], reason: Option<&str>) -> Result<Vec<Committed>, TraceError> {
        self.change_items(|change| {
            let files = tree::list_files(change.repo(), change.require_tip()?.commit.tree)?;
            // The first file of an item counts.
            let by_id: HashMap<ItemId, &ItemEntry> = files.iter().rev().map(|file| (file.id, file)).collect();
            let mut deleted = Vec::with_capacity(ids.len());
            for id in ids {
                let slot =
                    by_id.get(id).ok_or_else(|| TraceError::NotLive { item: *id, trace: self.name().clone() })?;
                let item = total::read_item(change.repo(), slot)?;
                change.count(0, total::item_cost(&item, change.counter));
                deleted.push((item, slot.seq));
            }
            // All of their files: a second one, which a merge by plain git may have left, would take the place of the first.
            let ids: HashSet<&ItemId> = ids.iter().collect();
            for file in files.iter().filter(|file| ids.contains(&file.id)) {
                change.remove_file(&file.path)?;
            }
            commit_all(change, Op::Delete, &deleted, |item| format!("delete {}", preview(item)), reason)?;
            Ok((Op::Delete, deleted))
        })
    }

    /// Restores a deleted item at its old position, or an item (live or not) to an earlier revision, which becomes a new one.
    ///
    /// Walks history back to the commit that has the content.
    ///
    /// # Errors
    ///
    /// [`TraceError::AlreadyLive`] if the item is live and `revision` is `None`, [`TraceError::NoSuchRevision`] or
    /// [`TraceError::UnknownItem`] if history has no such content.
    pub fn restore(&self, id: ItemId, revision: Option<u32>, reason: Option<&str>) -> Result<Committed, TraceError> {
        self.change_item(|change| {
            let live = change.slots()?.into_iter().find(|slot| slot.id == id);
            let revision = match (&live, revision) {
                (Some(slot), None) => Some(self.revision_before_clean(change.require_tip()?, slot)?),
                _ => revision,
            };
            let found = revision::find(self.repo(), self.name(), change.require_tip()?, id, revision)?;
            let (item, seq, subject) = put_back(change, Tombstones::find(self.repo())?.as_ref(), live, found)?;
            if let Some(subject) = subject {
                change.commit_item(Op::Restore, id, &subject, reason)?;
            }
            Ok((Op::Restore, item, seq))
        })
    }

    /// Restores the newest revisions of deleted items in one commit. Returns them in the same order; `ids` has at least one, and
    /// each once.
    pub(crate) fn restore_all(&self, ids: &[ItemId], reason: Option<&str>) -> Result<Vec<Committed>, TraceError> {
        self.change_items(|change| {
            let live: HashSet<ItemId> = change.slots()?.iter().map(|slot| slot.id).collect();
            if let Some(id) = ids.iter().find(|id| live.contains(id)) {
                return Err(TraceError::AlreadyLive { item: *id, trace: self.name().clone() });
            }
            let tombstones = Tombstones::find(self.repo())?;
            let mut restored = Vec::with_capacity(ids.len());
            for found in revision::newest(self.repo(), self.name(), change.require_tip()?, ids)? {
                let (item, seq, _) = put_back(change, tombstones.as_ref(), None, found)?;
                restored.push((item, seq));
            }
            commit_all(change, Op::Restore, &restored, |item| format!("restore {}", preview(item)), reason)?;
            Ok((Op::Restore, restored))
        })
    }
}

impl Trace<'_> {
    /// The revision of a live item that the last change of it, a clean, replaced.
    fn revision_before_clean(&self, tip: &Tip, slot: &ItemEntry) -> Result<u32, TraceError> {
        let last = last_touch(self.repo(), tip, slot.id)?;
        if last.is_some_and(|last| last.trailers.op == Some(Op::Clean)) {
            return Ok(read_item(self.repo(), slot)?.revision.saturating_sub(1));
        }
        Err(TraceError::AlreadyLive { item: slot.id, trace: self.name().clone() })
    }
}

/// Commits a change of one item with its id. A commit of several items has none: readers then compare it with its parent.
fn commit_all(
    change: &mut PendingChange<'_>,
    op: Op,
    items: &[(Item, u32)],
    subject: impl Fn(&Item) -> String,
    reason: Option<&str>,
) -> Result<(), TraceError> {
    match items {
        [(item, _)] => change.commit_item(op, item.id, &subject(item), reason),
        items => {
            let trailers = change.trailers(op, None, reason)?;
            change.commit(&format!("{op} {} items", items.len()), trailers, None)
        }
    }
}

/// Puts an item back. Returns it with its position and the subject of the commit; no subject if nothing changed.
fn put_back(
    change: &mut PendingChange<'_>,
    tombstones: Option<&Tombstones>,
    live: Option<ItemEntry>,
    Found { newest, removed, wanted: (slot, mut item) }: Found,
) -> Result<(Item, u32, Option<String>), TraceError> {
    let purge = tombstones.and_then(|all| all.of_object(slot.blob).or_else(|| all.of_content(&item)));
    if let Some(purge) = purge {
        return Err(purge.refusal(format!("that revision of item {}", item.id)));
    }
    if let Some(slot) = live {
        let mut old = total::read_item(change.repo(), &slot)?;
        old.revision = old.revision.max(newest.revision);
        let revised = change.revise(&slot, &old, Draft { fields: item.fields, body: item.body })?;
        let subject = revised.as_ref().map(preview);
        return Ok((revised.unwrap_or(old), slot.seq, subject));
    }
    // Its position is not empty any more. A person's deletion left none that counts.
    let is_of_import = |removed: &Trailers| {
        let reason = removed.reason.as_deref().filter(|_| removed.op == Some(Op::Delete));
        reason.is_some_and(|reason| reason.parse::<Removal>().is_ok())
    };
    if removed.as_ref().is_some_and(is_of_import) {
        change.vacant.refill(slot.seq);
    }
    if item.revision == newest.revision {
        change.put_blob(slot.seq, &item, slot.blob)?;
    } else {
        item.revision = newest.revision.saturating_add(1);
        change.put_item(slot.seq, &item)?;
    }
    let subject = format!("restore {}", preview(&item));
    Ok((item, slot.seq, Some(subject)))
}
