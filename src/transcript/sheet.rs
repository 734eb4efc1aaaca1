//! The entries of one record while they are made, for the formats whose records have no blocks of their own numbering.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine::DecodePaddingMode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Entry, clean};
use crate::base::time::Time;
use crate::trace::change::bulk::Usage;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Direction, Draft, Fields, ItemType, Role};
use crate::trace::model::source::Source;

/// The longest name of a tool, model or block that is kept, in characters.
pub(super) const MAX_NAME: usize = 256;

/// Base64 as browsers and agents write it, padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A call that a result may answer.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: ItemId,
    pub(super) name: String,
}

/// One record while its entries are made.
pub(super) struct Sheet<'s> {
    pub(super) format: &'static str,
    /// Bytes that tell the record from all others.
    pub(super) origin: Vec<u8>,
    pub(super) created: Option<Time>,
    /// What every item's meta begins with.
    pub(super) meta: Map<String, Value>,
    pub(super) skip: Option<&'static str>,
    pub(super) end_offset: u64,
    pub(super) entries: &'s mut Vec<Entry>,
}

impl Sheet<'_> {
    /// Adds an entry, named after the record and its place among the record's entries, and returns it.
    pub(super) fn push(&mut self, fields: Fields, body: Vec<u8>) -> &mut Entry {
        let source = Source::of_content(self.format, &self.origin, self.entries.len());
        self.push_from(source, fields, body)
    }

    /// Adds an entry with a source of its own, and returns it for what is particular to it.
    pub(super) fn push_from(&mut self, source: Source, mut fields: Fields, body: Vec<u8>) -> &mut Entry {
        let id = ItemId::of_source(&source);
        fields.source = Some(source);
        fields.created = self.created;
        fields.meta.extend(self.meta.clone());
        self.entries.push(Entry {
            id,
            draft: Draft { fields, body },
            thread: None,
            skip: self.skip.map(str::to_owned),
            replaces: None,
            subject: None,
            usage: Usage::Unsaid,
            end_offset: self.end_offset,
        });
        self.entries.last_mut().expect("one was just added")
    }
}

pub(super) fn dialogue(role: Role) -> Fields {
    let mut fields = Fields::new(ItemType::dialogue());
    fields.role = Some(role);
    fields
}

/// What a system says: an instruction before anything else was said, and a part of the dialogue from then on.
pub(super) fn said_by(role: Role, opening: bool) -> Fields {
    if role == Role::System && opening { Fields::new(ItemType::instruction()) } else { dialogue(role) }
}

pub(super) fn freeform(name: &str) -> Fields {
    let mut fields = Fields::new(ItemType::freeform());
    fields.name = clean::one_line(name, MAX_NAME);
    fields
}

/// A reasoning item; a signature that no header can hold goes where any text can.
pub(super) fn reasoning(signature: Option<&str>) -> Fields {
    let mut fields = Fields::new(ItemType::reasoning());
    match signature.filter(|signature| !signature.is_empty()) {
        Some(signature) if signature.chars().any(char::is_control) => {
            fields.meta.insert("signature".to_owned(), signature.into());
        }
        signature => fields.signature = signature.map(str::to_owned),
    }
    fields
}

/// A call, if it has a name and an id.
pub(super) fn call(id: &str, name: &str) -> Option<Fields> {
    let mut fields = Fields::new(ItemType::tool_io());
    fields.role = Some(Role::Assistant);
    fields.direction = Some(Direction::Call);
    fields.call_id = Some(clean::id(id)?);
    fields.name = Some(clean::one_line(name, MAX_NAME)?);
    Some(fields)
}

/// A result, if it names its call.
pub(super) fn result(id: &str, call: Option<&Call>) -> Option<Fields> {
    let mut fields = Fields::new(ItemType::tool_io());
    fields.role = Some(Role::Tool);
    fields.direction = Some(Direction::Result);
    fields.call_id = Some(clean::id(id)?);
    if let Some(call) = call {
        fields.name = Some(call.name.clone());
        fields.reply_to = Some(call.id);
    }
    Some(fields)
}

/// Arguments as a call's body has them: JSON as it stands, and what is none as a text in JSON.
pub(super) fn arguments(text: &str) -> Vec<u8> {
    match text.trim() {
        "" => b"{}".to_vec(),
        _ if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => text.as_bytes().to_vec(),
        _ => Value::from(text).to_string().into_bytes(),
    }
}

/// A picture in a data URL as an artifact that `role` shows, or its address as text.
pub(super) fn picture(url: &str, role: Role) -> (Fields, Vec<u8>) {
    let data = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
    if let Some((media_type, bytes)) = data.and_then(|(media_type, data)| Some((media_type, decode(data)?))) {
        return (artifact(media_type, role), bytes);
    }
    let mut fields = freeform("image");
    fields.role = Some(role);
    (fields, url.as_bytes().to_vec())
}

/// A file that `role` shows.
pub(super) fn artifact(media_type: &str, role: Role) -> Fields {
    let mut fields = Fields::new(ItemType::artifact());
    fields.kind = Some(if media_type.starts_with("image/") { "image" } else { "document" }.to_owned());
    fields.media_type = clean::one_line(media_type, 128);
    fields.meta.insert("role".to_owned(), role.as_str().into());
    fields
}

pub(super) fn decode(data: &str) -> Option<Vec<u8>> {
    BASE64.decode(data).ok().or_else(|| {
        let dense: String = data.split_ascii_whitespace().collect();
        BASE64.decode(dense).ok()
    })
}

/// The start of a hash: two texts that met in it would have to be made to.
pub(super) fn hash<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}
