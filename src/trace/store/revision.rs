//! Texts of an item in history.

use super::tip::Tip;
use super::total::{self, Reading};
use super::walk::{Parents, Walk, changes_of};
use crate::git::Repo;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::Item;
use crate::trace::model::tree::ItemEntry;

/// Texts of an item that history holds.
#[derive(Debug)]
pub(crate) struct Found {
    pub newest: Item,
    /// The one that was looked for, and where it stood.
    pub wanted: (ItemEntry, Item),
}

/// Finds an item's newest text from `tip` back, and that of `revision` (none: the newest).
///
/// Walks history back to the commit that has the text.
pub(crate) fn find(repo: &Repo, tip: &Tip, id: ItemId, revision: Option<u32>) -> Result<Option<Found>, TraceError> {
    let mut newest: Option<Item> = None;
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if earlier.is_ours() && earlier.trailers.item.is_some_and(|item| item != id) {
            continue;
        }
        for change in changes_of(repo, &earlier)?.into_iter().filter(|change| change.entry().id == id) {
            // A deleted item is in the parent.
            let (before, after) = change.sides();
            for slot in after.into_iter().chain(before) {
                // A damaged file holds no text to go back to.
                let Reading { item, damage: None } = total::read(repo, slot)? else { continue };
                let newest = newest.get_or_insert_with(|| item.clone());
                if revision.is_none_or(|revision| revision == item.revision) {
                    return Ok(Some(Found { newest: newest.clone(), wanted: (slot.clone(), item) }));
                }
            }
        }
    }
    Ok(None)
}
