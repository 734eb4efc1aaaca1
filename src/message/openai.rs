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
//! `content` is one text but where the user sends files along. There is no place for reasoning.

use std::io::{self, Write};

use serde::Serialize;

use super::change::Change;
use super::media::{data_url, file_name, from_data_url};
use super::read::{Fault, File as Attached, Node, OPENAI_ROLES, Object, Reading, push_text};
use super::shape::{Part, Shaped, Speaker, Turn, What, shape};
use super::{Api, Content, Message, Role, write_lines};

#[derive(Serialize)]
struct Out<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Text(std::borrow::Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Url },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Url {
    url: String,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// Writes the request's messages; says what was not sent as it is.
///
/// # Errors
///
/// Those of `out`.
pub(crate) fn write(messages: &[Message], out: &mut impl Write) -> io::Result<Vec<Change>> {
    let Shaped { turns, changes } = shape(messages, Api::OpenAi);
    write_lines(turns.iter().flat_map(messages_of), out)?;
    Ok(changes)
}

/// A turn's messages: one, but of the tools one a result.
fn messages_of<'a>(turn: &'a Turn<'_>) -> Vec<Out<'a>> {
    let role = match turn.speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tools => {
            let results = turn.parts.iter().filter_map(|part| match &part.what {
                What::Result { id, text, .. } => Some(Out {
                    role: "tool",
                    name: None,
                    tool_call_id: Some(id),
                    content: Some(Said::Text((*text).into())),
                    tool_calls: Vec::new(),
                }),
                _ => None,
            });
            return results.collect();
        }
    };
    let calls = turn.parts.iter().filter_map(|part| match &part.what {
        What::Call { id, name, arguments } => {
            Some(Call { id, r#type: "function", function: Function { name, arguments: arguments.get() } })
        }
        _ => None,
    });
    let tool_calls = calls.collect();
    vec![Out { role, name: turn.name, tool_call_id: None, content: said(&turn.parts), tool_calls }]
}

fn said<'a>(parts: &'a [Part<'_>]) -> Option<Said<'a>> {
    if parts.iter().any(|part| matches!(part.what, What::Media { .. })) {
        return Some(Said::Parts(parts.iter().filter_map(piece).collect()));
    }
    let texts: Vec<&str> = parts.iter().filter_map(text).collect();
    match texts.as_slice() {
        [] => None,
        [text] => Some(Said::Text((*text).into())),
        texts => Some(Said::Text(texts.join("\n\n").into())),
    }
}

fn text<'a>(part: &'a Part<'_>) -> Option<&'a str> {
    match &part.what {
        What::Text(text) => Some(text),
        _ => None,
    }
}

fn piece<'a>(part: &'a Part<'_>) -> Option<Piece<'a>> {
    match &part.what {
        What::Text(text) => Some(Piece::Text { text }),
        What::Media { media_type, bytes, .. } if media_type.starts_with("image/") => {
            Some(Piece::ImageUrl { image_url: Url { url: data_url(media_type, bytes) } })
        }
        What::Media { media_type, path, bytes } => {
            let file = File { filename: file_name(*path, media_type), file_data: data_url(media_type, bytes) };
            Some(Piece::File { file })
        }
        _ => None,
    }
}

/// Reads messages: of a request, of a response's choices, or alone.
pub(super) fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if root.is_list() {
        return reading.each(root, read_message);
    }
    let object = root.object()?;
    if let Some(messages) = object.find("messages") {
        return reading.each(&messages, read_message);
    }
    if let Some(choices) = object.find("choices") {
        // The others are what might have been said.
        let first = choices.list()?.into_iter().next().ok_or_else(|| choices.fault("there is no choice"))?;
        return read_message(&first.object()?.member("message")?, reading);
    }
    if object.find("role").is_some() {
        return read_message(root, reading);
    }
    Err(root.fault("`messages`, `choices` or a list of messages is expected"))
}

fn read_message(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    if object.text("role")? == "tool" {
        return read_result(node, &object, reading);
    }
    let role = object.role(&OPENAI_ROLES)?;
    reading.begin(&node.path, role, object.find_text("name")?);
    if let Some(thought) = object.find_text("reasoning_content")?.filter(|_| role == Role::Assistant) {
        reading.put(&node.path, role, Content::Reasoning { text: thought, signature: None });
    }
    match object.find("content") {
        Some(content) if content.is_list() => reading.each(&content, |part, reading| read_part(part, role, reading))?,
        Some(content) => reading.put(&content.path, role, Content::Text(content.text()?)),
        None => {}
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
