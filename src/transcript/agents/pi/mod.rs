//! Sessions of pi: `<home>/sessions/--<folder>--/<time>_<id>.jsonl`.
//!
//! ```text
//! {"type":"session","version":3,"id":"019e…","timestamp":"…","cwd":"/home/ada/engine"}
//! {"type":"message","id":"30c6a75f","parentId":"3a59c5dd","timestamp":"…","message":{"role":"user","content":[…]}}
//! {"type":"compaction","id":"c139a627","parentId":"22a2720e","summary":"…","firstKeptEntryId":"f7c7091e"}
//! ```
//!
//! Files of version 1 have no ids; their order is the chain. A reply that failed or was stopped is not sent to the model again: it is
//! removed as `interface`. A record's source is its id and time, because an id is short and a fork of the session copies both.

mod export;

use std::borrow::Cow;

use super::{AgentFormat, home_folder};
use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::export::Exporter;
use crate::transcript::read::builder::{EntryBuilder, dialogue, freeform};
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::header::{self, is_listed};
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "PI_CODING_AGENT_DIR", ".pi/agent"),
    exporter: Some(Exporter::new(export::write, export::path, "pi --session")),
    ..AgentFormat::of_dialect::<Pi>("pi")
};

pub(crate) struct Pi;

impl Dialect for Pi {
    const FORMAT: &'static str = "pi";
    const FILES: &'static [&'static [&'static str]] = &[&["sessions", "*", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let message = record.object("message");
        match record.text("type").as_deref() {
            Some("session") if record.has("cwd") && record.has("id") => Certainty::Sure,
            Some("message") if message.has("role") && message.has("timestamp") => Certainty::Likely,
            Some("compaction") if record.has("summary") && record.has("tokensBefore") => Certainty::Likely,
            Some("model_change") if record.has("modelId") => Certainty::Likely,
            Some("thinking_level_change") => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("type").filter(|kind| kind == "session").and_then(|_| record.text("id"))
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("type").filter(|kind| kind == "session").and_then(|_| record.text("cwd"))
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let kind = record.text("type").unwrap_or_default();
        let id = record.text("id").filter(|_| kind != "session");
        if let Some(id) = &id {
            // The parent of a first record is `null`.
            let parent = record.has("parentId").then(|| record.text("parentId").unwrap_or_default());
            session.enter(id, parent.as_deref(), output);
        }
        if matches!(&*kind, "session" | "model_change") {
            session.set_model(record.text("modelId"));
        }
        if is_listed(&kind, "session model_change thinking_level_change custom label") {
            return Outcome::Ignored(kind.into_owned());
        }
        if !is_listed(&kind, "message compaction branch_summary custom_message session_info") {
            return Outcome::Unknown(kind.into_owned());
        }
        let at = record.text("timestamp").unwrap_or_default();
        let id = id.map(|id| format!("{id}@{at}"));
        let Some(mut builder) = session.begin(id.as_deref(), bytes, output) else { return Outcome::Repeated };
        builder.created = record.time("timestamp");
        let summary = record.text("summary");
        match &*kind {
            "message" => message(session, &mut builder, record),
            "compaction" => {
                let first = record.text("firstKeptEntryId").and_then(|id| session.number_of(&id));
                let number = usize::try_from(record.count("firstKeptEntryIndex")).ok().filter(|number| *number > 0);
                session.summary(&mut builder, &summary.unwrap_or_default(), output, first.or(number));
            }
            "session_info" => Session::title(&mut builder, record.text("name")),
            "custom_message" => record.get("content").iter().for_each(|content| {
                session.content(&mut builder, Role::User, content);
            }),
            _ => {
                builder.push(dialogue(Role::User), summary.unwrap_or_default().into_owned());
            }
        }
        session.finish(builder, &kind, bytes, output)
    }
}

fn message(session: &mut Session, builder: &mut EntryBuilder, record: &Object<'_>) {
    let Some(raw) = record.get("message") else { return };
    let message = Object::of(raw);
    let word = message.text("role").unwrap_or_default();
    let content = message.get("content");
    let failed = message.get("isError").map(|failed| json::is_true(Some(failed)));
    match (role(&word), content) {
        (Some(Role::Tool), _) if session.result(builder, message.text("toolCallId"), failed, content).is_some() => {}
        (Some(role @ (Role::User | Role::Assistant | Role::System)), Some(content)) => {
            if role == Role::Assistant {
                session.set_model(message.text("model"));
                builder.add_meta("model", session.model.clone());
                for name in ["provider", "api"] {
                    builder.add_meta(name, message.text(name).and_then(|value| header::one_line(&value, 128)));
                }
            }
            let is_void = message.text("stopReason").is_some_and(|reason| matches!(&*reason, "error" | "aborted"));
            builder.removal = is_void.then_some(Removal::Interface);
            session.content(builder, role, content);
            let usage = message.object("usage");
            let usage = TokenUsage {
                input_tokens: usage.count("input"),
                cache_read_tokens: usage.count("cacheRead"),
                cache_write_tokens: usage.count("cacheWrite"),
                output_tokens: usage.count("output"),
            };
            if !is_void {
                add_usage(&mut builder.entries, usage);
            }
        }
        _ => {
            let (fields, body) = match message.text("summary") {
                Some(summary) => (dialogue(Role::User), summary.into_owned()),
                None => {
                    (freeform(if word.is_empty() { "message" } else { &word }, Some(Role::User)), raw.get().to_owned())
                }
            };
            builder.removal = message.is_true("excludeFromContext").then_some(Removal::Interface);
            builder.push(fields, body);
        }
    }
}
