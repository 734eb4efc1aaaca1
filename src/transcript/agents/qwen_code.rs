//! Sessions of Qwen Code: `<home>/projects/<folder>/chats/<session id>.jsonl`.
//!
//! ```text
//! {"uuid":"c5a4…","parentUuid":"2af1…","sessionId":"69f0…","timestamp":"…","type":"assistant","cwd":"…","model":"coder-model",
//!  "message":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"list_directory","args":{…}}}]},
//!  "usageMetadata":{…}}
//! ```
//!
//! The records look like those of Claude Code, but the messages are Gemini's. The living branch runs from the last record to its
//! parents; `system/rewind` starts a new one. Two records may have the same uuid and add up.

use std::borrow::Cow;

use super::{AgentFormat, home_folder};
use crate::tokens::TokenUsage;
use crate::trace::model::item::Role;
use crate::transcript::read::dialect::{Dialect, Session, add_usage};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    writes_late: true,
    home: |env| home_folder(env, "QWEN_HOME", ".qwen"),
    ..AgentFormat::of_dialect::<QwenCode>("Qwen Code")
};

/// Subtypes of `system` without content for the model, or with copies of it.
const IGNORED: &str = "ui_telemetry attribution_snapshot session_artifact_snapshot rewind slash_command at_command \
    agent_name agent_color file_history_snapshot";

pub(crate) struct QwenCode;

impl Dialect for QwenCode {
    const FORMAT: &'static str = "qwen-code";
    const FILES: &'static [&'static [&'static str]] = &[&["projects", "*", "chats", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let is_chained = record.has("uuid") && record.has("parentUuid");
        match record.text("type").as_deref() {
            Some("user" | "assistant" | "tool_result") if is_chained && record.object("message").has("parts") => {
                Certainty::Sure
            }
            Some("system") if is_chained && record.has("systemPayload") => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("sessionId")
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        // Those that only the user sees may name the folder of a file.
        record.text("cwd").filter(|_| record.has("message"))
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let kind = record.text("type").unwrap_or_default();
        let subtype = record.text("subtype").unwrap_or_default();
        let uuid = record.text("uuid");
        if let Some(uuid) = &uuid {
            session.enter(uuid, record.text("parentUuid").as_deref(), output);
        }
        let name = if subtype.is_empty() { kind.to_string() } else { format!("{kind}/{subtype}") };
        let payload = record.object("systemPayload");
        let role = match &*kind {
            "user" | "tool_result" => Role::User,
            "assistant" => Role::Assistant,
            "system" if is_listed(&subtype, IGNORED) => return Outcome::Ignored(name),
            "system" if is_listed(&subtype, "custom_title chat_compression") => Role::System,
            _ => return Outcome::Unknown(name),
        };
        let message = record.get("message");
        // The content alone: a record that is written again may have another time.
        let content = message.or_else(|| record.get("systemPayload")).map_or(bytes, |content| content.get().as_bytes());
        let Some(mut builder) = session.begin(uuid.as_deref(), content, output) else { return Outcome::Repeated };
        builder.created = record.time("timestamp");
        if role == Role::System {
            Session::title(&mut builder, payload.text("customTitle"));
            let summary = payload.list("compressedHistory").first().map(|first| Object::of(first).list("parts"));
            if let Some(text) = summary.and_then(|parts| Object::of(parts.first()?).text("text")) {
                session.summary(&mut builder, &text, output, None);
            }
            return session.finish(builder, &name, content, output);
        }
        builder.add_meta("model", json::line(record.get("model"), 128));
        builder.add_meta("notification", (subtype == "notification").then_some(true));
        let Some(parts) = message.and_then(|message| Object::of(message).get("parts")) else {
            return Outcome::Unknown(format!("{name} without parts"));
        };
        session.content(&mut builder, role, parts);
        let usage = record.object("usageMetadata");
        let [prompt, cached] = ["promptTokenCount", "cachedContentTokenCount"].map(|name| usage.count(name));
        let answer = usage.count("candidatesTokenCount").saturating_add(usage.count("thoughtsTokenCount"));
        add_usage(&mut builder.entries, TokenUsage::of_prompt(prompt, cached, answer));
        session.finish(builder, &name, content, output)
    }
}
