//! Messages as every provider has them in some form: a role and content blocks, oldest message first.
//!
//! What a provider's own shape asks for is written from these; [`messages`] is the neutral form, [`text`] a page to read.

pub mod messages;
pub mod text;

use crate::tokens::Encoding;
use crate::tokens::framing::{self, message_cost};
use crate::words::words;

words! {
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

words! {
    /// How a tool's call went.
    Status {
        /// It did what it was asked.
        Ok = "ok",
        /// It failed; the body says how.
        Error = "error",
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
        /// The provider's signature, verbatim.
        signature: Option<String>,
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
