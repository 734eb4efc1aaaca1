//! Gemini `generateContent`: `{systemInstruction, contents}`.
//!
//! ```json
//! {"systemInstruction":{"parts":[{"text":"You are careful."}]},
//! "contents":[
//! {"role":"user","parts":[{"text":"Where is x?"}]},
//! {"role":"model","parts":[{"text":"…","thought":true},{"functionCall":{"id":"c1","name":"grep","args":{"pattern":"x"}},"thoughtSignature":"Eq…"}]},
//! {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"grep","response":{"output":"3 matches"}}}]}
//! ]}
//! ```
//!
//! User and model alternate, the user first; the content after calls opens with as many responses. The signature of a thought
//! is on the part that follows it, which is where the provider sends and expects it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::anthropic::CacheMarks;
use super::media::{IMAGES_AND_PDF, base64, from_base64};
use super::normalize::{self, PartContent, Turn, TurnRole};
use super::read::{Fault, File, Node, Reading};
use super::{Api, Content, Provider, Role, Signature, Status, write_request};

pub(super) const PROVIDER: Provider = Provider {
    alternates: true,
    max_call_id: 128,
    is_call_id_char: |b| b.is_ascii_graphic(),
    accepts_media: |media_type| {
        IMAGES_AND_PDF.contains(&media_type)
            || matches!(media_type, "image/heic" | "image/heif")
            || media_type.starts_with("audio/")
            || media_type.starts_with("video/")
    },
    read,
    write,
};

