//! Closing the gaps between a trace's positions, so that a full trace takes items again.
//!
//! One commit moves files and changes no content: ids, order, and total stay, and so does history. If something that was deleted invalidates
//! signatures of later reasoning, one gap stays, because only gaps show that.

use std::collections::HashMap;
use std::iter;

use crate::trace::model::trailers::{Trailers, Vacant};
use crate::trace::model::tree::{self, item_path};
use crate::trace::{ItemEntry, ItemType, Trace, TraceError};

impl Trace<'_> {
    /// Gives the items consecutive positions from 0, except for the gap that stays. Returns the number of files that moved, including
    /// second files of an item that plain git left. Rewrites the complete tree.
    pub(crate) fn renumber(&self) -> Result<usize, TraceError> {
        let (_, moved) = self.change(|change| {
            let tip = change.require_tip()?;
            let slots = tree::list_files(change.repo(), tip.commit.tree)?;
            let vacant_until = tip.vacant_until(&slots);
            let nexts = iter::once(0).chain(slots.iter().map(|slot| slot.seq + 1));
            let first_gap = nexts.zip(&slots).position(|(next, slot)| slot.seq > next && slot.seq > vacant_until);
            let is_reasoning = |slot: &ItemEntry| slot.item_type == ItemType::reasoning();
            let kept_gap = first_gap.filter(|gap| slots[*gap..].iter().any(is_reasoning));
            // What follows the last item may be reasoning.
            let end = slots.last().map_or(0, |last| last.seq + 1);
            let is_open = kept_gap.is_none() && change.next_seq > end.max(vacant_until);
            // Remove all files first: an earlier file may move to the path of a later one.
            let mut moved = HashMap::new();
            for (rank, slot) in slots.iter().enumerate() {
                let seq = u32::try_from(rank + usize::from(kept_gap.is_some_and(|gap| rank >= gap)))
                    .unwrap_or(tree::CAPACITY);
                let path = item_path(seq, &slot.item_type, slot.id);
                if path != slot.path {
                    change.remove_file(&slot.path)?;
                    moved.insert(path, slot.blob);
                }
            }
            for (path, blob) in &moved {
                change.put_file(path, *blob)?;
            }
            let next =
                u32::try_from(slots.len() + usize::from(kept_gap.is_some() || is_open)).unwrap_or(tree::CAPACITY);
            change.vacant = Vacant::default();
            if !moved.is_empty() || change.next_seq != next {
                change.next_seq = next;
                let subject = format!("renumber up to #{}", next.saturating_sub(1));
                change.commit(&subject, Trailers::default(), None)?;
            }
            Ok(moved.len())
        })?;
        Ok(moved)
    }
}
