//! Anthropic Messages: `{system, messages}`.
//!
//! ```json
//! {"system":[{"type":"text","text":"You are careful."}],
//! "messages":[
//! {"role":"user","content":[{"type":"text","text":"Where is x?"}]},
//! {"role":"assistant","content":[{"type":"thinking","thinking":"…","signature":"Eq…"},{"type":"tool_use","id":"c1","name":"grep","input":{"pattern":"x"}}]},
//! {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"3 matches","is_error":false}]}
//! ]}
//! ```
//!
//! User and assistant alternate, the user first; results open the message after their calls. `content` is always an array, so
//! that nothing before a block depends on what follows it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::media::{IMAGES_AND_PDF, base64, file_name, from_base64};
use super::normalize::{Part, PartContent, Turn, TurnRole};
use super::read::{Fault, File, Node, Object, Reading, push_text};
use super::{Api, Content, Provider, Role, Signature, Status, write_request};

pub(crate) const MAX_CACHE_MARKS: usize = 4;

/// Where a request asks the provider to cache its prefix: at the ends of the system text, the pinned messages, the request,
/// and earlier user messages, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CacheMarks {
    pub count: usize,
    /// How many of the first messages contain only pinned items.
    pub pinned_messages: usize,
}

pub(super) const PROVIDER: Provider = Provider {
    alternates: true,
    max_call_id: 128,
    is_call_id_char: |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
    accepts_media: |media_type| IMAGES_AND_PDF.contains(&media_type) || media_type == "image/gif",
    read,
    write,
};

#[derive(Serialize)]
struct OutgoingMessage<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    content: BlockContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockContent<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: String,
}

