//! Trajectories of SWE-agent: one JSON document, `.traj`.
//!
//! ```text
//! {"environment":"main","trajectory":[{"action":"…","observation":"…","thought":"…",…}],
//!  "history":[{"role":"assistant","content":"…","tool_calls":[{"id":"call_1","function":{"name":"bash","arguments":"…"}}]},
//!             {"role":"tool","content":"…","tool_call_ids":["call_1"]}],"info":{…}}
//! ```
//!
//! `history` is what the model saw, in the shape of `OpenAI` Chat: what a system says first is an `instruction`, texts are
//! `dialogue`, tool calls and their answers `tool_io`, thinking blocks `reasoning`. `trajectory` says the same again, step by
//! step; it is counted and not imported. A message is named after its content and how often that came.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Map;
use serde_json::value::RawValue;

use super::raw::view;
use super::reader::{self, Outcome};
use super::sheet::{Call, Sheet, arguments, call, dialogue, freeform, hash, picture, reasoning, result, said_by};
use super::{Entry, clean, raw};
use crate::trace::model::item::{ItemType, Role};

/// The format's name, as sources and traces spell it.
pub(crate) const FORMAT: &str = "swe-agent";

view! {
    /// One line of a document: a message of the history, or something else.
    pub(crate) Record {
        history: b"history",
        trajectory: b"trajectory",
        info: b"info",
        environment: b"environment",
        replay_config: b"replay_config",
    }
}

view! {
    /// A message.
    Message {
        role: b"role",
        content: b"content",
        agent: b"agent",
        is_demo: b"is_demo",
        thought: b"thought",
        thinking: b"thinking_blocks",
        calls: b"tool_calls",
        call_ids: b"tool_call_ids",
    }
}

view! {
    /// A call, and what it calls.
    ToolCall { id: b"id", function: b"function", name: b"name", arguments: b"arguments" }
}

view! {
    /// A part of a message.
    Part {
        text: b"text",
        thinking: b"thinking",
        signature: b"signature",
        image_url: b"image_url",
        url: b"url",
    }
}

/// What the records so far have taught.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Scribe {
    calls: HashMap<String, Call>,
    times: HashMap<u64, u64>,
    spoken: bool,
}

impl reader::Scribe for Scribe {
    const FORMAT: &'static str = FORMAT;
    type Record<'a> = Record<'a>;

    fn is_record(record: &Record<'_>) -> bool {
        record.history.is_some()
    }

    fn session(&self, _: &Record<'_>) -> Option<String> {
        None
    }

    fn set_writing(&mut self, _: bool) {}

    fn take(&mut self, record: &Record<'_>, bytes: &[u8], end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        let Some(message) = record.history else {
            let known = [
                (record.trajectory, "trajectory"),
                (record.info, "info"),
                (record.environment, "environment"),
                (record.replay_config, "replay_config"),
            ];
            let known = known.into_iter().find(|(member, _)| member.is_some());
            return known.map_or_else(
                || Outcome::Unknown("(another member)".to_owned()),
                |(_, name)| Outcome::Ignored(name.to_owned()),
            );
        };
        let times = self.times.entry(hash([bytes])).or_insert(0);
        *times += 1;
        let mut made = Vec::new();
        let mut sheet = Sheet {
            format: FORMAT,
            origin: [bytes, format!("\n{times}").as_bytes()].concat(),
            created: None,
            meta: Map::new(),
            skip: None,
            end_offset,
            entries: &mut made,
        };
        let view = serde_json::from_str::<Message<'_>>(message.get()).unwrap_or_default();
        if self.message(&mut sheet, &view).is_none() {
            made.clear();
            let mut sheet = Sheet {
                format: FORMAT,
                origin: bytes.to_vec(),
                created: None,
                meta: Map::new(),
                skip: None,
                end_offset,
                entries: &mut made,
            };
            sheet.push(freeform("message"), message.get().as_bytes().to_vec());
        }
        if made.is_empty() {
            return Outcome::Ignored("message/empty".to_owned());
        }
        if made.len() > 1 {
            let turn = made[0].draft.fields.source.as_ref().map(|source| source.record().to_owned());
            for entry in made.iter_mut().filter(|entry| entry.draft.fields.item_type != ItemType::instruction()) {
                entry.draft.fields.turn.clone_from(&turn);
            }
        }
        self.spoken |= made.iter().any(|entry| entry.draft.fields.item_type != ItemType::instruction());
        entries.extend(made);
        Outcome::Imported
    }
}

