//! Tokens: exact counts, reports of providers, and budgets.
//!
//! Counts equal those of tiktoken-rs, but nothing is loaded: `build.rs` turns its vocabularies into tables that are read in
//! place from the binary, so the first count of a process is as fast as any other.
//!
//! - `split.rs` splits text into pieces as the encoding's pattern would. `merge.rs` merges the bytes of a piece that is not a
//!   token. Both take near-linear time on any input.
//! - A user's own counter may take the place of an encoding: `counter.rs` is the handle on either, `command.rs` a counter that is a
//!   program, and `tokenizer.rs` one that is a file.
//! - Text that spells a special token, such as `<|endoftext|>`, counts as ordinary text.
//! - Images count by their dimensions; see [`image`].
//! - [`UsageReader`] reads the figures of a provider, and [`Budget`] compares a total with its limit.

mod budget;
pub(crate) mod cache;
mod class;
pub(crate) mod command;
pub(crate) mod counter;
mod encoding;
pub(crate) mod framing;
pub(crate) mod image;
mod layout;
mod merge;
pub(crate) mod price;
mod provider;
mod split;
pub(crate) mod tokenizer;
mod usage;
mod usage_map;
mod vocabulary;
pub(crate) mod window;

pub(crate) use budget::{
    Budget, BudgetAction, BudgetReport, CleanAction, CompressAction, DEFAULT_MARGIN, Grouping, MAX_MARGIN, Verdict,
};
pub use counter::{BadCounterId, CountError, Counter, CounterId, CustomId, TokenCounter};
pub use encoding::Encoding;
pub(crate) use usage::parse_usage_value;
pub use usage::{TokenUsage, UsageError};
pub(crate) use usage_map::{UsageMap, UsageReader};