fn write(turns: &[Turn<'_>], marks: CacheMarks, out: &mut dyn Write) -> io::Result<()> {
    let (system, rest) = match turns.split_first() {
        Some((first, rest)) if first.role == TurnRole::System => (first.parts.as_slice(), rest),
        _ => (&[][..], turns),
    };
    let mut system: Vec<Block<'_>> = system.iter().map(block).collect();
    let mut all: Vec<OutgoingMessage<'_>> = Vec::with_capacity(rest.len());
    // The last block that is pinned, as are all before it.
    let mut pinned: Option<(usize, usize)> = None;
    let mut still_pinned = true;
    for turn in rest {
        // A user message and the results before it form one message.
        if turn.role != TurnRole::User || all.last().is_none_or(|last| last.role != "user") {
            let role = if turn.role == TurnRole::Assistant { "assistant" } else { "user" };
            all.push(OutgoingMessage { role, content: Vec::with_capacity(turn.parts.len()) });
        }
        let message = all.len() - 1;
        for part in &turn.parts {
            all[message].content.push(block(part));
            still_pinned &= part.position.message < marks.pinned_messages;
            if still_pinned {
                pinned = Some((message, all[message].content.len() - 1));
            }
        }
    }
    mark(&mut system, &mut all, pinned, marks.count.min(MAX_CACHE_MARKS));
    write_request(("system", Some(system).filter(|system| !system.is_empty())), ("messages", &all), out)
}

fn block<'a>(part: &'a Part<'_>) -> Block<'a> {
    let content = match &part.content {
        PartContent::Text(text) => BlockContent::Text { text },
        PartContent::Media { media_type, path, bytes } => {
            let source = Source { r#type: "base64", media_type, data: base64(bytes) };
            if media_type.starts_with("image/") {
                BlockContent::Image { source }
            } else {
                BlockContent::Document { source, title: path.map(|path| file_name(Some(path), media_type)) }
            }
        }
        PartContent::Reasoning { text, signature } => match signature {
            Some(signature) if signature.redacted => BlockContent::RedactedThinking { data: &signature.value },
            signature => {
                let signature = signature.map_or("", |signature| signature.value.as_str());
                BlockContent::Thinking { thinking: text, signature }
            }
        },
        PartContent::Call { id, name, arguments } => BlockContent::ToolUse { id, name, input: arguments },
        PartContent::Result { id, status, text, .. } => {
            // The provider rejects an empty error.
            let silent = if *status == Some(Status::Error) { Some("error") } else { None };
            let content = if text.trim().is_empty() { silent } else { Some(*text) };
            let is_error = status.map(|status| status == Status::Error);
            BlockContent::ToolResult { tool_use_id: id, content, is_error }
        }
    };
    Block { content, cache_control: None }
}

fn mark(system: &mut [Block<'_>], messages: &mut [OutgoingMessage<'_>], pinned: Option<(usize, usize)>, count: usize) {
    let mut left = count;
    if left > 0
        && let Some(last) = system.last_mut()
    {
        left -= usize::from(set_mark(last));
    }
    if let Some((message, block)) = pinned.filter(|_| left > 0) {
        left -= usize::from(messages[message].content[..=block].iter_mut().rev().any(set_mark));
    }
    let last = messages.len().saturating_sub(1);
    for (index, message) in messages.iter_mut().enumerate().rev() {
        if left == 0 {
            break;
        }
        if index == last || message.role == "user" {
            left -= usize::from(message.content.iter_mut().rev().any(set_mark));
        }
    }
}

/// Marks a block; `false` if it cannot be marked or already is.
fn set_mark(block: &mut Block<'_>) -> bool {
    let is_thinking = matches!(block.content, BlockContent::Thinking { .. } | BlockContent::RedactedThinking { .. });
    if is_thinking || block.cache_control.is_some() {
        return false;
    }
    block.cache_control = Some(CacheControl { r#type: "ephemeral" });
    true
}

fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if root.is_list() {
        return reading.each(root, read_message);
    }
    let object = root.object()?;
    if object.find("role").is_some() {
        return read_message(root, reading);
    }
    let system = object.find("system");
    if let Some(system) = &system {
        reading.content(system, &system.path, Role::System, read_block)?;
    }
    match object.find("messages") {
        Some(messages) => reading.each(&messages, read_message),
        None if system.is_some() => Ok(()),
        None => Err(root.fault("expected `messages`, `role`, or a list of messages")),
    }
}

fn read_message(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let role = object.role(&[("user", Role::User), ("assistant", Role::Assistant), ("system", Role::System)])?;
    let content = object.member("content")?;
    reading.begin(&node.path, role, None);
    reading.content(&content, &content.path, role, read_block)
}

fn read_block(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let kind = object.text("type")?;
    let signed = |value, redacted| Signature { by: Some(Api::Anthropic), redacted, ..Signature::new(value) };
    let content = match kind.as_str() {
        "text" => Content::Text(object.text("text")?),
        "thinking" => {
            let signature = object.find_text("signature")?.filter(|signature| !signature.is_empty());
            let signature = signature.map(|value| signed(value, false));
            Content::Reasoning { text: object.text("thinking")?, signature }
        }
        "redacted_thinking" => {
            Content::Reasoning { text: String::new(), signature: Some(signed(object.text("data")?, true)) }
        }
        "tool_use" => {
            let arguments = object.member("input")?.raw.get().to_owned();
            Content::ToolCall { call_id: object.text("id")?, name: Some(object.text("name")?), arguments }
        }
        "tool_result" => return read_result(node, &object, reading),
        "image" | "document" => {
            let source = object.member("source")?.object()?;
            let data = source.find_text("data")?.filter(|_| source.find_text("type") == Ok(Some("base64".to_owned())));
            let file =
                |bytes| Ok(File { name: object.find_text("title")?, media_type: source.text("media_type")?, bytes });
            let file = data.and_then(|data| from_base64(&data)).map(file).transpose()?;
            reading.put_file(node, role, kind, file);
            return Ok(());
        }
        _ => {
            reading.put_unknown(node, role, Some(kind));
            return Ok(());
        }
    };
    reading.put(&node.path, role, content);
    Ok(())
}

/// Reads a result: its text blocks, joined by line breaks, and then its other blocks as the user's.
fn read_result(node: &Node<'_>, object: &Object<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let call_id = object.text("tool_use_id")?;
    let is_error = object.find("is_error").map(|_| object.is_true("is_error"));
    let status = is_error.map(|is_error| if is_error { Status::Error } else { Status::Ok });
    let mut text = String::new();
    let mut others = Vec::new();
    match object.find("content") {
        Some(content) if content.is_list() => {
            for block in content.list()? {
                let of_block = block.object()?;
                if of_block.text("type")? == "text" {
                    push_text(&mut text, &of_block.text("text")?, "\n");
                } else {
                    others.push(block);
                }
            }
        }
        Some(content) => text = content.text()?,
        None => {}
    }
    reading.put(&node.path, Role::Tool, Content::ToolResult { call_id, name: None, status, text });
    for block in others {
        let read = read_block(&block, Role::User, reading);
        reading.note(read);
    }
    Ok(())
}
