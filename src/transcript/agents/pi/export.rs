//! Writes a session as pi does: a head, and a chain of messages, each the parent of the next.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::Pi;
use crate::tokens::window::provider_of_model;
use crate::trace::model::item::{Item, Status};
use crate::transcript::export::{
    ExportedTranscript, NewSession, RecordIds, Step, arguments, has_flag, is_rewritten, signature, steps, text,
};
use crate::transcript::read::dialect::Dialect as _;

struct ChainWriter<'s> {
    session: &'s NewSession,
    ids: RecordIds,
    parent: Value,
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let folder = session.folder.to_string_lossy();
    let time = session.at.to_string();
    exported.add_line(&json!({ "type": "session", "version": 3, "id": session.id, "timestamp": time, "cwd": folder }));
    let mut writer = ChainWriter { session, ids: RecordIds::default(), parent: Value::Null };
    for (number, step) in steps(items, Pi::FORMAT).iter().enumerate() {
        let [first, ..] = step.items[..] else { continue };
        if number == 0 && has_flag(first, "compact_summary") && is_own(first) {
            // pi puts a sentence before the summary.
            let summary = json!({ "summary": text(first), "firstKeptEntryId": "", "tokensBefore": 0 });
            writer.add("compaction", summary, first, exported);
            exported.items += 1;
            continue;
        }
        let content: Vec<Value> = step.items.iter().filter_map(|item| block(item, exported)).collect();
        if content.is_empty() {
            continue;
        }
        exported.items += content.len();
        let at = session.milliseconds(step.created());
        let role = if step.is_by_model { "assistant" } else { "user" };
        let mut message = json!({ "role": role, "content": content, "timestamp": at });
        if step.is_by_model {
            add_origin(&mut message, step);
        }
        writer.add("message", json!({ "message": message }), first, exported);
        for (result, others) in &step.results {
            let said = std::iter::once(*result).filter(|result| others.is_empty() || !result.body.is_empty());
            let content: Vec<Value> = said.chain(*others).filter_map(|part| block(part, exported)).collect();
            exported.items += content.len();
            let fields = &result.fields;
            let at = session.milliseconds(fields.created);
            let message = json!({ "role": "toolResult", "toolCallId": fields.call_id, "content": content, "timestamp": at,
                "toolName": fields.name.as_deref().unwrap_or("unknown"), "isError": fields.status == Some(Status::Error) });
            writer.add("message", json!({ "message": message }), result, exported);
        }
    }
}

/// `<home>/sessions/--home-ada-engine--/2026-08-03T10-48-56-123Z_<id>.jsonl`
pub(super) fn path(home: &Path, session: &NewSession) -> Option<PathBuf> {
    let folder = session.folder.to_str()?;
    let folder = folder.strip_prefix(['/', '\\']).unwrap_or(folder).replace(['/', '\\', ':'], "-");
    let time = session.at.to_string().replace([':', '.'], "-");
    Some(home.join("sessions").join(format!("--{folder}--")).join(format!("{time}_{}.jsonl", session.id)))
}

impl ChainWriter<'_> {
    /// Writes a record with these members, which is of an item.
    fn add(&mut self, kind: &str, mut record: Value, item: &Item, exported: &mut ExportedTranscript) {
        let own =
            item.fields.source.as_ref().filter(|_| is_own(item)).and_then(|source| source.record().split_once('@'));
        let time = item.fields.created.unwrap_or(self.session.at).to_string();
        let id = self.ids.free(own.map(|(id, _)| id.to_owned()), item, self.session, 8);
        let is_free = own.is_some_and(|(own, _)| own == id);
        record["type"] = kind.into();
        record["parentId"] = std::mem::replace(&mut self.parent, id.as_str().into());
        record["timestamp"] = own.filter(|_| is_free).map_or(time, |(_, at)| at.to_owned()).into();
        record["id"] = id.into();
        exported.add_line(&record);
    }
}

fn is_own(item: &Item) -> bool {
    item.fields.source.as_ref().is_some_and(|source| source.format() == Pi::FORMAT)
}

/// Adds which model wrote a message, as pi wants to know.
fn add_origin(message: &mut Value, step: &Step<'_>) {
    let model = step.meta("model").unwrap_or("unknown");
    message["model"] = model.into();
    message["provider"] = step.meta("provider").or(provider_of_model(model)).unwrap_or("unknown").into();
    message["api"] = step.meta("api").unwrap_or("unknown").into();
    message["stopReason"] = if step.results.is_empty() { "stop" } else { "toolUse" }.into();
    let cost = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    let usage = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost });
    message["usage"] = usage;
}

fn block(item: &Item, exported: &mut ExportedTranscript) -> Option<Value> {
    let fields = &item.fields;
    Some(match fields.item_type.as_str() {
        "reasoning" if is_own(item) && !is_rewritten(item) => {
            json!({ "type": "thinking", "thinking": text(item), "thinkingSignature": signature(item), "redacted": has_flag(item, "redacted") })
        }
        "reasoning" if !is_rewritten(item) => {
            exported.omit_reasoning(item);
            return None;
        }
        "tool_io" if fields.is_call() => {
            let name = fields.name.as_deref().unwrap_or("unknown");
            json!({ "type": "toolCall", "id": fields.call_id, "name": name, "arguments": arguments(item) })
        }
        "artifact" => match fields.media_type.as_deref().filter(|media_type| media_type.starts_with("image/")) {
            Some(media_type) => json!({ "type": "image", "data": BASE64.encode(&item.body), "mimeType": media_type }),
            None if item.text().is_some() => json!({ "type": "text", "text": text(item) }),
            None => {
                exported.omit_file(item);
                return None;
            }
        },
        _ => json!({ "type": "text", "text": text(item) }),
    })
}
