//! What `LangChain` programs report: runs of `LangSmith`, and traces of Langfuse.
//!
//! ```text
//! {"post":[{"id":"…","trace_id":"…","run_type":"llm","start_time":"…","inputs":{"messages":[…]}}],
//!  "patch":[{"id":"…","trace_id":"…","end_time":"…","outputs":{"choices":[{"message":{…}}],"usage_metadata":{…}}}]}
//! {"trace":{"id":"…","projectId":"…","input":"…","output":"{\"messages\":[{\"type\":\"human\",\"content\":\"…\"},…]}"},
//!  "observations":[{"traceId":"…","type":"GENERATION","input":[…],"output":{…}}]}
//! ```
//!
//! - Runs of `LangSmith` are also read as a list, or one per line.
//! - Each run repeats the conversation; a message is imported once. Of Langfuse, the observations are read only if the trace has no
//!   messages. Runs of tools and of other steps repeat what the model is sent next.
//! - Each further conversation becomes a separate trace, named like one of a sub-agent.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::super::AgentFormat;
use super::super::conversations::message;
use super::langchain::{key_of, messages, plain, unwrapped, usage_of};
use crate::trace::model::item::Role;
use crate::transcript::read::builder::freeform;
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};
use crate::transcript::read::{header, json};

pub(crate) const LANGSMITH: AgentFormat = AgentFormat::of_dialect::<LangSmith>("LangSmith");
pub(crate) const LANGFUSE: AgentFormat = AgentFormat::of_dialect::<Langfuse>("Langfuse");

pub(crate) struct LangSmith;

impl Dialect for LangSmith {
    const FORMAT: &'static str = "langsmith";
    const LIST: Option<&'static str> = Some("post");

    fn certainty(record: &Object<'_>) -> Certainty {
        let is_run = |run: &Object<'_>| {
            run.has("trace_id") && run.has("dotted_order")
                || run.has("run_type") && run.has("start_time") && run.has("inputs")
        };
        if is_run(record) || batch(record).iter().any(is_run) { Certainty::Sure } else { Certainty::No }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        batch(record).iter().find_map(conversation).or_else(|| conversation(record))
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let batch = batch(record);
        let (mut outcome, before) = (Outcome::Unknown("run".to_owned()), output.entries.len());
        for run in batch.iter().chain(batch.is_empty().then_some(record)) {
            let kind = run.text("run_type").unwrap_or_default();
            let is_read = matches!(&*kind, "llm" | "") || run.get("parent_run_id").is_none();
            if is_read {
                read_run(session, run, (run.get("inputs"), run.get("outputs")), output);
            }
            outcome = Outcome::Ignored(if kind.is_empty() { "run" } else { &kind }.to_owned());
        }
        if output.entries.len() > before { Outcome::Imported } else { outcome }
    }
}

/// The runs of a batch.
fn batch<'a>(record: &Object<'a>) -> Vec<Object<'a>> {
    let lists = ["post", "patch"].iter().filter_map(|name| record.get(name));
    lists.flat_map(|value| json::list(value).unwrap_or_else(|| vec![value])).map(Object::of).collect()
}

pub(crate) struct Langfuse;

impl Dialect for Langfuse {
    const FORMAT: &'static str = "langfuse";
    const LIST: Option<&'static str> = Some("observations");

