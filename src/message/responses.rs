//! `OpenAI` Responses: an array of input items, one a line.
//!
//! ```json
//! [
//! {"type":"message","role":"system","content":"You are careful."},
//! {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA…"},
//! {"type":"function_call","call_id":"c1","name":"grep","arguments":"{\"pattern\":\"x\"}"},
//! {"type":"function_call_output","call_id":"c1","output":"3 matches"}
//! ]
//! ```
//!
//! A reasoning item precedes the item that it led to. `content` is one text, except where the user sends files.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::anthropic::CacheMarks;
use super::media::{IMAGES_AND_PDF, data_url, file_name, from_data_url};
use super::normalize::{Part, PartContent, Turn, TurnRole};
use super::read::{Fault, File, Node, OPENAI_ROLES, Reading, push_text};
use super::{Api, Content, Provider, Role, Signature, write_lines};

pub(super) const PROVIDER: Provider = Provider {
    alternates: false,
    max_call_id: 64,
    is_call_id_char: |b| b.is_ascii_graphic(),
    accepts_media: |media_type| IMAGES_AND_PDF.contains(&media_type) || media_type == "image/gif",
    read,
    write,
};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutgoingItem<'a> {
    Message { role: &'static str, content: MessageContent<'a> },
    Reasoning { id: Cow<'a, str>, summary: Vec<Summary<'a>>, encrypted_content: &'a str },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
}

#[derive(Serialize)]
struct Summary<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(&'a str),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum ContentPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image { detail: &'static str, image_url: String },
    #[serde(rename = "input_file")]
    File { filename: &'a str, file_data: String },
}

fn write(turns: &[Turn<'_>], _: CacheMarks, out: &mut dyn Write) -> io::Result<()> {
    write_lines(turns.iter().flat_map(items_of), out)
}

fn items_of<'a>(turn: &'a Turn<'_>) -> Vec<OutgoingItem<'a>> {
    let role = match turn.role {
        TurnRole::System => "system",
        TurnRole::Assistant => "assistant",
        TurnRole::User | TurnRole::Tools => "user",
    };
    if turn.parts.iter().any(|part| matches!(part.content, PartContent::Media { .. })) {
        return vec![OutgoingItem::Message {
            role,
            content: MessageContent::Parts(turn.parts.iter().filter_map(content_part).collect()),
        }];
    }
    turn.parts.iter().filter_map(|part| item(role, part)).collect()
}

fn item<'a>(role: &'static str, part: &'a Part<'_>) -> Option<OutgoingItem<'a>> {
    Some(match &part.content {
        PartContent::Text(text) => OutgoingItem::Message { role, content: MessageContent::Text(text) },
        PartContent::Reasoning { text, signature } => {
            let signature = (*signature)?;
            let summary = if text.is_empty() { Vec::new() } else { vec![Summary { r#type: "summary_text", text }] };
            OutgoingItem::Reasoning { id: id(signature), summary, encrypted_content: &signature.value }
        }
        PartContent::Call { id, name, arguments } => {
            OutgoingItem::FunctionCall { call_id: id, name, arguments: arguments.get() }
        }
        PartContent::Result { id, text, .. } => OutgoingItem::FunctionCallOutput { call_id: id, output: text },
        PartContent::Media { .. } => return None,
    })
}

/// The provider's own id, which the encrypted content names; if it was not stored, one derived from the signature.
fn id(signature: &Signature) -> Cow<'_, str> {
    match &signature.id {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(format!("rs_{}", &blake3::hash(signature.value.as_bytes()).to_hex()[..32])),
    }
}

fn content_part<'a>(part: &'a Part<'_>) -> Option<ContentPart<'a>> {
    match &part.content {
        PartContent::Text(text) => Some(ContentPart::Text { text }),
        PartContent::Media { media_type, bytes, .. } if media_type.starts_with("image/") => {
            Some(ContentPart::Image { detail: "auto", image_url: data_url(media_type, bytes) })
        }
        PartContent::Media { media_type, path, bytes } => {
            Some(ContentPart::File { filename: file_name(*path, media_type), file_data: data_url(media_type, bytes) })
        }
        _ => None,
    }
}

fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if root.is_list() {
        return reading.each(root, read_item);
    }
    let object = root.object()?;
    if let Some(output) = object.find("output").filter(Node::is_list) {
        return reading.each(&output, read_item);
    }
    let instructions = object.find("instructions");
    let input = object.find("input");
    if let Some(instructions) = &instructions {
        reading.content(instructions, &instructions.path, Role::System, |item, _, reading| read_item(item, reading))?;
    }
    match input {
        Some(input) => reading.content(&input, &input.path, Role::User, |item, _, reading| read_item(item, reading)),
        None if instructions.is_some() => Ok(()),
        None if object.find("type").is_some() || object.find("role").is_some() => read_item(root, reading),
        None => Err(root.fault("expected `input`, `output`, or a list of items")),
    }
}

fn read_item(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let kind = object.find_text("type")?.unwrap_or_else(|| "message".to_owned());
    let content = match kind.as_str() {
        "message" => return read_message(node, reading),
        "reasoning" => {
            let mut text = String::new();
            for list in [object.find("summary"), object.find("content")].into_iter().flatten() {
                for part in list.list()? {
                    push_text(&mut text, &part.object()?.text("text")?, "\n\n");
                }
            }
            let id = object.find_text("id")?;
            let signature = object.find_text("encrypted_content")?;
            let by = Some(Api::Responses);
            Content::Reasoning { text, signature: signature.map(|value| Signature { by, id, ..Signature::new(value) }) }
        }
        "function_call" | "custom_tool_call" => {
            let arguments = match object.find("input") {
                Some(input) if kind == "custom_tool_call" => input.raw.get().to_owned(),
                _ => object.text("arguments")?,
            };
            Content::ToolCall { call_id: object.text("call_id")?, name: Some(object.text("name")?), arguments }
        }
        "function_call_output" | "custom_tool_call_output" => {
            let text = object.member("output")?.text_or_json();
            let content = Content::ToolResult { call_id: object.text("call_id")?, name: None, status: None, text };
            reading.put(&node.path, Role::Tool, content);
            return Ok(());
        }
        _ => {
            reading.put_unknown(node, Role::Assistant, Some(kind));
            return Ok(());
        }
    };
    reading.put(&node.path, Role::Assistant, content);
    Ok(())
}

fn read_message(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let role = object.role(&OPENAI_ROLES)?;
    // A message of the model forms one message with the reasoning and calls beside it.
    if role != Role::Assistant {
        reading.begin(&node.path, role, None);
    }
    let content = object.member("content")?;
    reading.content(&content, &node.path, role, read_part)
}

fn read_part(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let kind = object.text("type")?;
    let data = match kind.as_str() {
        "input_text" | "output_text" | "text" | "refusal" => {
            let member = if kind == "refusal" { "refusal" } else { "text" };
            reading.put(&node.path, role, Content::Text(object.text(member)?));
            return Ok(());
        }
        "input_image" => object.find_text("image_url")?,
        "input_file" => object.find_text("file_data")?,
        _ => None,
    };
    let name = object.find_text("filename")?;
    let file = data.and_then(|url| from_data_url(&url));
    reading.put_file(node, role, kind, file.map(|(media_type, bytes)| File { name, media_type, bytes }));
    Ok(())
}
