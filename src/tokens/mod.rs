//! Tokens: exact counts, what providers report, and budgets.
//!
//! Counts equal those of tiktoken-rs, but nothing is loaded to make them: `build.rs` turns its vocabularies into tables
//! that are read in place from the binary, so that the first count of a process costs what the hundredth does.
//!
//! - Text is split into pieces as the encoding's pattern would (`split.rs`), and a piece that is no token of its own is
//!   merged from its bytes (`merge.rs`); both are near-linear on any input.
//! - Text that spells a special token, such as `<|endoftext|>`, is counted as the ordinary text it is.
//! - A provider's own figures are read by [`parse_usage`], and a total is held against its limit by [`Budget`].

mod budget;
mod class;
mod encoding;
pub(crate) mod framing;
mod layout;
mod merge;
mod provider;
mod split;
mod usage;
mod vocabulary;

pub(crate) use budget::{Budget, BudgetAction, BudgetReport, Verdict};
pub use encoding::Encoding;
pub(crate) use usage::{TokenUsage, UsageError, parse_usage};

/// Counts tokens; the way to bring a tokenizer of one's own.
///
/// [`Encoding`] is the built-in implementation.
pub(crate) trait TokenCounter {
    /// Counts the tokens of `text`, which may be any bytes.
    fn count(&self, text: &[u8]) -> u64;

    /// The name to give beside a count, so that counts of different counters are never mixed.
    fn name(&self) -> &str;
}
