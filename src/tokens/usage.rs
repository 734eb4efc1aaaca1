//! Token usage, read from a provider's response.
//!
//! The input figures of Anthropic and Bedrock exclude cached tokens, those of `OpenAI` and Gemini include them. A [`TokenUsage`]
//! separates them for every provider, so that its parts add up to the total.
//!
//! ```text
//! {"usage":{"input_tokens":50,"cache_read_input_tokens":1000,"cache_creation_input_tokens":0,"output_tokens":7}}
//! {"usage":{"prompt_tokens":1050,"prompt_tokens_details":{"cached_tokens":1000},"completion_tokens":7}}
//! ```
//!
//! Both mean 50 input tokens, 1000 tokens read from a cache, and 7 output tokens: 1057 in the context.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::provider::{PROVIDERS, Provider};
use crate::base::error::Diagnostic;

/// Tokens of one request and its response, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input that was neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Input that was read from a cache.
    pub cache_read_tokens: u64,
    /// Input that was written to a cache.
    pub cache_write_tokens: u64,
    /// The response.
    pub output_tokens: u64,
}

impl TokenUsage {
    /// Reads the usage from a response, or its usage object, of Anthropic, Bedrock, `OpenAI`, Gemini, or Ollama.
    pub fn from_response(payload: &[u8]) -> Result<Self, UsageError> {
        parse_usage(payload)
    }

    /// A report whose `prompt` includes what was read from a cache, and that does not say what was written to one.
    pub(crate) fn of_prompt(prompt: u64, cached: u64, output: u64) -> Self {
        let input_tokens = prompt.saturating_sub(cached);
        Self { input_tokens, cache_read_tokens: cached, cache_write_tokens: 0, output_tokens: output }
    }

    /// Adds the usage to the metadata of the item that it was reported with, in Anthropic's form. Zero is no report.
    pub(crate) fn store(&self, meta: &mut Map<String, Value>) {
        if self.context_tokens() > 0 {
            let Self { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = self;
            let usage = json!({ "input_tokens": input_tokens, "cache_read_input_tokens": cache_read_tokens,
                "cache_creation_input_tokens": cache_write_tokens, "output_tokens": output_tokens });
            meta.insert("usage".to_owned(), usage);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }

    pub(crate) const fn prompt_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }

    /// The size of the context including the response. Usage from a response never reaches the limit of the type.
    #[must_use]
    pub const fn context_tokens(&self) -> u64 {
        self.prompt_tokens().saturating_add(self.output_tokens)
    }
}

/// The reason why the usage cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum UsageError {
    #[error("the usage is not JSON")]
    Syntax(#[source] serde_json::Error),
    #[error("found no token usage: expected a response or its usage object from {}", .accepted.join(", "))]
    Unknown { accepted: Vec<&'static str> },
    #[error("the usage of {provider} has no `{field}`")]
    MissingField { provider: &'static str, field: String },
    #[error("`{field}` is {value}, which is not a number of tokens")]
    NotACount { field: String, value: String },
    #[error("`{part}` is {part_tokens}, more than the {total_tokens} of `{total}`, which include it")]
    PartExceedsTotal { part: String, part_tokens: u64, total: String, total_tokens: u64 },
    #[error("the figures in the usage of {provider} add up to too many tokens")]
    Overflow { provider: String },
}

impl Diagnostic for UsageError {}

/// Reads the usage from a provider's response or usage object, and detects the provider.
fn parse_usage(payload: &[u8]) -> Result<TokenUsage, UsageError> {
    parse_usage_of(&PROVIDERS, payload)
}

/// The first provider that accepts the payload decides.
fn parse_usage_of(providers: &[Provider], payload: &[u8]) -> Result<TokenUsage, UsageError> {
    let payload = serde_json::from_slice(payload).map_err(UsageError::Syntax)?;
    usage_of(providers, &payload)
}

/// As [`parse_usage`], for JSON that is parsed already.
pub(crate) fn parse_usage_value(payload: &Value) -> Result<TokenUsage, UsageError> {
    usage_of(&PROVIDERS, payload)
}

fn usage_of(providers: &[Provider], payload: &Value) -> Result<TokenUsage, UsageError> {
    for provider in providers {
        if let Some(usage) = provider.extract(payload)? {
            return Ok(usage);
        }
    }
    Err(UsageError::Unknown { accepted: providers.iter().map(|provider| provider.name).collect() })
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/usage.rs"]
mod tests;
