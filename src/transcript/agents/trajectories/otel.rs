//! Telemetry of models and agents: the JSON form of OTLP, with the attributes of OpenTelemetry's conventions for `GenAI`.
//!
//! ```text
//! {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"ddd4","spanId":"d4b4","startTimeUnixNano":"1781296601000000000",
//!   "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},
//!                 {"key":"gen_ai.tool.call.id","value":{"stringValue":"call_0031"}}, …]}]}]}]}
//! ```
//!
//! - Messages are in `gen_ai.system_instructions`, `gen_ai.input.messages`, and `gen_ai.output.messages`, if the recorder is set
//!   to include them. Each request repeats the conversation; a message is imported once.
//! - The span of a tool has its call and its result; a message with the same call or result is a copy.
//! - A file may hold several conversations. The first one is the main thread; each other becomes a separate trace, named like one of
//!   a sub-agent.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::tokens::TokenUsage;
use crate::trace::model::item::Role;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{EntryBuilder, call_arguments};
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::header;
use crate::transcript::read::json::list;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_dialect::<Otel>("OpenTelemetry GenAI");

/// Nested values of attributes beyond this depth are dropped.
const MAX_DEPTH: usize = 64;

pub(crate) struct Otel;

impl Dialect for Otel {
    const FORMAT: &'static str = "otel-genai";
    /// A line is a document, or a member of one.
    const LIST: Option<&'static str> = Some("");

    fn certainty(record: &Object<'_>) -> Certainty {
        let Some(raw) = record.any(&["resourceSpans", "resourceLogs"]) else { return Certainty::No };
        let is_genai = memchr::memmem::find(raw.get().as_bytes(), b"\"gen_ai.").is_some();
        if is_genai { Certainty::Sure } else { Certainty::Possible }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let first = spans(record).into_iter().find(is_genai)?;
        conversation(&first).map(Cow::Owned)
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let spans = spans(record);
        if spans.is_empty() && !record.has("resourceSpans") && !record.has("resourceLogs") {
            return Outcome::Unknown("(another member)".to_owned());
        }
        let mut outcome = Outcome::Ignored("span".to_owned());
        for span in spans.iter().filter(|span| is_genai(span)) {
            if read_span(session, span, output) {
                outcome = Outcome::Imported;
            }
        }
        outcome
    }
}

/// The spans of a record, or its log records.
fn spans<'a>(record: &Object<'a>) -> Vec<Object<'a>> {
    let elements = |object: &Object<'a>, name| {
        let value = object.get(name);
        value.map(|value| list(value).unwrap_or_else(|| vec![value])).unwrap_or_default()
    };
    let mut found = Vec::new();
    for (resources, scopes, spans) in
        [("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords")]
    {
        for resource in elements(record, resources) {
            for scope in elements(&Object::of(resource), scopes) {
                found.extend(elements(&Object::of(scope), spans).into_iter().map(Object::of));
            }
        }
    }
    found
}

fn is_genai(span: &Object<'_>) -> bool {
    span.get("attributes").is_some_and(|raw| memchr::memmem::find(raw.get().as_bytes(), b"\"gen_ai.").is_some())
}

fn conversation(span: &Object<'_>) -> Option<String> {
    let named = attributes(span).remove("gen_ai.conversation.id");
    let named = named.and_then(|id| id.as_str().map(str::to_owned));
    named.or_else(|| span.text("traceId").map(Into::into)).filter(|id| !id.is_empty())
}

fn attributes(span: &Object<'_>) -> Map<String, Value> {
    pairs(&span.list("attributes"), 0)
}

fn pairs(list: &[&RawValue], depth: usize) -> Map<String, Value> {
    let pair = |raw: &&RawValue| {
        let pair = Object::of(raw);
        Some((pair.text("key")?.into_owned(), plain(&pair.object("value"), depth)))
    };
    list.iter().filter_map(pair).collect()
}

/// The value of an attribute, without the tags of its type.
fn plain(value: &Object<'_>, depth: usize) -> Value {
    if depth >= MAX_DEPTH {
        return Value::Null;
    }
    if let Some(text) = value.text("stringValue") {
        return text.into();
    }
    let inner = |name| value.get(name).map(|raw| Object::of(raw).list("values"));
    if let Some(values) = inner("arrayValue") {
        return values.into_iter().map(|raw| plain(&Object::of(raw), depth + 1)).collect();
    }
    if let Some(values) = inner("kvlistValue") {
        return pairs(&values, depth + 1).into();
    }
    let number = value.text("intValue").and_then(|number| number.parse::<i64>().ok());
    let raw = value.any(&["intValue", "doubleValue", "boolValue"]);
    number.map(Into::into).or_else(|| serde_json::from_str(raw?.get()).ok()).unwrap_or_default()
}

