//! Trajectories of SWE-agent: one JSON document, `.traj`.
//!
//! ```text
//! {"environment":"main","trajectory":[{"action":"…","observation":"…","thought":"…",…}],
//!  "history":[{"role":"assistant","content":"…","tool_calls":[{"id":"call_1","function":{"name":"bash","arguments":"…"}}]},
//!             {"role":"tool","content":"…","tool_call_ids":["call_1"]}],"info":{…}}
//! ```
//!
//! `history` is the context of the model, in the shape of `OpenAI` Chat: system messages at the start are `instruction`, text
//! is `dialogue`, tool calls and results are `tool_io`, thinking blocks are `reasoning`. `trajectory` repeats it step by step;
//! it is counted but not imported. A message's source is its content and the number of its occurrence.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::trace::model::item::Role;
use crate::transcript::TranscriptEntry;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{
    EntryBuilder, RecordSource, SourceTracker, call_arguments, dialogue, freeform, image, message_fields, part_text,
    reasoning, result, split_text,
};
use crate::transcript::read::calls::ToolCalls;
use crate::transcript::read::json::view;
use crate::transcript::read::reader::{Certainty, Outcome, Output, RecordReader};
use crate::transcript::read::{header, json};

pub(crate) const FORMAT: &str = "swe-agent";

pub(crate) const AGENT: AgentFormat = AgentFormat::of_document::<SweAgent>("SWE-agent");

view! {
    /// One line of a document: a message of the history, or another member.
    Record { history, trajectory, info, environment, replay_config }
}

view! {
    Message {
        role, content, agent, is_demo, thought, thinking = "thinking_blocks", calls = "tool_calls",
        call_ids = "tool_call_ids",
    }
}

view! { Step { action, observation } }

view! { FunctionCall { id, function, name, arguments } }

