//! Messages in the form that all providers share: a role and content blocks, oldest message first.
//!
//! | Module | Contents |
//! | --- | --- |
//! | [`messages`], `text` | the neutral JSON form, and plain text for people |
//! | `openai`, `responses`, `anthropic`, `gemini` | one provider API each: its reader, its writer, and its `PROVIDER` |
//! | `normalize` | the rules that all providers have in common, applied before any of them writes |
//! | `adjustment` | what normalizing changed, and why |
//! | `sent` | what a request contains, and how, to compare requests |
//! | `read`, `media` | shared parts of the readers, and of images and documents |
//!
//! Adding a provider means one module, one variant of [`Api`], and one line in `Api::provider`.

pub(crate) mod adjustment;
pub(crate) mod anthropic;
mod gemini;
mod media;
pub mod messages;
mod normalize;
mod openai;
mod pair;
pub(crate) mod read;
mod responses;
mod sent;
pub(crate) mod text;

use std::io::{self, Write};

use serde::Serialize;

pub(crate) use pair::pair_calls;
pub(crate) use sent::{SentBlock, hash, sent_blocks};

use self::adjustment::Adjustment;
use self::anthropic::CacheMarks;
use self::normalize::{Normalized, Turn, normalize};
use self::read::{Fault, Node, Reading};
use crate::base::string_enum::string_enum;
use crate::tokens::Counter;
use crate::tokens::framing::{self, message_cost};

string_enum! {
    /// Who a message is from, as in the providers' APIs.
    Role {
        /// Instructions to the model.
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// A tool that returns a result.
        Tool = "tool",
    }
}

string_enum! {
    /// The outcome of a tool call.
    Status {
        /// The call succeeded.
        Ok = "ok",
        /// The call failed; the result's text says how.
        Error = "error",
    }
}

string_enum! {
    /// The provider APIs whose messages can be written and read.
    Api {
        /// `OpenAI` Chat Completions, and compatible APIs.
        OpenAi = "openai",
        /// `OpenAI` Responses.
        Responses = "responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
    }
}

/// Everything specific to one provider API.
struct Provider {
    /// Whether user and model must alternate, with system text only before them.
    alternates: bool,
    max_call_id: usize,
    /// Whether a call id may contain this character.
    is_call_id_char: fn(u8) -> bool,
    /// Whether a user may send this media type.
    accepts_media: fn(&str) -> bool,
    read: fn(&Node<'_>, &mut Reading) -> Result<(), Fault>,
    write: fn(&[Turn<'_>], CacheMarks, &mut dyn Write) -> io::Result<()>,
}

impl Api {
    fn provider(self) -> &'static Provider {
        match self {
            Self::OpenAi => &openai::PROVIDER,
            Self::Responses => &responses::PROVIDER,
            Self::Anthropic => &anthropic::PROVIDER,
            Self::Gemini => &gemini::PROVIDER,
        }
    }
}

/// One message of a request.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Who the message is from.
    pub role: Role,
    /// The name of the participant, if it has one.
    pub name: Option<String>,
    /// The content in order; never empty.
    pub blocks: Vec<Block>,
}

/// One content block of a message.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The content.
    pub content: Content,
    /// The token count of [`Content::counted`], if it is already known; otherwise it is counted when needed.
    pub known_tokens: Option<u64>,
}

/// The content of a block.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// The model's reasoning.
    Reasoning {
        /// The text; empty if the provider hides it.
        text: String,
        /// The provider's signature, which makes the provider accept the reasoning again.
        signature: Option<Signature>,
    },
    /// A tool call by the model.
    ToolCall {
        /// Links the call to its result.
        call_id: String,
        /// The tool.
        name: Option<String>,
        /// The arguments: JSON, verbatim.
        arguments: String,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The tool.
        name: Option<String>,
        /// The outcome, if it was reported.
        status: Option<Status>,
        /// The output.
        text: String,
    },
    /// A file, an image, or a document.
    Artifact {
        /// The kind, such as `image`.
        kind: Option<String>,
        /// The path of the file.
        path: Option<String>,
        /// The programming language.
        language: Option<String>,
        /// The media type.
        media_type: Option<String>,
        /// The bytes, not encoded.
        bytes: Vec<u8>,
    },
}

/// A provider's signature of reasoning, and whether it can be sent again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The signature, verbatim.
    pub value: String,
    /// The provider that signed; if unknown, any provider is sent the signature.
    pub by: Option<Api>,
    /// The provider's own id of the reasoning.
    pub id: Option<String>,
    /// Whether the signature contains the encrypted reasoning itself.
    pub redacted: bool,
    /// Whether everything before the reasoning is unchanged, so that the signature is still valid.
    pub holds: bool,
}

impl Signature {
    /// A signature of an unknown provider.
    pub fn new(value: String) -> Self {
        Self { value, by: None, id: None, redacted: false, holds: true }
    }
}

impl Content {
    /// The bytes whose tokens are counted: the text, the arguments, or the file.
    pub fn counted(&self) -> &[u8] {
        match self {
            Self::Text(text)
            | Self::Reasoning { text, .. }
            | Self::ToolCall { arguments: text, .. }
            | Self::ToolResult { text, .. } => text.as_bytes(),
            Self::Artifact { bytes, .. } => bytes,
        }
    }

    /// The tool's name, which is sent with a call or result.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::ToolCall { name, .. } | Self::ToolResult { name, .. } => name.as_deref(),
            _ => None,
        }
    }
}

impl Message {
    /// The tokens that the message adds to a request: its content and its framing.
    pub fn cost(&self, counter: Counter) -> u64 {
        self.cost_of_first(self.blocks.len(), counter)
    }

    /// The tokens that the message adds with only the first of its blocks.
    pub(crate) fn cost_of_first(&self, blocks: usize, counter: Counter) -> u64 {
        let blocks = &self.blocks[..blocks];
        let tokens = |block: &Block| block.known_tokens.unwrap_or_else(|| counter.count(block.content.counted()));
        let names = blocks.iter().filter(|block| block.content.name().is_some()).count();
        message_cost(blocks.iter().map(tokens).sum(), self.name.is_some()) + framing::PER_NAME * names as u64
    }
}

/// Writes an array with one value per line.
fn write_lines<T: Serialize>(values: impl IntoIterator<Item = T>, out: &mut dyn Write) -> io::Result<()> {
    let mut empty = true;
    for value in values {
        out.write_all(if empty { b"[\n" } else { b",\n" })?;
        empty = false;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(if empty { b"[]" } else { b"\n]" })
}

/// Writes `{"<system_name>": system, "<messages_name>": messages}`, without the system member if there is none.
fn write_request<T: Serialize>(
    (system_name, system): (&str, Option<impl Serialize>),
    (messages_name, messages): (&str, &[T]),
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{{")?;
    if let Some(system) = system {
        write!(out, "\"{system_name}\":")?;
        serde_json::to_writer(&mut *out, &system)?;
        writeln!(out, ",")?;
    }
    write!(out, "\"{messages_name}\":")?;
    write_lines(messages, out)?;
    write!(out, "}}")
}

/// Writes messages as a request of an API. Returns what could not be sent unchanged, in message order.
///
/// Only Anthropic has cache marks.
pub(crate) fn write(
    api: Api,
    messages: &[Message],
    marks: CacheMarks,
    out: &mut impl Write,
) -> io::Result<Vec<Adjustment>> {
    let Normalized { turns, adjustments } = normalize(messages, api);
    (api.provider().write)(&turns, marks, out)?;
    Ok(adjustments)
}
