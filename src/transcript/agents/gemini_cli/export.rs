//! Writes a session as Gemini CLI does: a log with a head and one message per line. A call and its result are one entry of the
//! model's message.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::FORMAT;
use super::files::{self, project_hash};
use crate::trace::Time;
use crate::trace::model::item::{Item, Status};
use crate::transcript::export::{
    ExportedTranscript, NewSession, RecordIds, arguments, has_flag, is_by_model, is_rewritten, parts_of_result,
    signature, text,
};

#[derive(Default)]
struct Message {
    id: String,
    /// Of the items, so that those of one message join it.
    turn: Option<String>,
    is_by_model: bool,
    at: Option<Time>,
    model: Option<Value>,
    thoughts: Vec<Value>,
    parts: Vec<Value>,
    calls: Vec<Value>,
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let mut messages: Vec<Message> = Vec::new();
    let mut calls: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut used = RecordIds::default();
    let mut at = 0;
    while at < items.len() {
        let item = &items[at];
        let parts = parts_of_result(items, at);
        let call_id = item.fields.call_id.as_deref().unwrap_or_default();
        if item.fields.is_result() {
            if let Some((message, call)) = calls.get(call_id) {
                let call = &mut messages[*message].calls[*call];
                let failed = item.fields.status == Some(Status::Error);
                call["status"] = json!(if failed { "error" } else { "success" });
                call["result"] = result(item, parts, failed);
                exported.items += 1 + parts.len();
            }
            at += 1 + parts.len();
            continue;
        }
        at += 1;
        let is_omitted = item.fields.item_type.as_str() == "reasoning" && !is_rewritten(item) && !is_thought(item);
        if is_omitted {
            exported.omit_reasoning(item);
            continue;
        }
        let is_by_model = is_by_model(item);
        let joins = messages.last().is_some_and(|last| {
            last.is_by_model == is_by_model && last.turn.is_some() && last.turn == item.fields.turn
        });
        if !joins {
            let (turn, at) = (item.fields.turn.clone(), item.fields.created);
            let id = id_of(item, session, &mut used);
            messages.push(Message { id, turn, is_by_model, at, ..Message::default() });
        }
        let number = messages.len() - 1;
        let message = &mut messages[number];
        message.model = message.model.take().or_else(|| item.fields.meta.get("model").cloned());
        if item.fields.is_call() {
            calls.insert(call_id, (number, message.calls.len()));
            let name = item.fields.name.as_deref().unwrap_or("unknown");
            message.calls.push(json!({ "id": call_id, "name": name, "args": arguments(item) }));
        } else if is_thought(item) && !is_rewritten(item) {
            let body = text(item);
            let (subject, description) = body.split_once('\n').unwrap_or(("", &body));
            let at = item.fields.created.unwrap_or(session.at).to_string();
            message.thoughts.push(json!({ "subject": subject, "description": description, "timestamp": at }));
        } else {
            message.parts.push(part(item));
        }
        exported.items += 1;
    }
    let head = json!({ "sessionId": session.id, "projectHash": project_hash(&session.folder),
        "startTime": session.at.to_string(), "lastUpdated": session.at.to_string(), "kind": "main" });
    let lines = std::iter::once(head).chain(messages.into_iter().map(|message| message.record(session)));
    for line in lines {
        exported.bytes.extend(format!("{line}\n").into_bytes());
    }
}

/// `<home>/tmp/<project>/chats/session-2026-08-03T10-48-0b6f3c1e.jsonl`
pub(super) fn path(home: &Path, session: &NewSession) -> Option<PathBuf> {
    let time = session.at.to_string();
    let (day, clock) = (time.get(..10)?, time.get(11..16)?.replace(':', "-"));
    let name = format!("session-{day}T{clock}-{}.jsonl", session.id.get(..8)?);
    // The agent moves the folder of the older kind, which is the first, when it starts.
    let project = files::projects(home, &session.folder).ok()?.into_iter().max_by_key(|project| project.is_dir())?;
    Some(project.join("chats").join(name))
}

impl Message {
    fn record(self, session: &NewSession) -> Value {
        let Self { id, is_by_model, at, model, thoughts, mut parts, calls, .. } = self;
        let kind = if is_by_model { "gemini" } else { "user" };
        let content = match &mut parts[..] {
            [] => json!(""),
            [only] if is_by_model && only.get("text").is_some() => only["text"].take(),
            _ => Value::Array(parts),
        };
        let at = at.unwrap_or(session.at).to_string();
        let mut record = json!({ "id": id, "timestamp": at, "type": kind, "content": content });
        for (name, list) in [("thoughts", thoughts), ("toolCalls", calls)] {
            if !list.is_empty() {
                record[name] = Value::Array(list);
            }
        }
        if let Some(model) = model.filter(|_| is_by_model) {
            record["model"] = model;
        }
        record
    }
}

/// Whether this agent recorded the reasoning, which it does without a signature.
fn is_thought(item: &Item) -> bool {
    let is_own = item.fields.source.as_ref().is_some_and(|source| source.format() == FORMAT);
    item.fields.item_type.as_str() == "reasoning" && is_own && signature(item).is_none() && !has_flag(item, "redacted")
}

/// The id of the message that an item came from, if it is free, else a new one.
fn id_of(item: &Item, session: &NewSession, used: &mut RecordIds) -> String {
    let own = item.fields.source.as_ref().filter(|source| source.format() == FORMAT);
    let own = own.and_then(|source| Some(source.record().split_once('#')?.0.to_owned()));
    used.free(own, item, session, 36)
}

fn part(item: &Item) -> Value {
    match item.fields.item_type.as_str() {
        "artifact" => {
            let media_type = item.fields.media_type.as_deref().unwrap_or("application/octet-stream");
            json!({ "inlineData": { "mimeType": media_type, "data": BASE64.encode(&item.body) } })
        }
        "freeform" if item.fields.name.as_deref() == Some("part") => own_part(item).unwrap_or_else(|| text_part(item)),
        _ => text_part(item),
    }
}

fn text_part(item: &Item) -> Value {
    json!({ "text": text(item) })
}

/// A part that was stored verbatim.
fn own_part(item: &Item) -> Option<Value> {
    serde_json::from_slice(&item.body).ok().filter(Value::is_object)
}

fn result(item: &Item, parts: &[Item], failed: bool) -> Value {
    let own = own_part(item).filter(|part| part.get("functionResponse").is_some());
    let response = own.unwrap_or_else(|| {
        let (id, name) = (item.fields.call_id.as_deref(), item.fields.name.as_deref().unwrap_or("unknown"));
        let key = if failed { "error" } else { "output" };
        json!({ "functionResponse": { "id": id, "name": name, "response": { key: text(item) } } })
    });
    Value::Array(std::iter::once(response).chain(parts.iter().map(part)).collect())
}
