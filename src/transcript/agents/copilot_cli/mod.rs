//! Sessions of GitHub Copilot CLI: `<home>/session-state/<id>/events.jsonl`.
//!
//! ```text
//! {"type":"session.start","data":{"sessionId":"3015…","copilotVersion":"1.0.45","context":{"cwd":"…"}},"id":"…","timestamp":"…"}
//! {"type":"assistant.message","data":{"content":"…","toolRequests":[{"toolCallId":"tool-1","name":"create","arguments":"{…}"}]},…}
//! {"type":"tool.execution_complete","data":{"toolCallId":"tool-1","success":true,"result":{"content":"…"}},…}
//! ```
//!
//! - `transformedContent` is what the model was sent of a prompt; what the user typed is meta `typed` then.
//! - `tool.execution_start` repeats a request, unless the model did not make it.
//! - Events with an `agentId` or a `parentToolCallId` are a sub-agent's.
//! - The agent reports how many tokens a message has, as meta `output_tokens`, but not the size of the context.

mod export;

use std::borrow::Cow;

use super::{AgentFormat, home_folder};
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::export::Exporter;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform, reasoning};
use crate::transcript::read::dialect::{Dialect, Session};
use crate::transcript::read::header::{self, is_listed};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    writes_late: true,
    home: |env| home_folder(env, "COPILOT_HOME", ".copilot"),
    exporter: Some(Exporter::new(export::write, export::path, "copilot --resume=")),
    ..AgentFormat::of_dialect::<CopilotCli>("GitHub Copilot CLI")
};

/// Events without content, or with copies of it.
const IGNORED: &str = "session.start session.resume session.model_change session.shutdown session.snapshot_rewind \
    session.truncation session.compaction_start session.auto_mode_resolved session.usage_checkpoint session.usage_info session.usage_record \
    session.idle session.title_changed session.mode_changed session.context_changed session.task_complete \
    session.handoff session.plan_changed session.workspace_file_changed hook.start hook.end assistant.turn_start \
    assistant.turn_end assistant.usage assistant.intent assistant.message_delta assistant.reasoning_delta \
    tool.execution_progress tool.execution_partial_result subagent.started subagent.configured subagent.completed subagent.selected \
    subagent.deselected abort";

/// Events with content.
const CONTENT: &str = "user.message assistant.message assistant.reasoning tool.user_requested tool.execution_start \
    tool.execution_complete system.message system.notification session.info session.warning session.error \
    session.compaction_complete subagent.failed skill.invoked";

pub(crate) struct CopilotCli;

impl Dialect for CopilotCli {
    const FORMAT: &'static str = "copilot-cli";
    const FILES: &'static [&'static [&'static str]] =
        &[&["session-state", "*", "events.jsonl"], &["session-state", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let Some(kind) = record.text("type").filter(|_| record.has("data") && record.has("timestamp")) else {
            return Certainty::No;
        };
        match &*kind {
            "session.start" if record.object("data").has("copilotVersion") => Certainty::Sure,
            kind if kind.contains('.') && (is_listed(kind, IGNORED) || is_listed(kind, CONTENT)) => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("type").filter(|kind| kind == "session.start").and_then(|_| record.object("data").text("sessionId"))
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.object("data").object("context").text("cwd")
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let (kind, data) = (record.text("type").unwrap_or_default(), record.object("data"));
        let id = record.text("id");
        if let Some(id) = &id {
            session.enter(id, None, output);
        }
        session.set_model(data.any_text(&["newModel", "selectedModel"]));
        if let Some(event) = data.any_text(&["upToEventId", "eventId"]).filter(|_| kind == "session.snapshot_rewind") {
            session.rewind_from(&event, output);
        }
        let call_id = data.text("toolCallId");
        let is_repeated = kind.starts_with("tool.") && kind != "tool.execution_complete";
        if is_listed(&kind, IGNORED) || is_repeated && call_id.as_deref().is_some_and(|id| session.knows_call(id)) {
            return Outcome::Ignored(kind.into_owned());
        }
        if !is_listed(&kind, CONTENT) {
            return Outcome::Unknown(kind.into_owned());
        }
        let content = record.get("data").map_or(bytes, |data| data.get().as_bytes());
        let Some(mut builder) = session.begin(id.as_deref(), content, output) else { return Outcome::Repeated };
        builder.created = record.time("timestamp");
        // Older versions name only the call that started the sub-agent.
        builder.thread = record.text("agentId").or_else(|| data.text("parentToolCallId")).map(|id| header::thread(&id));
        let text = data.text("content").unwrap_or_default();
        match &*kind {
            "user.message" => {
                let sent = data.text("transformedContent").filter(|sent| !sent.is_empty()).unwrap_or(text.clone());
                builder.add_meta("typed", (sent != text).then(|| text.into_owned()));
                session.text(&mut builder, Role::User, &sent);
                for file in data.list("attachments") {
                    builder.push(freeform("attachment", Some(Role::User)), file.get());
                }
            }
            "assistant.message" => message(session, &mut builder, &data, &text),
            "assistant.reasoning" => {
                builder.push(reasoning(None), text.to_string());
                session.notes = vec![text.into_owned()];
            }
            "tool.execution_complete" => {
                let result = data.object("result");
                let by_type = || result.text("result_type").map(|kind| kind != "success");
                let failed = data.get("success").map(|_| !data.is_true("success")).or_else(by_type);
                session.result(&mut builder, call_id, failed, data.any(&["result", "error"]));
            }
            "tool.execution_start" | "tool.user_requested" => {
                let arguments = call_arguments(data.get("arguments"));
                session.call(&mut builder, call_id, data.text("toolName"), arguments);
            }
            "system.message" => session.text(&mut builder, Role::System, &text),
            "session.compaction_complete" => {
                if let Some(summary) = data.text("summaryContent") {
                    session.summary(&mut builder, &summary, output, None);
                }
            }
            _ => {
                let is_sent = is_listed(&kind, "system.notification skill.invoked");
                builder.removal = (!is_sent).then_some(Removal::Interface);
                let text = data.any_text(&["content", "message", "error"]).unwrap_or_default();
                builder.push(freeform(&kind, is_sent.then_some(Role::User)), text.into_owned());
            }
        }
        session.finish(builder, &kind, bytes, output)
    }
}

fn message(session: &mut Session, builder: &mut EntryBuilder, data: &Object<'_>, text: &str) {
    session.set_model(data.text("model"));
    builder.add_meta("model", session.model.clone());
    let opaque = data.text("reasoningOpaque").filter(|opaque| !opaque.is_empty());
    let thought = data.text("reasoningText").filter(|thought| !thought.is_empty());
    let is_known =
        thought.as_deref().is_some_and(|thought| session.notes.first().is_some_and(|known| known == thought));
    session.notes.clear();
    match &thought {
        Some(thought) if !is_known => {
            builder.push(reasoning(opaque.as_deref()), &**thought);
        }
        _ => builder.add_meta("reasoning_opaque", opaque.map(Cow::into_owned)),
    }
    session.text(builder, Role::Assistant, text);
    for raw in data.list("toolRequests") {
        let request = Object::of(raw);
        let arguments = call_arguments(request.get("arguments"));
        if session.call(builder, request.text("toolCallId"), request.text("name"), arguments).is_none() {
            builder.push(freeform("toolRequest", Some(Role::Assistant)), raw.get());
        }
    }
    let tokens = data.count("outputTokens");
    if let Some(last) = builder.entries.last_mut().filter(|_| tokens > 0) {
        last.draft.fields.meta.insert("output_tokens".to_owned(), tokens.into());
    }
}
