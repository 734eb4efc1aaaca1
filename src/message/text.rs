//! Messages as plain text for people: each block after a line that names its role and kind.

use std::io::{self, Write};

use super::{Block, Content, Message};

/// Writes the text. Binary content is replaced by its size.
pub(crate) fn write(messages: &[Message], out: &mut impl Write) -> io::Result<()> {
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            out.write_all(b"\n")?;
        }
        let name = message.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        for block in &message.blocks {
            writeln!(out, "[{}{name}{}]", message.role, detail(block))?;
            let text = block.content.counted();
            match std::str::from_utf8(text) {
                Ok(text) => writeln!(out, "{}", text.trim_end_matches('\n'))?,
                Err(_) => writeln!(out, "({} bytes)", text.len())?,
            }
        }
    }
    Ok(())
}

/// Describes a block that is not plain text.
fn detail(block: &Block) -> String {
    match &block.content {
        Content::Text(_) => String::new(),
        Content::Reasoning { .. } => " thinks".to_owned(),
        Content::ToolCall { call_id, name, .. } => format!(" calls {} {call_id}", name.as_deref().unwrap_or("a tool")),
        Content::ToolResult { call_id, name, status, .. } => {
            let status = status.map(|status| format!(" {status}")).unwrap_or_default();
            format!(" answers {} {call_id}{status}", name.as_deref().unwrap_or("the call"))
        }
        Content::Artifact { kind, path, media_type, .. } => {
            let parts = [kind, path, media_type].into_iter().flatten();
            parts.fold(" artifact".to_owned(), |line, part| line + " " + part)
        }
    }
}
