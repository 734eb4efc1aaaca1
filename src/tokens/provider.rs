//! Providers: the position of the usage in a response, and the meaning of its figures.

use serde_json::{Map, Value};

use super::usage::{TokenUsage, UsageError};

/// A provider whose usage can be read.
pub(super) struct Provider {
    /// The name of the accepted format, for messages.
    pub(super) name: &'static str,
    /// Reads a usage object; `None` if it is not of this provider.
    pub(super) usage: fn(&Fields<'_>) -> Result<Option<TokenUsage>, UsageError>,
}

/// In the order in which they are tried.
pub(super) const PROVIDERS: [Provider; 6] = [
    Provider { name: "Anthropic Messages", usage: anthropic },
    Provider { name: "OpenAI Chat Completions", usage: openai_chat },
    Provider { name: "OpenAI Responses", usage: openai_responses },
    Provider { name: "Gemini", usage: gemini },
    Provider { name: "Bedrock Converse", usage: bedrock },
    Provider { name: "Ollama", usage: ollama },
];

/// `input_tokens` excludes cached tokens. A bare pair of figures may also be from `OpenAI`, with the same sum.
fn anthropic(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    if !fields.have(["input_tokens", "output_tokens"]) || is_responses(fields) {
        return Ok(None);
    }
    Ok(Some(TokenUsage {
        input_tokens: fields.required("input_tokens")?,
        cache_read_tokens: fields.optional("cache_read_input_tokens")?,
        cache_write_tokens: fields.optional("cache_creation_input_tokens")?,
        output_tokens: fields.required("output_tokens")?,
    }))
}

/// `prompt_tokens` includes cached tokens.
fn openai_chat(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    if !fields.have(["prompt_tokens", "completion_tokens"]) {
        return Ok(None);
    }
    Ok(Some(TokenUsage {
        input_tokens: fields.without("prompt_tokens", "prompt_tokens_details.cached_tokens")?,
        cache_read_tokens: fields.optional("prompt_tokens_details.cached_tokens")?,
        output_tokens: fields.required("completion_tokens")?,
        ..TokenUsage::default()
    }))
}

/// `input_tokens` includes cached tokens.
fn openai_responses(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    let is_anthropic = fields.has("cache_read_input_tokens") || fields.has("cache_creation_input_tokens");
    if !is_responses(fields) || is_anthropic {
        return Ok(None);
    }
    Ok(Some(TokenUsage {
        input_tokens: fields.without("input_tokens", "input_tokens_details.cached_tokens")?,
        cache_read_tokens: fields.optional("input_tokens_details.cached_tokens")?,
        output_tokens: fields.required("output_tokens")?,
        ..TokenUsage::default()
    }))
}

fn is_responses(fields: &Fields<'_>) -> bool {
    fields.has("input_tokens_details") || fields.has("output_tokens_details")
}

/// `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts. A blocked response has no candidates.
fn gemini(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    if !fields.has("promptTokenCount") {
        return Ok(None);
    }
    let prompt = fields.without("promptTokenCount", "cachedContentTokenCount")?;
    Ok(Some(TokenUsage {
        input_tokens: fields.sum(prompt, fields.optional("toolUsePromptTokenCount")?)?,
        cache_read_tokens: fields.optional("cachedContentTokenCount")?,
        output_tokens: fields.sum(fields.optional("candidatesTokenCount")?, fields.optional("thoughtsTokenCount")?)?,
        ..TokenUsage::default()
    }))
}

/// `inputTokens` excludes cached tokens.
fn bedrock(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    if !fields.have(["inputTokens", "outputTokens"]) {
        return Ok(None);
    }
    Ok(Some(TokenUsage {
        input_tokens: fields.required("inputTokens")?,
        cache_read_tokens: fields.optional("cacheReadInputTokens")?,
        cache_write_tokens: fields.optional("cacheWriteInputTokens")?,
        output_tokens: fields.required("outputTokens")?,
    }))
}

/// The figures are in the response itself. Ollama omits `prompt_eval_count` if it reused the complete prompt; then the size of
/// the context is unknown.
fn ollama(fields: &Fields<'_>) -> Result<Option<TokenUsage>, UsageError> {
    if !fields.has("eval_count") && !fields.has("prompt_eval_count") {
        return Ok(None);
    }
    Ok(Some(TokenUsage {
        input_tokens: fields.required("prompt_eval_count")?,
        output_tokens: fields.required("eval_count")?,
        ..TokenUsage::default()
    }))
}

impl Provider {
    /// Reads the usage from a response or a usage object; `None` if the payload is not of this provider.
    pub(super) fn extract(&self, payload: &Value) -> Result<Option<TokenUsage>, UsageError> {
        // The usage object alone, a response, or a stream event or transcript record that wraps a response.
        let responses = [Some(payload), payload.get("message"), payload.get("response")];
        for response in responses.into_iter().flatten() {
            for usage in [response.get("usage"), response.get("usageMetadata"), Some(response)].into_iter().flatten() {
                let Value::Object(map) = usage else { continue };
                let fields = Fields { map, provider: self.name };
                if let Some(usage) = (self.usage)(&fields)? {
                    let inputs = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
                    inputs.into_iter().try_fold(usage.output_tokens, |sum, tokens| fields.sum(sum, tokens))?;
                    return Ok(Some(usage));
                }
            }
        }
        Ok(None)
    }
}

/// The members of a usage object. A dot in a name leads to a nested object.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    provider: &'static str,
}

impl Fields<'_> {
    /// The value of a member; null counts as absent.
    fn find(&self, name: &str) -> Option<&Value> {
        let mut names = name.split('.');
        let first = self.map.get(names.next()?)?;
        let value = names.try_fold(first, |value, name| value.get(name))?;
        (!value.is_null()).then_some(value)
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn have(&self, names: [&str; 2]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, UsageError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| UsageError::NotACount {
            field: name.to_owned(),
            value: match value {
                Value::Number(number) => number.to_string(),
                Value::String(_) => "a string".to_owned(),
                Value::Array(_) => "an array".to_owned(),
                Value::Object(_) => "an object".to_owned(),
                Value::Bool(_) | Value::Null => value.to_string(),
            },
        })
    }

    fn optional(&self, name: &str) -> Result<u64, UsageError> {
        Ok(self.number(name)?.unwrap_or(0))
    }

    fn required(&self, name: &str) -> Result<u64, UsageError> {
        let missing = || UsageError::MissingField { provider: self.provider, field: name.to_owned() };
        self.number(name)?.ok_or_else(missing)
    }

    /// The tokens of `whole` without those of its `part`.
    fn without(&self, whole: &'static str, part: &'static str) -> Result<u64, UsageError> {
        let (whole_tokens, part_tokens) = (self.required(whole)?, self.optional(part)?);
        let exceeds = UsageError::PartExceedsWhole { part, part_tokens, whole, whole_tokens };
        whole_tokens.checked_sub(part_tokens).ok_or(exceeds)
    }

    fn sum(&self, a: u64, b: u64) -> Result<u64, UsageError> {
        a.checked_add(b).ok_or(UsageError::Overflow { provider: self.provider })
    }
}
