//! Providers: the position of the usage in a response, and the meaning of its figures.

use serde_json::{Map, Value};

use super::usage::{TokenUsage, UsageError, UsageExtractor};

/// A provider whose usage can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    /// Anthropic Messages; `input_tokens` excludes cached tokens.
    Anthropic,
    /// `OpenAI` Chat Completions and compatible APIs; `prompt_tokens` includes cached tokens.
    OpenAiChat,
    /// `OpenAI` Responses; `input_tokens` includes cached tokens.
    OpenAiResponses,
    /// Gemini `generateContent`; `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts.
    Gemini,
    /// Bedrock Converse; `inputTokens` excludes cached tokens.
    Bedrock,
    /// Ollama's own API; the figures are in the response itself, without a usage object.
    Ollama,
}

impl Provider {
    /// All providers, in the order in which they are tried.
    pub(crate) const ALL: [Self; 6] =
        [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini, Self::Bedrock, Self::Ollama];

    fn usage(self, fields: &Fields) -> Result<Option<TokenUsage>, UsageError> {
        let usage = match self {
            Self::Anthropic if fields.has("output_tokens") && fields.has("input_tokens") && !is_responses(fields) => {
                // A bare pair of figures may also be from OpenAI, with the same sum.
                TokenUsage {
                    input_tokens: fields.required("input_tokens")?,
                    cache_read_tokens: fields.optional("cache_read_input_tokens")?,
                    cache_write_tokens: fields.optional("cache_creation_input_tokens")?,
                    output_tokens: fields.required("output_tokens")?,
                }
            }
            Self::OpenAiChat if fields.has("prompt_tokens") && fields.has("completion_tokens") => {
                let cached = fields.optional("prompt_tokens_details.cached_tokens")?;
                TokenUsage {
                    input_tokens: fields.without("prompt_tokens", "prompt_tokens_details.cached_tokens")?,
                    cache_read_tokens: cached,
                    output_tokens: fields.required("completion_tokens")?,
                    ..TokenUsage::default()
                }
            }
            Self::OpenAiResponses if is_responses(fields) && !has_anthropic_cache(fields) => TokenUsage {
                input_tokens: fields.without("input_tokens", "input_tokens_details.cached_tokens")?,
                cache_read_tokens: fields.optional("input_tokens_details.cached_tokens")?,
                output_tokens: fields.required("output_tokens")?,
                ..TokenUsage::default()
            },
            Self::Gemini if fields.has("promptTokenCount") => {
                let prompt = fields.without("promptTokenCount", "cachedContentTokenCount")?;
                TokenUsage {
                    input_tokens: fields.sum(prompt, fields.optional("toolUsePromptTokenCount")?)?,
                    cache_read_tokens: fields.optional("cachedContentTokenCount")?,
                    // A blocked response has no candidates.
                    output_tokens: fields
                        .sum(fields.optional("candidatesTokenCount")?, fields.optional("thoughtsTokenCount")?)?,
                    ..TokenUsage::default()
                }
            }
            Self::Bedrock if fields.has("inputTokens") && fields.has("outputTokens") => TokenUsage {
                input_tokens: fields.required("inputTokens")?,
                cache_read_tokens: fields.optional("cacheReadInputTokens")?,
                cache_write_tokens: fields.optional("cacheWriteInputTokens")?,
                output_tokens: fields.required("outputTokens")?,
            },
            // Ollama omits `prompt_eval_count` if it reused the complete prompt; then the size of the context is unknown.
            Self::Ollama if fields.has("eval_count") || fields.has("prompt_eval_count") => TokenUsage {
                input_tokens: fields.required("prompt_eval_count")?,
                output_tokens: fields.required("eval_count")?,
                ..TokenUsage::default()
            },
            _ => return Ok(None),
        };
        let TokenUsage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = usage;
        [input_tokens, cache_read_tokens, cache_write_tokens]
            .into_iter()
            .try_fold(output_tokens, |sum, tokens| fields.sum(sum, tokens))?;
        Ok(Some(usage))
    }
}

fn is_responses(fields: &Fields) -> bool {
    fields.has("input_tokens_details") || fields.has("output_tokens_details")
}

fn has_anthropic_cache(fields: &Fields) -> bool {
    fields.has("cache_read_input_tokens") || fields.has("cache_creation_input_tokens")
}

impl UsageExtractor for Provider {
    fn name(&self) -> &str {
        match self {
            Self::Anthropic => "Anthropic Messages",
            Self::OpenAiChat => "OpenAI Chat Completions",
            Self::OpenAiResponses => "OpenAI Responses",
            Self::Gemini => "Gemini",
            Self::Bedrock => "Bedrock Converse",
            Self::Ollama => "Ollama",
        }
    }

    fn extract(&self, payload: &Value) -> Result<Option<TokenUsage>, UsageError> {
        // The usage object alone, a response, or a stream event or transcript record that wraps a response.
        let responses = [Some(payload), payload.get("message"), payload.get("response")];
        for response in responses.into_iter().flatten() {
            for usage in [response.get("usage"), response.get("usageMetadata"), Some(response)].into_iter().flatten() {
                if let Value::Object(map) = usage
                    && let Some(usage) = self.usage(&Fields { map, provider: *self })?
                {
                    return Ok(Some(usage));
                }
            }
        }
        Ok(None)
    }
}

/// The members of a usage object. A dot in a name leads to a nested object.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    provider: Provider,
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

    fn number(&self, name: &str) -> Result<Option<u64>, UsageError> {
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
        self.number(name)?.ok_or_else(|| UsageError::MissingField {
            provider: self.provider.name().to_owned(),
            field: name.to_owned(),
        })
    }

    /// The tokens of `whole` without those of its `part`.
    fn without(&self, whole: &'static str, part: &'static str) -> Result<u64, UsageError> {
        let (whole_tokens, part_tokens) = (self.required(whole)?, self.optional(part)?);
        whole_tokens.checked_sub(part_tokens).ok_or(UsageError::PartExceedsWhole {
            part,
            part_tokens,
            whole,
            whole_tokens,
        })
    }

    fn sum(&self, a: u64, b: u64) -> Result<u64, UsageError> {
        a.checked_add(b).ok_or_else(|| UsageError::Overflow { provider: self.provider.name().to_owned() })
    }
}
