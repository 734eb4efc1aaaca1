//! Builds the entries of one record: their fields, sources, and ids.

use std::borrow::Cow;
use std::collections::hash_map;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine::DecodePaddingMode};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::calls::{ToolCall, ToolCalls};
use super::json::{self, view};
use super::packed::HashedMap;
use super::{header, packed};
use crate::base::time::Time;
use crate::trace::change::bulk::{Removal, Usage};
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Direction, Draft, Fields, ItemType, Role};
use crate::trace::model::source::Source;
use crate::transcript::TranscriptEntry;

/// The maximum length of a stored name of a tool, model, or block, in characters.
pub(crate) const MAX_NAME: usize = 256;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The name of a record, from which the sources, and so the ids, of its items are derived.
pub(crate) struct RecordSource(String);

impl RecordSource {
    pub(crate) fn id(id: &str) -> Self {
        Self(Source::new("", id, 0).record().to_owned())
    }

    /// The hash of a record without an id.
    pub(crate) fn content(bytes: &[u8]) -> Self {
        Self(Source::of_content("", bytes, 0).record().to_owned())
    }

    pub(crate) fn block(&self, format: &str, block: usize) -> Source {
        Source::new(format, &self.0, block)
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct SourceTracker {
    /// For records with an id, the hash of the first content by the hash of the id; for others, their number by their hash.
    #[serde(with = "packed")]
    known: HashedMap<u64>,
}

impl SourceTracker {
    /// The source of content under an id; `None` if the same content was read under that id before. Other content gets a
    /// separate source, so that nothing is lost.
    pub(crate) fn by_id(&mut self, id: &str, content: &[u8]) -> Option<RecordSource> {
        let content_hash = hash([&b"content"[..], content]);
        match self.known.entry(hash([&b"id"[..], id.as_bytes()])) {
            hash_map::Entry::Vacant(slot) => {
                slot.insert(content_hash);
                Some(RecordSource::id(id))
            }
            hash_map::Entry::Occupied(first) if *first.get() == content_hash => None,
            hash_map::Entry::Occupied(_) => {
                let changed = [id.as_bytes(), b"\n", content].concat();
                let repeated = self.known.insert(hash([&b"changed"[..], &changed]), content_hash).is_some();
                (!repeated).then(|| RecordSource::content(&changed))
            }
        }
    }

    /// How often a record without an id has occurred, this time included.
    pub(crate) fn count(&mut self, record: &[u8]) -> u64 {
        let count = self.known.entry(hash([&b"record"[..], record])).or_insert(0);
        *count += 1;
        *count
    }
}

pub(crate) struct EntryBuilder {
    format: &'static str,
    source: RecordSource,
    end_offset: u64,
    pub created: Option<Time>,
    pub meta: Map<String, Value>,
    pub thread: Option<String>,
    pub removal: Option<Removal>,
    /// The items of the first entries, if the file names them, as one that was exported does.
    pub ids: Vec<ItemId>,
    pub entries: Vec<TranscriptEntry>,
}

impl EntryBuilder {
    pub(crate) fn new(format: &'static str, source: RecordSource, created: Option<&RawValue>, end_offset: u64) -> Self {
        let (created, meta, entries) = (created.and_then(time), Map::new(), Vec::new());
        Self { format, source, end_offset, created, meta, thread: None, removal: None, ids: Vec::new(), entries }
    }

    /// Adds metadata to all entries after it.
    pub(crate) fn add_meta(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.meta.insert(name.to_owned(), value.into());
        }
    }

    /// Adds an entry whose block number is its position in the record.
    pub(crate) fn push(&mut self, fields: Fields, body: impl Into<Vec<u8>>) -> &mut TranscriptEntry {
        self.push_block(self.entries.len(), fields, body)
    }

    /// Adds an entry with a block number, unique in the record.
    pub(crate) fn push_block(
        &mut self,
        block: usize,
        fields: Fields,
        body: impl Into<Vec<u8>>,
    ) -> &mut TranscriptEntry {
        self.push_from(self.source.block(self.format, block), fields, body)
    }

    pub(crate) fn push_from(
        &mut self,
        source: Source,
        mut fields: Fields,
        body: impl Into<Vec<u8>>,
    ) -> &mut TranscriptEntry {
        let named = self.ids.get(self.entries.len()).copied();
        let id = named.unwrap_or_else(|| ItemId::of_source(&source));
        fields.source = named.is_none().then_some(source);
        fields.created = self.created;
        fields.meta.extend(self.meta.clone());
        self.entries.push(TranscriptEntry {
            id,
            draft: Draft { fields, body: body.into() },
            thread: self.thread.clone(),
            removal: self.removal,
            replaces: None,
            subject: None,
            usage: Usage::Unsaid,
            end_offset: self.end_offset,
        });
        self.entries.last_mut().expect("one was just added")
    }

    /// Adds a tool call and remembers it for its result; `None` if it has no id or name.
    pub(crate) fn push_call(
        &mut self,
        block: usize,
        calls: &mut ToolCalls,
        id: &str,
        name: &str,
        body: impl Into<Vec<u8>>,
    ) -> Option<&mut TranscriptEntry> {
        let fields = call(id, name)?;
        let name = fields.name.clone().unwrap_or_default();
        let thread = self.thread.clone();
        let entry = self.push_block(block, fields, body);
        calls.insert(id, &ToolCall { id: entry.id, name, thread });
        Some(entry)
    }

    /// The entries that are part of the conversation, not instructions.
    pub(crate) fn conversation(&mut self) -> impl Iterator<Item = &mut TranscriptEntry> {
        self.entries.iter_mut().filter(|entry| entry.draft.fields.item_type != ItemType::instruction())
    }

    /// Makes the entries of a record with several one turn, except instructions.
    pub(crate) fn group_turn(&mut self) {
        if self.entries.len() > 1 {
            let turn = self.entries[0].draft.fields.source.as_ref().map(|source| source.record().to_owned());
            self.conversation().for_each(|entry| entry.draft.fields.turn.clone_from(&turn));
        }
    }
}

pub(crate) fn time(value: &RawValue) -> Option<Time> {
    json::text(value)?.parse().ok()
}

pub(crate) fn dialogue(role: Role) -> Fields {
    Fields { role: Some(role), ..Fields::new(ItemType::dialogue()) }
}

/// A message's text: a system message is an instruction before the conversation, and dialogue after that.
pub(crate) fn message_fields(role: Role, opening: bool) -> Fields {
    if role == Role::System && opening { Fields::new(ItemType::instruction()) } else { dialogue(role) }
}

pub(crate) fn freeform(name: &str, role: Option<Role>) -> Fields {
    Fields { name: header::one_line(name, MAX_NAME), role, ..Fields::new(ItemType::freeform()) }
}

pub(crate) fn reasoning(signature: Option<&str>) -> Fields {
    let mut fields = Fields::new(ItemType::reasoning());
    if let Some(signature) = signature.filter(|signature| !signature.is_empty()) {
        set_signature(&mut fields, signature);
    }
    fields
}

/// Stores a signature verbatim: in the header, or in the metadata if no header can hold it.
pub(crate) fn set_signature(fields: &mut Fields, signature: &str) {
    if signature.is_empty() || signature.chars().any(char::is_control) {
        fields.meta.insert("signature".to_owned(), signature.into());
    } else {
        fields.signature = Some(signature.to_owned());
    }
}

pub(crate) fn call(id: &str, name: &str) -> Option<Fields> {
    let mut fields = tool(Role::Assistant, Direction::Call, id)?;
    fields.name = Some(header::one_line(name, MAX_NAME)?);
    Some(fields)
}

fn tool(role: Role, direction: Direction, id: &str) -> Option<Fields> {
    let (role, direction, call_id) = (Some(role), Some(direction), Some(header::id(id)?));
    Some(Fields { role, direction, call_id, ..Fields::new(ItemType::tool_io()) })
}

/// A tool result in a thread; `None` if it does not name its call.
pub(crate) fn result(id: &str, call: Option<ToolCall>, thread: Option<&str>) -> Option<Fields> {
    let mut fields = tool(Role::Tool, Direction::Result, id)?;
    if let Some(call) = call {
        fields.name = Some(call.name);
        // Each thread becomes its own trace, and an item can only reply to one in the same trace.
        fields.reply_to = (call.thread.as_deref() == thread).then_some(call.id);
    }
    Some(fields)
}

/// The body of a tool call: JSON verbatim, and any other text as a JSON string.
pub(crate) fn arguments(text: &str) -> Vec<u8> {
    match text.trim() {
        "" => b"{}".to_vec(),
        _ if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => text.as_bytes().to_vec(),
        _ => Value::from(text).to_string().into_bytes(),
    }
}

/// The arguments of a call: a string that contains JSON, or the JSON itself.
pub(crate) fn call_arguments(value: Option<&RawValue>) -> Vec<u8> {
    let Some(value) = value else { return b"{}".to_vec() };
    json::text(value).map_or_else(|| value.get().into(), |text| arguments(&text))
}

view! { TextPart { text } }

/// The text of a part of a message.
pub(crate) fn part_text(part: &RawValue) -> Option<Cow<'_, str>> {
    json::view_of::<TextPart<'_>>(part).text.and_then(json::text)
}

