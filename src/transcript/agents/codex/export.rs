//! Writes a transcript as Codex does: a head, response items, and the events that its list of sessions shows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::FORMAT;
use super::compaction::is_added;
use super::records::SETTINGS;
use crate::trace::Time;
use crate::trace::model::item::{Item, Role};
use crate::transcript::export::{
    ExportedTranscript, NewSession, data_url, has_flag, json_line, json_type, parts_of_result, quoted, same_record,
    signature, text,
};
use crate::transcript::read::header::is_listed;

/// The agent version whose files this imitates.
const VERSION: &str = "0.146.0";

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let is_base = |item: &&Item| {
        item.fields.item_type.as_str() == "instruction"
            && item.fields.source.as_ref().is_some_and(|source| source.format() == FORMAT)
    };
    let base = items.first().filter(is_base);
    let mut head = json!({
        "id": session.id, "timestamp": session.at.to_string(), "cwd": session.folder.to_string_lossy(),
        "originator": "codex_cli_rs", "cli_version": VERSION, "source": "cli",
    });
    // The agent refuses a session of a provider that is not the configured one, and takes one without as its own.
    if let Some(provider) = items.iter().find_map(|item| item.fields.meta.get("model_provider")) {
        head["model_provider"] = provider.clone();
    }
    if let Some(base) = base {
        head["base_instructions"] = json!({ "text": text(base) });
        exported.items += 1;
    }
    push(exported, session.at, "session_meta", &head.to_string());
    let mut at = usize::from(base.is_some());
    while at < items.len() {
        let item = &items[at];
        let mut end = at + 1 + parts_of_result(items, at).len();
        if is_message(item) {
            let same = |next: &&Item| is_message(next) && role(item) == role(next) && same_record(item, next);
            end += items[end..].iter().take_while(same).count();
        }
        let time = item.fields.created.unwrap_or(session.at);
        let settings = item.fields.meta.get("settings").and_then(Value::as_array).filter(|_| !item.fields.is_result());
        for record in settings.into_iter().flatten() {
            if let Some(kind) = record["type"].as_str().filter(|kind| is_listed(kind, SETTINGS)) {
                push(exported, time, kind, &without_permissions(record["payload"].clone()).to_string());
            }
        }
        match payload(&items[at..end]) {
            Some(payload) => {
                push(exported, time, "response_item", &payload);
                exported.items += end - at;
                if let Some(event) = event(&items[at..end]) {
                    push(exported, time, "event_msg", &event.to_string());
                }
            }
            None => exported.omit_reasoning(item),
        }
        at = end;
    }
}

/// `<home>/sessions/2026/08/03/rollout-2026-08-03T10-48-56-<id>.jsonl`
pub(super) fn path(home: &Path, session: &NewSession) -> Option<PathBuf> {
    let time = session.at.to_string();
    let (day, clock) = (time.get(..10)?, time.get(11..19)?);
    let folder = day.split('-').fold(home.join("sessions"), |folder, part| folder.join(part));
    Some(folder.join(format!("rollout-{day}T{}-{}.jsonl", clock.replace(':', "-"), session.id)))
}

fn push(exported: &mut ExportedTranscript, time: Time, kind: &str, payload: &str) {
    let line = format!("{{\"timestamp\":\"{time}\",\"type\":\"{kind}\",\"payload\":{payload}}}\n");
    exported.bytes.extend(line.as_bytes());
}

/// Members of settings that permit something, by a part of their names.
const PERMISSIONS: [&str; 5] = ["approval", "permission", "sandbox", "network", "_roots"];

/// The settings with the agent's most careful values in place of those that permit something. They may be from a trace that somebody
/// else recorded; what this user permits is in the agent's own configuration.
fn without_permissions(mut payload: Value) -> Value {
    let is_permission = |name: &str| PERMISSIONS.iter().any(|part| name.contains(part));
    if let Some(state) = payload.get_mut("state").and_then(Value::as_object_mut) {
        state.retain(|name, _| !is_permission(name));
    }
    let Some(members) = payload.as_object_mut() else { return payload };
    let careful = [("approval_policy", json!("on-request")), ("sandbox_policy", json!({ "type": "read-only" }))];
    let careful = careful.map(|(name, value)| members.contains_key(name).then_some((name.to_owned(), value)));
    members.retain(|name, _| !is_permission(name));
    members.extend(careful.into_iter().flatten());
    payload
}

