//! Reads records, given the earlier ones.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::FORMAT;
use super::compaction::Origin;
use super::records::{
    EVENTS, Head, IGNORED_ITEM, IGNORED_RECORDS, Part, Record, ResponseItem, RolledBack, SETTINGS, TokenCount,
    ToolOutput, is_response_item,
};
use super::usage::Reports;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::{Fields, ItemType, Role, Status};
use crate::transcript::TranscriptEntry;
use crate::transcript::read::active::ActiveMessages;
use crate::transcript::read::builder::{
    EntryBuilder, RecordSource, SourceTracker, call_arguments, freeform, hash, image, message_fields, part_text,
    reasoning, result, split_text,
};
use crate::transcript::read::calls::ToolCalls;
use crate::transcript::read::header::is_listed;
use crate::transcript::read::packed::HashedMap;
use crate::transcript::read::reader::{Certainty, Outcome, Output, RecordReader};
use crate::transcript::read::{json, packed};

/// More bytes of settings are not stored; real ones have a few thousand bytes.
const MAX_SETTINGS: usize = 64 * 1024;

const MAX_RECORDS: usize = 16;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Codex {
    session: String,
    /// The provider that the head of the session names.
    #[serde(default)]
    provider: Option<String>,
    /// The records since the user's last message that say what the agent told the model about its settings.
    #[serde(default)]
    pub(super) settings: Vec<Value>,
    /// The bytes of these records.
    #[serde(default)]
    settings_len: usize,
    open_calls: ToolCalls,
    sources: SourceTracker,
    /// Hashes of the content of all records, whatever ids they have.
    #[serde(with = "packed")]
    known_content: HashedMap<u64>,
    pub(super) started: bool,
    /// The ordinal of the record that is read.
    #[serde(skip)]
    pub(super) ordinal: u64,
    /// States of versions that stored no ordinals have another name.
    #[serde(rename = "messages")]
    pub(super) active: ActiveMessages<Origin>,
    #[serde(default)]
    reports: Reports,
}

impl RecordReader for Codex {
    type Record<'a> = Record<'a>;

