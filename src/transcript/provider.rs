//! Requests and responses of providers' interfaces, as items.
//!
//! A message's source is the hash of what it says and how often that was said before, so a request that has grown brings
//! only what is new, and a response that a later request repeats comes in once. A document that is one side's word alone is
//! taken to follow those before it; one that tells a conversation tells it from the start. What a response reports of tokens
//! is recorded with the last item that it brings.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use super::clean;
use crate::message::read::{Fault, Reading, read};
use crate::message::{Api, Content, Message, Role};
use crate::tokens::{UsageError, parse_usage};
use crate::trace::change::bulk::{Feed, Incoming, Usage};
use crate::trace::model::item::{Direction, Draft, Fields, Item, ItemType};
use crate::trace::model::schema;
use crate::trace::model::source::Source;
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::{ItemId, TraceError};

/// The longest name or path that is kept.
const MAX_NAME: usize = 256;

/// How often each message was said, by its hash.
type Said = HashMap<[u8; 32], usize>;

/// Items of requests or responses, ready to be recorded.
#[derive(Debug, Default)]
pub(crate) struct Items {
    incoming: VecDeque<Incoming>,
    /// What could not be read, with its place.
    pub faults: Vec<Fault>,
}

/// Reads a document, or several one after the other. Nothing in them is fatal.
#[must_use]
pub(crate) fn items(api: Api, text: &str) -> Items {
    let mut items = Items::default();
    let mut said = Said::new();
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
        let alone = messages.len() == 1 || messages.iter().all(|message| message.role == Role::Assistant);
        let mut said_here = if alone { said.clone() } else { Said::new() };
        // Only what stands before everything else is an instruction; later on the system takes part in the dialogue.
        let mut opening = true;
        for (message, path) in messages.iter().zip(paths) {
            opening &= message.role == Role::System;
            if let Err(cause) = items.take(api, message, opening, &mut said_here) {
                items.faults.push(in_line(line, Fault { path, cause }));
            }
        }
        let any_here = items.incoming.len() > before;
        match usage_of(document) {
            Ok(usage) => {
                if let Some(last) = items.incoming.back_mut().filter(|_| any_here) {
                    last.usage = usage;
                }
            }
            Err(fault) => items.faults.push(in_line(line, fault)),
        }
        for (what, times) in said_here {
            let before = said.entry(what).or_default();
            *before = times.max(*before);
        }
    }
    items
}

/// What a response says that the whole context took, its own words included; requests say nothing of it.
fn usage_of(document: &RawValue) -> Result<Usage, Fault> {
    const MEMBERS: [&str; 2] = ["usage", "usageMetadata"];
    let Ok(members) = serde_json::from_str::<HashMap<String, &RawValue>>(document.get()) else {
        return Ok(Usage::Unsaid);
    };
    let said = MEMBERS.into_iter().find(|name| members.get(*name).is_some_and(|usage| usage.get() != "null"));
    let Some(member) = said else { return Ok(Usage::Unsaid) };
    match parse_usage(document.get().as_bytes()) {
        Ok(usage) => Ok(Usage::Reported(usage.context_tokens())),
        // One without figures, as some give that only pass on what others say.
        Err(UsageError::Unknown { .. }) => Ok(Usage::Unsaid),
        Err(error) => Err(Fault { path: format!("$.{member}"), cause: error.to_string() }),
    }
}

fn in_line(line: usize, fault: Fault) -> Fault {
    Fault { path: format!("line {line}, {}", fault.path), ..fault }
}

impl Items {
    fn take(&mut self, api: Api, message: &Message, opening: bool, said: &mut Said) -> Result<(), String> {
        let mut record = serde_json::to_vec(message).map_err(|error| error.to_string())?;
        let times = said.entry(*blake3::hash(&record).as_bytes()).or_default();
        *times += 1;
        if *times > 1 {
            record.extend(format!("\n{times}").into_bytes());
        }
        let source = |block| Source::of_content(api.as_str(), &record, block);
        let turn = (message.blocks.len() > 1).then(|| source(0).record().to_owned());
        let mut wrong = None;
        for (number, block) in message.blocks.iter().enumerate() {
            let mut draft = draft_of(message, &block.content, opening);
            draft.fields.turn = turn.clone().filter(|_| draft.fields.item_type != ItemType::instruction());
            let source = source(number);
            let id = ItemId::of_source(&source);
            draft.fields.source = Some(source);
            schema::complete(&mut draft.fields);
            if let Err(error) = schema::validate(&draft) {
                wrong.get_or_insert(error.to_string());
                continue;
            }
            let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
            let (op, line) = (Op::Import, 0);
            self.incoming.push_back(Incoming {
                op,
                item,
                seq: None,
                subject: None,
                reason: None,
                by: None,
                at: None,
                skip: None,
                replaces: None,
                usage: Usage::Unsaid,
                line,
            });
        }
        wrong.map_or(Ok(()), Err)
    }
}

impl Feed for Items {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.incoming.pop_front())
    }

    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}

fn draft_of(message: &Message, content: &Content, opening: bool) -> Draft {
    let name = message.name.as_deref().and_then(|name| clean::one_line(name, MAX_NAME));
    let line = |text: &Option<String>| text.as_deref().and_then(|text| clean::one_line(text, MAX_NAME));
    match content {
        Content::Text(text) => {
            let mut fields = Fields::new(if opening { ItemType::instruction() } else { ItemType::dialogue() });
            fields.role = Some(message.role).filter(|_| !opening);
            fields.name = name;
            Draft { fields, body: text.clone().into_bytes() }
        }
        Content::Reasoning { text, signature } => {
            let mut fields = Fields::new(ItemType::reasoning());
            if let Some(signature) = signature {
                // One that no header can hold goes where any text can.
                if signature.value.is_empty() || signature.value.chars().any(char::is_control) {
                    fields.meta.insert("signature".to_owned(), signature.value.as_str().into());
                } else {
                    fields.signature = Some(signature.value.clone());
                }
                if let Some(id) = &signature.id {
                    fields.meta.insert("id".to_owned(), id.as_str().into());
                }
                if signature.redacted {
                    fields.meta.insert("redacted".to_owned(), true.into());
                }
            }
            Draft { fields, body: text.clone().into_bytes() }
        }
        Content::ToolCall { call_id, name, arguments } => {
            let mut fields = tool(Direction::Call, call_id);
            fields.name = line(name);
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
            let body = match arguments.trim() {
                "" => "{}".to_owned(),
                _ if is_json => arguments.clone(),
                // What a model wrote that is no JSON is kept as a text in JSON.
                _ => serde_json::Value::from(arguments.as_str()).to_string(),
            };
            Draft { fields, body: body.into_bytes() }
        }
        Content::ToolResult { call_id, name, status, text } => {
            let mut fields = tool(Direction::Result, call_id);
            fields.name = line(name);
            fields.status = *status;
            Draft { fields, body: text.clone().into_bytes() }
        }
        Content::Artifact { kind, path, language, media_type, bytes } => {
            let mut fields = Fields::new(ItemType::artifact());
            (fields.kind, fields.path, fields.language) = (line(kind), line(path), line(language));
            fields.media_type = line(media_type);
            if message.role != Role::Assistant {
                fields.meta.insert("role".to_owned(), message.role.as_str().into());
            }
            Draft { fields, body: bytes.clone() }
        }
    }
}

fn tool(direction: Direction, call_id: &str) -> Fields {
    let mut fields = Fields::new(ItemType::tool_io());
    fields.direction = Some(direction);
    fields.call_id = clean::id(call_id);
    fields
}