fn is_message(item: &Item) -> bool {
    match item.fields.item_type.as_str() {
        "dialogue" | "instruction" | "artifact" | "output" => true,
        // Reasoning that a person rewrote is not signed, and is meant to be read.
        "reasoning" => item.revision > 1 && item.fields.signature.is_none(),
        "freeform" => json_type(item).is_none_or(|own| item.fields.name.as_deref() != Some(&own)),
        _ => false,
    }
}

fn role(item: &Item) -> &'static str {
    match (item.fields.item_type.as_str(), item.fields.role) {
        ("instruction", _) | (_, Some(Role::System)) => "developer",
        ("output" | "reasoning", _) | (_, Some(Role::Assistant)) => "assistant",
        _ => "user",
    }
}

/// The response item for some items; `None` for reasoning of another provider.
fn payload(items: &[Item]) -> Option<String> {
    let item = items.first()?;
    let fields = &item.fields;
    if is_message(item) {
        let content: Vec<Value> = items.iter().map(part).collect();
        return Some(json!({ "type": "message", "role": role(item), "content": content }).to_string());
    }
    let call_id = fields.call_id.as_deref().unwrap_or_default();
    let custom = has_flag(item, "custom");
    let name = fields.name.as_deref().unwrap_or("unknown");
    Some(match fields.item_type.as_str() {
        "reasoning" => {
            fields.source.as_ref().filter(|source| matches!(source.format(), FORMAT | "responses"))?;
            let summary =
                if item.body.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text(item) }]) };
            let mut payload = json!({ "type": "reasoning", "summary": summary, "encrypted_content": signature(item) });
            if let Some(id) = fields.meta.get("id") {
                payload["id"] = id.clone();
            }
            payload.to_string()
        }
        "tool_io" if fields.is_call() && custom => {
            let input = serde_json::from_slice::<String>(&item.body).unwrap_or_else(|_| text(item));
            let kind = "custom_tool_call";
            json!({ "type": kind, "status": "completed", "call_id": call_id, "name": name, "input": input }).to_string()
        }
        "tool_io" if fields.is_call() && name == "local_shell_call" => {
            let action = json_line(item)?;
            let members = format!("\"call_id\":{},\"status\":\"completed\",\"action\":{action}", quoted(call_id));
            format!("{{\"type\":\"local_shell_call\",{members}}}")
        }
        "tool_io" if fields.is_call() => {
            let mut payload =
                json!({ "type": "function_call", "name": name, "arguments": text(item), "call_id": call_id });
            if let Some(namespace) = fields.meta.get("namespace") {
                payload["namespace"] = namespace.clone();
            }
            payload.to_string()
        }
        "tool_io" => {
            let kind = if custom { "custom_tool_call_output" } else { "function_call_output" };
            let output = if items.len() == 1 {
                Value::from(text(item))
            } else {
                let mut parts = vec![json!({ "type": "input_text", "text": text(item) })];
                parts.extend(items[1..].iter().map(part));
                Value::from(parts)
            };
            json!({ "type": kind, "call_id": call_id, "output": output }).to_string()
        }
        _ => json_line(item)?,
    })
}

fn part(item: &Item) -> Value {
    let fields = &item.fields;
    match fields.item_type.as_str() {
        "artifact" if fields.media_type.as_deref().is_some_and(|media_type| media_type.starts_with("image/")) => {
            let media_type = fields.media_type.as_deref().unwrap_or_default();
            json!({ "type": "input_image", "image_url": data_url(media_type, &item.body) })
        }
        "freeform" if fields.name.as_deref() == Some("image") => {
            json!({ "type": "input_image", "image_url": text(item) })
        }
        "freeform" if json_type(item).is_some() => serde_json::from_slice(&item.body).unwrap_or_default(),
        _ => {
            let kind = if role(item) == "assistant" { "output_text" } else { "input_text" };
            json!({ "type": kind, "text": text(item) })
        }
    }
}

fn event(items: &[Item]) -> Option<Value> {
    let item = items.iter().find(|item| item.fields.item_type.as_str() == "dialogue")?;
    match role(item) {
        // The list of sessions shows the first of these.
        "user" if is_added(&item.body) => None,
        "user" => Some(json!({ "type": "user_message", "message": text(item), "images": [] })),
        "assistant" => Some(json!({ "type": "agent_message", "message": text(item) })),
        _ => None,
    }
}
