//! Chats of aider: `.aider.chat.history.md` in the root of a repository. All chats of a repository are appended to one file.
//!
//! ```text
//! # aider chat started at 2025-03-18 12:49:08
//! > Main model: deepseek-r1 with diff edit format
//! #### fix the tests
//! I will …
//! > Tokens: 8.8k sent, 2.2k received.
//! ```
//!
//! | lines | item |
//! | --- | --- |
//! | `#### …` | `dialogue` of the user; a command that the model does not see is removed as `interface` |
//! | between `<thinking-content-…>` and its end | `reasoning` |
//! | `> …` | `freeform` named `aider`, removed as `interface` |
//! | any other | `dialogue` of the model |
//!
//! aider reads its file by these prefixes, too. There are no ids, no zone of the time, and no exact usage. An item's source is
//! its chat, its text, and the number of its occurrence.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::PathBuf;

use serde_json::json;

use super::{AgentFormat, newest_first};
use crate::base::worktree_path::resolve;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{freeform, reasoning};
use crate::transcript::read::dialect::{self, Dialect, Session};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

const FILE: &str = ".aider.chat.history.md";

const START: &[u8] = b"# aider chat started at ";

/// Commands whose text or output the model sees.
const SENT: &str = "/ask /code /architect /context /run /test /web";

pub(crate) const AGENT: AgentFormat = AgentFormat {
    certainty: |line| {
        let started = line.strip_prefix(START).and_then(|at| at.get(..4));
        let is_start = started.is_some_and(|year| year.iter().all(u8::is_ascii_digit));
        if is_start { Certainty::Sure } else { Certainty::No }
    },
    home: |env| env.os("HOME").map(PathBuf::from),
    sessions: |_, folder, is_wanted| {
        // It is in the work tree, so a clone may contain a link in its place.
        let refused = |error| io::Error::other(format!("`{}`: {error}", folder.join(FILE).display()));
        let file = resolve(folder, FILE).map_err(refused)?;
        Ok(Box::new(newest_first(vec![file], is_wanted)?))
    },
    open: |reader| Ok(dialect::open_lines::<Aider>(Box::new(Blocks::new(reader)))),
    resume: |_, _, _, _| None,
    ..AgentFormat::of_dialect::<Aider>("aider")
};

pub(crate) struct Aider;

impl Dialect for Aider {
    const FORMAT: &'static str = "aider";

    fn certainty(_: &Object<'_>) -> Certainty {
        Certainty::No
    }

    /// The file is the session; its first chat names it.
    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("chat").filter(|chat| !chat.is_empty()).map(|chat| chat.replace([' ', ':'], "-").into())
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let (role, text) = (record.text("role").unwrap_or_default(), record.text("text").unwrap_or_default());
        let Some(mut builder) = session.begin(None, bytes, output) else { return Outcome::Repeated };
        builder.add_meta("chat", record.text("chat").filter(|chat| !chat.is_empty()).map(Cow::into_owned));
        match &*role {
            "user" => {
                let command = text.split_whitespace().next().filter(|word| word.starts_with('/'));
                let is_own = command.is_some_and(|command| !is_listed(command, SENT));
                builder.removal = is_own.then_some(Removal::Interface);
                session.text(&mut builder, Role::User, &text);
            }
            "aider" => {
                let model = text.lines().find_map(|line| {
                    ["Main model: ", "Model: ", "Models: "].iter().find_map(|name| line.strip_prefix(name))
                });
                session.set_model(model.and_then(|model| model.split_whitespace().next()).map(Cow::Borrowed));
                builder.removal = Some(Removal::Interface);
                builder.push(freeform("aider", None), text.into_owned());
            }
            _ => {
                builder.add_meta("model", session.model.clone());
                if role == "thinking" {
                    builder.push(reasoning(None), text.into_owned());
                } else {
                    session.text(&mut builder, Role::Assistant, &text);
                }
            }
        }
        session.finish(builder, &role, bytes, output)
    }
}

/// Turns the Markdown into one JSON object per block of lines with the same prefix.
struct Blocks<R> {
    reader: BufReader<R>,
    chat: String,
    role: &'static str,
    text: String,
    output: Vec<u8>,
    given: usize,
}

impl<R: Read> Blocks<R> {
    fn new(reader: R) -> Self {
        let (chat, text, output) = (String::new(), String::new(), Vec::new());
        Self { reader: BufReader::new(reader), chat, role: "assistant", text, output, given: 0 }
    }

    /// Reads one line; false at the end.
    fn step(&mut self) -> io::Result<bool> {
        let mut line = Vec::new();
        if self.reader.read_until(b'\n', &mut line)? == 0 {
            self.flush("assistant");
            return Ok(false);
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n']);
        if let Some(at) = text.as_bytes().strip_prefix(START) {
            self.flush("assistant");
            self.chat = String::from_utf8_lossy(at).trim().chars().take(32).collect();
        } else if let Some(prompt) = text.strip_prefix("####").filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            self.add("user", prompt.get(1..).unwrap_or_default().trim_end());
        } else if let Some(told) = text.strip_prefix('>').filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            self.add("aider", told.get(1..).unwrap_or_default().trim_end());
        } else if text.starts_with("<thinking-content-") || text.trim() == "► **THINKING**" {
            self.flush("thinking");
        } else if text.starts_with("</thinking-content-")
            || text.trim() == "► **ANSWER**"
            || (text.trim().is_empty() && self.role == "user")
        {
            self.flush("assistant");
        } else if !text.trim().is_empty() || matches!(self.role, "assistant" | "thinking") {
            self.add(if self.role == "thinking" { "thinking" } else { "assistant" }, text);
        }
        Ok(true)
    }

    fn add(&mut self, role: &'static str, line: &str) {
        if role != self.role {
            self.flush(role);
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Passes the block on and begins another.
    fn flush(&mut self, next: &'static str) {
        let text = self.text.trim_matches('\n');
        if !text.trim().is_empty() {
            let record = json!({ "chat": self.chat, "role": self.role, "text": text });
            self.output.extend(format!("{record}\n").into_bytes());
        }
        self.text.clear();
        self.role = next;
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            self.output.clear();
            self.given = 0;
            if !self.step()? && self.output.is_empty() {
                return Ok(0);
            }
        }
        let length = into.len().min(self.output.len() - self.given);
        into[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}