/// Adds what is new in a span; returns whether anything was.
fn read_span(session: &mut Session, span: &Object<'_>, output: &mut Output) -> bool {
    let before = output.entries.len();
    let attributes = attributes(span);
    let text = |name: &str| attributes.get(name).and_then(Value::as_str);
    let conversation = conversation(span).unwrap_or_default();
    let thread =
        output.session_id.as_ref().filter(|main| **main != conversation).map(|_| header::thread(&conversation));
    let model = text("gen_ai.response.model").or_else(|| text("gen_ai.request.model"));
    session.model = model.and_then(|model| header::one_line(model, 128)).or(session.model.take());
    let start = |builder: &mut EntryBuilder, model: &Option<String>, time: &str| {
        builder.created = span.time(time);
        builder.thread.clone_from(&thread);
        builder.add_meta("model", model.clone());
    };

    let mut seen: HashMap<String, usize> = HashMap::new();
    for (name, time) in [
        ("gen_ai.system_instructions", "startTimeUnixNano"),
        ("gen_ai.input.messages", "startTimeUnixNano"),
        ("gen_ai.output.messages", "endTimeUnixNano"),
    ] {
        let Some(attribute) = attributes.get(name) else { continue };
        let messages = match structured(attribute) {
            Some(Value::Array(messages)) if name == "gen_ai.system_instructions" => {
                vec![json!({ "role": "system", "parts": messages })]
            }
            Some(Value::Array(messages)) => messages,
            _ => vec![json!({ "role": "user", "parts": [attribute] })],
        };
        for message in messages {
            let role = message["role"].as_str().and_then(role).unwrap_or(Role::User);
            let parts = message.get("parts").or_else(|| message.get("content")).unwrap_or(&message);
            let Ok(parts) = to_raw_value(parts) else { continue };
            // A response and the next request may differ in other members.
            let content = format!("{conversation}\n{}\n{}", role.as_str(), parts.get());
            let number = seen.entry(content.clone()).or_default();
            *number += 1;
            let answers = message["parts"].as_array().is_some_and(|parts| {
                parts
                    .iter()
                    .any(|part| part["id"].as_str().is_some_and(|id| session.notes.iter().any(|done| done == id)))
            });
            let Some(mut builder) = session.begin(Some(&format!("{content}\n{number}")), b"", output) else { continue };
            if answers {
                continue;
            }
            let model = session.model.clone().filter(|_| role == Role::Assistant);
            start(&mut builder, &model, time);
            session.content(&mut builder, role, &parts);
            if name == "gen_ai.output.messages" {
                let count = |name: &str| attributes.get(name).and_then(Value::as_u64).unwrap_or_default();
                let [prompt, cached, answer] = ["input_tokens", "cache_read.input_tokens", "output_tokens"]
                    .map(|name| count(&format!("gen_ai.usage.{name}")));
                add_usage(&mut builder.entries, TokenUsage::of_prompt(prompt, cached, answer));
            }
            session.finish(builder, "span", b"", output);
        }
    }

    if let Some(id) = text("gen_ai.tool.call.id").filter(|_| text("gen_ai.operation.name") == Some("execute_tool")) {
        let raw = |name: &str| attributes.get(name).and_then(|value| to_raw_value(value).ok());
        let source = format!("{conversation}/{}", span.text("spanId").unwrap_or_default());
        let Some(mut builder) = session.begin(Some(&source), b"", output) else { return false };
        if !session.knows_call(id) {
            start(&mut builder, &session.model.clone(), "startTimeUnixNano");
            let arguments = raw("gen_ai.tool.call.arguments");
            let name = text("gen_ai.tool.name").unwrap_or("tool");
            session.call(&mut builder, Some(id.into()), Some(name.into()), call_arguments(arguments.as_deref()));
        }
        builder.created = span.time("endTimeUnixNano");
        if let Some(result) = raw("gen_ai.tool.call.result") {
            let failed = text("error.type").map(|_| true);
            session.result(&mut builder, Some(id.into()), failed, Some(&result));
            session.notes.push(id.to_owned());
        }
        session.finish(builder, "span", b"", output);
    }
    output.entries.len() > before
}

/// An attribute that is JSON in a text, or the value itself.
fn structured(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}
