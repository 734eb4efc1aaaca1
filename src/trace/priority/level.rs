//! The three levels.

use crate::trace::item::ItemType;
use crate::words::words;

words! {
    /// How an item is treated when a trace is materialized, cut or compressed.
    Level {
        /// Left out; it stays in history for good.
        Skip = "skip",
        /// Put in; may be compressed.
        Normal = "normal",
        /// Put in; survives compression and budget cuts word for word.
        Pinned = "pinned",
    }
}

/// The level of an item that nobody set one for: instructions are pinned, all else is normal.
#[must_use]
pub fn default_level(item_type: &ItemType) -> Level {
    if *item_type == ItemType::instruction() { Level::Pinned } else { Level::Normal }
}
