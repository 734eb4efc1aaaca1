//! Closing the gaps between a trace's positions, so that a full trace takes items again.
//!
//! One commit moves files and changes no content: ids, order, and total stay, and so does history.

use std::collections::HashMap;

use crate::trace::error::TraceError;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::{self, item_path};
use crate::trace::store::trace::Trace;

impl Trace<'_> {
    /// Gives the items the positions from 0 on, in their order. Returns the number of files that moved: if plain git doubled
    /// an item's file, both. Costs the complete tree.
    pub(crate) fn renumber(&self) -> Result<usize, TraceError> {
        let (_, moved) = self.change(|change| {
            let slots = tree::list_files(change.repo(), change.require_tip()?.commit.tree)?;
            // Remove all files before any is put: a later file may be where an earlier one moves to.
            let mut places = HashMap::new();
            for (seq, slot) in (0..).zip(&slots) {
                let path = item_path(seq, &slot.item_type, slot.id);
                if path != slot.path {
                    change.remove_file(&slot.path)?;
                    places.insert(path, slot.blob);
                }
            }
            let moved = places.len();
            for (path, blob) in places {
                change.put_file(&path, blob)?;
            }
            let next = u32::try_from(slots.len()).unwrap_or(tree::CAPACITY);
            if moved > 0 || change.next_seq != next {
                change.next_seq = next;
                let subject = format!("renumber up to #{}", next.saturating_sub(1));
                change.commit(&subject, Trailers::default(), None)?;
            }
            Ok::<_, TraceError>(moved)
        })?;
        Ok(moved)
    }
}
