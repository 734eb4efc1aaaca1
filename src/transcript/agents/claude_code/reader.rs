//! Reads records, given the earlier ones.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FORMAT;
use super::attachments::{self, Rendered};
use super::content::RecordContent;
use super::records::{Attachment, IGNORED, IGNORED_SYSTEM, Message, Record};
use super::turns::Turns;
use crate::tokens::UsageReader;
use crate::trace::change::bulk::{Removal, Usage};
use crate::trace::model::item::Role;
use crate::trace::model::source::Source;
use crate::trace::store::turns::CLEARS_CONTEXT;
use crate::transcript::read::builder::{EntryBuilder, RecordSource, SourceTracker, freeform};
use crate::transcript::read::calls::ToolCalls;
use crate::transcript::read::header::{self, is_listed};
use crate::transcript::read::json;
use crate::transcript::read::reader::{Certainty, Outcome, Output, RecordReader};
use crate::transcript::{Tally, TranscriptEntry, count};

/// Longer usage objects are not stored; real ones have about four hundred bytes.
const MAX_USAGE: usize = 8 * 1024;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ClaudeCode {
    calls: ToolCalls,
    threads: HashMap<String, String>,
    sources: SourceTracker,
    /// By thread: message id and usage of the last record that had one.
    usage: HashMap<String, (String, String)>,
    started: HashSet<Option<String>>,
    /// The threads with a compaction that was not replayed, or with rewinds that were withheld. From then on, reported usage is not
    /// that of their traces.
    usage_differs: HashSet<Option<String>>,
    turns: Turns,
    /// Whether turns were removed or brought back since the last item.
    turns_changed: bool,
    /// Whether the user named the session.
    #[serde(default)]
    is_titled: bool,
}

impl RecordReader for ClaudeCode {
    type Record<'a> = Record<'a>;

    fn certainty(record: &Record<'_>) -> Certainty {
        let identified = [record.uuid, record.leaf, record.session].iter().any(Option::is_some);
        match record.kind.and_then(json::text).filter(|kind| identified && has_known_shape(record, kind)).as_deref() {
            None => Certainty::No,
            Some("user" | "assistant") if record.uuid.is_some() && record.message.is_some() => Certainty::Sure,
            Some("user" | "assistant" | "summary" | "attachment") => Certainty::Likely,
            // Other programs have such words, too.
            Some(_) if record.parent.is_none() => Certainty::Possible,
            Some(_) => Certainty::Likely,
        }
    }

    fn is_record(record: &Record<'_>) -> bool {
        record.kind.and_then(json::text).is_some()
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        record.session.and_then(json::text).map(Into::into)
    }

