//! What a trace counts for: the total of DESIGN 6.
//!
//! The total counts every live item as a message of its own: its tokens, 3 for a message, 1 for a name, and 3 once for the
//! reply. A commit's trailer keeps it for the whole tree; what is skipped is taken off at reading.

use super::error::TraceError;
use super::file;
use super::item::Item;
use super::tree::{self, Slot};
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::tokens::framing::{PER_REPLY, message_cost};

/// What an item costs as a message of its own.
#[must_use]
pub fn item_cost(item: &Item, encoding: Encoding) -> u64 {
    message_cost(item.token_count(encoding), item.fields.name.is_some())
}

/// Reads an item's file.
///
/// # Errors
///
/// [`TraceError::Damaged`] names the file.
pub fn read_item(repo: &Repo, slot: &Slot) -> Result<Item, TraceError> {
    let bytes = repo.read_blob(slot.blob)?;
    file::parse(&bytes).map_err(|source| TraceError::Damaged { path: slot.path.clone(), source })
}

/// Counts a tree's total anew: reads every item.
///
/// # Errors
///
/// [`TraceError::Damaged`] names a file that cannot be read.
pub fn recount(repo: &Repo, tree: Oid, encoding: Encoding) -> Result<u64, TraceError> {
    let slots = tree::list(repo, tree)?;
    let mut tokens = PER_REPLY;
    repo.for_each_blob(slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
        let item = file::parse(bytes).map_err(|source| TraceError::Damaged { path: slot.path.clone(), source })?;
        tokens += item_cost(&item, encoding);
        Ok::<_, TraceError>(())
    })?;
    Ok(tokens)
}
