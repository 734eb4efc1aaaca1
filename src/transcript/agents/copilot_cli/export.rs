//! Writes a session as GitHub Copilot CLI does: a chain of events, each the parent of the next.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::CopilotCli;
use crate::trace::model::item::{Item, ItemType, Role, Status};
use crate::transcript::export::{
    ExportedTranscript, NewSession, RecordIds, Step, arguments, is_rewritten, signature, steps, text,
};
use crate::transcript::read::dialect::Dialect as _;

/// The agent version whose files this imitates.
const VERSION: &str = "1.0.102";

struct EventWriter<'s> {
    session: &'s NewSession,
    ids: RecordIds,
    parent: Value,
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let mut writer = EventWriter { session, ids: RecordIds::default(), parent: Value::Null };
    let Some(first) = items.first() else { return };
    let context = json!({ "cwd": session.folder.to_string_lossy(), "branch": session.branch });
    let start = json!({ "sessionId": session.id, "version": 1, "producer": "copilot-agent", "copilotVersion": VERSION,
        "startTime": session.at.to_string(), "context": context });
    let start_id = writer.ids.free(None, first, session, 36);
    writer.add("session.start", &start, &start_id, &session.at.to_string(), exported);
    for step in steps(items, CopilotCli::FORMAT) {
        if step.is_by_model {
            writer.message(&step, exported);
        } else {
            for item in &step.items {
                writer.prompt(item, exported);
            }
        }
        for (result, others) in step.results {
            writer.result(result, others, exported);
        }
    }
}

/// `<home>/session-state/<id>/events.jsonl`
#[expect(clippy::unnecessary_wraps, reason = "paths of other agents depend on the folder")]
pub(super) fn path(home: &Path, session: &NewSession) -> Option<PathBuf> {
    Some(home.join("session-state").join(&session.id).join("events.jsonl"))
}

impl EventWriter<'_> {
    fn add(&mut self, kind: &str, data: &Value, id: &str, time: &str, exported: &mut ExportedTranscript) {
        let parent = std::mem::replace(&mut self.parent, id.into());
        exported.add_line(&json!({ "type": kind, "data": data, "id": id, "timestamp": time, "parentId": parent }));
    }

    /// Writes the event of an item.
    fn add_of(&mut self, kind: &str, data: &Value, item: &Item, exported: &mut ExportedTranscript) {
        let own = item.fields.source.as_ref().filter(|_| is_own(item)).map(|source| source.record().to_owned());
        let id = self.ids.free(own, item, self.session, 36);
        let time = item.fields.created.unwrap_or(self.session.at).to_string();
        self.add(kind, data, &id, &time, exported);
    }

    fn prompt(&mut self, item: &Item, exported: &mut ExportedTranscript) {
        let fields = &item.fields;
        if fields.item_type == ItemType::artifact() && item.text().is_none() {
            exported.omit_file(item);
            return;
        }
        exported.items += 1;
        let said = text(item);
        let is_system = fields.item_type == ItemType::instruction() || fields.role == Some(Role::System);
        if is_own(item) && is_system {
            // The agent writes it again for each session.
            let system = json!({ "role": "system", "content": said });
            return self.add_of("system.message", &system, item, exported);
        }
        let data = match fields.meta.get("typed") {
            Some(typed) => json!({ "content": typed, "transformedContent": said }),
            None => json!({ "content": said }),
        };
        self.add_of("user.message", &data, item, exported);
    }

    fn message(&mut self, step: &Step<'_>, exported: &mut ExportedTranscript) {
        let is_reasoning = |item: &Item| item.fields.item_type == ItemType::reasoning() && !is_rewritten(item);
        let Some(main) = step.items.iter().find(|item| !is_reasoning(item)).or(step.items.first()) else { return };
        let mut data = json!({ "messageId": main.id.to_string(), "content": "", "toolRequests": [] });
        if let Some(model) = step.meta("model") {
            data["model"] = model.into();
        }
        let (mut texts, mut requests) = (Vec::new(), Vec::new());
        for item in &step.items {
            let fields = &item.fields;
            if is_reasoning(item) && !is_own(item) {
                exported.omit_reasoning(item);
                continue;
            }
            exported.items += 1;
            if is_reasoning(item) {
                let record = |item: &Item| item.fields.source.as_ref().map(|source| source.record().to_owned());
                if record(item) != record(main) {
                    let event = json!({ "reasoningId": item.id.to_string(), "content": text(item) });
                    self.add_of("assistant.reasoning", &event, item, exported);
                }
                data["reasoningText"] = text(item).into();
                data["reasoningOpaque"] = signature(item).or(step.meta("reasoning_opaque")).into();
            } else if fields.is_call() {
                let name = fields.name.as_deref().unwrap_or("unknown");
                requests.push(json!({ "toolCallId": fields.call_id, "name": name, "arguments": arguments(item), "type": "function" }));
            } else {
                texts.push(text(item));
            }
        }
        if texts.is_empty() && requests.is_empty() {
            return;
        }
        data["content"] = texts.join("\n").into();
        data["toolRequests"] = requests.into();
        self.add_of("assistant.message", &data, main, exported);
    }

    fn result(&mut self, result: &Item, others: &[Item], exported: &mut ExportedTranscript) {
        exported.items += 1;
        let mut said = text(result);
        for other in others {
            if other.text().is_some() {
                said.extend(["\n", &text(other)]);
                exported.items += 1;
            } else {
                exported.omit_file(other);
            }
        }
        let failed = result.fields.status == Some(Status::Error);
        let mut data = json!({ "toolCallId": result.fields.call_id, "success": !failed });
        if failed {
            data["error"] = json!({ "message": said, "code": "failure" });
        } else {
            data["result"] = json!({ "content": said });
        }
        self.add_of("tool.execution_complete", &data, result, exported);
    }
}

fn is_own(item: &Item) -> bool {
    item.fields.source.as_ref().is_some_and(|source| source.format() == CopilotCli::FORMAT)
}
