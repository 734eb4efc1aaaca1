//! Trajectories in ATIF, the interchange format of Harbor and Terminal-Bench: one JSON document.
//!
//! ```text
//! {"schema_version":"ATIF-v1.5","session_id":"…","agent":{"name":"openhands","model_name":"…"},
//!  "steps":[{"step_id":5,"source":"agent","message":"…","reasoning_content":"…",
//!            "tool_calls":[{"tool_call_id":"call_1","function_name":"bash","arguments":{…}}],
//!            "observation":{"results":[{"source_call_id":"call_1","content":"…"}]},"metrics":{…}}]}
//! ```
//!
//! A result that names no call answers the first call of its step that has none; in a step without calls it is `freeform`, named
//! `observation`. Steps that repeat an earlier file (`is_copied_context`) are skipped. A step's source is its content.

use std::borrow::Cow;

use crate::tokens::TokenUsage;
use crate::trace::model::item::Role;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform, reasoning};
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_dialect::<Atif>("ATIF");

pub(crate) struct Atif;

impl Dialect for Atif {
    const FORMAT: &'static str = "atif";
    const LIST: Option<&'static str> = Some("steps");

    fn certainty(record: &Object<'_>) -> Certainty {
        let step = record.object("steps");
        if record.text("schema_version").is_some_and(|version| version.starts_with("ATIF-")) {
            Certainty::Sure
        } else if step.has("step_id") && step.has("source") {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("session_id")
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let Some(raw) = record.get("steps") else {
            session.set_model(record.object("agent").text("model_name"));
            let members = "schema_version session_id agent notes final_metrics continued_trajectory_ref extra trajectory_id \
                subagent_trajectories";
            let known = members.split(' ').find(|name| record.has(name));
            return known.map_or_else(
                || Outcome::Unknown("(another member)".to_owned()),
                |name| Outcome::Ignored(name.to_owned()),
            );
        };
        let step = Object::of(raw);
        if step.is_true("is_copied_context") {
            return Outcome::Repeated;
        }
        let Some(role) = step.text("source").and_then(|source| role(&source)) else {
            return Outcome::Unknown("step".to_owned());
        };
        let Some(mut builder) = session.begin(None, raw.get().as_bytes(), output) else { return Outcome::Repeated };
        builder.created = step.time("timestamp");
        if role == Role::Assistant {
            session.set_model(step.text("model_name"));
            builder.add_meta("model", session.model.clone());
        }
        if let Some(thought) = step.text("reasoning_content").filter(|thought| !thought.is_empty()) {
            builder.push(reasoning(None), thought.into_owned());
        }
        step.get("message").iter().for_each(|message| session.content(&mut builder, role, message));
        let mut open = Vec::new();
        for raw in step.list("tool_calls") {
            let call = Object::of(raw);
            let (id, arguments) = (call.text("tool_call_id"), call_arguments(call.get("arguments")));
            match session.call(&mut builder, id.clone(), call.text("function_name"), arguments) {
                Some(()) => open.extend(id),
                None => {
                    builder.push(freeform("tool_call", Some(Role::Assistant)), raw.get());
                }
            }
        }
        let metrics = step.object("metrics");
        let [prompt, cached, answer] =
            ["prompt_tokens", "cached_tokens", "completion_tokens"].map(|name| metrics.count(name));
        add_usage(&mut builder.entries, TokenUsage::of_prompt(prompt, cached, answer));
        results(session, &mut builder, &step, open);
        session.finish(builder, "step", raw.get().as_bytes(), output)
    }
}

fn results(session: &mut Session, builder: &mut EntryBuilder, step: &Object<'_>, mut open: Vec<Cow<'_, str>>) {
    for raw in step.object("observation").list("results") {
        let answer = Object::of(raw);
        let named = answer.text("source_call_id");
        open.retain(|call| Some(call) != named.as_ref());
        let id = named.or_else(|| (!open.is_empty()).then(|| open.remove(0)));
        let content = answer.get("content");
        let is_added = id.is_some() && session.result(builder, id, None, Some(content.unwrap_or(raw))).is_some();
        if !is_added {
            let text = answer.text("content").unwrap_or_else(|| raw.get().into());
            builder.push(freeform("observation", Some(Role::User)), text.into_owned());
        }
    }
}
