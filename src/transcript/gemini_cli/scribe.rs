//! What a record means, given those before it.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FORMAT;
use super::record::{Blob, Part, Record, Response, Thought, ToolCall};
use super::standing::Standing;
use crate::base::time::Time;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Fields, Role, Status};
use crate::trace::model::source::Source;
use crate::transcript::reader::{self, Outcome};
use crate::transcript::rewind::Rewound;
use crate::transcript::sheet::{Call, Sheet, artifact, call, decode, dialogue, freeform, hash, reasoning, result};
use crate::transcript::{Entry, clean, packed, raw};

/// What the records so far have taught.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Scribe {
    messages: Standing,
    /// By the hash of a piece's name: the hash of what it said first.
    #[serde(with = "packed")]
    said: HashMap<u64, u64>,
    /// Whether compactions are replayed.
    as_seen: bool,
    #[serde(skip)]
    rewound: Rewound,
}

impl reader::Scribe for Scribe {
    const FORMAT: &'static str = FORMAT;
    type Record<'a> = Record<'a>;

    fn is_record(record: &Record<'_>) -> bool {
        (record.id.is_some() && record.kind.is_some()) || record.set.is_some() || record.rewind.is_some()
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        record.session.and_then(raw::text).map(Into::into)
    }

    fn set_writing(&mut self, _: bool) {}

    fn take(&mut self, record: &Record<'_>, _: &[u8], end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        if let Some(target) = record.rewind.and_then(raw::text) {
            self.messages.rewind(&target, &mut self.rewound);
            return Outcome::Ignored("$rewindTo".to_owned());
        }
        let change = record.set.map(view::<Record<'_>>);
        if let Some(messages) = change.as_ref().map_or(record.messages, |change| change.messages) {
            return self.messages(messages, change.is_some(), end_offset, entries);
        }
        if change.is_some() {
            return Outcome::Ignored("$set".to_owned());
        }
        if record.id.is_some() && record.kind.is_some() {
            return self.message(record, end_offset, entries);
        }
        let is_head = [record.session, record.project, record.started, record.updated].iter().any(Option::is_some);
        if is_head { Outcome::Ignored("head".to_owned()) } else { Outcome::Unknown("(no type)".to_owned()) }
    }

    fn set_as_seen(&mut self, as_seen: bool) {
        self.as_seen = as_seen;
    }

    fn take_rewound(&mut self) -> Rewound {
        std::mem::take(&mut self.rewound)
    }
}

fn view<'a, V: Deserialize<'a> + Default>(value: &'a RawValue) -> V {
    serde_json::from_str(value.get()).unwrap_or_default()
}

fn time(value: Option<&RawValue>) -> Option<Time> {
    value.and_then(raw::text).and_then(|text| text.parse().ok())
}

impl Scribe {
    /// A list of messages: those of a document's head, or with `set` the ones that alone stand from now on.
    fn messages(&mut self, messages: &RawValue, set: bool, end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        let listed: Vec<Record<'_>> =
            raw::list(messages).unwrap_or_else(|| vec![messages]).into_iter().map(view).collect();
        let mut outcome = Outcome::Ignored(if set { "$set" } else { "head" }.to_owned());
        let before = entries.len();
        let mut begins_anew = false;
        for (number, message) in listed.iter().enumerate() {
            let known = self.messages.count();
            let one = self.message(message, end_offset, entries);
            begins_anew |= number == 0 && self.messages.count() > known && entries.len() > before;
            if outcome != Outcome::Imported {
                outcome = one;
            }
        }
        if set {
            let ids: Vec<String> =
                listed.iter().filter_map(|message| message.id.and_then(raw::text)).map(Into::into).collect();
            let summary = entries.get_mut(before).filter(|entry| begins_anew && self.as_seen && entry.skip.is_none());
            self.messages.set(&ids, summary, &mut self.rewound);
        }
        outcome
    }

    fn message(&mut self, record: &Record<'_>, end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        let (Some(id), Some(kind)) = (record.id.and_then(raw::text), record.kind.and_then(raw::text)) else {
            return Outcome::Unknown("(no type)".to_owned());
        };
        let mut meta = Map::new();
        if let Some(model) = record.model.and_then(raw::text).and_then(|model| clean::one_line(&model, 128)) {
            meta.insert("model".to_owned(), model.into());
        }
        let mut made = Vec::new();
        let turn = clean::id(&id);
        let skip = (!matches!(&*kind, "user" | "gemini")).then_some("shown to the person, not said to the model");
        let sheet = Sheet {
            format: FORMAT,
            origin: Vec::new(),
            created: time(record.timestamp),
            meta,
            skip,
            end_offset,
            entries: &mut made,
        };
        let mut page = Page { sheet, id: &id, turn, said: &mut self.said, repeated: 0 };
        page.thoughts(record);
        page.content(record, &kind);
        page.calls(record);
        let repeated = page.repeated;
        if let (Some(tokens), Some(last)) = (record.tokens, made.last_mut())
            && let Ok(tokens @ Value::Object(_)) = serde_json::from_str(tokens.get())
        {
            last.draft.fields.meta.insert("tokens".to_owned(), tokens);
        }
        let items = made.iter().map(|entry| entry.id);
        self.messages.take(&id, items, &mut self.rewound);
        let outcome = match (made.is_empty(), repeated) {
            (false, _) => Outcome::Imported,
            (true, 0) => Outcome::Ignored(clean::one_line(&format!("{kind}/empty"), 64).unwrap_or_default()),
            (true, _) => Outcome::Repeated,
        };
        entries.extend(made);
        outcome
    }
}

/// A message while its entries are made.
struct Page<'s, 'm> {
    sheet: Sheet<'s>,
    id: &'m str,
    turn: Option<String>,
    said: &'m mut HashMap<u64, u64>,
    repeated: usize,
}

