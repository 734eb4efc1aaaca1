//! What a record means, given those before it.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::FORMAT;
use super::record::{EVENTS, Head, IGNORED, IGNORED_RECORDS, Item, Output, Part, Record, RolledBack, is_response_item};
use super::standing::{Said, roll_back};
use crate::trace::model::item::{Fields, ItemType, Role, Status};
use crate::transcript::reader::{self, Outcome};
use crate::transcript::rewind::Rewound;
use crate::transcript::sheet::{Call, Sheet, arguments, call, freeform, hash, picture, reasoning, result, said_by};
use crate::transcript::{Entry, clean, packed, raw};

/// What the records so far have taught.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Scribe {
    session: String,
    /// The calls that no result has answered, by call id as it stands in the file.
    calls: HashMap<String, Call>,
    /// How often a record came, by its hash.
    #[serde(with = "packed")]
    times: HashMap<u64, u64>,
    /// What was said, whatever the record around it.
    #[serde(with = "packed")]
    pub(super) said: HashSet<u64>,
    /// Whether anything was said but instructions.
    pub(super) spoken: bool,
    /// What was said and not taken back, nor replaced by a compaction that was replayed.
    pub(super) standing: Vec<Said>,
    /// Whether compactions are replayed.
    pub(super) as_seen: bool,
    #[serde(skip)]
    rewound: Rewound,
}

impl reader::Scribe for Scribe {
    const FORMAT: &'static str = FORMAT;
    type Record<'a> = Record<'a>;

    fn is_record(record: &Record<'_>) -> bool {
        record.kind.and_then(raw::text).is_some() && (record.payload.is_some() || record.timestamp.is_some())
    }

    fn session(&self, record: &Record<'_>) -> Option<String> {
        let kind = record.kind.and_then(raw::text);
        match (kind.as_deref(), record.payload) {
            (Some("session_meta"), Some(payload)) => view::<Head<'_>>(payload).id.and_then(raw::text),
            (None, None) => record.id.and_then(raw::text),
            _ => None,
        }
        .map(Into::into)
    }

    fn set_writing(&mut self, _: bool) {}

    fn set_as_seen(&mut self, as_seen: bool) {
        self.as_seen = as_seen;
    }

    fn take_rewound(&mut self) -> Rewound {
        std::mem::take(&mut self.rewound)
    }

    fn take(&mut self, record: &Record<'_>, bytes: &[u8], end_offset: u64, entries: &mut VecDeque<Entry>) -> Outcome {
        if self.session.is_empty()
            && let Some(session) = reader::Scribe::session(self, record)
        {
            self.session = session;
        }
        let kind = record.kind.and_then(raw::text);
        let mut made = Vec::new();
        let times = self.times.entry(hash([bytes])).or_insert(0);
        *times += 1;
        let mut sheet = Sheet {
            format: FORMAT,
            origin: [self.session.as_bytes(), b"\n", bytes, format!("\n{times}").as_bytes()].concat(),
            created: record.timestamp.and_then(raw::text).and_then(|text| text.parse().ok()),
            meta: serde_json::Map::new(),
            skip: None,
            end_offset,
            entries: &mut made,
        };
        let outcome = match (kind.as_deref(), record.payload) {
            (Some("response_item"), Some(payload)) => self.spoken_item(&mut sheet, &view(payload), payload.get()),
            (Some("compacted"), Some(payload)) => self.compacted(&mut sheet, &view(payload)),
            (Some("session_meta"), Some(payload)) => self.head(&mut sheet, &view(payload)),
            (Some("event_msg"), payload) => self.event(payload),
            (Some(kind), _) if IGNORED_RECORDS.contains(&kind) => Outcome::Ignored(kind.to_owned()),
            (Some(kind), None) if is_response_item(kind) => match std::str::from_utf8(bytes) {
                Ok(text) => self.spoken_item(&mut sheet, &serde_json::from_str(text).unwrap_or_default(), text),
                Err(_) => Outcome::Unknown(kind.to_owned()),
            },
            (Some(kind), _) => Outcome::Unknown(clean::one_line(kind, 64).unwrap_or_else(|| "(no type)".to_owned())),
            (None, _) if record.state.is_some() => Outcome::Ignored("state".to_owned()),
            (None, _) if record.id.is_some() => {
                let head = Head { instructions: record.instructions, ..Head::default() };
                self.head(&mut sheet, &head)
            }
            (None, _) => Outcome::Unknown("(no type)".to_owned()),
        };
        if made.len() > 1 && outcome == Outcome::Imported && kind.as_deref() != Some("compacted") {
            let turn = made[0].draft.fields.source.as_ref().map(|source| source.record().to_owned());
            for entry in made.iter_mut().filter(|entry| entry.draft.fields.item_type != ItemType::instruction()) {
                entry.draft.fields.turn.clone_from(&turn);
            }
        }
        entries.extend(made);
        outcome
    }
}

pub(super) fn view<'a, V: Deserialize<'a> + Default>(value: &'a RawValue) -> V {
    serde_json::from_str(value.get()).unwrap_or_default()
}

