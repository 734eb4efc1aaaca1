//! The tokens of a message besides its text.
//!
//! Source of the figures: OpenAI Cookbook, "How to count tokens with tiktoken".

pub(crate) const PER_MESSAGE: u64 = 3;
pub(crate) const PER_NAME: u64 = 1;
pub(crate) const PER_REPLY: u64 = 3;

/// The tokens of a message: text and framing.
pub(crate) fn message_cost(text_tokens: u64, named: bool) -> u64 {
    text_tokens + PER_MESSAGE + if named { PER_NAME } else { 0 }
}
