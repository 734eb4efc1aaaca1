//! What a message costs beside its text.
//!
//! Source of the figures: OpenAI Cookbook, "How to count tokens with tiktoken".

/// Tokens of framing that every message costs.
pub(crate) const PER_MESSAGE: u64 = 3;
/// Tokens of framing that a name costs.
pub(crate) const PER_NAME: u64 = 1;
/// Tokens that a request costs once, for the reply's opening.
pub(crate) const PER_REPLY: u64 = 3;

/// What a message costs: its text's tokens and its framing.
#[must_use]
pub(crate) fn message_cost(text_tokens: u64, named: bool) -> u64 {
    text_tokens + PER_MESSAGE + if named { PER_NAME } else { 0 }
}