impl Scribe {
    /// What the session begins with. A file that goes on from another repeats it.
    fn head(&mut self, sheet: &mut Sheet<'_>, head: &Head<'_>) -> Outcome {
        let base = head.base_instructions.and_then(|base| match raw::text(base) {
            None => view::<Part<'_>>(base).text.and_then(raw::text),
            text => text,
        });
        let double = head.instructions.and_then(raw::text);
        let told = [(base, None), (double, Some("said again by a message"))];
        for (text, skip) in told.into_iter().filter_map(|(text, skip)| Some((text?, skip))) {
            if !text.trim().is_empty() && self.said.insert(hash([&b"instructions"[..], text.as_bytes()])) {
                sheet.skip = skip;
                sheet.push(Fields::new(ItemType::instruction()), text.into_owned().into_bytes());
            }
        }
        if sheet.entries.is_empty() { Outcome::Ignored("session_meta".to_owned()) } else { Outcome::Imported }
    }

    /// What was shown to the person; it may be that turns were taken back.
    fn event(&mut self, payload: Option<&RawValue>) -> Outcome {
        let event = payload.and_then(|payload| view::<Part<'_>>(payload).kind).and_then(raw::text).unwrap_or_default();
        let turns = payload.and_then(|payload| view::<RolledBack<'_>>(payload).turns);
        let turns = turns.filter(|_| event == "thread_rolled_back").and_then(|turns| turns.get().parse().ok());
        if let Some(turns) = turns {
            self.rewound.note(&roll_back(&mut self.standing, turns), true);
        }
        let name = clean::one_line(&format!("event_msg/{event}"), 64).unwrap_or_default();
        if turns.is_some() || EVENTS.contains(&&*event) { Outcome::Ignored(name) } else { Outcome::Unknown(name) }
    }

    /// A response item of a record of its own.
    fn spoken_item(&mut self, sheet: &mut Sheet<'_>, item: &Item<'_>, text: &str) -> Outcome {
        let outcome = self.item(sheet, item, text);
        if !sheet.entries.is_empty() {
            self.standing.push(Said::new(essence(item, text), sheet.entries));
        }
        outcome
    }

    /// A response item; `text` is its JSON.
    pub(super) fn item(&mut self, sheet: &mut Sheet<'_>, item: &Item<'_>, text: &str) -> Outcome {
        let kind = item.kind.and_then(raw::text).unwrap_or_default();
        if IGNORED.contains(&&*kind) {
            return Outcome::Ignored(kind.into_owned());
        }
        self.said.insert(essence(item, text));
        // What does not have what its kind needs is kept as it stands.
        let taken = match &*kind {
            "message" => self.message(sheet, item),
            "reasoning" => reason(sheet, item),
            "function_call" => {
                let body = item.arguments.map_or_else(
                    || b"{}".to_vec(),
                    |value| match raw::text(value) {
                        Some(text) => arguments(&text),
                        None => value.get().as_bytes().to_vec(),
                    },
                );
                self.call(sheet, item, item.name, body)
            }
            "custom_tool_call" => {
                let body = item.input.map_or("\"\"", RawValue::get).as_bytes().to_vec();
                sheet.meta.insert("custom".to_owned(), true.into());
                self.call(sheet, item, item.name, body)
            }
            "local_shell_call" => {
                let body = item.action.map_or("{}", RawValue::get).as_bytes().to_vec();
                self.call(sheet, item, item.kind, body)
            }
            "function_call_output" | "custom_tool_call_output" => {
                if kind == "custom_tool_call_output" {
                    sheet.meta.insert("custom".to_owned(), true.into());
                }
                self.result(sheet, item)
            }
            _ => None,
        };
        if taken.is_none() {
            let name = if kind.is_empty() { "response_item" } else { &*kind };
            let mut fields = freeform(name);
            fields.role = Some(Role::Assistant);
            sheet.push(fields, text.as_bytes().to_vec());
        }
        self.spoken |= sheet.entries.iter().any(|entry| entry.draft.fields.item_type != ItemType::instruction());
        if sheet.entries.is_empty() { Outcome::Ignored(format!("{kind}/empty")) } else { Outcome::Imported }
    }

    fn message(&mut self, sheet: &mut Sheet<'_>, item: &Item<'_>) -> Option<()> {
        let role = match &*raw::text(item.role?)? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "developer" | "system" => Role::System,
            _ => return None,
        };
        let content = item.content?;
        if let Some(text) = raw::text(content) {
            sheet.push(said_by(role, !self.spoken), text.into_owned().into_bytes());
            return Some(());
        }
        for raw_part in raw::list(content)? {
            let part = view::<Part<'_>>(raw_part);
            if let Some(text) = part.text.and_then(raw::text) {
                sheet.push(said_by(role, !self.spoken), text.into_owned().into_bytes());
            } else if let Some(url) = part.image_url.and_then(raw::text) {
                let (fields, body) = picture(&url, role);
                sheet.push(fields, body);
            } else {
                other(sheet, &part, raw_part, role);
            }
        }
        Some(())
    }

    fn call(&mut self, sheet: &mut Sheet<'_>, item: &Item<'_>, name: Option<&RawValue>, body: Vec<u8>) -> Option<()> {
        let id = raw::text(item.call_id.or(item.id)?)?;
        let fields = call(&id, &raw::text(name?)?)?;
        let name = fields.name.clone().unwrap_or_default();
        let entry = sheet.push(fields, body);
        if let Some(namespace) = item.namespace.and_then(raw::text) {
            entry.draft.fields.meta.insert("namespace".to_owned(), namespace.into());
        }
        self.calls.insert(id.into_owned(), Call { id: entry.id, name });
        Some(())
    }

    fn result(&mut self, sheet: &mut Sheet<'_>, item: &Item<'_>) -> Option<()> {
        let id = raw::text(item.call_id?)?;
        let output = item.output?;
        let mut fields = result(&id, self.calls.get(&*id))?;
        let told = if output.get().starts_with('{') { view::<Output<'_>>(output) } else { Output::default() };
        fields.status = told.success.map(|_| if raw::is_true(told.success) { Status::Ok } else { Status::Error });
        let content = told.content.unwrap_or(output);
        let (mut body, mut others) = (Vec::new(), Vec::new());
        if let Some(text) = raw::text(content).or_else(|| told.text.and_then(raw::text)) {
            body = text.into_owned().into_bytes();
        } else if let Some(parts) = raw::list(content) {
            let mut texts = 0;
            for raw_part in parts {
                let part = view::<Part<'_>>(raw_part);
                if let Some(text) = part.text.and_then(raw::text) {
                    if texts > 0 {
                        body.push(b'\n');
                    }
                    texts += 1;
                    body.extend(text.as_bytes());
                } else {
                    others.push((part, raw_part));
                }
            }
        } else {
            body = content.get().as_bytes().to_vec();
        }
        let answer = sheet.push(fields, body).id;
        for (part, raw_part) in others {
            let entry = match part.image_url.and_then(raw::text) {
                Some(url) => {
                    let (fields, body) = picture(&url, Role::User);
                    sheet.push(fields, body)
                }
                None => other(sheet, &part, raw_part, Role::User),
            };
            entry.draft.fields.reply_to = Some(answer);
        }
        self.calls.remove(&*id);
        Some(())
    }
}

fn reason(sheet: &mut Sheet<'_>, item: &Item<'_>) -> Option<()> {
    let signature = item.encrypted_content.and_then(raw::text);
    let lists = [item.summary, item.content].into_iter().flatten();
    let mut texts = Vec::new();
    for raw_part in lists.filter_map(raw::list).flatten() {
        texts.push(view::<Part<'_>>(raw_part).text.and_then(raw::text)?.into_owned());
    }
    if texts.is_empty() && signature.is_none() {
        return Some(());
    }
    let entry = sheet.push(reasoning(signature.as_deref()), texts.join("\n\n").into_bytes());
    if let Some(id) = item.id.and_then(raw::text) {
        entry.draft.fields.meta.insert("id".to_owned(), id.into());
    }
    Some(())
}

/// A part of no known shape, as it stands.
fn other<'s>(sheet: &'s mut Sheet<'_>, part: &Part<'_>, raw_part: &RawValue, role: Role) -> &'s mut Entry {
    let kind = part.kind.and_then(raw::text).unwrap_or_default();
    let mut fields = freeform(if kind.is_empty() { "part" } else { &kind });
    fields.role = Some(role);
    sheet.push(fields, raw_part.get().as_bytes().to_vec())
}

/// What an item says, whatever ids and notes its record has: a compaction copies items without them.
pub(super) fn essence(item: &Item<'_>, text: &str) -> u64 {
    let kind = item.kind.and_then(raw::text).unwrap_or_default();
    let piece = |value: Option<&RawValue>| value.map(|value| value.get().to_owned()).unwrap_or_default();
    match &*kind {
        "message" => {
            let mut pieces = vec![kind.to_string(), piece(item.role)];
            match item.content.and_then(raw::list) {
                Some(parts) => pieces.extend(parts.into_iter().map(|raw_part| {
                    let part = view::<Part<'_>>(raw_part);
                    part.text.and_then(raw::text).map_or_else(|| raw_part.get().to_owned(), Into::into)
                })),
                None => pieces.push(piece(item.content)),
            }
            hash(pieces.iter().map(String::as_bytes))
        }
        "reasoning" => {
            hash([kind.as_bytes(), piece(item.summary).as_bytes(), piece(item.encrypted_content).as_bytes()])
        }
        _ if item.call_id.is_some() => hash([
            kind.as_bytes(),
            piece(item.call_id).as_bytes(),
            piece(item.name).as_bytes(),
            piece(item.arguments.or(item.input).or(item.action)).as_bytes(),
            piece(item.output).as_bytes(),
        ]),
        _ => hash([kind.as_bytes(), text.as_bytes()]),
    }
}
