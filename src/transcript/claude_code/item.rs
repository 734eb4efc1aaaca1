//! From the content of one record to the entries it gives.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FORMAT;
use super::record::{Arguments, BlobSource, Block};
use crate::base::time::Time;
use crate::trace::change::bulk::Usage;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Direction, Draft, Fields, ItemType, Role, Status};
use crate::trace::model::source::Source;
use crate::transcript::sheet::{MAX_NAME, decode, freeform};
use crate::transcript::{Entry, clean, raw};

/// A call that a result may answer.
#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    id: ItemId,
    name: String,
    thread: Option<String>,
}

/// What a record's items take their ids from.
pub(super) enum Origin {
    /// The record's own id.
    Uuid(String),
    /// Bytes that tell the record from all others.
    Bytes(Vec<u8>),
}

impl Origin {
    fn block(&self, block: usize) -> Source {
        match self {
            Self::Uuid(uuid) => Source::new(FORMAT, uuid, block),
            Self::Bytes(bytes) => Source::of_content(FORMAT, bytes, block),
        }
    }
}

/// One record while its entries are made.
pub(super) struct Page<'s> {
    pub(super) origin: Origin,
    pub(super) role: Role,
    pub(super) created: Option<Time>,
    /// What every item's meta begins with.
    pub(super) meta: Map<String, Value>,
    pub(super) thread: Option<String>,
    pub(super) skip: Option<&'static str>,
    pub(super) end_offset: u64,
    /// Whether bodies are wanted.
    pub(super) writes: bool,
    pub(super) calls: &'s mut HashMap<String, Call>,
    pub(super) entries: Vec<Entry>,
    /// The block number of the next item that is part of a block: after those of all blocks, so that these stay put.
    pub(super) next_extra: usize,
}

