//! The levels of priority.

use crate::base::string_enum::string_enum;

string_enum! {
    /// How an item is treated when a trace is materialized, cut or compressed.
    Level {
        /// Omitted from the context; it stays in history.
        Skip = "skip",
        /// Included; may be compressed.
        Normal = "normal",
        /// Included; compression and budget cuts keep it verbatim.
        Pinned = "pinned",
    }
}