impl Scribe {
    fn message(&mut self, sheet: &mut Sheet<'_>, message: &Message<'_>) -> Option<()> {
        let agent = message.agent.and_then(raw::text).filter(|agent| agent != "main");
        if let Some(agent) = agent.and_then(|agent| clean::one_line(&agent, 128)) {
            sheet.meta.insert("agent".to_owned(), agent.into());
        }
        if raw::is_true(message.is_demo) {
            sheet.meta.insert("demonstration".to_owned(), true.into());
        }
        let role = match &*raw::text(message.role?)? {
            "system" => Role::System,
            "assistant" => Role::Assistant,
            "tool" => return self.answers(sheet, message),
            _ => Role::User,
        };
        Self::thoughts(sheet, message);
        self.content(sheet, message, role);
        for raw_call in message.calls.and_then(raw::list).unwrap_or_default() {
            let tool: ToolCall<'_> = serde_json::from_str(raw_call.get()).unwrap_or_default();
            let function = tool.function.and_then(|function| serde_json::from_str(function.get()).ok()).unwrap_or(tool);
            let id = tool.id.and_then(raw::text).unwrap_or_default();
            let name = function.name.and_then(raw::text).unwrap_or_default();
            let Some(fields) = call(&id, &name) else {
                let mut fields = freeform("tool_call");
                fields.role = Some(Role::Assistant);
                sheet.push(fields, raw_call.get().as_bytes().to_vec());
                continue;
            };
            let body = function.arguments.map_or_else(
                || b"{}".to_vec(),
                |value| raw::text(value).map_or_else(|| value.get().as_bytes().to_vec(), |text| arguments(&text)),
            );
            let name = fields.name.clone().unwrap_or_default();
            let item = sheet.push(fields, body).id;
            self.calls.insert(id.into_owned(), Call { id: item, name });
        }
        Some(())
    }

    /// The answer of a tool; of several calls the first, since one text cannot be told apart.
    fn answers(&mut self, sheet: &mut Sheet<'_>, message: &Message<'_>) -> Option<()> {
        let ids = raw::list(message.call_ids?)?;
        let id = raw::text(ids.first()?)?;
        let fields = result(&id, self.calls.get(&*id))?;
        let content = message.content?;
        if let Some(text) = raw::text(content) {
            sheet.push(fields, text.into_owned().into_bytes());
            return Some(());
        }
        let parts = raw::list(content)?;
        let texts = parts.iter().filter_map(|part| part_of(part).text.and_then(raw::text));
        let body = texts.collect::<Vec<_>>().join("\n").into_bytes();
        let answer = sheet.push(fields, body).id;
        for part in parts.into_iter().filter(|part| part_of(part).text.and_then(raw::text).is_none()) {
            other(sheet, part, Role::User).draft.fields.reply_to = Some(answer);
        }
        Some(())
    }

    fn content(&self, sheet: &mut Sheet<'_>, message: &Message<'_>, role: Role) {
        let Some(content) = message.content else { return };
        if let Some(text) = raw::text(content) {
            if !text.is_empty() {
                sheet.push(said_by(role, !self.spoken), text.into_owned().into_bytes());
            }
            return;
        }
        for part in raw::list(content).unwrap_or_else(|| vec![content]) {
            match part_of(part).text.and_then(raw::text) {
                Some(text) => drop(sheet.push(said_by(role, !self.spoken), text.into_owned().into_bytes())),
                None => drop(other(sheet, part, role)),
            }
        }
    }

    /// What the model thought, where its words do not have it.
    fn thoughts(sheet: &mut Sheet<'_>, message: &Message<'_>) {
        let blocks = message.thinking.and_then(raw::list).unwrap_or_default();
        for block in &blocks {
            let part = part_of(block);
            let signature = part.signature.and_then(raw::text);
            match part.thinking.or(part.text).and_then(raw::text) {
                Some(text) => sheet.push(reasoning(signature.as_deref()), text.into_owned().into_bytes()),
                None => other(sheet, block, Role::Assistant),
            };
        }
        let said = message.content.and_then(raw::text).unwrap_or_default();
        let thought = message.thought.and_then(raw::text).filter(|thought| !thought.trim().is_empty());
        if let Some(thought) = thought.filter(|thought| blocks.is_empty() && !said.contains(thought.trim())) {
            sheet.push(reasoning(None), thought.into_owned().into_bytes());
        }
    }
}

fn part_of(part: &RawValue) -> Part<'_> {
    serde_json::from_str(part.get()).unwrap_or_default()
}

/// A picture, or a part of no known shape as it stands.
fn other<'s>(sheet: &'s mut Sheet<'_>, part: &RawValue, role: Role) -> &'s mut Entry {
    let address = part_of(part).image_url;
    let url = address.and_then(|address| raw::text(address).or_else(|| part_of(address).url.and_then(raw::text)));
    let (fields, body) = match (url, raw::text(part)) {
        (Some(url), _) => picture(&url, role),
        (None, Some(text)) => (dialogue(role), text.into_owned().into_bytes()),
        (None, None) => {
            let mut fields = freeform("part");
            fields.role = Some(role);
            (fields, part.get().as_bytes().to_vec())
        }
    };
    sheet.push(fields, body)
}
