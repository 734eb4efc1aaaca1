//! Imports requests and responses of providers' APIs.
//!
//! A message's source is the hash of its content and the number of its occurrence. So a longer request adds only its new
//! messages, and a response that a later request repeats is imported once. A document that contains only one side's messages
//! continues the earlier documents; any other starts the conversation again. The usage of a response is recorded with the
//! last item that it adds.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use super::import::incoming;
use super::read::builder::{EntryBuilder, MAX_NAME, RecordSource, arguments, message_fields, set_signature};
use super::read::header;
use crate::message::read::{Fault, Reading, read};
use crate::message::{Api, Content, Message, Role};
use crate::tokens::{TokenUsage, UsageError, UsageReader};
use crate::trace::change::bulk::{Incoming, Usage};
use crate::trace::model::item::{Direction, Fields, ItemType};
use crate::trace::model::schema;

type Occurrences = HashMap<[u8; 32], usize>;

#[derive(Debug, Default)]
pub(crate) struct ProviderItems {
    pub incoming: VecDeque<Incoming>,
    pub faults: Vec<Fault>,
}

pub(crate) fn items(api: Api, text: &str, reader: &UsageReader) -> ProviderItems {
    let mut items = ProviderItems::default();
    let mut occurrences = Occurrences::new();
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    while let Some(document) = documents.next() {
        let document = match document {
            Ok(document) => document,
            Err(error) => {
                let path = format!("line {}, column {}", error.line(), error.column());
                items.faults.push(Fault { path, cause: format!("it is not JSON: {error}") });
                break;
            }
        };
        let start = documents.byte_offset() - document.get().len();
        let line = 1 + text[..start].matches('\n').count();
        let Reading { messages, paths, faults } = read(api, document);
        items.faults.extend(faults.into_iter().map(|fault| in_line(line, fault)));
        let before = items.incoming.len();
        let continues = messages.len() == 1 || messages.iter().all(|message| message.role == Role::Assistant);
        let mut in_document = if continues { occurrences.clone() } else { Occurrences::new() };
        // System messages are instructions only before all others; later they are part of the dialogue.
        let mut opening = true;
        for (message, path) in messages.iter().zip(paths) {
            opening &= message.role == Role::System;
            if let Err(cause) = items.add(api, message, opening, &mut in_document) {
                items.faults.push(in_line(line, Fault { path, cause }));
            }
        }
        let added = items.incoming.len() > before;
        match usage_of(document, reader) {
            Ok(usage) => {
                if let Some((last, usage)) = items.incoming.back_mut().filter(|_| added).zip(usage) {
                    last.usage = Usage::reported(usage.context_tokens());
                    usage.store(&mut last.item.fields.meta);
                }
            }
            Err(fault) => items.faults.push(in_line(line, fault)),
        }
        for (message, count) in in_document {
            let known = occurrences.entry(message).or_default();
            *known = count.max(*known);
        }
    }
    items
}

/// The usage that a response reports; requests report none.
fn usage_of(document: &RawValue, reader: &UsageReader) -> Result<Option<TokenUsage>, Fault> {
    const MEMBERS: [&str; 2] = ["usage", "usageMetadata"];
    let Ok(payload @ Value::Object(_)) = serde_json::from_str::<Value>(document.get()) else { return Ok(None) };
    let fault = |path: String, error: UsageError| Fault { path, cause: error.to_string() };
    if let Some(usage) = reader.read_mapped(&payload).map_err(|error| fault("$".to_owned(), error))? {
        return Ok(Some(usage));
    }
    let present = MEMBERS.into_iter().find(|name| payload.get(*name).is_some_and(|usage| !usage.is_null()));
    let Some(member) = present else { return Ok(None) };
    match reader.read(&payload) {
        Ok(usage) => Ok(Some(usage)),
        // Some proxies send a usage without numbers.
        Err(UsageError::Unknown { .. }) => Ok(None),
        Err(error) => Err(fault(format!("$.{member}"), error)),
    }
}

fn in_line(line: usize, fault: Fault) -> Fault {
    Fault { path: format!("line {line}, {}", fault.path), ..fault }
}

impl ProviderItems {
    fn add(&mut self, api: Api, message: &Message, opening: bool, occurrences: &mut Occurrences) -> Result<(), String> {
        let mut record = serde_json::to_vec(message).map_err(|error| error.to_string())?;
        let count = occurrences.entry(*blake3::hash(&record).as_bytes()).or_default();
        *count += 1;
        if *count > 1 {
            record.extend(format!("\n{count}").into_bytes());
        }
        let mut builder = EntryBuilder::new(api.as_str(), RecordSource::Content(record), None, 0);
        for block in &message.blocks {
            let (fields, body) = fields_and_body(message, &block.content, opening);
            builder.push(fields, body);
        }
        builder.group_turn();
        let mut valid = Ok(());
        for mut entry in builder.entries {
            schema::complete(&mut entry.draft.fields);
            match schema::validate(&entry.draft) {
                Ok(()) => self.incoming.push_back(incoming(entry)),
                Err(error) => valid = valid.and(Err(error.to_string())),
            }
        }
        valid
    }
}

fn fields_and_body(message: &Message, content: &Content, opening: bool) -> (Fields, Vec<u8>) {
    let line = |text: &Option<String>| text.as_deref().and_then(|text| header::one_line(text, MAX_NAME));
    match content {
        Content::Text(text) => {
            let mut fields = message_fields(message.role, opening);
            fields.name = line(&message.name);
            (fields, text.as_bytes().to_vec())
        }
        Content::Reasoning { text, signature } => {
            let mut fields = Fields::new(ItemType::reasoning());
            if let Some(signature) = signature {
                set_signature(&mut fields, &signature.value);
                if let Some(id) = &signature.id {
                    fields.meta.insert("id".to_owned(), id.as_str().into());
                }
                if signature.redacted {
                    fields.meta.insert("redacted".to_owned(), true.into());
                }
            }
            (fields, text.as_bytes().to_vec())
        }
        Content::ToolCall { call_id, name, arguments: text } => {
            let mut fields = tool(Direction::Call, call_id);
            fields.name = line(name);
            (fields, arguments(text))
        }
        Content::ToolResult { call_id, name, status, text } => {
            let mut fields = tool(Direction::Result, call_id);
            fields.name = line(name);
            fields.status = *status;
            (fields, text.as_bytes().to_vec())
        }
        Content::Artifact { kind, path, language, media_type, bytes } => {
            let mut fields = Fields::new(ItemType::artifact());
            (fields.kind, fields.path, fields.language) = (line(kind), line(path), line(language));
            fields.media_type = line(media_type);
            if message.role != Role::Assistant {
                fields.meta.insert("role".to_owned(), message.role.as_str().into());
            }
            (fields, bytes.clone())
        }
    }
}

fn tool(direction: Direction, call_id: &str) -> Fields {
    let mut fields = Fields::new(ItemType::tool_io());
    fields.direction = Some(direction);
    fields.call_id = header::id(call_id);
    fields
}