view! {
    Part { text, thinking, signature, image_url, url }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct SweAgent {
    calls: ToolCalls,
    sources: SourceTracker,
    started: bool,
}

impl RecordReader for SweAgent {
    type Record<'a> = Record<'a>;

    fn certainty(record: &Record<'_>) -> Certainty {
        let message: Message<'_> = record.history.map(json::view_of).unwrap_or_default();
        let step: Step<'_> = record.trajectory.map(json::view_of).unwrap_or_default();
        match message.role {
            Some(_) if message.agent.is_some() => Certainty::Likely,
            None if step.action.is_some() && step.observation.is_some() => Certainty::Likely,
            Some(_) => Certainty::Possible,
            None => Certainty::No,
        }
    }

    fn is_record(record: &Record<'_>) -> bool {
        record.history.is_some()
    }

    fn session(&self, _: &Record<'_>) -> Option<String> {
        None
    }

    fn read(&mut self, record: &Record<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let Some(raw_message) = record.history else {
            let members = [
                (record.trajectory, "trajectory"),
                (record.info, "info"),
                (record.environment, "environment"),
                (record.replay_config, "replay_config"),
            ];
            let known = members.into_iter().find(|(member, _)| member.is_some());
            let unknown = || Outcome::Unknown("(another member)".to_owned());
            return known.map_or_else(unknown, |(_, name)| Outcome::Ignored(name.to_owned()));
        };
        let count = self.sources.count(bytes);
        let builder =
            |source: Vec<u8>| EntryBuilder::new(FORMAT, RecordSource::content(&source), None, output.end_offset);
        let mut entries = builder([bytes, format!("\n{count}").as_bytes()].concat());
        if self.message(&mut entries, &json::view_of(raw_message)).is_none() {
            entries = builder(bytes.to_vec());
            entries.push(freeform("message", None), raw_message.get());
        }
        if entries.entries.is_empty() {
            return Outcome::Ignored("message/empty".to_owned());
        }
        entries.group_turn();
        self.started |= entries.conversation().next().is_some();
        output.entries.extend(entries.entries);
        Outcome::Imported
    }
}

impl SweAgent {
    fn message(&mut self, builder: &mut EntryBuilder, message: &Message<'_>) -> Option<()> {
        let agent = message.agent.and_then(json::text).filter(|agent| agent != "main");
        builder.add_meta("agent", agent.and_then(|agent| header::one_line(&agent, 128)));
        builder.add_meta("demonstration", json::is_true(message.is_demo).then_some(true));
        let role = match &*json::text(message.role?)? {
            "system" => Role::System,
            "assistant" => Role::Assistant,
            "tool" => return self.result(builder, message),
            _ => Role::User,
        };
        add_thoughts(builder, message);
        self.content(builder, message, role);
        for raw_call in message.calls.and_then(json::list).unwrap_or_default() {
            let tool: FunctionCall<'_> = json::view_of(raw_call);
            let function = tool.function.and_then(|function| serde_json::from_str(function.get()).ok()).unwrap_or(tool);
            let id = tool.id.and_then(json::text).unwrap_or_default();
            let name = function.name.and_then(json::text).unwrap_or_default();
            let body = call_arguments(function.arguments);
            let block = builder.entries.len();
            if builder.push_call(block, &mut self.calls, &id, &name, body).is_none() {
                builder.push(freeform("tool_call", Some(Role::Assistant)), raw_call.get());
            }
        }
        Some(())
    }

    /// Adds a tool result. If it answers several calls, it is assigned to the first, since one text cannot be split.
    fn result(&mut self, builder: &mut EntryBuilder, message: &Message<'_>) -> Option<()> {
        let ids = json::list(message.call_ids?)?;
        let id = json::text(ids.first()?)?;
        let fields = result(&id, self.calls.get(&id), None)?;
        let content = message.content?;
        if let Some(text) = json::text(content) {
            builder.push(fields, text.into_owned());
            return Some(());
        }
        let (body, others) = split_text(json::list(content)?, part_text);
        let result = builder.push(fields, body).id;
        for part in others {
            add_part(builder, part, Role::User).draft.fields.reply_to = Some(result);
        }
        Some(())
    }

    fn content(&self, builder: &mut EntryBuilder, message: &Message<'_>, role: Role) {
        let Some(content) = message.content else { return };
        if let Some(text) = json::text(content) {
            if !text.is_empty() {
                builder.push(message_fields(role, !self.started), text.into_owned());
            }
            return;
        }
        for part in json::list(content).unwrap_or_else(|| vec![content]) {
            match part_text(part) {
                Some(text) => builder.push(message_fields(role, !self.started), text.into_owned()),
                None => add_part(builder, part, role),
            };
        }
    }
}

/// Adds the model's thoughts that its content does not contain.
fn add_thoughts(builder: &mut EntryBuilder, message: &Message<'_>) {
    let blocks = message.thinking.and_then(json::list).unwrap_or_default();
    for block in &blocks {
        let part: Part<'_> = json::view_of(block);
        let signature = part.signature.and_then(json::text);
        match part.thinking.or(part.text).and_then(json::text) {
            Some(text) => builder.push(reasoning(signature.as_deref()), text.into_owned()),
            None => add_part(builder, block, Role::Assistant),
        };
    }
    let content = message.content.and_then(json::text).unwrap_or_default();
    let thought = message.thought.and_then(json::text).filter(|thought| !thought.trim().is_empty());
    if let Some(thought) = thought.filter(|thought| blocks.is_empty() && !content.contains(thought.trim())) {
        builder.push(reasoning(None), thought.into_owned());
    }
}

fn add_part<'b>(builder: &'b mut EntryBuilder, part: &RawValue, role: Role) -> &'b mut TranscriptEntry {
    let address = json::view_of::<Part<'_>>(part).image_url;
    let url = address.and_then(|address| {
        json::text(address).or_else(|| json::view_of::<Part<'_>>(address).url.and_then(json::text))
    });
    let (fields, body) = match (url, json::text(part)) {
        (Some(url), _) => image(&url, role),
        (None, Some(text)) => (dialogue(role), text.into_owned().into_bytes()),
        (None, None) => (freeform("part", Some(role)), part.get().into()),
    };
    builder.push(fields, body)
}
