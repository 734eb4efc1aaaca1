//! Providers: the position of the usage in a response, and the meaning of its figures.

use serde_json::{Map, Value};

use super::usage::{TokenUsage, UsageError};

/// A provider whose usage can be read.
pub(super) struct Provider {
    pub(super) name: &'static str,
    pub(super) accepts: fn(&Fields<'_>) -> bool,
    pub(super) usage: fn(&Fields<'_>) -> Result<TokenUsage, UsageError>,
}

/// In the order in which they are tried.
pub(super) const PROVIDERS: [Provider; 8] = [
    Provider {
        name: "Codex CLI",
        accepts: |fields| fields.have(["input_tokens", "output_tokens"]) && fields.has("cached_input_tokens"),
        usage: |fields| {
            let output_tokens = fields.required("output_tokens")?;
            let usage = fields.including_cached("input_tokens", "cached_input_tokens", output_tokens)?;
            // Older versions do not write it.
            let cache_write_tokens = fields.optional("cache_write_input_tokens")?.min(usage.input_tokens);
            Ok(TokenUsage { input_tokens: usage.input_tokens - cache_write_tokens, cache_write_tokens, ..usage })
        },
    },
    Provider {
        name: "Gemini CLI",
        accepts: |fields| fields.have(["input", "output"]) && (fields.has("thoughts") || fields.has("cached")),
        usage: |fields| {
            let (answer, thoughts) = (fields.required("output")?, fields.optional("thoughts")?);
            let usage = fields.including_cached("input", "cached", fields.sum(answer, thoughts)?)?;
            let input_tokens = fields.sum(usage.input_tokens, fields.optional("tool")?)?;
            Ok(TokenUsage { input_tokens, ..usage })
        },
    },
    Provider {
        name: "Anthropic Messages",
        // A bare pair of figures may also be from OpenAI, with the same sum.
        accepts: |fields| fields.have(["input_tokens", "output_tokens"]) && !is_responses(fields),
        usage: |fields| {
            let caches = ["cache_read_input_tokens", "cache_creation_input_tokens"];
            fields.excluding_cached("input_tokens", caches, "output_tokens")
        },
    },
    Provider {
        name: "OpenAI Chat Completions",
        accepts: |fields| fields.have(["prompt_tokens", "completion_tokens"]),
        usage: |fields| {
            let output_tokens = fields.required("completion_tokens")?;
            fields.including_cached("prompt_tokens", "prompt_tokens_details.cached_tokens", output_tokens)
        },
    },
    Provider {
        name: "OpenAI Responses",
        accepts: |fields| {
            let is_anthropic = fields.has("cache_read_input_tokens") || fields.has("cache_creation_input_tokens");
            is_responses(fields) && !is_anthropic
        },
        usage: |fields| {
            let output_tokens = fields.required("output_tokens")?;
            fields.including_cached("input_tokens", "input_tokens_details.cached_tokens", output_tokens)
        },
    },
    Provider {
        name: "Gemini",
        accepts: |fields| fields.has("promptTokenCount"),
        usage: |fields| {
            // A blocked response has no candidates. Their tokens exclude thoughts.
            let (answer, thoughts) = (fields.optional("candidatesTokenCount")?, fields.optional("thoughtsTokenCount")?);
            let output_tokens = fields.sum(answer, thoughts)?;
            let usage = fields.including_cached("promptTokenCount", "cachedContentTokenCount", output_tokens)?;
            let input_tokens = fields.sum(usage.input_tokens, fields.optional("toolUsePromptTokenCount")?)?;
            Ok(TokenUsage { input_tokens, ..usage })
        },
    },
    Provider {
        name: "Bedrock Converse",
        accepts: |fields| fields.have(["inputTokens", "outputTokens"]),
        usage: |fields| {
            fields.excluding_cached("inputTokens", ["cacheReadInputTokens", "cacheWriteInputTokens"], "outputTokens")
        },
    },
    // The figures are in the response itself. `prompt_eval_count` is missing if the complete prompt was reused; then the size of
    // the context is unknown.
    Provider {
        name: "Ollama",
        accepts: |fields| fields.has("eval_count") || fields.has("prompt_eval_count"),
        usage: |fields| {
            let (input_tokens, output_tokens) = (fields.required("prompt_eval_count")?, fields.required("eval_count")?);
            Ok(TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() })
        },
    },
];

fn is_responses(fields: &Fields<'_>) -> bool {
    fields.has("input_tokens_details") || fields.has("output_tokens_details")
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
                if (self.accepts)(&fields) {
                    let usage = (self.usage)(&fields)?;
                    let inputs = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
                    inputs.into_iter().try_fold(usage.output_tokens, |sum, tokens| fields.sum(sum, tokens))?;
                    return Ok(Some(usage));
                }
            }
        }
        Ok(None)
    }
}

/// A number of tokens; `field` names it in the error.
pub(super) fn count(field: &str, value: Option<&Value>) -> Result<Option<u64>, UsageError> {
    let Some(value) = value else { return Ok(None) };
    value.as_u64().map(Some).ok_or_else(|| UsageError::NotACount {
        field: field.to_owned(),
        value: match value {
            Value::Number(number) => number.to_string(),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            Value::Bool(_) | Value::Null => value.to_string(),
        },
    })
}

/// The members of a usage object. A dot in a name leads to a nested object.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    provider: &'static str,
}

impl Fields<'_> {
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
        count(name, self.find(name))
    }

    fn optional(&self, name: &str) -> Result<u64, UsageError> {
        Ok(self.number(name)?.unwrap_or(0))
    }

    fn required(&self, name: &str) -> Result<u64, UsageError> {
        let missing = || UsageError::MissingField { provider: self.provider, field: name.to_owned() };
        self.number(name)?.ok_or_else(missing)
    }

    fn excluding_cached(&self, input: &str, [read, write]: [&str; 2], output: &str) -> Result<TokenUsage, UsageError> {
        Ok(TokenUsage {
            input_tokens: self.required(input)?,
            cache_read_tokens: self.optional(read)?,
            cache_write_tokens: self.optional(write)?,
            output_tokens: self.required(output)?,
        })
    }

    fn including_cached(
        &self,
        input: &'static str,
        read: &'static str,
        output_tokens: u64,
    ) -> Result<TokenUsage, UsageError> {
        let (input_tokens, cache_read_tokens) = (self.without(input, read)?, self.optional(read)?);
        Ok(TokenUsage { input_tokens, cache_read_tokens, cache_write_tokens: 0, output_tokens })
    }

    /// The tokens of `total` without those of its `part`.
    fn without(&self, total: &'static str, part: &'static str) -> Result<u64, UsageError> {
        let (total_tokens, part_tokens) = (self.required(total)?, self.optional(part)?);
        let exceeds =
            UsageError::PartExceedsTotal { part: part.to_owned(), part_tokens, total: total.to_owned(), total_tokens };
        total_tokens.checked_sub(part_tokens).ok_or(exceeds)
    }

    fn sum(&self, a: u64, b: u64) -> Result<u64, UsageError> {
        a.checked_add(b).ok_or(UsageError::Overflow { provider: self.provider.to_owned() })
    }
}
