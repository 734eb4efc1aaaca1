//! Reads records, given the earlier ones.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::FORMAT;
use super::records::{FunctionResponse, GeminiToolCall, InlineData, Part, Record, Thought, ToolResponse};
use crate::trace::change::bulk::{Removal, Replaced, Usage};
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Fields, Role, Status};
use crate::trace::model::source::Source;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::active::{ActiveMessages, StoredMessage};
use crate::transcript::read::builder::{
    EntryBuilder, RecordSource, SourceTracker, artifact, call, decode, dialogue, freeform, hash, reasoning, result,
    time,
};
use crate::transcript::read::calls::{ToolCall, ToolCalls};
use crate::transcript::read::reader::{Certainty, Outcome, Output, RecordReader};
use crate::transcript::read::{header, json};

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct GeminiCli {
    messages: ActiveMessages<()>,
    sources: SourceTracker,
    /// Whether messages were removed or brought back since the last item.
    #[serde(default)]
    messages_changed: bool,
    #[serde(default)]
    calls: ToolCalls,
    /// The ids of the calls whose result was read.
    #[serde(default)]
    answered: HashSet<String>,
}

impl RecordReader for GeminiCli {
    type Record<'a> = Record<'a>;

    fn certainty(record: &Record<'_>) -> Certainty {
        let is_message = |list: &RawValue| {
            let first = json::list(list).and_then(|list| list.first().copied()).unwrap_or(list);
            let first: Record<'_> = json::view_of(first);
            first.id.is_some() && first.kind.is_some() && first.timestamp.is_some()
        };
        let change: Record<'_> = record.set.map(json::view_of).unwrap_or_default();
        match () {
            () if record.project.is_some() && record.session.is_some() => Certainty::Sure,
            () if record.project.or(record.rewind).or(change.updated).or(change.messages).is_some() => {
                Certainty::Likely
            }
            () if record.kind.is_none() && record.messages.is_some_and(is_message) => Certainty::Likely,
            () if record.set.is_some() => Certainty::Possible,
            () => Certainty::No,
        }
    }

    fn is_record(record: &Record<'_>) -> bool {
        (record.id.is_some() && record.kind.is_some()) || record.set.is_some() || record.rewind.is_some()
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        record.session.and_then(json::text).map(Into::into)
    }

    fn read(&mut self, record: &Record<'_>, _: &[u8], output: &mut Output) -> Outcome {
        if let Some(target) = record.rewind.and_then(json::text) {
            // If the message is unknown, all are removed, as the agent does.
            let from =
                self.messages.iter().find(|(_, message)| message.key == key(&target)).map_or(0, |(index, _)| index);
            self.messages_changed |= self.messages.rewind_from(from, &mut output.rewound);
            return Outcome::Ignored("$rewindTo".to_owned());
        }
        let change: Option<Record<'_>> = record.set.map(json::view_of);
        if let Some(messages) = change.as_ref().map_or(record.messages, |change| change.messages) {
            return self.messages(messages, change.is_some(), output);
        }
        if change.is_some() {
            return Outcome::Ignored("$set".to_owned());
        }
        if record.id.is_some() && record.kind.is_some() {
            return self.message(record, output);
        }
        let is_head = [record.session, record.project, record.started, record.updated].iter().any(Option::is_some);
        if is_head { Outcome::Ignored("head".to_owned()) } else { Outcome::Unknown(String::new()) }
    }
}

impl GeminiCli {
    /// Reads a list of messages: those of a document or, with `set`, the only ones that are active from now on.
    fn messages(&mut self, messages: &RawValue, set: bool, output: &mut Output) -> Outcome {
        let listed = json::list(messages).unwrap_or_else(|| vec![messages]);
        let listed: Vec<Record<'_>> = listed.into_iter().map(json::view_of).collect();
        let mut outcome = Outcome::Ignored(if set { "$set" } else { "head" }.to_owned());
        let before = output.entries.len();
        let mut starts_new = false;
        for (number, message) in listed.iter().enumerate() {
            let known = self.messages.len();
            let of_message = self.message(message, output);
            starts_new |= number == 0 && self.messages.len() > known && output.entries.len() > before;
            if outcome != Outcome::Imported {
                outcome = of_message;
            }
        }
        if set {
            let ids = listed.iter().filter_map(|message| message.id.and_then(json::text));
            // The first occurrence of a repeated id counts.
            let ids: Vec<u64> = ids.map(|id| key(&id)).collect();
            let places: HashMap<u64, usize> = ids.into_iter().enumerate().rev().map(|(at, id)| (id, at + 1)).collect();
            let replays = starts_new && output.replays_compactions;
            match output.entries.get_mut(before).filter(|entry| replays && entry.removal.is_none()) {
                Some(summary) => {
                    let items = self.messages.replace(|_, message| places.contains_key(&message.key));
                    summary.replaces = (!items.is_empty()).then_some(Replaced { items, at_end: false });
                }
                None => {
                    let is_rewound =
                        |message: &StoredMessage<()>| message.rewound || !places.contains_key(&message.key);
                    self.messages_changed |= self.messages.set_rewound(is_rewound, &mut output.rewound);
                }
            }
            self.messages.sort_by_key(|message| places.get(&message.key).copied().unwrap_or_default());
        }
        outcome
    }