impl Page<'_> {
    /// Adds an entry and returns it for what is particular to it.
    pub(super) fn push(&mut self, block: usize, mut fields: Fields, body: Vec<u8>) -> &mut Entry {
        let source = self.origin.block(block);
        let id = ItemId::of_source(&source);
        fields.source = Some(source);
        fields.created = self.created;
        fields.meta.clone_from(&self.meta);
        self.entries.push(Entry {
            id,
            draft: Draft { fields, body },
            thread: self.thread.clone(),
            skip: self.skip.map(str::to_owned),
            replaces: None,
            subject: None,
            usage: Usage::Unsaid,
            end_offset: self.end_offset,
        });
        self.entries.last_mut().expect("one was just added")
    }

    /// Takes in a message's content: a string, or a list of blocks.
    pub(super) fn content(&mut self, content: &RawValue) {
        if let Some(text) = self.text(content) {
            self.push(0, self.dialogue(), text);
        } else if let Some(blocks) = raw::list(content) {
            self.next_extra = blocks.len();
            for (number, block) in blocks.into_iter().enumerate() {
                self.block(number, block);
            }
        } else {
            self.other(0, "content", content);
        }
    }

    /// Takes in something beside the messages, under a name.
    pub(super) fn note(&mut self, name: &str, content: &RawValue) {
        let body = self.text(content).unwrap_or_else(|| content.get().as_bytes().to_vec());
        self.push(0, freeform(name), body);
    }

    fn block(&mut self, number: usize, raw_block: &RawValue) {
        if let Some(text) = self.text(raw_block) {
            self.push(number, self.dialogue(), text);
            return;
        }
        let block: Block<'_> = serde_json::from_str(raw_block.get()).unwrap_or_default();
        let kind = block.kind.and_then(raw::text).unwrap_or_default();
        // What does not have what its kind needs is kept as it stands.
        let taken = match &*kind {
            "text" => self.said(number, &block),
            "thinking" => self.thinking(number, &block),
            "redacted_thinking" => self.redacted_thinking(number, &block),
            "tool_use" => self.call(number, &block),
            "tool_result" => self.result(number, &block),
            "image" | "document" => self.blob(number, &kind, &block, None),
            _ => None,
        };
        if taken.is_none() {
            self.other(number, &kind, raw_block);
        }
    }

    fn said(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let text = self.text(block.text?)?;
        self.push(number, self.dialogue(), text);
        Some(())
    }

    fn thinking(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let text = self.text(block.thinking?)?;
        let signature = block.signature.and_then(raw::text).filter(|signature| !signature.is_empty());
        let mut fields = Fields::new(ItemType::reasoning());
        // A signature must be the provider's to the letter: one that no header can hold goes where any text can.
        let (plain, odd) = match signature {
            Some(signature) if signature.chars().any(char::is_control) => (None, Some(signature)),
            signature => (signature, None),
        };
        fields.signature = plain.map(Into::into);
        let entry = self.push(number, fields, text);
        if let Some(odd) = odd {
            entry.draft.fields.meta.insert("signature".to_owned(), odd.into());
        }
        Some(())
    }

    fn redacted_thinking(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let data = raw::text(block.data?).filter(|data| !data.is_empty() && !data.chars().any(char::is_control))?;
        let mut fields = Fields::new(ItemType::reasoning());
        fields.signature = Some(data.into_owned());
        self.push(number, fields, Vec::new()).draft.fields.meta.insert("redacted".to_owned(), true.into());
        Some(())
    }

    fn call(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let raw_id = raw::text(block.id?)?;
        let name = clean::one_line(&raw::text(block.name?)?, MAX_NAME)?;
        let mut fields = Fields::new(ItemType::tool_io());
        fields.role = Some(Role::Assistant);
        fields.direction = Some(Direction::Call);
        fields.call_id = Some(clean::id(&raw_id)?);
        fields.name = Some(name.clone());

        let input = block.input.map_or("{}", RawValue::get);
        let writes = self.writes;
        let entry = self.push(number, fields, if writes { input.as_bytes().to_vec() } else { Vec::new() });
        if writes {
            entry.subject = subject_of_call(&name, input);
        }
        let id = entry.id;
        let thread = self.thread.clone();
        self.calls.insert(raw_id.into_owned(), Call { id, name, thread });
        Some(())
    }

    fn result(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let raw_id = raw::text(block.call_id?)?;
        let mut fields = Fields::new(ItemType::tool_io());
        fields.role = Some(Role::Tool);
        fields.direction = Some(Direction::Result);
        fields.call_id = Some(clean::id(&raw_id)?);
        fields.status = Some(if raw::is_true(block.is_error) { Status::Error } else { Status::Ok });
        if let Some(call) = self.calls.get(&*raw_id) {
            fields.name = Some(call.name.clone());
            // Each thread becomes a trace of its own, and nothing can answer what is in another.
            fields.reply_to = (call.thread == self.thread).then_some(call.id);
        }

        let pieces = match block.content {
            Some(content) => match (self.text(content), raw::list(content)) {
                (Some(text), _) => {
                    self.push(number, fields, text);
                    return Some(());
                }
                (None, Some(pieces)) => pieces,
                (None, None) => vec![content],
            },
            None => Vec::new(),
        };
        let (body, others) = self.join(&pieces);
        let id = self.push(number, fields, body).id;
        for (raw_piece, piece) in others {
            let extra = self.next_extra;
            self.next_extra += 1;
            let kind = piece.kind.and_then(raw::text).unwrap_or_default();
            let taken = match &*kind {
                "image" | "document" => self.blob(extra, &kind, &piece, Some(id)),
                _ => None,
            };
            if taken.is_none() {
                self.other(extra, &kind, raw_piece).draft.fields.reply_to = Some(id);
            }
        }
        Some(())
    }

    /// The text among a result's pieces, one piece a line, and the pieces that are something else.
    fn join<'a>(&self, pieces: &[&'a RawValue]) -> (Vec<u8>, Vec<(&'a RawValue, Block<'a>)>) {
        let mut body = Vec::new();
        let mut others = Vec::new();
        let mut first = true;
        for raw_piece in pieces {
            let piece: Block<'_> = serde_json::from_str(raw_piece.get()).unwrap_or_default();
            let is_text = piece.kind.and_then(raw::text).is_some_and(|kind| kind == "text");
            let text = piece.text.filter(|_| is_text).unwrap_or(raw_piece);
            if let Some(text) = self.text(text) {
                if !first {
                    body.push(b'\n');
                }
                first = false;
                body.extend(text);
            } else {
                others.push((*raw_piece, piece));
            }
        }
        (body, others)
    }

    fn blob(&mut self, number: usize, kind: &str, block: &Block<'_>, reply_to: Option<ItemId>) -> Option<()> {
        let source: BlobSource<'_> = serde_json::from_str(block.source?.get()).ok()?;
        let source_kind = source.kind.and_then(raw::text)?;
        let (mut fields, body) = match &*source_kind {
            "base64" => {
                let data = raw::text(source.data?)?;
                (Fields::new(ItemType::artifact()), if self.writes { decode(&data)? } else { Vec::new() })
            }
            "text" => (Fields::new(ItemType::artifact()), self.text(source.data?)?),
            "url" => (freeform(kind), self.text(source.url?)?),
            _ => return None,
        };
        let mut subject = None;
        if fields.item_type.as_str() == "artifact" {
            let media_type = source.media_type.and_then(raw::text).and_then(|text| clean::one_line(&text, 128));
            let what = media_type.as_deref().unwrap_or("unknown media type");
            subject = Some(clean::subject("artifact", &format!("{kind}, {what}, {} bytes", body.len())));
            fields.kind = Some(kind.to_owned());
            fields.media_type = media_type;
        } else {
            fields.role = Some(self.role);
        }
        fields.reply_to = reply_to;
        let role = self.role;
        let entry = self.push(number, fields, body);
        entry.subject = subject;
        let meta = &mut entry.draft.fields.meta;
        if entry.draft.fields.kind.is_some() {
            meta.insert("role".to_owned(), role.as_str().into());
        }
        for (name, value) in [("title", block.title), ("context", block.context)] {
            if let Some(text) = value.and_then(raw::text) {
                meta.insert(name.to_owned(), text.into());
            }
        }
        Some(())
    }

    /// Keeps what is not known as it stands.
    pub(super) fn other(&mut self, number: usize, kind: &str, raw_block: &RawValue) -> &mut Entry {
        let mut fields = freeform(if kind.is_empty() { "block" } else { kind });
        fields.role = Some(self.role);
        let body = if self.writes { raw_block.get().as_bytes().to_vec() } else { Vec::new() };
        self.push(number, fields, body)
    }

    fn dialogue(&self) -> Fields {
        let mut fields = Fields::new(ItemType::dialogue());
        fields.role = Some(self.role);
        fields
    }

    /// The bytes of a JSON string; of no other value.
    fn text(&self, value: &RawValue) -> Option<Vec<u8>> {
        if self.writes {
            raw::text(value).map(|text| text.into_owned().into_bytes())
        } else {
            value.get().starts_with('"').then(Vec::new)
        }
    }
}

/// A call by the argument that says most, as one of the agent's own tools has it.
fn subject_of_call(name: &str, input: &str) -> Option<String> {
    let arguments: Arguments<'_> = serde_json::from_str(input).ok()?;
    let told = arguments.in_order().into_iter().flatten().filter_map(raw::text).find(|text| !text.trim().is_empty())?;
    Some(clean::subject(&format!("tool_io call {name}"), &told))
}
