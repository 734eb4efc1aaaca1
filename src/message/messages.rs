//! The neutral JSON form: an array of messages, one per line.
//!
//! ```json
//! [
//! {"role":"system","content":"You are careful."},
//! {"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_call","call_id":"c1","name":"grep","arguments":"{\"pattern\":\"x\"}"}]},
//! {"role":"tool","content":[{"type":"tool_result","call_id":"c1","name":"grep","status":"ok","text":"3 matches"}]}
//! ]
//! ```
//!
//! `content` is a string if the message is a single text, else an array of blocks: `text`, `reasoning`, `tool_call` (its
//! `arguments` are a string of JSON, exactly as the model wrote it), `tool_result`, and `artifact` (with `text`, or `base64` if
//! it is not UTF-8).

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{Block, Content, Message};

/// Writes the messages, without a line break at the end.
///
/// # Errors
///
/// Any error of `out`.
pub fn write(messages: &[Message], out: &mut impl Write) -> io::Result<()> {
    super::write_lines(messages, out)
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_struct("Message", 3)?;
        message.serialize_field("role", self.role.as_str())?;
        if let Some(name) = &self.name {
            message.serialize_field("name", name)?;
        }
        match self.blocks.as_slice() {
            [Block { content: Content::Text(text), .. }] => message.serialize_field("content", text)?,
            blocks => message.serialize_field("content", blocks)?,
        }
        message.end()
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_map(None)?;
        match &self.content {
            Content::Text(text) => {
                block.serialize_entry("type", "text")?;
                block.serialize_entry("text", text)?;
            }
            Content::Reasoning { text, signature } => {
                block.serialize_entry("type", "reasoning")?;
                block.serialize_entry("text", text)?;
                entry(&mut block, "signature", signature.as_ref().map(|signature| &signature.value))?;
            }
            Content::ToolCall { call_id, name, arguments } => {
                block.serialize_entry("type", "tool_call")?;
                block.serialize_entry("call_id", call_id)?;
                entry(&mut block, "name", name.as_ref())?;
                block.serialize_entry("arguments", arguments)?;
            }
            Content::ToolResult { call_id, name, status, text } => {
                block.serialize_entry("type", "tool_result")?;
                block.serialize_entry("call_id", call_id)?;
                entry(&mut block, "name", name.as_ref())?;
                entry(&mut block, "status", status.map(super::Status::as_str).as_ref())?;
                block.serialize_entry("text", text)?;
            }
            Content::Artifact { kind, path, language, media_type, bytes } => {
                block.serialize_entry("type", "artifact")?;
                entry(&mut block, "kind", kind.as_ref())?;
                entry(&mut block, "path", path.as_ref())?;
                entry(&mut block, "language", language.as_ref())?;
                entry(&mut block, "media_type", media_type.as_ref())?;
                match std::str::from_utf8(bytes) {
                    Ok(text) => block.serialize_entry("text", text)?,
                    Err(_) => block.serialize_entry("base64", &BASE64.encode(bytes))?,
                }
            }
        }
        block.end()
    }
}

fn entry<M: SerializeMap>(map: &mut M, key: &'static str, value: Option<&impl Serialize>) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, value))
}
