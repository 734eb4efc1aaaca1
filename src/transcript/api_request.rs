//! Imports requests and responses of providers' APIs.
//!
//! A message's source is the hash of its content and the number of its occurrence. So a longer request adds only its new
//! messages, and a response that a later request repeats is imported once. A document that contains only one side's messages
//! continues the conversation before it. Any other continues the one whose messages it begins with, or whose last messages if it
//! dropped the first ones. If there is none, it is an independent conversation, as in a file for fine-tuning. The usage of a
//! response is recorded with the last item that it adds.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use super::import::incoming;
use super::read::builder::{EntryBuilder, MAX_NAME, RecordSource, arguments, message_fields, set_signature};
use super::read::header::{self, is_listed};
use super::read::json;
use super::read::object::Object;
use super::read::reader::Certainty;
use crate::message::read::{Fault, Reading, read};
use crate::message::{Api, Content, Message, Role};
use crate::tokens::{TokenUsage, UsageError, UsageReader};
use crate::trace::change::bulk::{Incoming, Usage};
use crate::trace::model::item::{Direction, Fields, ItemType};
use crate::trace::model::schema;

type Occurrences = HashMap<Digest, usize>;

/// That of a message.
type Digest = [u8; 32];

#[derive(Debug, Default)]
pub(crate) struct ProviderItems {
    pub conversations: Vec<Conversation>,
    pub faults: Vec<Fault>,
}

#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub incoming: VecDeque<Incoming>,
    occurrences: Occurrences,
    /// Those of its last document and of what continued that, without system messages.
    messages: Vec<Digest>,
}

impl Conversation {
    /// Whether messages start like these, or like the last of these.
    fn is_continued_by(&self, messages: &[Digest]) -> bool {
        (0..self.messages.len()).any(|start| {
            let ours = &self.messages[start..];
            let equal = ours.iter().zip(messages).take_while(|(ours, theirs)| ours == theirs).count();
            // One message may be alike by chance, if others follow it on both sides.
            equal >= 2 || equal == 1 && start == 0 && ours.len().min(messages.len()) == 1
        })
    }
}

pub(crate) fn items(api: Api, text: &str, reader: &UsageReader) -> ProviderItems {
    let mut items = ProviderItems::default();
    // The conversation in which a message was last.
    let mut owners: HashMap<Digest, usize> = HashMap::new();
    let (mut documents, mut broken) = (Vec::new(), None);
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        match value {
            Ok(value) => documents.extend(documents_of(value).unwrap_or_else(|| vec![value])),
            Err(error) => {
                let path = format!("line {}, column {}", error.line(), error.column());
                broken = Some(Fault { path, cause: format!("it is not JSON: {error}") });
                break;
            }
        }
    }
    let (mut line, mut counted) = (1, 0);
    for document in documents {
        let start = document.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text[counted..start].matches('\n').count();
        counted = start;
        let Reading { messages, paths, faults } = read(api, document);
        items.faults.extend(faults.into_iter().map(|fault| in_line(line, fault)));
        let records: Vec<Vec<u8>> = messages.iter().map(record_of).collect();
        let is_said = |message: &&Message| message.role != Role::System;
        let said = messages.iter().zip(&records).filter(|(message, _)| is_said(message));
        let said: Vec<Digest> = said.map(|(_, record)| digest(record)).collect();
        let continues = messages.len() == 1 && !is_request(document)
            || messages.iter().all(|message| message.role == Role::Assistant);
        let conversation = match items.conversations.len().checked_sub(1) {
            Some(last) if continues || said.is_empty() => last,
            Some(_) => {
                let known = said.first().and_then(|first| owners.get(first)).copied();
                known
                    .filter(|known: &usize| items.conversations[*known].is_continued_by(&said))
                    .unwrap_or(items.conversations.len())
            }
            None => 0,
        };
        if conversation == items.conversations.len() {
            items.conversations.push(Conversation::default());
        }
        owners.extend(said.iter().map(|message| (*message, conversation)));
        let conversation = &mut items.conversations[conversation];
        if continues {
            conversation.messages.extend(said);
        } else {
            conversation.messages = said;
        }
        let before = conversation.incoming.len();
        let mut in_document = if continues { conversation.occurrences.clone() } else { Occurrences::new() };
        // System messages are instructions only before all others; later they are part of the dialogue.
        let mut opening = true;
        for ((message, path), record) in messages.iter().zip(paths).zip(records) {
            opening &= message.role == Role::System;
            if let Err(cause) = conversation.add(api, message, record, opening, &mut in_document) {
                items.faults.push(in_line(line, Fault { path, cause }));
            }
        }
        let added = conversation.incoming.len() > before;
        match usage_of(document, reader) {
            Ok(usage) => {
                if let Some((last, usage)) = conversation.incoming.back_mut().filter(|_| added).zip(usage) {
                    last.usage = Usage::reported(usage.context_tokens());
                    usage.store(&mut last.item.fields.meta);
                }
            }
            Err(fault) => items.faults.push(in_line(line, fault)),
        }
        for (message, count) in in_document {
            let known = conversation.occurrences.entry(message).or_default();
            *known = count.max(*known);
        }
    }
    items.faults.extend(broken);
    items
}

