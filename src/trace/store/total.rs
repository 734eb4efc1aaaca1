//! The size of a trace in tokens.
//!
//! The total counts every live item as a separate message: its tokens, 3 for the message, and 1 for a name; plus 3 for the
//! reply. The trailer of a commit contains the total of its complete tree. Readers subtract what is skipped.

use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::tokens::framing::{PER_REPLY, message_cost};
use crate::trace::model::item_file::{self, BadItemFile};
use crate::trace::model::tree;
use crate::trace::{Draft, Fields, Item, ItemEntry, ItemId, ItemType, TraceError};

/// The cost of an item as a separate message.
pub(crate) fn item_cost(item: &Item, counter: Counter) -> u64 {
    message_cost(item.token_count(counter), item.fields.name.is_some())
}

/// Reads an item; for a damaged file, see [`Reading`].
pub(crate) fn read_item(repo: &Repo, slot: &ItemEntry) -> Result<Item, TraceError> {
    Ok(read(repo, slot)?.item)
}

pub(crate) fn read(repo: &Repo, slot: &ItemEntry) -> Result<Reading, TraceError> {
    Ok(Reading::of(slot, &repo.read_blob(slot.blob)?))
}

/// An item as read from its file.
///
/// A file that an editor or a line merge damaged, or that has the name of another item or type, blocks nobody: its bytes are the body
/// of a freeform item with the id in its name. This item is counted and materialized, and can be edited, deleted, or restored.
#[derive(Debug)]
pub(crate) struct Reading {
    pub item: Item,
    pub damage: Option<BadItemFile>,
}

impl Reading {
    pub(crate) fn of(slot: &ItemEntry, bytes: &[u8]) -> Self {
        let read = item_file::parse(bytes).and_then(|item| {
            has_name(slot, item.id, &item.fields.item_type)?;
            Ok(item)
        });
        Self::or_damaged(read, slot.id, bytes)
    }

    /// As [`Self::of`], whatever the name of the file is.
    pub(crate) fn of_any_name(slot: &ItemEntry, bytes: &[u8]) -> Self {
        Self::or_damaged(item_file::parse(bytes), slot.id, bytes)
    }

    fn or_damaged(read: Result<Item, BadItemFile>, id: ItemId, bytes: &[u8]) -> Self {
        match read {
            Ok(item) => Self { item, damage: None },
            Err(damage) => {
                let draft = Draft { fields: Fields::new(ItemType::freeform()), body: bytes.to_vec() };
                Self { item: Item::new(id, draft), damage: Some(damage) }
            }
        }
    }
}

/// Refuses an item file whose name says something else than its header.
pub(crate) fn has_name(slot: &ItemEntry, id: ItemId, item_type: &ItemType) -> Result<(), BadItemFile> {
    if slot.id != id {
        return Err(BadItemFile::OtherName { key: "id", value: id.to_string() });
    }
    if slot.item_type != *item_type {
        return Err(BadItemFile::OtherName { key: "type", value: item_type.to_string() });
    }
    Ok(())
}

/// Counts the total of a tree. Reads every item.
pub(crate) fn recount(repo: &Repo, tree: Oid, counter: Counter) -> Result<u64, TraceError> {
    let slots = tree::list(repo, tree)?;
    let mut tokens = PER_REPLY;
    repo.for_each_blob(slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
        tokens += item_cost(&Reading::of(slot, bytes).item, counter);
        Ok::<_, TraceError>(())
    })?;
    Ok(tokens)
}
