//! What a trace counts for: the total of DESIGN 6.
//!
//! The total counts every live item as a message of its own: its tokens, 3 for a message, 1 for a name, and 3 once for the
//! reply. A commit's trailer keeps it for the whole tree; what is skipped is taken off at reading.

use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::tokens::framing::{PER_REPLY, message_cost};
use crate::trace::error::TraceError;
use crate::trace::model::file::{self, BadItemFile};
use crate::trace::model::item::{Fields, Item, ItemType};
use crate::trace::model::tree::{self, ItemEntry};

/// What an item costs as a message of its own.
#[must_use]
pub(crate) fn item_cost(item: &Item, encoding: Encoding) -> u64 {
    message_cost(item.token_count(encoding), item.fields.name.is_some())
}

/// Reads an item's file; a damaged one is read as it stands, see [`Reading`].
pub(crate) fn read_item(repo: &Repo, slot: &ItemEntry) -> Result<Item, TraceError> {
    Ok(read(repo, slot)?.item)
}

/// Reads an item's file and says whether it is damaged.
pub(crate) fn read(repo: &Repo, slot: &ItemEntry) -> Result<Reading, TraceError> {
    Ok(Reading::of(slot, &repo.read_blob(slot.blob)?))
}

/// An item as it was read from its file.
///
/// A file that a hand or a merge of lines has damaged stops nobody: its bytes are read as a freeform item of the id that
/// its name has, they count and materialize as they stand, and can be edited, deleted or restored.
#[derive(Debug)]
pub struct Reading {
    /// The item.
    pub item: Item,
    /// What is wrong with its file.
    pub damage: Option<BadItemFile>,
}

impl Reading {
    /// Reads the bytes of the file that stands in `slot`.
    #[must_use]
    pub fn of(slot: &ItemEntry, bytes: &[u8]) -> Self {
        match file::parse(bytes) {
            Ok(item) => Self { item, damage: None },
            Err(damage) => {
                let fields = Fields::new(ItemType::freeform());
                let item = Item { id: slot.id, fields, revision: 1, tokens: None, body: bytes.to_vec() };
                Self { item, damage: Some(damage) }
            }
        }
    }
}

/// Counts a tree's total anew: reads every item.
pub(crate) fn recount(repo: &Repo, tree: Oid, encoding: Encoding) -> Result<u64, TraceError> {
    let slots = tree::list(repo, tree)?;
    let mut tokens = PER_REPLY;
    repo.for_each_blob(slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
        tokens += item_cost(&Reading::of(slot, bytes).item, encoding);
        Ok::<_, TraceError>(())
    })?;
    Ok(tokens)
}
