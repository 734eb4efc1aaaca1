//! Deleting an item from a trace, and restoring it.

use super::append::Committed;
use super::pending::PendingChange;
use crate::trace::model::trailers::preview;
use crate::trace::model::tree;
use crate::trace::store::revision::{self, Found};
use crate::trace::store::tombstone::Tombstones;
use crate::trace::store::total;
use crate::trace::{Draft, Item, ItemEntry, ItemId, Op, Trace, TraceError};

impl Trace<'_> {
    /// Deletes an item from this trace. It stays in history and in other traces, and [`Self::restore`] brings it back.
    ///
    /// # Errors
    ///
    /// [`TraceError::NotLive`] if the item is not in this trace.
    pub fn delete(&self, id: ItemId, reason: Option<&str>) -> Result<Committed, TraceError> {
        self.change_item(|change| {
            let (slot, item) = change.live_item(id)?;
            // All of its files: a second one, which a merge by plain git may have left, would take the place of the first.
            for file in tree::list_files(change.repo(), change.require_tip()?.commit.tree)? {
                if file.id == id {
                    change.remove_file(&file.path)?;
                }
            }
            change.count(0, total::item_cost(&item, change.encoding));
            change.commit_item(Op::Delete, id, &format!("delete {}", preview(&item)), reason)?;
            Ok((Op::Delete, item, slot.seq))
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
            if live.is_some() && revision.is_none() {
                return Err(TraceError::AlreadyLive { item: id, trace: self.name().clone() });
            }
            let found = revision::find(self.repo(), self.name(), change.require_tip()?, id, revision)?;
            let (item, seq) = put_back(change, live, found, reason)?;
            Ok((Op::Restore, item, seq))
        })
    }
}

fn put_back(
    change: &mut PendingChange<'_>,
    live: Option<ItemEntry>,
    Found { newest, wanted: (slot, mut item) }: Found,
    reason: Option<&str>,
) -> Result<(Item, u32), TraceError> {
    let tombstones = Tombstones::find(change.repo())?;
    let purge =
        tombstones.as_ref().and_then(|all| all.of_object(slot.blob).or_else(|| all.of_item(item.id, &item.body)));
    if let Some(purge) = purge {
        return Err(purge.refusal(format!("that revision of item {}", item.id)));
    }
    if let Some(slot) = live {
        let mut old = total::read_item(change.repo(), &slot)?;
        old.revision = old.revision.max(newest.revision);
        let revised = change.revise(&slot, &old, Draft { fields: item.fields, body: item.body })?;
        if let Some(item) = &revised {
            change.commit_item(Op::Restore, item.id, &preview(item), reason)?;
        }
        return Ok((revised.unwrap_or(old), slot.seq));
    }
    if item.revision == newest.revision {
        change.put_blob(slot.seq, &item, slot.blob)?;
    } else {
        item.revision = newest.revision.saturating_add(1);
        change.put_item(slot.seq, &item)?;
    }
    change.commit_item(Op::Restore, item.id, &format!("restore {}", preview(&item)), reason)?;
    Ok((item, slot.seq))
}
