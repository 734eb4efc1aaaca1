//! Messages as `LangChain` and the SDKs of providers report them.
//!
//! ```text
//! {"type":"ai","content":"…"}    {"type":"ai","data":{"content":"…"}}
//! {"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"…"}}
//! ```

use serde_json::value::RawValue;

use crate::tokens::TokenUsage;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;

/// How often JSON may be inside of a text of JSON, and how deep messages may be.
const MAX_NESTED: usize = 5;

/// The members of a run that may contain messages.
const MEMBERS: [&str; 12] = [
    "messages",
    "choices",
    "generations",
    "message",
    "output",
    "input",
    "question",
    "answer",
    "query",
    "prompt",
    "prompts",
    "text",
];

/// JSON that is a text in JSON.
pub(super) fn unwrapped(value: &RawValue) -> Box<RawValue> {
    let mut own = value.to_owned();
    for _ in 0..MAX_NESTED {
        let inner = json::text(&own).filter(|text| text.starts_with(['{', '[', '"']));
        let Some(inner) = inner.and_then(|text| RawValue::from_string(text.into_owned()).ok()) else { break };
        own = inner;
    }
    own
}

/// The content that all copies of a message share.
pub(super) fn key_of(message: &Object<'_>, raw: &RawValue) -> String {
    let Some(content) = message.get("content") else { return raw.get().to_owned() };
    let text = json::text(content).unwrap_or_else(|| content.get().into());
    let mut calls = message.list("tool_calls");
    if calls.is_empty() {
        calls = message.object("additional_kwargs").list("tool_calls");
    }
    let calls: Vec<_> = calls.into_iter().filter_map(|raw| Object::of(raw).text("id")).collect();
    format!("{text}\n{}\n{}", calls.join(" "), message.text("tool_call_id").unwrap_or_default())
}

/// The messages among the inputs or the outputs of a run.
pub(super) fn messages(value: &RawValue, depth: usize) -> Vec<&RawValue> {
    let object = Object::of(value);
    if depth == MAX_NESTED || json::text(value).is_some() || object.has("content") || object.has("lc") {
        return vec![value];
    }
    if let Some(list) = json::list(value) {
        return list.into_iter().flat_map(|raw| messages(raw, depth + 1)).collect();
    }
    match object.any(&MEMBERS) {
        Some(inner) => messages(inner, depth + 1),
        None if object.is_empty() => Vec::new(),
        None => vec![value],
    }
}

/// A message of `LangChain` without its wrapper: `{type, data}`, or a constructor.
pub(super) fn plain(raw: &RawValue) -> Option<Box<RawValue>> {
    let message = Object::of(raw);
    let inner = message.get("data").or_else(|| message.get("kwargs").filter(|_| message.has("lc")))?.get();
    let class = message.list("id").last().and_then(|name| json::text(name)).unwrap_or_default();
    let kind = message.text("type").filter(|kind| kind != "constructor").unwrap_or(class);
    let kind = kind.trim_end_matches("Chunk").trim_end_matches("Message").to_lowercase();
    let rest = inner.strip_prefix('{')?;
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    RawValue::from_string(format!("{{\"role\":{}{comma}{rest}", serde_json::Value::from(kind))).ok()
}

pub(super) fn usage_of(usage: &Object<'_>) -> TokenUsage {
    let count =
        |names: [&str; 3]| names.iter().map(|name| usage.count(name)).find(|count| *count > 0).unwrap_or_default();
    let cached = usage.object("input_token_details").count("cache_read");
    let cached = cached.max(usage.count("input_cache_read"));
    let cached = cached.max(usage.object("prompt_tokens_details").count("cached_tokens"));
    TokenUsage::of_prompt(
        count(["input_tokens", "prompt_tokens", "input"]),
        cached,
        count(["output_tokens", "completion_tokens", "output"]),
    )
}
