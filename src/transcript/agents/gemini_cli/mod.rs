//! Sessions of Gemini CLI: `<home>/tmp/<project>/chats/session-<time>-<id>.json`, and `.jsonl` since 2026.
//!
//! An old file is one document with a list of messages. A new one is a log with one object per line: a message, written again
//! whenever it grows, or a change to earlier messages:
//!
//! ```text
//! {"sessionId":"f763…","projectHash":"7e89…","startTime":"…"}
//! {"id":"98b3…","timestamp":"…","type":"gemini","content":"…","thoughts":[…],"toolCalls":[…],"tokens":{…},"model":"…"}
//! {"$set":{"lastUpdated":"…"}}
//! {"$rewindTo":"98b3…"}
//! ```
//!
//! | part of a message | item |
//! | --- | --- |
//! | `thoughts` | `reasoning`, subject and description, without a signature |
//! | `content` | `dialogue` of the user or the model, one per part; files are `artifact` |
//! | `toolCalls` | `tool_io` call and, once present, result |
//! | a message of another type, such as `info` | `freeform` named after it, removed as `interface`: only the user sees it |
//!
//! - A sub-agent has a separate log, see `files`.
//! - A part's source is its message and its place in it, so a message that is written again yields only its new parts.
//!   Changed content under the same name is imported as a further item.
//! - `$rewindTo` removes the named message and all later ones: their items are rewound.
//! - Messages in a `$set` are imported if they are new. Messages that it omits were rewound; but when compactions are
//!   replayed and the `$set` starts with a new message, that message replaces them.

mod export;
mod files;
mod reader;
mod records;
pub(crate) mod stream;

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

pub(crate) use reader::GeminiCli;

use super::{AgentFormat, DocumentLines, TranscriptReader};
use crate::transcript::export::Exporter;
use crate::transcript::format::{first_lines, head};

pub(crate) const FORMAT: &str = "gemini-cli";

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| {
        let home = env.os("GEMINI_CLI_HOME").or_else(|| env.os("HOME"));
        Some(home.map_or_else(PathBuf::new, |home| Path::new(home).join(".gemini")))
    },
    sessions: files::sessions,
    all: files::all,
    folder: files::folder_of,
    sub_agents: files::sub_agents,
    exporter: Some(Exporter::new(export::write, export::path, "gemini --resume")),
    open: |mut reader| {
        let head = head(&mut *reader)?;
        let is_log = is_log(&head);
        let reader: Box<dyn Read + '_> = Box::new(Cursor::new(head).chain(reader));
        Ok(Box::new(if is_log {
            TranscriptReader::<_, GeminiCli>::new(reader)
        } else {
            TranscriptReader::<_, GeminiCli>::of_document(Box::new(DocumentLines::new(reader)) as Box<dyn Read + '_>)
        }))
    },
    ..AgentFormat::of_lines::<GeminiCli>("Gemini CLI")
};

/// Whether the first line is a complete object without messages, which no document is.
fn is_log(head: &[u8]) -> bool {
    first_lines(head).next().is_some_and(|line| {
        serde_json::from_slice::<records::Record<'_>>(line)
            .is_ok_and(|record| record.messages.is_none_or(|messages| messages.get().len() <= 2))
    })
}
