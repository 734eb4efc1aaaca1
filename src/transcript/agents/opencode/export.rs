//! Writes a session as the document that `opencode import` takes.
//!
//! The ids of messages and parts are keys in opencode's database, so that none of another session can be used again. A part's id
//! contains the ids of its items instead: `prt_<order><session>_<item>…`. So the reader knows them, whatever agent recorded them.

use serde_json::{Value, json};

use super::Opencode;
use crate::tokens::window::provider_of_model;
use crate::trace::ItemId;
use crate::trace::model::item::{Item, ItemType, Role, Status};
use crate::trace::model::trailers::first_words;
use crate::transcript::export::{
    ExportedTranscript, NewSession, Step, arguments, data_url, has_flag, is_rewritten, json_type, steps, text,
};
use crate::transcript::read::dialect::Dialect as _;

/// The agent version whose documents this imitates.
const VERSION: &str = "1.18.33";

const AGENT: &str = "build";

struct DocumentWriter<'s> {
    session: &'s NewSession,
    part_count: usize,
    /// The message that the parts are of.
    message: String,
}

/// The items whose ids are in the id of a part.
pub(super) fn items_of(part: &str) -> Vec<ItemId> {
    part.split('_').skip(2).map_while(|id| id.parse().ok()).collect()
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let steps = steps(items, Opencode::FORMAT);
    let mut writer = DocumentWriter { session, part_count: 0, message: String::new() };
    // opencode asks the model of the last prompt.
    let newest = steps.iter().rev().find(|step| step.meta("model").is_some());
    let (provider, model) = model_of(newest);
    let mut messages = Vec::new();
    let (mut prompt, mut at) = (String::new(), 0);
    // opencode compares ids to find out which message is newer.
    let first = session.milliseconds(None) * 0x1000 - i64::try_from(steps.len()).unwrap_or_default();
    for (step, number) in steps.iter().zip(first..) {
        writer.message = format!("msg_{:012x}{}", number & 0xffff_ffff_ffff, writer.of_session());
        at = at.max(session.milliseconds(step.created()));
        let parts = writer.parts(step, exported);
        if parts.is_empty() {
            continue;
        }
        let mut info = json!({ "id": writer.message, "sessionID": session.id, "agent": AGENT });
        if step.is_by_model {
            let (provider, model) = model_of(Some(step));
            let folder = session.folder.to_string_lossy();
            info["role"] = "assistant".into();
            info["parentID"] = prompt.as_str().into();
            info["mode"] = AGENT.into();
            info["path"] = json!({ "cwd": folder, "root": folder });
            info["cost"] = 0.into();
            info["tokens"] = json!({ "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } });
            info["providerID"] = provider.into();
            info["modelID"] = model.into();
            info["time"] = json!({ "created": at, "completed": at });
            info["finish"] = if step.results.is_empty() { "stop" } else { "tool-calls" }.into();
        } else {
            info["role"] = "user".into();
            info["model"] = json!({ "providerID": provider, "modelID": model });
            info["time"] = json!({ "created": at });
            prompt.clone_from(&writer.message);
        }
        messages.push(json!({ "info": info, "parts": parts }));
    }
    let prompts = items.iter().filter(|item| item.fields.role == Some(Role::User));
    let title = prompts.map(|item| first_words(&item.body)).find(|words| !words.is_empty());
    let now = session.milliseconds(None);
    let info = json!({ "id": session.id, "slug": session.id, "projectID": "global", "directory": session.folder.to_string_lossy(),
        "title": title.unwrap_or_default(), "version": VERSION, "time": { "created": now, "updated": now } });
    exported.bytes = json!({ "info": info, "messages": messages }).to_string().into_bytes();
}

/// The provider and the name of the model that wrote a step.
fn model_of<'s>(step: Option<&'s Step<'_>>) -> (&'s str, &'s str) {
    let model = step.and_then(|step| step.meta("model")).unwrap_or("unknown");
    let provider = step.and_then(|step| step.meta("provider"));
    (provider.or(provider_of_model(model)).unwrap_or("opencode"), model)
}

impl DocumentWriter<'_> {
    fn of_session(&self) -> &str {
        let id = &self.session.id;
        &id[id.len().saturating_sub(14)..]
    }

    fn parts(&mut self, step: &Step<'_>, exported: &mut ExportedTranscript) -> Vec<Value> {
        let mut parts = Vec::new();
        for item in &step.items {
            let part = if item.fields.is_call() {
                let result = step.results.iter().find(|(result, _)| result.fields.call_id == item.fields.call_id);
                result.map(|(result, others)| self.tool(item, result, others, exported))
            } else {
                self.part(item, exported)
            };
            parts.extend(part);
        }
        parts
    }

    /// Completes a part, which is of these items.
    fn of_items(&mut self, mut part: Value, items: &[&Item]) -> Value {
        let ids: String = items.iter().flat_map(|item| ["_".to_owned(), item.id.to_string()]).collect();
        part["id"] = format!("prt_{:012x}{}{ids}", self.part_count, self.of_session()).into();
        part["sessionID"] = self.session.id.as_str().into();
        part["messageID"] = self.message.as_str().into();
        self.part_count += 1;
        part
    }

    fn part(&mut self, item: &Item, exported: &mut ExportedTranscript) -> Option<Value> {
        let fields = &item.fields;
        let is_own = fields.source.as_ref().is_some_and(|source| source.format() == Opencode::FORMAT);
        let at = self.session.milliseconds(fields.created);
        let mut part = match fields.item_type.as_str() {
            "reasoning" if is_own && !is_rewritten(item) => {
                json!({ "type": "reasoning", "text": text(item), "time": { "start": at, "end": at } })
            }
            "reasoning" if !is_rewritten(item) => {
                exported.omit_reasoning(item);
                return None;
            }
            "artifact" => match file(item) {
                Some(file) => file,
                None if item.text().is_some() => json!({ "type": "text", "text": text(item) }),
                None => {
                    exported.omit_file(item);
                    return None;
                }
            },
            // opencode has put the text of such a file into another part.
            "freeform" if is_own && json_type(item).as_deref() == Some("file") => arguments(item),
            _ => json!({ "type": "text", "text": text(item) }),
        };
        if let Some(metadata) = fields.meta.get("metadata").filter(|metadata| is_own && metadata.is_object()) {
            part["metadata"] = metadata.clone();
        }
        if fields.item_type == ItemType::instruction() || has_flag(item, "synthetic") {
            part["synthetic"] = true.into();
        }
        exported.items += 1;
        Some(self.of_items(part, &[item]))
    }

    fn tool(&mut self, call: &Item, result: &Item, others: &[Item], exported: &mut ExportedTranscript) -> Value {
        let time = [call, result].map(|item| self.session.milliseconds(item.fields.created));
        let mut state = json!({ "input": arguments(call), "time": { "start": time[0], "end": time[1] } });
        let (mut items, mut output, mut files) = (vec![call, result], text(result), Vec::new());
        let failed = result.fields.status == Some(Status::Error);
        for other in others {
            match file(other).filter(|_| !failed) {
                Some(file) => {
                    items.push(other);
                    files.push(self.of_items(file, &[]));
                }
                None if other.text().is_some() => output.extend(["\n", &text(other)]),
                None => exported.omit_file(other),
            }
        }
        if failed {
            state["status"] = "error".into();
            state["error"] = output.into();
        } else {
            state["status"] = "completed".into();
            state["output"] = output.into();
            state["title"] = "".into();
            state["metadata"] = json!({});
            state["attachments"] = files.into();
        }
        exported.items += 2 + others.len();
        let name = call.fields.name.as_deref().unwrap_or("unknown");
        let part = json!({ "type": "tool", "callID": call.fields.call_id, "tool": name, "state": state });
        self.of_items(part, &items)
    }
}

/// A file that opencode sends to the model.
fn file(item: &Item) -> Option<Value> {
    let media_type = item.fields.media_type.as_deref()?;
    let is_sent = media_type.starts_with("image/") || media_type == "application/pdf";
    is_sent.then(|| json!({ "type": "file", "mime": media_type, "url": data_url(media_type, &item.body) }))
}