    fn certainty(record: &Object<'_>) -> Certainty {
        let (trace, seen) = (record.object("trace"), record.object("observations"));
        let is_trace = trace.has("projectId") && trace.has("timestamp");
        let is_seen = seen.has("traceId") && seen.has("parentObservationId") && seen.has("startTime");
        if is_trace || is_seen { Certainty::Sure } else { Certainty::No }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let trace = record.object("trace");
        trace.any_text(&["sessionId", "id"]).or_else(|| record.object("observations").text("traceId"))
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let seen = record.get("observations").map(Object::of);
        let kind = seen.as_ref().and_then(|seen| seen.text("type")).unwrap_or_default();
        let before = output.entries.len();
        match seen.filter(|_| !session.started && kind == "GENERATION") {
            Some(run) => read_run(session, &run, (run.get("input"), run.get("output")), output),
            None => {
                let trace = record.object("trace");
                let [input, answer] = ["input", "output"].map(|name| trace.get(name).map(unwrapped));
                read_run(session, &trace, (input.as_deref(), answer.as_deref()), output);
            }
        }
        let kind = if kind.is_empty() { record.names().next().unwrap_or_default() } else { &kind };
        if output.entries.len() > before { Outcome::Imported } else { Outcome::Ignored(kind.to_owned()) }
    }
}

fn conversation<'a>(run: &Object<'a>) -> Option<Cow<'a, str>> {
    let metadata = run.object("extra").object("metadata");
    let named = metadata.any_text(&["session_id", "thread_id", "conversation_id"]);
    named.or_else(|| run.any_text(&["trace_id", "traceId", "id"])).filter(|id| !id.is_empty())
}

/// Adds what is new in a run.
fn read_run(
    session: &mut Session,
    run: &Object<'_>,
    (inputs, answers): (Option<&RawValue>, Option<&RawValue>),
    output: &mut Output,
) {
    let of_run = conversation(run).unwrap_or_default();
    let main = output.session_id.clone().unwrap_or_else(|| of_run.to_string());
    let thread = (main != of_run && run.has("trace_id")).then(|| header::thread(&of_run));
    let result = answers.map(Object::of).unwrap_or_default();
    let model = result.text("model").or_else(|| run.object("extra").object("metadata").text("ls_model_name"));
    session.set_model(model.or_else(|| run.text("model")));
    for (value, is_answer) in [(inputs, false), (answers, true)] {
        let Some(value) = value else { continue };
        let found = messages(value, 0);
        let mut seen: HashMap<String, usize> = HashMap::new();
        let last = found.len();
        for (number, raw) in found.into_iter().enumerate() {
            let own = plain(raw);
            let raw = own.as_deref().unwrap_or(raw);
            let message = Object::of(raw);
            let word = message.any_text(&["role", "type"]).unwrap_or(if is_answer { "ai" } else { "human" }.into());
            let key = format!("{of_run}\n{:?}\n{}", role(&word), key_of(&message, raw));
            let count = seen.entry(key.clone()).or_default();
            *count += 1;
            let Some(mut builder) = session.begin(Some(&format!("{key}\n{count}")), b"", output) else { continue };
            builder.created = run
                .any(if is_answer {
                    &["end_time", "endTime", "timestamp"]
                } else {
                    &["start_time", "startTime", "timestamp"]
                })
                .and_then(crate::transcript::read::object::time);
            builder.thread.clone_from(&thread);
            let who = role(&word);
            if who == Some(Role::Assistant) {
                session.set_model(message.object("response_metadata").text("model_name"));
                builder.add_meta("model", session.model.clone());
            }
            let added = match json::text(raw) {
                Some(text) => {
                    session.text(&mut builder, who.unwrap_or(Role::User), &text);
                    Some(())
                }
                None => who.and_then(|who| message::add_as(session, &mut builder, &message, who)),
            };
            let is_odd = builder.entries.is_empty() && !message.has("content") && json::text(raw).is_none();
            if added.is_none() || is_odd {
                builder.push(freeform(&word, Some(Role::User)), raw.get());
            }
            let whole = is_answer && number + 1 == last;
            let usage =
                message.get("usage_metadata").or_else(|| result.any(&["usage_metadata", "usage"]).filter(|_| whole));
            let usage = usage.or_else(|| run.get("usageDetails").filter(|_| whole));
            add_usage(&mut builder.entries, usage.map(|raw| usage_of(&Object::of(raw))).unwrap_or_default());
            session.finish(builder, "message", raw.get().as_bytes(), output);
        }
    }
}