    fn message(&mut self, record: &Record<'_>, output: &mut Output) -> Outcome {
        let (Some(id), Some(kind)) = (record.id.and_then(json::text), record.kind.and_then(json::text)) else {
            return Outcome::Unknown(String::new());
        };
        let source = RecordSource::id(id.as_ref());
        let mut builder = EntryBuilder::new(FORMAT, source, record.timestamp, output.end_offset);
        builder.add_meta("model", json::line(record.model, 128));
        let is_sent = matches!(&*kind, "user" | "gemini");
        builder.removal = (!is_sent).then_some(Removal::Interface);
        let turn = header::id(&id);
        let (calls, answered) = (&mut self.calls, &mut self.answered);
        let mut message =
            MessageParts { builder, id: &id, turn, sources: &mut self.sources, calls, answered, repeated: 0 };
        message.thoughts(record);
        message.content(record, &kind);
        message.tool_calls(record);
        let repeated = message.repeated;
        let mut entries = message.builder.entries;
        let items: Vec<ItemId> = entries.iter().map(|entry| entry.id).collect();
        match self.messages.find(key(&id)) {
            Some(known) => {
                known.items.extend(items);
                self.messages_changed |= known.set_rewound(false, &mut output.rewound);
            }
            None => drop(self.messages.push(key(&id), (), items)),
        }
        if let Some(first) = entries.first_mut().filter(|_| std::mem::take(&mut self.messages_changed)) {
            first.usage = Usage::Void;
        }
        // The results of the calls are not part of the request and its response.
        let by_model = entries.iter_mut().rev().find(|entry| !entry.draft.fields.is_result());
        if let (Some(tokens), Some(last)) = (record.tokens, by_model)
            && let Ok(tokens @ Value::Object(_)) = serde_json::from_str(tokens.get())
        {
            let usage = output.usage.store(tokens, "tokens", &mut last.draft.fields.meta);
            if let Some(usage) = usage.filter(|usage| usage.context_tokens() > 0) {
                last.usage = Usage::reported(usage.context_tokens());
            }
        }
        let outcome = match (entries.is_empty(), repeated) {
            (false, _) => Outcome::Imported,
            (true, 0) => Outcome::Ignored(format!("{kind}/empty")),
            (true, _) => Outcome::Repeated,
        };
        output.entries.extend(entries);
        outcome
    }
}

fn key(id: &str) -> u64 {
    hash([&b"message"[..], id.as_bytes()])
}

struct MessageParts<'s> {
    builder: EntryBuilder,
    id: &'s str,
    turn: Option<String>,
    sources: &'s mut SourceTracker,
    calls: &'s mut ToolCalls,
    answered: &'s mut HashSet<String>,
    repeated: usize,
}