#[derive(Serialize)]
struct OutgoingContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(flatten)]
    data: PartData<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum PartData<'a> {
    Text(&'a str),
    InlineData(InlineData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: String,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    id: &'a str,
    name: &'a str,
    args: &'a RawValue,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    id: &'a str,
    name: &'a str,
    response: ResponseBody<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ResponseBody<'a> {
    Output(&'a str),
    Error(&'a str),
}

fn write(turns: &[Turn<'_>], _: CacheMarks, out: &mut dyn Write) -> io::Result<()> {
    let mut system = None;
    let mut all: Vec<OutgoingContent<'_>> = Vec::with_capacity(turns.len());
    for turn in turns {
        let parts = parts_of(&turn.parts);
        let role = match turn.role {
            TurnRole::System => {
                system = Some(OutgoingContent { role: None, parts });
                continue;
            }
            TurnRole::Assistant => "model",
            TurnRole::User | TurnRole::Tools => "user",
        };
        match all.last_mut() {
            // A user message and the responses before it form one content.
            Some(last) if last.role == Some(role) => last.parts.extend(parts),
            _ => all.push(OutgoingContent { role: Some(role), parts }),
        }
    }
    write_request(("systemInstruction", system), ("contents", &all), out)
}

fn parts_of<'a>(parts: &'a [normalize::Part<'_>]) -> Vec<Part<'a>> {
    let mut out: Vec<Part<'a>> = Vec::with_capacity(parts.len());
    // The signature for the next part.
    let mut signed: Option<&'a str> = None;
    for part in parts {
        let data = match &part.content {
            PartContent::Text(text) => PartData::Text(text),
            PartContent::Media { media_type, bytes, .. } => {
                PartData::InlineData(InlineData { mime_type: media_type, data: base64(bytes) })
            }
            PartContent::Call { id, name, arguments } => {
                PartData::FunctionCall(FunctionCall { id, name, args: arguments })
            }
            PartContent::Result { id, name, status, text } => {
                let is_error = *status == Some(Status::Error);
                let response = if is_error { ResponseBody::Error(text) } else { ResponseBody::Output(text) };
                PartData::FunctionResponse(FunctionResponse { id, name, response })
            }
            PartContent::Reasoning { text, signature } => {
                let thought =
                    |text, thought_signature| Part { data: PartData::Text(text), thought: true, thought_signature };
                if let Some(earlier) = signed.take() {
                    // Two thoughts in a row: the earlier one keeps its signature.
                    match out.last_mut() {
                        Some(last) if last.thought && last.thought_signature.is_none() => {
                            last.thought_signature = Some(earlier);
                        }
                        _ => out.push(thought("", Some(earlier))),
                    }
                }
                signed = signature.map(|signature| signature.value.as_str());
                if !text.is_empty() {
                    out.push(thought(text, None));
                }
                continue;
            }
        };
        out.push(Part { data, thought: false, thought_signature: signed.take() });
    }
    out
}

fn read(root: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if root.is_list() {
        return reading.each(root, read_content);
    }
    let object = root.object()?;
    let system = object.find_any(&["systemInstruction", "system_instruction"]);
    if let Some(system) = &system {
        if system.is_text() {
            reading.put(&system.path, Role::System, Content::Text(system.text()?));
        } else {
            read_parts(system, Role::System, reading)?;
        }
    }
    if let Some(contents) = object.find("contents") {
        return if contents.is_list() {
            reading.each(&contents, read_content)
        } else {
            read_content(&contents, reading)
        };
    }
    if let Some(candidates) = object.find("candidates") {
        // The other candidates are alternatives.
        let first = candidates.list()?.into_iter().next();
        let first = first.ok_or_else(|| candidates.fault("there is no candidate"))?;
        return read_content(&first.object()?.member("content")?, reading);
    }
    if object.find("parts").is_some() {
        return read_content(root, reading);
    }
    if system.is_some() {
        return Ok(());
    }
    Err(root.fault("expected `contents`, `candidates`, or a list of contents"))
}

fn read_content(node: &Node<'_>, reading: &mut Reading) -> Result<(), Fault> {
    if node.is_text() {
        reading.begin(&node.path, Role::User, None);
        reading.put(&node.path, Role::User, Content::Text(node.text()?));
        return Ok(());
    }
    let object = node.object()?;
    let role = match object.find("role") {
        Some(_) => object.role(&[("user", Role::User), ("function", Role::User), ("model", Role::Assistant)])?,
        None => Role::User,
    };
    reading.begin(&node.path, role, None);
    read_parts(node, role, reading)
}

fn read_parts(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    reading.each(&node.object()?.member("parts")?, |part, reading| read_part(part, role, reading))
}

fn read_part(node: &Node<'_>, role: Role, reading: &mut Reading) -> Result<(), Fault> {
    let object = node.object()?;
    let signature = object.find_any(&["thoughtSignature", "thought_signature"]).map(|node| node.text()).transpose()?;
    let signature = signature.map(|value| Signature { by: Some(Api::Gemini), ..Signature::new(value) });
    if object.is_true("thought") && role == Role::Assistant {
        let text = object.find_text("text")?.unwrap_or_default();
        reading.put(&node.path, role, Content::Reasoning { text, signature });
        return Ok(());
    }
    if let Some(signature) = signature.filter(|_| role == Role::Assistant) {
        sign(signature, node, reading);
    }
    if let Some(text) = object.find_text("text")? {
        if !text.is_empty() {
            reading.put(&node.path, role, Content::Text(text));
        }
    } else if let Some(data) = object.find_any(&["inlineData", "inline_data"]) {
        let of_data = data.object()?;
        let media_type =
            of_data.find_any(&["mimeType", "mime_type"]).ok_or_else(|| data.fault("`mimeType` is missing"))?;
        let bytes = from_base64(&of_data.text("data")?).ok_or_else(|| data.fault("`data` is not base64"))?;
        let file = File { name: None, media_type: media_type.text()?, bytes };
        reading.put_file(node, role, String::new(), Some(file));
    } else if let Some(call) = object.find_any(&["functionCall", "function_call"]) {
        let call = call.object()?;
        let name = call.text("name")?;
        let arguments = call.find("args").map_or_else(|| "{}".to_owned(), |args| args.raw.get().to_owned());
        let call_id = call.find_text("id")?.unwrap_or_else(|| generated_id(reading, &name, Role::Assistant));
        reading.put(&node.path, Role::Assistant, Content::ToolCall { call_id, name: Some(name), arguments });
    } else if let Some(answer) = object.find_any(&["functionResponse", "function_response"]) {
        let answer = answer.object()?;
        let name = answer.text("name")?;
        let call_id = answer.find_text("id")?.unwrap_or_else(|| generated_id(reading, &name, Role::Tool));
        let response = answer.member("response")?;
        let of_response = response.object()?;
        let (status, text) = match (of_response.find("output"), of_response.find("error")) {
            (Some(output), None) => (None, output.text_or_json()),
            (None, Some(error)) => (Some(Status::Error), error.text_or_json()),
            _ => (None, response.raw.get().to_owned()),
        };
        reading.put(&node.path, Role::Tool, Content::ToolResult { call_id, name: None, status, text });
    } else {
        reading.put_unknown(node, role, None);
    }
    Ok(())
}

/// Moves a part's signature to the thought before it; without one, adds an empty thought.
fn sign(signature: Signature, node: &Node<'_>, reading: &mut Reading) {
    let last = reading.messages.last_mut().and_then(|message| message.blocks.last_mut());
    if let Some(Content::Reasoning { signature: unsigned @ None, .. }) = last.map(|block| &mut block.content) {
        *unsigned = Some(signature);
    } else {
        let content = Content::Reasoning { text: String::new(), signature: Some(signature) };
        reading.put(&node.path, Role::Assistant, content);
    }
}

/// An id for a call or response without one: its tool, and its number among that tool's.
fn generated_id(reading: &Reading, name: &str, role: Role) -> String {
    let prefix = format!("{name}-");
    let blocks = reading.messages.iter().filter(|message| message.role == role).flat_map(|message| &message.blocks);
    let earlier = blocks.filter(|block| match &block.content {
        Content::ToolCall { call_id, .. } | Content::ToolResult { call_id, .. } => call_id.starts_with(&prefix),
        _ => false,
    });
    format!("{prefix}{}", earlier.count() + 1)
}
