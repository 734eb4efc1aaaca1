//! Converts the content blocks of one record to entries.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::records::{BlobSource, Block, INFORMATIVE_ARGUMENTS};
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Fields, ItemType, Role, Status};
use crate::transcript::TranscriptEntry;
use crate::transcript::read::builder::{EntryBuilder, decode, dialogue, freeform, reasoning, result, split_text};
use crate::transcript::read::calls::ToolCalls;
use crate::transcript::read::{header, json};

pub(super) struct RecordContent<'s> {
    pub(super) builder: EntryBuilder,
    pub(super) role: Role,
    pub(super) calls: &'s mut ToolCalls,
    /// The block number of the next item inside a block. These follow the numbers of all blocks, so that blocks keep theirs.
    next_inner: usize,
}

impl<'s> RecordContent<'s> {
    pub(super) fn new(builder: EntryBuilder, role: Role, calls: &'s mut ToolCalls) -> Self {
        Self { builder, role, calls, next_inner: 0 }
    }

    pub(super) fn add(&mut self, content: &RawValue) {
        if let Some(text) = text(content) {
            self.builder.push_block(0, dialogue(self.role), text);
        } else if let Some(blocks) = json::list(content) {
            self.next_inner = blocks.len();
            for (number, block) in blocks.into_iter().enumerate() {
                self.block(number, block);
            }
        } else {
            self.unknown(0, "content", content);
        }
    }

    pub(super) fn add_named(&mut self, name: &str, content: &RawValue) {
        let body = text(content).unwrap_or_else(|| content.get().as_bytes().to_vec());
        self.builder.push_block(0, freeform(name, None), body);
    }

    fn block(&mut self, number: usize, raw_block: &RawValue) {
        let block: Block<'_> = json::view_of(raw_block);
        let kind = block.kind.and_then(json::text).unwrap_or_default();
        // A block without the members that its kind requires is stored verbatim.
        let added = match (text(raw_block), &*kind) {
            (Some(text), _) => self.text(number, text),
            (None, "text") => block.text.and_then(text).and_then(|text| self.text(number, text)),
            (None, "thinking") => self.thinking(number, &block),
            (None, "redacted_thinking") => self.redacted_thinking(number, &block),
            (None, "tool_use") => self.call(number, &block),
            (None, "tool_result") => self.result(number, &block),
            (None, _) => None,
        };
        if added.is_none() {
            self.other(number, raw_block, None);
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as its siblings")]
    fn text(&mut self, number: usize, text: Vec<u8>) -> Option<()> {
        self.builder.push_block(number, dialogue(self.role), text);
        Some(())
    }

    fn thinking(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let signature = block.signature.and_then(json::text);
        self.builder.push_block(number, reasoning(signature.as_deref()), text(block.thinking?)?);
        Some(())
    }

    fn redacted_thinking(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let data = json::member_text(block.data).filter(|data| !data.chars().any(char::is_control))?;
        let entry = self.builder.push_block(number, reasoning(Some(&data)), "");
        entry.draft.fields.meta.insert("redacted".to_owned(), true.into());
        Some(())
    }

    fn call(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let id = json::text(block.id?)?;
        let input = block.input.map_or("{}", RawValue::get);
        let entry = self.builder.push_call(number, self.calls, &id, &json::text(block.name?)?, input)?;
        entry.subject = subject_of_call(entry.draft.fields.name.as_deref().unwrap_or_default(), input);
        Some(())
    }

    fn result(&mut self, number: usize, block: &Block<'_>) -> Option<()> {
        let id = json::text(block.call_id?)?;
        let mut fields = result(&id, self.calls.get(&id), self.builder.thread.as_deref())?;
        fields.status = Some(if json::is_true(block.is_error) { Status::Error } else { Status::Ok });

        let blocks = match block.content {
            Some(content) => match (text(content), json::list(content)) {
                (Some(text), _) => {
                    self.builder.push_block(number, fields, text);
                    return Some(());
                }
                (None, Some(blocks)) => blocks,
                (None, None) => vec![content],
            },
            None => Vec::new(),
        };
        let (body, others) = split_text(blocks, |raw_block| {
            let block: Block<'_> = json::view_of(raw_block);
            let is_text = block.kind.and_then(json::text).is_some_and(|kind| kind == "text");
            json::text(block.text.filter(|_| is_text).unwrap_or(raw_block))
        });
        let id = self.builder.push_block(number, fields, body).id;
        for raw_block in others {
            self.next_inner += 1;
            self.other(self.next_inner - 1, raw_block, Some(id));
        }
        Some(())
    }

    fn other(&mut self, number: usize, raw_block: &RawValue, reply_to: Option<ItemId>) {
        let block: Block<'_> = json::view_of(raw_block);
        let kind = block.kind.and_then(json::text).unwrap_or_default();
        let is_file = matches!(&*kind, "image" | "document");
        if !is_file || self.blob(number, &kind, &block, reply_to).is_none() {
            self.unknown(number, &kind, raw_block).draft.fields.reply_to = reply_to;
        }
    }

    fn blob(&mut self, number: usize, kind: &str, block: &Block<'_>, reply_to: Option<ItemId>) -> Option<()> {
        let source: BlobSource<'_> = serde_json::from_str(block.source?.get()).ok()?;
        let (mut fields, body) = match &*source.kind.and_then(json::text)? {
            "base64" => (Fields::new(ItemType::artifact()), decode(&json::text(source.data?)?)?),
            "text" => (Fields::new(ItemType::artifact()), text(source.data?)?),
            "url" => (freeform(kind, Some(self.role)), text(source.url?)?),
            _ => return None,
        };
        let mut subject = None;
        if fields.item_type == ItemType::artifact() {
            let media_type = json::line(source.media_type, 128);
            let described = media_type.as_deref().unwrap_or("unknown media type");
            subject = Some(header::subject("artifact", &format!("{kind}, {described}, {} bytes", body.len())));
            fields.kind = Some(kind.to_owned());
            fields.media_type = media_type;
            fields.meta.insert("role".to_owned(), self.role.as_str().into());
        }
        fields.reply_to = reply_to;
        for (name, value) in [("title", block.title), ("context", block.context)] {
            if let Some(text) = value.and_then(json::text) {
                fields.meta.insert(name.to_owned(), text.into());
            }
        }
        self.builder.push_block(number, fields, body).subject = subject;
        Some(())
    }

    pub(super) fn unknown(&mut self, number: usize, kind: &str, raw_block: &RawValue) -> &mut TranscriptEntry {
        let name = if kind.is_empty() { "block" } else { kind };
        self.builder.push_block(number, freeform(name, Some(self.role)), raw_block.get())
    }
}

fn text(value: &RawValue) -> Option<Vec<u8>> {
    json::text(value).map(|text| text.into_owned().into_bytes())
}

/// Describes a call by its most informative argument, as the agent's own tools name them.
fn subject_of_call(name: &str, input: &str) -> Option<String> {
    let arguments: HashMap<String, &RawValue> = serde_json::from_str(input).ok()?;
    let mut texts = INFORMATIVE_ARGUMENTS.split(' ').filter_map(|name| json::text(arguments.get(name)?));
    let informative = texts.find(|text| !text.trim().is_empty())?;
    Some(header::subject(&format!("tool_io call {name}"), &informative))
}