impl MessageParts<'_> {
    /// Adds a part, unless it was read before with the same content.
    fn push(&mut self, place: &str, mut fields: Fields, body: impl Into<Vec<u8>>) -> Option<&mut TranscriptEntry> {
        let body = body.into();
        let Some(source) = self.sources.by_id(&format!("{}#{place}", self.id), &body) else {
            self.repeated += 1;
            return None;
        };
        if !fields.is_result() {
            fields.turn.clone_from(&self.turn);
        }
        Some(self.builder.push_from(source.block(FORMAT, 0), fields, body))
    }

    fn thoughts(&mut self, record: &Record<'_>) {
        for (number, raw_thought) in record.thoughts.and_then(json::list).unwrap_or_default().into_iter().enumerate() {
            let thought: Thought<'_> = json::view_of(raw_thought);
            let texts = [thought.subject, thought.description].into_iter().filter_map(json::member_text);
            let texts: Vec<_> = texts.collect();
            let body = if texts.is_empty() { raw_thought.get().to_owned() } else { texts.join("\n") };
            let created = thought.timestamp.and_then(time);
            if let Some(entry) = self.push(&format!("thought-{number}"), reasoning(None), body) {
                entry.draft.fields.created = created.or(entry.draft.fields.created);
            }
        }
    }

    fn content(&mut self, record: &Record<'_>, kind: &str) {
        let Some(content) = record.content else { return };
        let role = if kind == "gemini" { Role::Assistant } else { Role::User };
        let fields = || if matches!(kind, "user" | "gemini") { dialogue(role) } else { freeform(kind, None) };
        if let Some(text) = json::text(content) {
            if !text.is_empty() {
                self.push("content", fields(), text.into_owned());
            }
            return;
        }
        let parts = json::list(content).unwrap_or_else(|| vec![content]);
        let mut is_first_text = true;
        for (number, raw_part) in parts.into_iter().enumerate() {
            let mut place = format!("part-{number}");
            let part: Part<'_> = json::view_of(raw_part);
            let data: InlineData<'_> = part.inline_data.map(json::view_of).unwrap_or_default();
            if let Some(text) = json::text(raw_part).or_else(|| part.text.and_then(json::text)) {
                let is_thought = json::is_true(part.thought);
                if kind == "gemini" && !is_thought && std::mem::take(&mut is_first_text) {
                    // When the agent resumes, it writes the text again, as a part.
                    "content".clone_into(&mut place);
                }
                let fields = if is_thought { reasoning(None) } else { fields() };
                self.push(&place, fields, text.into_owned());
            } else if let (Some(media_type), Some(bytes)) =
                (data.mime_type.and_then(json::text), data.data.and_then(json::text).and_then(|data| decode(&data)))
            {
                self.push(&place, artifact(&media_type, role), bytes);
            } else if part.call.is_some_and(|call| record.calls.is_some() || self.is_known(call)) {
                // The entries of the calls have the same content, and the results.
                self.repeated += 1;
            } else if self.result_part(&place, &part, raw_part).is_none() {
                self.push(&place, freeform("part", Some(role)), raw_part.get());
            }
        }
    }

    fn is_known(&self, call: &RawValue) -> bool {
        let id = json::view_of::<FunctionResponse<'_>>(call).id.and_then(json::text);
        id.is_some_and(|id| self.calls.contains(&id))
    }

    /// Adds the result in a part, unless the entry of its call in the model's message had it.
    fn result_part(&mut self, place: &str, part: &Part<'_>, raw_part: &RawValue) -> Option<()> {
        let id = json::text(json::view_of::<FunctionResponse<'_>>(part.response?).id?)?;
        if !self.answered.insert(id.to_string()) {
            self.repeated += 1;
            return Some(());
        }
        let mut fields = result(&id, self.calls.get(&id), None)?;
        let (text, failed) = result_text(raw_part)?;
        fields.status = Some(if failed { Status::Error } else { Status::Ok });
        self.push(place, fields, text);
        Some(())
    }

    fn tool_calls(&mut self, record: &Record<'_>) {
        for (number, raw_call) in record.calls.and_then(json::list).unwrap_or_default().into_iter().enumerate() {
            let tool: GeminiToolCall<'_> = json::view_of(raw_call);
            let id = tool.id.and_then(json::text).map_or_else(|| format!("{}-{number}", self.id), Into::into);
            let place = format!("call-{number}");
            let Some(fields) = call(&id, &tool.name.and_then(json::text).unwrap_or_default()) else {
                self.push(&place, freeform("toolCall", Some(Role::Assistant)), raw_call.get());
                continue;
            };
            let created = tool.timestamp.and_then(time);
            let called = ToolCall {
                id: ItemId::of_source(&Source::new(FORMAT, &format!("{}#{place}", self.id), 0)),
                name: fields.name.clone().unwrap_or_default(),
                thread: None,
            };
            self.push(&place, fields, json::json_or(tool.args, "{}"));
            self.calls.insert(&id, &called);
            let Some((text, failed)) = tool.result.and_then(result_text) else { continue };
            let Some(mut fields) = result(&id, Some(called), None) else { continue };
            self.answered.insert(id.clone());
            let status = tool.status.and_then(json::text);
            let failed = failed || matches!(status.as_deref(), Some("error" | "cancelled"));
            fields.status = Some(if failed { Status::Error } else { Status::Ok });
            if let Some(entry) = self.push(&format!("result-{number}"), fields, text) {
                entry.draft.fields.created = created.or(entry.draft.fields.created);
            }
        }
    }
}

/// The text of a tool's result, and whether it is an error; `None` if there is no result yet.
fn result_text(result: &RawValue) -> Option<(String, bool)> {
    let parts = json::list(result).unwrap_or_else(|| vec![result]);
    if parts.is_empty() {
        return None;
    }
    let mut texts = Vec::new();
    let mut failed = false;
    for raw_part in &parts {
        let part: Part<'_> = json::view_of(raw_part);
        let wrapped = part.response.and_then(|response| json::view_of::<ToolResponse<'_>>(response).response);
        let response: ToolResponse<'_> = wrapped.map(json::view_of).unwrap_or_default();
        failed |= response.error.is_some();
        let text = part.text.or(response.output).or(response.error);
        let text = json::text(raw_part).or_else(|| text.and_then(json::text));
        texts.push(text.map_or_else(|| raw_part.get().to_owned(), Into::into));
    }
    Some((texts.join("\n"), failed))
}