/// The text of a tool result's parts, joined by line breaks, and the other parts.
pub(crate) fn split_text<'a>(
    mut parts: Vec<&'a RawValue>,
    text: impl Fn(&'a RawValue) -> Option<Cow<'a, str>>,
) -> (String, Vec<&'a RawValue>) {
    let mut texts = Vec::new();
    parts.retain(|part| text(part).map(|text| texts.push(text)).is_none());
    (texts.join("\n"), parts)
}

/// An image in a data URL as an artifact that `role` sent, or its address as text.
pub(crate) fn image(url: &str, role: Role) -> (Fields, Vec<u8>) {
    let file = url.strip_prefix("data:").and_then(|url| {
        let (media_type, data) = url.split_once(";base64,")?;
        Some((artifact(media_type, role), decode(data)?))
    });
    file.unwrap_or_else(|| (freeform("image", Some(role)), url.as_bytes().to_vec()))
}

pub(crate) fn artifact(media_type: &str, role: Role) -> Fields {
    let mut fields = Fields::new(ItemType::artifact());
    fields.kind = Some(if media_type.starts_with("image/") { "image" } else { "document" }.to_owned());
    fields.media_type = header::one_line(media_type, 128);
    fields.meta.insert("role".to_owned(), role.as_str().into());
    fields
}

pub(crate) fn decode(data: &str) -> Option<Vec<u8>> {
    BASE64.decode(data).ok().or_else(|| {
        let dense: String = data.split_ascii_whitespace().collect();
        BASE64.decode(dense).ok()
    })
}

/// The first 64 bits of a BLAKE3 hash; a collision does not happen by accident.
pub(crate) fn hash<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}