/// Whether a document is a request that holds all messages before the response.
fn is_request(document: &RawValue) -> bool {
    let document = Object::of(document);
    let is_list = |name| document.get(name).is_some_and(|value| value.get().starts_with('['));
    is_list("messages") || is_list("contents") || is_list("input") && !document.has("previous_response_id")
}

/// Members of a message in any of the APIs. Those of agents have more.
const MESSAGE_MEMBERS: &str = "role content name tool_calls tool_call_id refusal reasoning_content reasoning audio annotations \
    function_call weight parts";

/// Blocks that only Anthropic has, among the APIs.
const ANTHROPIC_BLOCKS: &str = "tool_use tool_result thinking redacted_thinking document";

/// The elements of a list of documents, as for fine-tuning. A list of messages is one document.
fn documents_of(value: &RawValue) -> Option<Vec<&RawValue>> {
    let is_document = |value: &&RawValue| {
        let document = Object::of(value);
        ["messages", "contents", "choices", "candidates"].iter().any(|name| document.has(name))
            || (document.has("input") && document.has("model"))
    };
    json::list(value).filter(|list| !list.is_empty() && list.iter().all(is_document))
}

/// How sure it is that a document, or one member of it, is a request to an API or its response.
pub(crate) fn certainty(api: Api, document: &Object<'_>) -> Certainty {
    let elements = |name: &str| {
        let value = document.get(name);
        let list = value.map(|value| json::list(value).unwrap_or_else(|| vec![value])).unwrap_or_default();
        list.into_iter().map(Object::of).collect::<Vec<_>>()
    };
    let messages = elements("messages");
    let is_plain =
        |message: &Object<'_>| message.has("role") && message.names().all(|name| is_listed(name, MESSAGE_MEMBERS));
    let has_own_blocks =
        |message: &Object<'_>| message.list("content").into_iter().any(|block| Object::of(block).has("value"));
    // The reader may see a single member of a document, without the others.
    let is_complete = document.get("messages").is_some_and(|messages| messages.get().starts_with('['));
    let are_plain =
        !messages.is_empty() && messages.iter().all(|message| is_plain(message) && !has_own_blocks(message));
    let is_by = |model: &str| document.text("model").is_some_and(|own| own.starts_with(model));
    let has_role =
        |roles: &str| messages.iter().any(|message| message.text("role").is_some_and(|role| is_listed(&role, roles)));
    let has_block = |kinds: &str| {
        let mut blocks = messages.iter().flat_map(|message| message.list("content"));
        blocks.any(|block| Object::of(block).text("type").is_some_and(|kind| is_listed(&kind, kinds)))
    };
    let of_kind = |name: &str, kind: &str| document.text(name).is_some_and(|own| own == kind);
    let (sure, likely) = match api {
        Api::OpenAi => (
            of_kind("object", "chat.completion"),
            is_complete
                && are_plain
                && (has_role("system developer tool")
                    || messages.iter().any(|message| message.has("tool_calls"))
                    || has_block("image_url input_audio")
                    || is_by("gpt-"))
                || elements("choices").iter().any(|choice| choice.has("message")),
        ),
        Api::Anthropic => (
            of_kind("type", "message") && document.has("stop_reason") && document.has("role"),
            is_complete && are_plain && (document.has("system") || has_block(ANTHROPIC_BLOCKS) || is_by("claude-")),
        ),
        Api::Responses => (
            of_kind("object", "response"),
            document.has("input")
                && document.has("model")
                && elements("input").iter().all(|item| item.is_empty() || item.has("role") || item.has("type")),
        ),
        Api::Gemini => (
            false,
            elements("contents")
                .iter()
                .chain(&elements("candidates").iter().map(|one| one.object("content")).collect::<Vec<_>>())
                .any(|content| content.has("parts")),
        ),
    };
    let is_chat = matches!(api, Api::OpenAi | Api::Anthropic) && are_plain;
    match (sure, likely) {
        (true, _) => Certainty::Sure,
        (_, true) => Certainty::Likely,
        _ if is_chat => Certainty::Possible,
        _ => Certainty::No,
    }
}

/// The usage that a response reports; requests report none.
fn usage_of(document: &RawValue, reader: &UsageReader) -> Result<Option<TokenUsage>, Fault> {
    const MEMBERS: [&str; 2] = ["usage", "usageMetadata"];
    let Ok(payload @ Value::Object(_)) = json::value::<Value>(document.get().as_bytes()) else { return Ok(None) };
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

/// A message as it is hashed.
fn record_of(message: &Message) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message has only texts as keys")
}

fn digest(record: &[u8]) -> Digest {
    *blake3::hash(record).as_bytes()
}

impl Conversation {
    fn add(
        &mut self,
        api: Api,
        message: &Message,
        mut record: Vec<u8>,
        opening: bool,
        occurrences: &mut Occurrences,
    ) -> Result<(), String> {
        let count = occurrences.entry(digest(&record)).or_default();
        *count += 1;
        if *count > 1 {
            record.extend(format!("\n{count}").into_bytes());
        }
        let mut builder = EntryBuilder::new(api.as_str(), RecordSource::content(&record), None, 0);
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
