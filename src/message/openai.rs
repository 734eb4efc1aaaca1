//! `OpenAI` Chat Completions: an array of messages, one a line.
//!
//! ```json
//! [
//! {"role":"system","content":"You are careful."},
//! {"role":"assistant","content":"Let me look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"grep","arguments":"{\"pattern\":\"x\"}"}}]},
//! {"role":"tool","tool_call_id":"c1","content":"3 matches"}
//! ]
//! ```
//!
//! `content` is one text, except where the user sends files. The API does not accept reasoning.

use std::io::{self, Write};

use serde::Serialize;

use super::anthropic::CacheMarks;
use super::media::{IMAGES_AND_PDF, data_url, file_name, from_data_url};
use super::normalize::{Part, PartContent, Turn, TurnRole};
use super::read::{Fault, File as Attached, Node, OPENAI_ROLES, Object, Reading, push_text};
use super::{Content, Provider, Role, write_lines};

pub(super) const PROVIDER: Provider = Provider {
    alternates: false,
    max_call_id: 40,
    is_call_id_char: |b| b.is_ascii_graphic(),
    accepts_media: |media_type| IMAGES_AND_PDF.contains(&media_type) || media_type == "image/gif",
    read,
    write,
};

#[derive(Serialize)]
struct OutgoingMessage<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<MessageContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(std::borrow::Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: String,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn write(turns: &[Turn<'_>], _: CacheMarks, out: &mut dyn Write) -> io::Result<()> {
    write_lines(turns.iter().flat_map(messages_of), out)
}

/// The messages of a turn: one per result, and one for any other turn.
fn messages_of<'a>(turn: &'a Turn<'_>) -> Vec<OutgoingMessage<'a>> {
    let role = match turn.role {
        TurnRole::System => "system",
        TurnRole::User => "user",
        TurnRole::Assistant => "assistant",
        TurnRole::Tools => {
            let results = turn.parts.iter().filter_map(|part| match &part.content {
                PartContent::Result { id, text, .. } => Some(OutgoingMessage {
                    role: "tool",
                    name: None,
                    tool_call_id: Some(id),
                    content: Some(MessageContent::Text((*text).into())),
                    tool_calls: Vec::new(),
                }),
                _ => None,
            });
            return results.collect();
        }
    };
    let call = |part: &'a Part<'_>| match &part.content {
        PartContent::Call { id, name, arguments } => {
            Some(ToolCall { id, r#type: "function", function: Function { name, arguments: arguments.get() } })
        }
        _ => None,
    };
    let tool_calls = turn.parts.iter().filter_map(call).collect();
    vec![OutgoingMessage { role, name: turn.name, tool_call_id: None, content: content(&turn.parts), tool_calls }]
}

fn content<'a>(parts: &'a [Part<'_>]) -> Option<MessageContent<'a>> {
    if parts.iter().any(|part| matches!(part.content, PartContent::Media { .. })) {
        return Some(MessageContent::Parts(parts.iter().filter_map(content_part).collect()));
    }
    let text = |part: &'a Part<'_>| match &part.content {
        PartContent::Text(text) => Some(&**text),
        _ => None,
    };
    let texts: Vec<&str> = parts.iter().filter_map(text).collect();
    match texts.as_slice() {
        [] => None,
        [text] => Some(MessageContent::Text((*text).into())),
        texts => Some(MessageContent::Text(texts.join("\n\n").into())),
    }
}

fn content_part<'a>(part: &'a Part<'_>) -> Option<ContentPart<'a>> {
    match &part.content {
        PartContent::Text(text) => Some(ContentPart::Text { text }),
        PartContent::Media { media_type, bytes, .. } if media_type.starts_with("image/") => {
            Some(ContentPart::ImageUrl { image_url: ImageUrl { url: data_url(media_type, bytes) } })
        }
        PartContent::Media { media_type, path, bytes } => {
            let file = File { filename: file_name(*path, media_type), file_data: data_url(media_type, bytes) };
            Some(ContentPart::File { file })
        }
        _ => None,
    }
}

fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if root.is_list() {
        return reading.each(root, read_message);
    }
    let object = root.object()?;
    if let Some(messages) = object.find("messages") {
        return reading.each(&messages, read_message);
    }
    if let Some(choices) = object.find("choices") {
        // The other choices are alternatives.
        let first = choices.list()?.into_iter().next().ok_or_else(|| choices.fault("there is no choice"))?;
        return read_message(&first.object()?.member("message")?, reading);
    }
    if object.find("role").is_some() {
        return read_message(root, reading);
    }
    Err(root.fault("expected `messages`, `choices`, or a list of messages"))
}

fn read_message(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    if object.text("role")? == "tool" {
        return read_result(node, &object, reading);
    }
    let role = object.role(&OPENAI_ROLES)?;
    if !["content", "tool_calls", "refusal", "reasoning_content"].iter().any(|name| object.has(name)) {
        return Err(node.fault("`content` is missing"));
    }
    if let Some(call) = object.find("function_call") {
        // It has no id, so its result cannot be assigned.
        reading.faults.push(call.fault("expected `tool_calls`, which replaced `function_call`"));
    }
    reading.begin(&node.path, role, object.find_text("name")?);
    if let Some(thought) = object.find_text("reasoning_content")?.filter(|_| role == Role::Assistant) {
        reading.put(&node.path, role, Content::Reasoning { text: thought, signature: None });
    }
    if let Some(content) = object.find("content") {
        reading.content(&content, &content.path, role, read_part)?;
    }
    if let Some(refusal) = object.find_text("refusal")? {
        reading.put(&node.path, role, Content::Text(refusal));
    }
    match object.find("tool_calls") {
        Some(calls) => reading.each(&calls, read_call),
        None => Ok(()),
    }
}

fn read_result(node: &Node<'_>, object: &Object<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let call_id = object.text("tool_call_id")?;
    let text = match object.find("content") {
        Some(content) if content.is_list() => {
            let mut all = String::new();
            for part in content.list()? {
                push_text(&mut all, &part.object()?.text("text")?, "\n");
            }
            all
        }
        content => content.map(|content| content.text()).transpose()?.unwrap_or_default(),
    };
    reading.put(&node.path, Role::Tool, Content::ToolResult { call_id, name: None, status: None, text });
    Ok(())
}

fn read_part(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let kind = object.text("type")?;
    let (name, data) = match kind.as_str() {
        "text" | "refusal" => {
            reading.put(&node.path, role, Content::Text(object.text(&kind)?));
            return Ok(());
        }
        "image_url" => (None, Some(object.member("image_url")?.object()?.text("url")?)),
        "file" => {
            let file = object.member("file")?.object()?;
            (file.find_text("filename")?, file.find_text("file_data")?)
        }
        _ => (None, None),
    };
    let file = data.and_then(|url| from_data_url(&url));
    reading.put_file(node, role, kind, file.map(|(media_type, bytes)| Attached { name, media_type, bytes }));
    Ok(())
}

fn read_call(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let call_id = object.text("id")?;
    let (name, arguments) = if let Some(custom) = object.find("custom") {
        let custom = custom.object()?;
        (custom.text("name")?, custom.member("input")?.raw.get().to_owned())
    } else {
        let function = object.member("function")?.object()?;
        (function.text("name")?, function.text("arguments")?)
    };
    reading.put(&node.path, Role::Assistant, Content::ToolCall { call_id, name: Some(name), arguments });
    Ok(())
}
