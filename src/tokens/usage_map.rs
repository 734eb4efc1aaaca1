//! Usage in payloads of other providers, found by JSON pointers that the user gives.
//!
//! ```text
//! {"prompt": "/stats/in", "output": "/stats/out", "cache_read": "/stats/cached"}
//! ```

use serde::Deserialize;
use serde_json::{Map, Value};

use super::provider::count;
use super::usage::{TokenUsage, UsageError, parse_usage_value};

/// The positions of the figures in a payload, as JSON pointers. `prompt` includes cached tokens, `input` excludes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointers {
    prompt: Option<String>,
    input: Option<String>,
    output: String,
    /// Part of the response that `output` excludes.
    reasoning: Option<String>,
    cache_read: Option<String>,
    cache_write: Option<String>,
}

/// A provider that the user described.
#[derive(Clone, Debug)]
pub(crate) struct UsageMap {
    name: String,
    /// Of the input, and whether it includes cached tokens.
    input: (String, bool),
    pointers: Pointers,
}

impl UsageMap {
    /// Reads the text of a map; `None` if it is not one.
    pub(crate) fn parse(name: &str, text: &str) -> Option<Self> {
        let pointers: Pointers = serde_json::from_str(text).ok()?;
        let input = match (&pointers.prompt, &pointers.input) {
            (Some(prompt), None) => (prompt.clone(), true),
            (None, Some(input)) => (input.clone(), false),
            _ => return None,
        };
        let Pointers { prompt, input: without_cache, output, reasoning, cache_read, cache_write } = &pointers;
        let optional = [prompt, without_cache, reasoning, cache_read, cache_write];
        let is_valid = |pointer: &String| pointer.starts_with('/');
        let valid = is_valid(output) && optional.into_iter().flatten().all(is_valid);
        valid.then(|| Self { name: name.to_owned(), input, pointers })
    }

    /// Reads the usage; `None` if the payload lacks the input or the output.
    fn extract(&self, payload: &Value) -> Result<Option<TokenUsage>, UsageError> {
        let Self { name, input: (input, includes_cache), pointers } = self;
        let number = |pointer: &str| count(pointer, payload.pointer(pointer).filter(|value| !value.is_null()));
        let (Some(given), Some(output)) = (number(input)?, number(&pointers.output)?) else { return Ok(None) };
        let optional = |pointer: &Option<String>| match pointer {
            Some(pointer) => Ok(number(pointer)?.unwrap_or(0)),
            None => Ok(0),
        };
        let overflow = || UsageError::Overflow { provider: format!("`{name}`") };
        let (cache_read_tokens, cache_write_tokens) =
            (optional(&pointers.cache_read)?, optional(&pointers.cache_write)?);
        let cached = cache_read_tokens.checked_add(cache_write_tokens).ok_or_else(overflow)?;
        let input_tokens = if *includes_cache {
            given.checked_sub(cached).ok_or_else(|| UsageError::PartExceedsTotal {
                part: "cache_read and cache_write".to_owned(),
                part_tokens: cached,
                total: input.clone(),
                total_tokens: given,
            })?
        } else {
            given
        };
        let output_tokens = output.checked_add(optional(&pointers.reasoning)?).ok_or_else(overflow)?;
        let sum = input_tokens.checked_add(cached).and_then(|sum| sum.checked_add(output_tokens));
        sum.ok_or_else(overflow)?;
        Ok(Some(TokenUsage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens }))
    }
}

/// Reads usage by the user's maps, in their order, else as that of a known provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsageReader(pub(crate) Vec<UsageMap>);

impl UsageReader {
    pub(crate) fn read(&self, payload: &Value) -> Result<TokenUsage, UsageError> {
        self.read_mapped(payload)?.map_or_else(|| parse_usage_value(payload), Ok)
    }

    /// As [`Self::read`], from the text of the payload.
    pub(crate) fn parse(&self, payload: &[u8]) -> Result<TokenUsage, UsageError> {
        self.read(&serde_json::from_slice(payload).map_err(UsageError::Syntax)?)
    }

    /// The usage by one of the user's maps.
    pub(crate) fn read_mapped(&self, payload: &Value) -> Result<Option<TokenUsage>, UsageError> {
        for map in &self.0 {
            if let Some(usage) = map.extract(payload)? {
                return Ok(Some(usage));
            }
        }
        Ok(None)
    }

    /// Stores a usage object of a session in the metadata of its item, and returns its figures if they can be read. The object stays
    /// as it was, unless only a map of the user can read it.
    pub(crate) fn store(&self, usage: Value, key: &str, meta: &mut Map<String, Value>) -> Option<TokenUsage> {
        if let Ok(Some(mapped)) = self.read_mapped(&usage) {
            mapped.store(meta);
            return Some(mapped);
        }
        let read = parse_usage_value(&usage).ok();
        meta.insert(key.to_owned(), usage);
        read
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/usage_map.rs"]
mod tests;
