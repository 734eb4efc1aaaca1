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
//! A reasoning item stands before the item it led to. `content` is one text but where the user sends files along.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::change::Change;
use super::media::{data_url, file_name, from_data_url};
use super::read::{Fault, File, Node, OPENAI_ROLES, Reading, push_text};
use super::shape::{Part, Shaped, Speaker, Turn, What, shape};
use super::{Api, Content, Message, Role, Signature, write_lines};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Out<'a> {
    Message { role: &'static str, content: Said<'a> },
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
enum Said<'a> {
    Text(&'a str),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Piece<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image { detail: &'static str, image_url: String },
    #[serde(rename = "input_file")]
    File { filename: &'a str, file_data: String },
}

/// Writes the request's input; says what was not sent as it is.
///
/// # Errors
///
/// Those of `out`.
pub(crate) fn write(messages: &[Message], out: &mut impl Write) -> io::Result<Vec<Change>> {
    let Shaped { turns, changes } = shape(messages, Api::Responses);
    write_lines(turns.iter().flat_map(items_of), out)?;
    Ok(changes)
}

fn items_of<'a>(turn: &'a Turn<'_>) -> Vec<Out<'a>> {
    let role = match turn.speaker {
        Speaker::System => "system",
        Speaker::Assistant => "assistant",
        Speaker::User | Speaker::Tools => "user",
    };
    if turn.parts.iter().any(|part| matches!(part.what, What::Media { .. })) {
        return vec![Out::Message { role, content: Said::Parts(turn.parts.iter().filter_map(piece).collect()) }];
    }
    turn.parts.iter().filter_map(|part| item(role, part)).collect()
}

fn item<'a>(role: &'static str, part: &'a Part<'_>) -> Option<Out<'a>> {
    Some(match &part.what {
        What::Text(text) => Out::Message { role, content: Said::Text(text) },
        What::Thought { text, signature } => {
            let signature = (*signature)?;
            let summary = if text.is_empty() { Vec::new() } else { vec![Summary { r#type: "summary_text", text }] };
            Out::Reasoning { id: id(signature), summary, encrypted_content: &signature.value }
        }
        What::Call { id, name, arguments } => Out::FunctionCall { call_id: id, name, arguments: arguments.get() },
        What::Result { id, text, .. } => Out::FunctionCallOutput { call_id: id, output: text },
        What::Media { .. } => return None,
    })
}

/// The provider's own id, which what it encrypted names; where it was not kept, one that is always the same.
fn id(signature: &Signature) -> Cow<'_, str> {
    match &signature.id {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(format!("rs_{}", &blake3::hash(signature.value.as_bytes()).to_hex()[..32])),
    }
}

fn piece<'a>(part: &'a Part<'_>) -> Option<Piece<'a>> {
    match &part.what {
        What::Text(text) => Some(Piece::Text { text }),
        What::Media { media_type, bytes, .. } if media_type.starts_with("image/") => {
            Some(Piece::Image { detail: "auto", image_url: data_url(media_type, bytes) })
        }
        What::Media { media_type, path, bytes } => {
            Some(Piece::File { filename: file_name(*path, media_type), file_data: data_url(media_type, bytes) })
        }
        _ => None,
    }
}

/// Reads items: of a request, of a response, or alone.
pub(super) fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
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
        if instructions.is_list() {
            reading.each(instructions, read_item)?;
        } else {
            reading.put(&instructions.path, Role::System, Content::Text(instructions.text()?));
        }
    }
    match input {
        Some(input) if input.is_list() => reading.each(&input, read_item),
        Some(input) => {
            reading.put(&input.path, Role::User, Content::Text(input.text()?));
            Ok(())
        }
        None if instructions.is_some() => Ok(()),
        None if object.find("type").is_some() || object.find("role").is_some() => read_item(root, reading),
        None => Err(root.fault("`input`, `output` or a list of items is expected")),
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
    // What the model says is one with the thoughts and calls beside it.
    if role != Role::Assistant {
        reading.begin(&node.path, role, None);
    }
    let content = object.member("content")?;
    if content.is_list() {
        return reading.each(&content, |part, reading| read_part(part, role, reading));
    }
    reading.put(&node.path, role, Content::Text(content.text()?));
    Ok(())
}

fn read_part(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let kind = object.text("type")?;
    let data = match kind.as_str() {
        "input_text" | "output_text" | "text" => {
            reading.put(&node.path, role, Content::Text(object.text("text")?));
            return Ok(());
        }
        "refusal" => {
            reading.put(&node.path, role, Content::Text(object.text("refusal")?));
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