    fn read(&mut self, record: &Record<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let thread = self.thread(record, bytes);
        let Some(kind) = record.kind.and_then(json::text) else { return Outcome::Unknown(String::new()) };
        let subtype = record.subtype.and_then(json::text).unwrap_or_default();

        let message: Message<'_> = record.message.map(json::view_of).unwrap_or_default();
        let bare = record.message.filter(|message| !message.get().starts_with('{'));
        let message_content = message.content.or(bare).or(record.content);
        if thread.is_none() {
            self.turns_changed |= self.turns.add_record(record, message_content, &mut output.rewound);
            if self.turns.withholds() {
                self.usage_differs.insert(None);
            }
        }
        if let Some(compaction) = record.compaction {
            self.turns.announce(thread.as_deref(), compaction);
        }
        let content = match &*kind {
            "user" | "assistant" => message_content,
            "system" => record.content.filter(|_| !is_listed(&subtype, IGNORED_SYSTEM)),
            "summary" => record.summary,
            // The user's title wins.
            "ai-title" => record.ai_title.filter(|_| !self.is_titled),
            "custom-title" => record.custom_title,
            "attachment" => record.attachment,
            other if is_listed(other, IGNORED) => return Outcome::Ignored(kind.into_owned()),
            _ => return Outcome::Unknown(kind.into_owned()),
        };
        let Some(content) = content else {
            if kind != "system" {
                // The message of another format may keep its text elsewhere.
                if json::has_content(bytes) {
                    return Outcome::Unknown(format!("{kind} without content"));
                }
                return Outcome::Ignored(format!("{kind}/empty"));
            }
            let name = format!("system/{subtype}");
            return if is_listed(&subtype, IGNORED_SYSTEM) { Outcome::Ignored(name) } else { Outcome::Unknown(name) };
        };
        let Some(source) = self.source(record, bytes, content) else { return Outcome::Repeated };

        let is_summary = json::is_true(record.is_compact_summary) && self.started.contains(&thread);
        let clears_context = thread.is_none() && std::mem::take(&mut self.turns.clears_context);
        let mut builder = EntryBuilder::new(FORMAT, source, record.timestamp, output.end_offset);
        builder.thread = thread;
        let role = if kind == "assistant" { Role::Assistant } else { Role::User };
        let mut entries = RecordContent::new(builder, role, &mut self.calls);
        match &*kind {
            "summary" | "ai-title" | "custom-title" => {
                self.is_titled |= kind == "custom-title";
                entries.builder.removal = Some(Removal::Title);
                entries.builder.add_meta("leaf", record.leaf.and_then(json::text));
                entries.add_named(&kind, content);
            }
            "system" => {
                // The agent sends only the output of the user's own commands to the model.
                let sent = subtype == "local_command";
                entries.builder.removal = (!sent).then_some(Removal::Interface);
                entries.add_named(if subtype.is_empty() { "system" } else { &subtype }, content);
            }
            "attachment" => add_attachment(&mut entries, content, &mut output.tally),
            _ => {
                add_message_meta(&mut entries, record, &message);
                if is_summary && !output.replays_compactions {
                    entries.builder.removal = Some(Removal::Compaction);
                }
                entries.builder.add_meta(CLEARS_CONTEXT, clears_context.then_some(true));
                entries.add(content);
            }
        }
        let mut entries = entries.builder.entries;
        let Some(first) = entries.first_mut() else { return Outcome::Ignored(format!("{kind}/empty")) };
        if (is_summary || clears_context) && output.replays_compactions {
            self.turns.replace(first, &mut output.rewound);
        }
        self.turns.add_entries(record, &entries, &mut output.rewound);
        self.set_turn_and_usage(&mut entries, record, bytes, (&message, role), &output.usage);
        if let Some(entry) = entries.iter().find(|entry| entry.removal.is_none()) {
            self.started.insert(entry.thread.clone());
        }
        output.entries.extend(entries);
        Outcome::Imported
    }

    fn end(&mut self, output: &mut Output) {
        self.turns.pass_on(&mut output.rewound);
    }
}

impl ClaudeCode {
    fn thread(&mut self, record: &Record<'_>, bytes: &[u8]) -> Option<String> {
        if !json::is_true(record.sidechain) {
            return None;
        }
        let uuid = json::member_text(record.uuid);
        let known = |uuid: &str| self.threads.get(uuid).cloned();
        let thread = json::member_text(record.agent)
            .map(|agent| header::thread(&agent))
            .or_else(|| known(uuid.as_deref()?))
            .or_else(|| known(&record.parent.and_then(json::text)?))
            .unwrap_or_else(|| {
                let root = uuid.as_deref().map_or(bytes, str::as_bytes);
                blake3::hash(root).to_hex()[..8].to_owned()
            });
        if let Some(uuid) = uuid {
            self.threads.entry(uuid.into_owned()).or_insert_with(|| thread.clone());
        }
        Some(thread)
    }

    /// The source of the record's items; `None` if it repeats an earlier record.
    fn source(&mut self, record: &Record<'_>, bytes: &[u8], content: &RawValue) -> Option<RecordSource> {
        let Some(uuid) = json::member_text(record.uuid) else {
            // The user may really say the same thing twice, such as "continue"; a title occurs once.
            return match self.sources.count(bytes) {
                1 => Some(RecordSource::content(bytes)),
                _ if [record.summary, record.ai_title, record.custom_title].iter().any(Option::is_some) => None,
                count => Some(RecordSource::content(&[bytes, format!("\n{count}").as_bytes()].concat())),
            };
        };
        // The content alone: a record that is written again may have a newer usage.
        self.sources.by_id(&uuid, content.get().as_bytes())
    }