    fn certainty(record: &Record<'_>) -> Certainty {
        let kind = record.kind.and_then(json::text);
        let is_old_head = record.id.is_some() && record.instructions.is_some() && record.timestamp.is_some();
        match kind.as_deref() {
            Some("session_meta") if record.payload.is_some() => Certainty::Sure,
            Some("response_item" | "event_msg" | "compacted") if record.payload.is_some() => Certainty::Likely,
            Some(kind) if record.payload.is_some() && is_listed(kind, IGNORED_RECORDS) => Certainty::Likely,
            // Requests to the API have such items, too.
            Some("message")
                if record.role.is_some() && record.content.is_some_and(|content| content.get().starts_with('[')) =>
            {
                Certainty::Possible
            }
            Some("reasoning" | "function_call" | "function_call_output")
                if record.call_id.or(record.role).is_some() =>
            {
                Certainty::Possible
            }
            Some(_) if record.payload.is_some() => Certainty::Possible,
            None if record.state.is_some() || is_old_head => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn is_record(record: &Record<'_>) -> bool {
        record.kind.and_then(json::text).is_some() && (record.payload.is_some() || record.timestamp.is_some())
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        let kind = record.kind.and_then(json::text);
        match (kind.as_deref(), record.payload) {
            (Some("session_meta"), Some(payload)) => json::view_of::<Head<'_>>(payload).id.and_then(json::text),
            (None, None) => record.id.and_then(json::text),
            _ => None,
        }
        .map(Into::into)
    }

    fn read(&mut self, record: &Record<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        if self.session.is_empty() {
            self.session = self.session(record).unwrap_or_default();
        }
        self.ordinal = number(record.ordinal).unwrap_or_default();
        let kind = record.kind.and_then(json::text);
        let count = self.sources.count(bytes);
        let source = [self.session.as_bytes(), b"\n", bytes, format!("\n{count}").as_bytes()].concat();
        let source = RecordSource::content(&source);
        let mut builder = EntryBuilder::new(FORMAT, source, record.timestamp, output.end_offset);
        let outcome = match (kind.as_deref(), record.payload) {
            (Some("response_item"), Some(payload)) => {
                self.response_item(&mut builder, &json::view_of(payload), payload.get())
            }
            (Some("compacted"), Some(payload)) => self.compacted(&mut builder, &json::view_of(payload), output),
            (Some("session_meta"), Some(payload)) => {
                if record.ordinal.is_some() && self.revert_to(self.ordinal, &mut output.rewound) {
                    self.reports.void();
                }
                self.head(&mut builder, &json::view_of(payload))
            }
            (Some("event_msg"), payload) => self.event(payload, output),
            (Some(kind), payload) if is_listed(kind, IGNORED_RECORDS) => {
                self.note_settings(kind, payload);
                Outcome::Ignored(kind.to_owned())
            }
            (Some(kind), None) if is_response_item(kind) => match std::str::from_utf8(bytes) {
                Ok(text) => self.response_item(&mut builder, &serde_json::from_str(text).unwrap_or_default(), text),
                Err(_) => Outcome::Unknown(kind.to_owned()),
            },
            (Some(kind), _) => Outcome::Unknown(kind.to_owned()),
            (None, _) if record.state.is_some() => Outcome::Ignored("state".to_owned()),
            (None, _) if record.id.is_some() => {
                self.head(&mut builder, &Head { instructions: record.instructions, ..Head::default() })
            }
            (None, _) => Outcome::Unknown(String::new()),
        };
        let is_compaction = kind.as_deref() == Some("compacted");
        if outcome == Outcome::Imported && !is_compaction {
            builder.group_turn();
        }
        self.reports.add_entries(&mut builder.entries, is_compaction, output);
        output.entries.extend(builder.entries);
        outcome
    }
}

impl Codex {
    /// Reads the head of the session. A file that continues another one repeats it.
    fn head(&mut self, builder: &mut EntryBuilder, head: &Head<'_>) -> Outcome {
        self.provider = json::line(head.provider, 128).or(self.provider.take());
        let base = head.base_instructions.and_then(|base| match json::text(base) {
            None => part_text(base),
            text => text,
        });
        let repeated = head.instructions.and_then(json::text);
        let instructions = [(base, None), (repeated, Some(Removal::Repeated))];
        for (text, removal) in instructions.into_iter().filter_map(|(text, removal)| Some((text?, removal))) {
            if !text.trim().is_empty() && self.is_new(hash([&b"instructions"[..], text.as_bytes()])) {
                builder.removal = removal;
                builder.push(Fields::new(ItemType::instruction()), text.into_owned());
            }
        }
        if builder.entries.is_empty() { Outcome::Ignored("session_meta".to_owned()) } else { Outcome::Imported }
    }

    /// Reads an event for the screen, which may be that the user rolled turns back.
    fn event(&mut self, payload: Option<&RawValue>, output: &mut Output) -> Outcome {
        let event = payload.and_then(|payload| json::view_of::<Part<'_>>(payload).kind);
        let event = event.and_then(json::text).unwrap_or_default();
        let turns = payload.and_then(|payload| json::view_of::<RolledBack<'_>>(payload).turns);
        let turns = number(turns.filter(|_| event == "thread_rolled_back"));
        if let Some(turns) = turns {
            self.roll_back(turns, &mut output.rewound);
            self.reports.void();
        }
        if let Some(payload) = payload.filter(|_| event == "token_count") {
            self.reports.read(&json::view_of::<TokenCount<'_>>(payload), output);
        }
        let name = format!("event_msg/{event}");
        if turns.is_some() || is_listed(&event, EVENTS) { Outcome::Ignored(name) } else { Outcome::Unknown(name) }
    }

    /// Keeps the records from which the agent knows, when it resumes, what it need not say again.
    fn note_settings(&mut self, kind: &str, payload: Option<&RawValue>) {
        let room = MAX_SETTINGS.saturating_sub(self.settings_len);
        let fits = |payload: &&RawValue| payload.get().len() <= room && self.settings.len() < MAX_RECORDS;
        let Some(payload) = payload.filter(|_| is_listed(kind, SETTINGS)).filter(fits) else { return };
        if let Ok(parsed) = json::value::<Value>(payload.get().as_bytes()) {
            self.settings_len += payload.get().len();
            self.settings.push(json!({ "type": kind, "payload": parsed }));
        }
    }

    /// Gives the settings so far to the entries of a user's message.
    fn give_settings(&mut self, entries: &mut [TranscriptEntry]) {
        if self.settings.is_empty() || entries.is_empty() {
            return;
        }
        self.settings_len = 0;
        let settings = Value::from(std::mem::take(&mut self.settings));
        for entry in entries {
            entry.draft.fields.meta.insert("settings".to_owned(), settings.clone());
        }
    }

    /// Notes a content, and returns whether it is new.
    pub(super) fn is_new(&mut self, content: u64) -> bool {
        self.known_content.insert(content, 0).is_none()
    }

    fn response_item(&mut self, builder: &mut EntryBuilder, item: &ResponseItem<'_>, text: &str) -> Outcome {
        let outcome = self.item(builder, item, text);
        self.add_message(item, text, &builder.entries);
        outcome
    }

    pub(super) fn item(&mut self, builder: &mut EntryBuilder, item: &ResponseItem<'_>, text: &str) -> Outcome {
        let kind = item.kind.and_then(json::text).unwrap_or_default();
        if kind == IGNORED_ITEM {
            return Outcome::Ignored(kind.into_owned());
        }
        self.is_new(content_hash(item, text));
        if matches!(&*kind, "custom_tool_call" | "custom_tool_call_output") {
            builder.add_meta("custom", Some(true));
        }
        // An item without the members that its kind requires is stored verbatim.
        let added = match &*kind {
            "message" => self.message(builder, item),
            "reasoning" => add_reasoning(builder, item),
            "function_call" => self.call(builder, item, item.name, call_arguments(item.arguments)),
            "custom_tool_call" => self.call(builder, item, item.name, json::json_or(item.input, "\"\"")),
            "local_shell_call" => self.call(builder, item, item.kind, json::json_or(item.action, "{}")),
            "function_call_output" | "custom_tool_call_output" => self.result(builder, item),
            _ => None,
        };
        if added.is_none() {
            let name = if kind.is_empty() { "response_item" } else { &*kind };
            builder.push(freeform(name, Some(Role::Assistant)), text);
        }
        self.started |= builder.conversation().next().is_some();
        if builder.entries.is_empty() { Outcome::Ignored(format!("{kind}/empty")) } else { Outcome::Imported }
    }

    fn message(&mut self, builder: &mut EntryBuilder, item: &ResponseItem<'_>) -> Option<()> {
        let role = match &*json::text(item.role?)? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "developer" | "system" => Role::System,
            _ => return None,
        };
        if role == Role::User {
            builder.add_meta("model_provider", self.provider.clone());
        }
        let content = item.content?;
        if let Some(text) = json::text(content) {
            builder.push(message_fields(role, !self.started), text.into_owned());
        } else {
            for raw_part in json::list(content)? {
                if let Some(text) = part_text(raw_part) {
                    builder.push(message_fields(role, !self.started), text.into_owned());
                } else {
                    add_part(builder, raw_part, role);
                }
            }
        }
        if role == Role::User {
            self.give_settings(&mut builder.entries);
        }
        Some(())
    }

    fn call(
        &mut self,
        builder: &mut EntryBuilder,
        item: &ResponseItem<'_>,
        name: Option<&RawValue>,
        body: Vec<u8>,
    ) -> Option<()> {
        let id = json::text(item.call_id.or(item.id)?)?;
        let block = builder.entries.len();
        let entry = builder.push_call(block, &mut self.open_calls, &id, &json::text(name?)?, body)?;
        if let Some(namespace) = item.namespace.and_then(json::text) {
            entry.draft.fields.meta.insert("namespace".to_owned(), namespace.into());
        }
        Some(())
    }

    fn result(&mut self, builder: &mut EntryBuilder, item: &ResponseItem<'_>) -> Option<()> {
        let id = json::text(item.call_id?)?;
        let raw_output = item.output?;
        let mut fields = result(&id, self.open_calls.get(&id), None)?;
        let output: ToolOutput<'_> =
            if raw_output.get().starts_with('{') { json::view_of(raw_output) } else { ToolOutput::default() };
        fields.status = output.success.map(|_| if json::is_true(output.success) { Status::Ok } else { Status::Error });
        let content = output.content.unwrap_or(raw_output);
        let (body, others) = if let Some(text) = json::text(content).or_else(|| output.text.and_then(json::text)) {
            (text.into_owned(), Vec::new())
        } else if let Some(parts) = json::list(content) {
            split_text(parts, part_text)
        } else {
            (content.get().to_owned(), Vec::new())
        };
        let result = builder.push(fields, body).id;
        for raw_part in others {
            add_part(builder, raw_part, Role::User).draft.fields.reply_to = Some(result);
        }
        self.open_calls.remove(&id);
        Some(())
    }
}

fn number(value: Option<&RawValue>) -> Option<u64> {
    value?.get().parse().ok()
}

fn add_reasoning(builder: &mut EntryBuilder, item: &ResponseItem<'_>) -> Option<()> {
    let signature = item.encrypted_content.and_then(json::text);
    let lists = [item.summary, item.content].into_iter().flatten();
    let texts: Option<Vec<_>> = lists.filter_map(json::list).flatten().map(part_text).collect();
    let texts = texts?;
    if texts.is_empty() && signature.is_none() {
        return Some(());
    }
    let entry = builder.push(reasoning(signature.as_deref()), texts.join("\n\n"));
    if let Some(id) = item.id.and_then(json::text) {
        entry.draft.fields.meta.insert("id".to_owned(), id.into());
    }
    Some(())
}

/// Adds an image, or a part of unknown shape verbatim.
fn add_part<'b>(builder: &'b mut EntryBuilder, raw_part: &RawValue, role: Role) -> &'b mut TranscriptEntry {
    let part: Part<'_> = json::view_of(raw_part);
    if let Some(url) = part.image_url.and_then(json::text) {
        let (fields, body) = image(&url, role);
        return builder.push(fields, body);
    }
    let kind = json::member_text(part.kind);
    builder.push(freeform(kind.as_deref().unwrap_or("part"), Some(role)), raw_part.get())
}

/// A hash of an item's content without ids and metadata: a compaction copies items without them.
pub(super) fn content_hash(item: &ResponseItem<'_>, text: &str) -> u64 {
    let kind = item.kind.and_then(json::text).unwrap_or_default();
    let member = |value: Option<&RawValue>| value.map(|value| value.get().to_owned()).unwrap_or_default();
    let members = match &*kind {
        "message" => {
            let mut members = vec![member(item.role)];
            match item.content.and_then(json::list) {
                Some(parts) => members.extend(
                    parts.into_iter().map(|part| part_text(part).map_or_else(|| part.get().to_owned(), Into::into)),
                ),
                None => members.push(member(item.content)),
            }
            members
        }
        "reasoning" => vec![member(item.summary), member(item.encrypted_content)],
        _ if item.call_id.is_some() => vec![
            member(item.call_id),
            member(item.name),
            member(item.arguments.or(item.input).or(item.action)),
            member(item.output),
        ],
        _ => vec![text.to_owned()],
    };
    hash(std::iter::once(kind.as_bytes()).chain(members.iter().map(String::as_bytes)))
}