impl Page<'_, '_> {
    /// Adds a piece, unless it was there with the same content.
    fn push(&mut self, place: &str, mut fields: Fields, body: Vec<u8>) -> Option<&mut Entry> {
        let name = format!("{}#{place}", self.id);
        let what = hash([&body[..]]);
        let mut source = Source::new(FORMAT, &name, 0);
        match self.said.get(&hash([name.as_bytes()])) {
            Some(first) if *first == what => {
                self.repeated += 1;
                return None;
            }
            Some(_) => {
                let other = [name.as_bytes(), b"\n", &body].concat();
                if self.said.insert(hash([&other[..]]), what).is_some() {
                    self.repeated += 1;
                    return None;
                }
                source = Source::of_content(FORMAT, &other, 0);
            }
            None => drop(self.said.insert(hash([name.as_bytes()]), what)),
        }
        if !fields.is_result() {
            fields.turn.clone_from(&self.turn);
        }
        Some(self.sheet.push_from(source, fields, body))
    }

    fn thoughts(&mut self, record: &Record<'_>) {
        for (number, raw_thought) in record.thoughts.and_then(raw::list).unwrap_or_default().into_iter().enumerate() {
            let thought = view::<Thought<'_>>(raw_thought);
            let texts = [thought.subject, thought.description].into_iter().flatten().filter_map(raw::text);
            let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
            let body = if texts.is_empty() { raw_thought.get().to_owned() } else { texts.join("\n") };
            let created = time(thought.timestamp);
            if let Some(entry) = self.push(&format!("thought-{number}"), reasoning(None), body.into_bytes()) {
                entry.draft.fields.created = created.or(entry.draft.fields.created);
            }
        }
    }

    fn content(&mut self, record: &Record<'_>, kind: &str) {
        let Some(content) = record.content else { return };
        let role = if kind == "gemini" { Role::Assistant } else { Role::User };
        let fields = || {
            if matches!(kind, "user" | "gemini") { dialogue(role) } else { freeform(kind) }
        };
        if let Some(text) = raw::text(content) {
            if !text.is_empty() {
                self.push("content", fields(), text.into_owned().into_bytes());
            }
            return;
        }
        let parts = raw::list(content).unwrap_or_else(|| vec![content]);
        for (number, raw_part) in parts.into_iter().enumerate() {
            let place = format!("part-{number}");
            let part = view::<Part<'_>>(raw_part);
            let blob = part.inline_data.map(view::<Blob<'_>>).unwrap_or_default();
            if let Some(text) = raw::text(raw_part).or_else(|| part.text.and_then(raw::text)) {
                let fields = if raw::is_true(part.thought) { reasoning(None) } else { fields() };
                self.push(&place, fields, text.into_owned().into_bytes());
            } else if let (Some(media_type), Some(bytes)) =
                (blob.mime_type.and_then(raw::text), blob.data.and_then(raw::text).and_then(|data| decode(&data)))
            {
                self.push(&place, artifact(&media_type, role), bytes);
            } else {
                let mut fields = freeform("part");
                fields.role = Some(role);
                self.push(&place, fields, raw_part.get().as_bytes().to_vec());
            }
        }
    }

    fn calls(&mut self, record: &Record<'_>) {
        for (number, raw_call) in record.calls.and_then(raw::list).unwrap_or_default().into_iter().enumerate() {
            let tool = view::<ToolCall<'_>>(raw_call);
            let id = tool.id.and_then(raw::text).map_or_else(|| format!("{}-{number}", self.id), Into::into);
            let name = tool.name.and_then(raw::text).unwrap_or_default();
            let Some(fields) = call(&id, &name) else {
                let mut fields = freeform("toolCall");
                fields.role = Some(Role::Assistant);
                self.push(&format!("call-{number}"), fields, raw_call.get().as_bytes().to_vec());
                continue;
            };
            let created = time(tool.timestamp);
            let called = Call {
                id: ItemId::of_source(&Source::new(FORMAT, &format!("{}#call-{number}", self.id), 0)),
                name: fields.name.clone().unwrap_or_default(),
            };
            self.push(&format!("call-{number}"), fields, tool.args.map_or("{}", RawValue::get).as_bytes().to_vec());
            let Some((text, failed)) = tool.result.and_then(answer) else { continue };
            let Some(mut fields) = result(&id, Some(&called)) else { continue };
            let status = tool.status.and_then(raw::text);
            let failed = failed || matches!(status.as_deref(), Some("error" | "cancelled"));
            fields.status = Some(if failed { Status::Error } else { Status::Ok });
            if let Some(entry) = self.push(&format!("result-{number}"), fields, text) {
                entry.draft.fields.created = created.or(entry.draft.fields.created);
            }
        }
    }
}

/// What a tool answered, and whether it calls that an error; `None` if it has not yet.
fn answer(result: &RawValue) -> Option<(Vec<u8>, bool)> {
    let parts = raw::list(result).unwrap_or_else(|| vec![result]);
    if parts.is_empty() {
        return None;
    }
    let mut texts = Vec::new();
    let mut failed = false;
    for raw_part in &parts {
        let part = view::<Part<'_>>(raw_part);
        let told = part.response.map(view::<Response<'_>>).and_then(|told| told.told).map(view::<Response<'_>>);
        let told = told.unwrap_or_default();
        failed |= told.error.is_some();
        let text = raw::text(raw_part).or_else(|| part.text.or(told.output).or(told.error).and_then(raw::text));
        texts.push(text.map_or_else(|| raw_part.get().to_owned(), Into::into));
    }
    Some((texts.join("\n").into_bytes(), failed))
}