    fn set_turn_and_usage(
        &mut self,
        entries: &mut [TranscriptEntry],
        record: &Record<'_>,
        bytes: &[u8],
        (message, role): (&Message<'_>, Role),
        reader: &UsageReader,
    ) {
        let by_model = role == Role::Assistant;
        let message_id = message.id.filter(|_| by_model).and_then(json::text).and_then(|id| header::id(&id));
        let turn = message_id.or_else(|| {
            (entries.len() > 1).then(|| {
                let uuid = record.uuid.and_then(json::text).and_then(|uuid| header::id(&uuid));
                uuid.unwrap_or_else(|| Source::of_content(FORMAT, bytes, 0).record().to_owned())
            })
        });
        for entry in entries.iter_mut() {
            entry.draft.fields.turn.clone_from(&turn);
        }
        let is_removed_summary = entries
            .iter()
            .any(|entry| entry.removal.is_some() && entry.draft.fields.meta.contains_key("compact_summary"));
        let replaces = entries.iter().any(|entry| entry.replaces.is_some());
        let Some(last) = entries.last_mut() else { return };
        // The trace contains compacted messages; a report does not count them.
        let differs = is_removed_summary && self.usage_differs.insert(last.thread.clone());
        let turns_changed = last.thread.is_none() && std::mem::take(&mut self.turns_changed);
        if replaces || turns_changed || differs {
            last.usage = Usage::Void;
            return;
        }
        // The agent writes messages itself, such as errors of the API, with a usage of zero or the last one.
        let is_synthetic = json::is_true(record.is_api_error)
            || message.model.and_then(json::text).is_some_and(|model| model == "<synthetic>");
        let by_model = by_model && !is_synthetic;
        let Some(usage) = message.usage.filter(|usage| by_model && usage.get().len() <= MAX_USAGE) else { return };
        let reported = (turn.unwrap_or_default(), usage.get().to_owned());
        let previous = self.usage.entry(last.thread.clone().unwrap_or_default()).or_default();
        let is_repeated = *previous == reported;
        if let Ok(usage @ Value::Object(_)) = serde_json::from_str(usage.get()) {
            let mut stored = Map::new();
            let read = reader.store(usage, "usage", &mut stored);
            if let Some(usage) = read.filter(|_| !self.usage_differs.contains(&last.thread)) {
                // A later line of the message is part of the same output.
                last.usage = Usage::reported(usage.context_tokens());
            }
            if !is_repeated {
                last.draft.fields.meta.extend(stored);
            }
        }
        *previous = reported;
    }
}

/// Whether a record of this kind is as the agent writes it. Agents that descend from others have ids and kinds in common, but not
/// the shape of messages.
fn has_known_shape(record: &Record<'_>, kind: &str) -> bool {
    let message: Message<'_> = record.message.map(json::view_of).unwrap_or_default();
    match kind {
        "user" | "assistant" => message.content.or(record.content).is_some(),
        "system" => {
            record.content.is_some()
                || record.subtype.and_then(json::text).is_some_and(|kind| is_listed(&kind, IGNORED_SYSTEM))
        }
        "summary" => record.summary.is_some(),
        "attachment" => record.attachment.is_some(),
        other => is_listed(other, IGNORED),
    }
}

fn add_message_meta(entries: &mut RecordContent<'_>, record: &Record<'_>, message: &Message<'_>) {
    let model = message.model.filter(|_| entries.role == Role::Assistant);
    entries.builder.add_meta("model", json::line(model, 128));
    for (name, flag) in [
        ("is_meta", record.is_meta),
        ("compact_summary", record.is_compact_summary),
        ("api_error", record.is_api_error),
    ] {
        entries.builder.add_meta(name, json::is_true(flag).then_some(true));
    }
}

/// Adds the text that the agent put into the conversation, or the user while the model was busy.
fn add_attachment(entries: &mut RecordContent<'_>, attachment: &RawValue, tally: &mut Tally) {
    let view: Attachment<'_> = json::view_of(attachment);
    let kind = view.kind.and_then(json::text).unwrap_or(Cow::Borrowed("attachment"));
    if let Some(prompt) = view.prompt.filter(|_| kind == "queued_command") {
        entries.builder.add_meta("queued", Some(true));
        entries.add(prompt);
        return;
    }
    let rendered = attachments::render(&kind, attachment);
    if rendered == Rendered::UnknownKind {
        count(&mut tally.unknown, &format!("attachment/{kind}"));
    }
    if let Rendered::Sent(text) = rendered {
        let original = json::value::<Value>(attachment.get().as_bytes()).ok();
        entries.builder.add_meta("attachment", original);
        entries.builder.push_block(0, freeform(&kind, Some(entries.role)), text);
    } else {
        entries.builder.removal = Some(Removal::Interface);
        entries.unknown(0, &kind, attachment);
    }
}
