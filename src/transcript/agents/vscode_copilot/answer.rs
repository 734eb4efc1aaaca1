//! The answers of a request: rounds of texts and calls, or only what was shown.

use serde_json::value::RawValue;

use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform, reasoning};
use crate::transcript::read::dialect::Session;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;

/// Nodes of a result that are deeper are kept as JSON.
const MAX_DEPTH: usize = 100;

/// Adds a round: an answer of the model, and the results of its calls.
pub(super) fn round(session: &mut Session, builder: &mut EntryBuilder, round: &Object<'_>, results: &Object<'_>) {
    let thinking = round.object("thinking");
    let thoughts = thinking.list("text").into_iter().filter_map(json::text).collect::<String>();
    let thought = thinking.text("text").unwrap_or_else(|| thoughts.into());
    let signature = thinking.text("encrypted");
    if !thought.is_empty() || signature.is_some() {
        builder.push(reasoning(signature.as_deref()), thought.into_owned());
    }
    session.text(builder, Role::Assistant, &round.text("response").unwrap_or_default());
    let calls = round.list("toolCalls");
    for raw in &calls {
        let call = Object::of(raw);
        if session.call(builder, call.text("id"), call.text("name"), call_arguments(call.get("arguments"))).is_none() {
            builder.push(freeform("toolCall", Some(Role::Assistant)), raw.get());
        }
    }
    for id in calls.iter().filter_map(|raw| Object::of(raw).text("id")) {
        let Some(raw) = results.get(&id) else { continue };
        let mut text = String::new();
        for part in Object::of(raw).list("content") {
            let part = Object::of(part);
            match part.get("value") {
                Some(value) => add_text(value, &mut text),
                None => text.push_str(&part.text("text").unwrap_or_default()),
            }
        }
        let text = if text.is_empty() { raw.get().to_owned() } else { text };
        let text = RawValue::from_string(serde_json::Value::from(text).to_string()).ok();
        session.result(builder, Some(id), None, text.as_deref());
    }
}

/// Adds the texts of a tree of nodes.
fn add_text(value: &RawValue, text: &mut String) {
    if let Some(own) = json::text(value) {
        return text.push_str(&own);
    }
    let mut open = vec![(Object::of(value).get("node").unwrap_or(value), 0)];
    while let Some((raw, depth)) = open.pop() {
        let node = Object::of(raw);
        if let Some(own) = node.text("text") {
            if node.is_true("lineBreakBefore") && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&own);
        }
        if depth < MAX_DEPTH {
            open.extend(node.list("children").into_iter().rev().map(|child| (child, depth + 1)));
        } else {
            text.push_str(raw.get());
        }
    }
}

/// Adds an answer as it was shown.
pub(super) fn shown(session: &mut Session, builder: &mut EntryBuilder, parts: &[&RawValue]) {
    let mut text = String::new();
    for raw in parts {
        let part = Object::of(raw);
        let kind = part.text("kind").unwrap_or_default();
        match &*kind {
            "" | "markdownContent" => {
                let content = part.text("value").or_else(|| part.object("content").text("value"));
                text.push_str(&content.unwrap_or_default());
            }
            "inlineReference" => {
                let place = part.object("inlineReference");
                let path = place.text("path").or_else(|| place.object("location").object("uri").text("path"));
                let name = part.text("name").or_else(|| place.text("name")).or(path).unwrap_or_default();
                text.push_str(name.rsplit('/').next().unwrap_or_default());
            }
            "undoStop" | "codeblockUri" | "prepareToolInvocation" | "mcpServersStarting" | "progressTaskSerialized" => {
            }
            "thinking" if part.text("value").is_some() => {
                _ = builder.push(reasoning(None), part.text("value").unwrap_or_default().into_owned());
            }
            kind => {
                session.text(builder, Role::Assistant, &std::mem::take(&mut text));
                builder.push(freeform(kind, Some(Role::Assistant)), raw.get());
            }
        }
    }
    session.text(builder, Role::Assistant, &text);
}
