//! Closing the gaps between a trace's positions, so that a full trace takes items again.
//!
//! One commit moves files and changes no content: ids, order, and total stay, and so does history.

use std::collections::HashMap;

use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::{self, item_path};
use crate::trace::{Trace, TraceError};

impl Trace<'_> {
    /// Gives the items consecutive positions from 0. Returns the number of files that moved, including second files of an item that
    /// plain git left. Rewrites the complete tree.
    pub(crate) fn renumber(&self) -> Result<usize, TraceError> {
        let (_, moved) = self.change(|change| {
            let slots = tree::list_files(change.repo(), change.require_tip()?.commit.tree)?;
            // Remove all files first: an earlier file may move to the path of a later one.
            let mut moved = HashMap::new();
            for (seq, slot) in (0..).zip(&slots) {
                let path = item_path(seq, &slot.item_type, slot.id);
                if path != slot.path {
                    change.remove_file(&slot.path)?;
                    moved.insert(path, slot.blob);
                }
            }
            for (path, blob) in &moved {
                change.put_file(path, *blob)?;
            }
            let next = u32::try_from(slots.len()).unwrap_or(tree::CAPACITY);
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
