//! Logs of Inspect: one JSON document, or a zip file (`.eval`) with one document per sample.
//!
//! ```text
//! {"version":2,"status":"success","eval":{"eval_id":"ZB2v…","task":"browser","model":"…"},"samples":[{"id":1,"epoch":1,
//!   "messages":[{"id":"Ygng…","role":"assistant","content":"…","tool_calls":[{"id":"c1","function":"go","arguments":{…}}]}],
//!   "events":[…],"attachments":{"56c1…":"…"},"model_usage":{…}}]}
//! ```
//!
//! - A sample is a conversation. Its id is that of the evaluation, its own, and the epoch.
//! - `attachment://56c1…` is replaced by the text of that name in `attachments`.
//! - `events` repeat the messages; the usage of each answer of the model is there, and that of the last one in `output`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};

use serde_json::value::RawValue;

use super::super::AgentFormat;
use super::super::conversations::message;
use super::zip::ZippedSamples;
use crate::tokens::TokenUsage;
use crate::trace::model::item::Role;
use crate::transcript::format::{first_lines, head};
use crate::transcript::read::builder::freeform;
use crate::transcript::read::dialect::{self, Dialect, Session, add_usage};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    certainty: |line| match serde_json::from_slice(line) {
        Ok(record) => Inspect::certainty(&record),
        Err(_) => ZippedSamples::certainty(line),
    },
    open: |mut reader| {
        let head = head(&mut *reader)?;
        let is_zip = first_lines(&head).next().is_some_and(|line| line.starts_with(b"PK"));
        let reader: Box<dyn Read + '_> = Box::new(io::Cursor::new(head).chain(reader));
        if is_zip {
            Ok(dialect::open_lines::<Inspect>(Box::new(ZippedSamples::new(reader))))
        } else {
            dialect::open_values::<Inspect>(reader)
        }
    },
    ..AgentFormat::of_conversations::<Inspect>("Inspect")
};

const ATTACHMENT: &str = "\"attachment://";

pub(crate) struct Inspect;

impl Dialect for Inspect {
    const FORMAT: &'static str = "inspect";
    const LIST: Option<&'static str> = Some("samples");

    fn certainty(record: &Object<'_>) -> Certainty {
        let (eval, sample) = (record.object("eval"), record.object("samples"));
        if eval.has("task_id") && eval.has("dataset") || sample.has("epoch") && sample.has("messages") {
            Certainty::Sure
        } else if sample.has("epoch") && sample.has("target") {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(_: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        if let Some(raw) = record.get("samples") {
            return read_sample(session, &Object::of(raw), output);
        }
        if let Some(id) = record.object("eval").any_text(&["eval_id", "run_id", "task_id"]) {
            session.notes = vec![id.into_owned()];
        }
        let name = record.names().next().unwrap_or_default().to_owned();
        let known = "version status eval plan results stats reductions error invalidated log_updates tags metadata location etag";
        if crate::transcript::read::header::is_listed(&name, known) {
            Outcome::Ignored(name)
        } else {
            Outcome::Unknown(name)
        }
    }
}

fn read_sample(session: &mut Session, sample: &Object<'_>, output: &mut Output) -> Outcome {
    let own = sample.text("id").or_else(|| sample.get("id").map(|id| id.get().into())).unwrap_or_default();
    let evaluation = session.notes.first().map(|id| format!("{id}_")).unwrap_or_default();
    let id = format!("{evaluation}{own}_epoch_{}", sample.count("epoch").max(1));
    session.next_conversation(Some(id.into()), output);
    let (attachments, usages) = (sample.object("attachments"), usages(sample));
    let attachments: HashMap<&str, &RawValue> =
        attachments.members().filter(|(_, text)| text.get() != "null").collect();
    for raw in sample.list("messages") {
        let resolved = resolve(raw, &attachments);
        let raw = resolved.as_deref().unwrap_or(raw);
        let message = Object::of(raw);
        let (id, bytes) = (message.text("id"), raw.get().as_bytes());
        let Some(mut builder) = session.begin(id.as_deref(), bytes, output) else { continue };
        let role = message.text("role").unwrap_or_default();
        if role == "assistant" {
            session.set_model(message.text("model"));
            builder.add_meta("model", session.model.clone());
        }
        if message::add(session, &mut builder, &message).is_none() {
            builder.push(freeform(if role.is_empty() { "message" } else { &role }, Some(Role::User)), raw.get());
        }
        if let Some(usage) = id.and_then(|id| usages.get(&*id)) {
            add_usage(&mut builder.entries, *usage);
        }
        session.finish(builder, "message", bytes, output);
    }
    if output.entries.is_empty() { Outcome::Ignored("sample/empty".to_owned()) } else { Outcome::Imported }
}

/// The usage of each answer, by the id of its message.
fn usages<'a>(sample: &Object<'a>) -> HashMap<Cow<'a, str>, TokenUsage> {
    let events = sample.list("events").into_iter().map(Object::of);
    let answers = events.filter(|event| event.text("event").is_some_and(|kind| kind == "model"));
    let answers = answers.map(|event| event.object("output")).chain([sample.object("output")]);
    let usage = |answer: Object<'a>| {
        let choice = answer.list("choices").first().map(|raw| Object::of(raw).object("message"))?;
        let usage = answer.object("usage");
        let [input, cached, written, answer, total] =
            ["input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens", "total_tokens"]
                .map(|name| usage.count(name));
        // Some providers count the cached tokens twice: in the input, too.
        let usage = if input.saturating_add(answer) == total {
            TokenUsage::of_prompt(input, cached, answer)
        } else {
            TokenUsage {
                input_tokens: input,
                cache_read_tokens: cached,
                cache_write_tokens: written,
                output_tokens: answer,
            }
        };
        Some((choice.text("id")?, usage))
    };
    answers.filter_map(usage).collect()
}

/// A message with its attachments in place of their names.
fn resolve(raw: &RawValue, attachments: &HashMap<&str, &RawValue>) -> Option<Box<RawValue>> {
    let mut rest = raw.get();
    let mut resolved = String::new();
    while let Some(at) = rest.find(ATTACHMENT) {
        let name = &rest[at + ATTACHMENT.len()..];
        let end = name.find('"')?;
        resolved.push_str(&rest[..at]);
        let own = &rest[at..=(at + ATTACHMENT.len() + end)];
        resolved.push_str(attachments.get(&name[..end]).map_or(own, |text| text.get()));
        rest = &name[end + 1..];
    }
    (!resolved.is_empty()).then(|| RawValue::from_string(resolved + rest).ok()).flatten()
}
