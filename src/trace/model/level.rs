//! The three levels.

use crate::base::string_enum::string_enum;

string_enum! {
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
