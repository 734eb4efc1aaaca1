//! Messages as every provider has them in some form: a role and content blocks, oldest message first.
//!
//! What a provider's own shape asks for is written from these; [`messages`] is the neutral form, [`text`] a page to read.
//! What every provider asks for in some measure is in `shape`, so that each rule is written once.

pub(crate) mod anthropic;
pub(crate) mod change;
pub(crate) mod gemini;
mod media;
pub mod messages;
pub(crate) mod openai;
mod pair;
pub(crate) mod read;
pub(crate) mod responses;
mod shape;
pub(crate) mod text;

use std::io::{self, Write};

use serde::Serialize;

pub(crate) use pair::pair_calls;

use crate::base::string_enum::string_enum;
use crate::tokens::Encoding;
use crate::tokens::framing::{self, message_cost};

string_enum! {
    /// Who speaks.
    Role {
        /// The instructions' voice.
        System = "system",
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// A tool that answers a call.
        Tool = "tool",
    }
}

string_enum! {
    /// How a tool's call went.
    Status {
        /// It did what it was asked.
        Ok = "ok",
        /// It failed; the body says how.
        Error = "error",
    }
}

string_enum! {
    /// The interfaces whose request messages can be written and read.
    Api {
        /// `OpenAI` Chat Completions, and what is compatible with it.
        OpenAi = "openai",
        /// `OpenAI` Responses.
        Responses = "responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
    }
}

/// One message of a request.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The speaker's name.
    pub name: Option<String>,
    /// What is said, in order; never empty.
    pub blocks: Vec<Block>,
}

/// One block of a message.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// What it is.
    pub content: Content,
    /// Tokens of its text, where they are known already.
    pub known_tokens: Option<u64>,
}

/// What a block holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// What the model thought.
    Reasoning {
        /// The thought; empty where the provider hides it.
        text: String,
        /// The provider's signature.
        signature: Option<Signature>,
    },
    /// A tool is called.
    ToolCall {
        /// Ties the result to it.
        call_id: String,
        /// The tool.
        name: Option<String>,
        /// The arguments: JSON, as it was written.
        arguments: String,
    },
    /// A tool answers.
    ToolResult {
        /// The call it answers.
        call_id: String,
        /// The tool.
        name: Option<String>,
        /// How it went, where it was said.
        status: Option<Status>,
        /// The answer.
        text: String,
    },
    /// A file, an image, a document.
    Artifact {
        /// What sort.
        kind: Option<String>,
        /// Where it lives.
        path: Option<String>,
        /// Programming language.
        language: Option<String>,
        /// Media type.
        media_type: Option<String>,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// A provider's signature of a thought, and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The signature, verbatim.
    pub value: String,
    /// Who signed; none: nobody knows, so whoever is asked is trusted to.
    pub by: Option<Api>,
    /// The provider's own id of the thought.
    pub id: Option<String>,
    /// Whether the thought itself is in the signature, encrypted.
    pub redacted: bool,
    /// Whether everything said before the thought is still as it was.
    pub holds: bool,
}

impl Signature {
    /// A signature of which nothing else is known.
    #[must_use]
    pub fn new(value: String) -> Self {
        Self { value, by: None, id: None, redacted: false, holds: true }
    }
}

impl Content {
    /// The bytes whose tokens count.
    #[must_use]
    pub fn counted(&self) -> &[u8] {
        match self {
            Self::Text(text)
            | Self::Reasoning { text, .. }
            | Self::ToolCall { arguments: text, .. }
            | Self::ToolResult { text, .. } => text.as_bytes(),
            Self::Artifact { bytes, .. } => bytes,
        }
    }

    /// The name that is sent along with it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::ToolCall { name, .. } | Self::ToolResult { name, .. } => name.as_deref(),
            _ => None,
        }
    }
}

impl Message {
    /// What the message costs in a request: its texts' tokens and framing.
    #[must_use]
    pub fn cost(&self, encoding: Encoding) -> u64 {
        let tokens = |block: &Block| block.known_tokens.unwrap_or_else(|| encoding.count(block.content.counted()));
        let names = self.blocks.iter().filter(|block| block.content.name().is_some()).count();
        message_cost(self.blocks.iter().map(tokens).sum(), self.name.is_some()) + framing::PER_NAME * names as u64
    }
}

/// Writes an array of values, one a line.
fn write_lines<T: Serialize>(values: impl IntoIterator<Item = T>, out: &mut impl Write) -> io::Result<()> {
    let mut empty = true;
    for value in values {
        out.write_all(if empty { b"[\n" } else { b",\n" })?;
        empty = false;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(if empty { b"[]" } else { b"\n]" })
}

/// Writes a request's messages as an interface has them; says what was not sent as it is, in the messages' order.
///
/// Only Anthropic has marks.
///
/// # Errors
///
/// Those of `out`.
pub(crate) fn write(
    api: Api,
    messages: &[Message],
    marks: anthropic::CacheMarks,
    out: &mut impl Write,
) -> io::Result<Vec<change::Change>> {
    match api {
        Api::OpenAi => openai::write(messages, out),
        Api::Responses => responses::write(messages, out),
        Api::Anthropic => anthropic::write(messages, marks, out),
        Api::Gemini => gemini::write(messages, out),
    }
}
