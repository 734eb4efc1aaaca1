//! Items: the entries of a trace.
//!
//! An [`Item`] is the value of a file in a trace's tree; a [`Draft`] is an item to be committed. Both have the same
//! [`Fields`]. [`super::file`] describes the item file, and [`super::schema`] the fields of each type.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use thiserror::Error;

use super::id::ItemId;
use super::source::Source;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
pub use crate::message::Role;
pub(crate) use crate::message::Status;
use crate::tokens::Encoding;

/// The type of an item: a built-in type or a custom one.
///
/// The name is `[a-z][a-z0-9_]*`, at most 64 bytes; file names contain it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ItemType(Cow<'static, str>);

impl ItemType {
    /// The built-in types, in the order in which they are listed everywhere.
    pub const BUILT_IN: [&'static str; 7] =
        ["instruction", "dialogue", "tool_io", "reasoning", "artifact", "output", "freeform"];

    /// An instruction for the model, such as a system prompt.
    #[must_use]
    pub fn instruction() -> Self {
        Self(Cow::Borrowed("instruction"))
    }

    /// A message of the user, the model, or the system.
    #[must_use]
    pub fn dialogue() -> Self {
        Self(Cow::Borrowed("dialogue"))
    }

    /// A tool call or its result.
    #[must_use]
    pub fn tool_io() -> Self {
        Self(Cow::Borrowed("tool_io"))
    }

    /// The model's reasoning.
    #[must_use]
    pub fn reasoning() -> Self {
        Self(Cow::Borrowed("reasoning"))
    }

    /// A file, an image, or a document; its body may be binary.
    #[must_use]
    pub fn artifact() -> Self {
        Self(Cow::Borrowed("artifact"))
    }

    /// The final result of the work.
    #[must_use]
    pub fn output() -> Self {
        Self(Cow::Borrowed("output"))
    }

    /// Anything else.
    #[must_use]
    pub fn freeform() -> Self {
        Self(Cow::Borrowed("freeform"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is one of [`Self::BUILT_IN`].
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        Self::BUILT_IN.contains(&self.as_str())
    }
}

impl fmt::Display for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is not the name of a type.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid item type `{text}`: expected a letter a-z, then at most 63 of a-z, 0-9 and _")]
pub struct BadType {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for ItemType {
    type Err = BadType;

    fn from_str(text: &str) -> Result<Self, BadType> {
        // A trace may have ten thousand names but seven types. A `String` for each name would take a tenth of `status`.
        if let Some(known) = Self::BUILT_IN.iter().find(|known| **known == text) {
            return Ok(Self(Cow::Borrowed(known)));
        }
        let first_ok = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let rest_ok = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if first_ok && rest_ok && text.len() <= 64 {
            Ok(Self(Cow::Owned(text.to_owned())))
        } else {
            Err(BadType { text: text.to_owned() })
        }
    }
}

string_enum! {
    /// Whether a `tool_io` item is a call or a result.
    Direction {
        /// A call; the body contains the arguments as JSON.
        Call = "call",
        /// The result of a call.
        Result = "result",
    }
}

/// The maximum number of headers of an item that this version does not know. Code that walks them may take quadratic time.
pub(crate) const MAX_UNKNOWN_HEADERS: usize = 1000;

/// A token count stored in an item, with its encoding and a digest of the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenCache {
    /// Tokens of the body alone, without any framing.
    pub count: u64,
    /// The encoding that was counted with.
    pub encoding: Encoding,
    /// The first four bytes of the body's BLAKE3.
    pub digest: [u8; 4],
}

impl TokenCache {
    /// The digest of a body, which ties a stored count to it.
    #[must_use]
    pub fn digest_of(body: &[u8]) -> [u8; 4] {
        let mut digest = [0; 4];
        digest.copy_from_slice(&blake3::hash(body).as_bytes()[..4]);
        digest
    }
}

/// The headers of an item, except for its id and what git-trace computes.
///
/// In items that git-trace made, each text is one line without control characters; see the schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Fields {
    /// The type of the item.
    pub item_type: ItemType,
    /// The role; for `tool_io` it follows from the direction.
    pub role: Option<Role>,
    /// Call or result, of a `tool_io` item.
    pub direction: Option<Direction>,
    /// Name of the instruction, speaker or tool.
    pub name: Option<String>,
    /// The provider's id that ties a result to its call.
    pub call_id: Option<String>,
    /// The outcome of a call.
    pub status: Option<Status>,
    /// The provider's signature of a reasoning block, verbatim.
    pub signature: Option<String>,
    /// The kind of an artifact.
    pub kind: Option<String>,
    /// The path of an artifact.
    pub path: Option<String>,
    /// Programming language of an artifact.
    pub language: Option<String>,
    /// Media type of an artifact.
    pub media_type: Option<String>,
    /// Format of an output.
    pub format: Option<String>,
    /// The id of the provider's message that contained this block. Blocks of one message are joined again.
    pub turn: Option<String>,
    /// The item that this one replies to.
    pub reply_to: Option<ItemId>,
    /// The source of an imported item.
    pub source: Option<Source>,
    /// The time in the record of an imported item.
    pub created: Option<Time>,
    /// Open dictionary; written as compact JSON with sorted keys.
    pub meta: Map<String, Value>,
    /// Header lines that this version does not know, in their order; never dropped.
    pub unknown: Vec<(String, String)>,
}

impl Fields {
    /// Fields of a type with everything else absent.
    #[must_use]
    pub fn new(item_type: ItemType) -> Self {
        Self {
            item_type,
            role: None,
            direction: None,
            name: None,
            call_id: None,
            status: None,
            signature: None,
            kind: None,
            path: None,
            language: None,
            media_type: None,
            format: None,
            turn: None,
            reply_to: None,
            source: None,
            created: None,
            meta: Map::new(),
            unknown: Vec::new(),
        }
    }

    /// Whether this is a tool's call.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.item_type.as_str() == "tool_io" && self.direction == Some(Direction::Call)
    }

    /// Whether this is a tool's result.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.item_type.as_str() == "tool_io" && self.direction == Some(Direction::Result)
    }
}

/// An item to be committed: fields and a body.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// Its headers.
    pub fields: Fields,
    /// The content.
    pub body: Vec<u8>,
}

impl Draft {
    /// A message of the user.
    #[must_use]
    pub fn dialogue(text: impl Into<Vec<u8>>) -> Self {
        let mut fields = Fields::new(ItemType::dialogue());
        fields.role = Some(Role::User);
        Self { fields, body: text.into() }
    }
}

/// An entry of a trace, as its file contains it.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Its permanent id.
    pub id: ItemId,
    /// Its headers.
    pub fields: Fields,
    /// The number of the revision, from 1.
    pub revision: u32,
    /// The stored token count; [`Item::cached_tokens`] returns it if it is valid.
    pub tokens: Option<TokenCache>,
    /// The content, byte for byte.
    pub body: Vec<u8>,
}

impl Item {
    /// The stored count, if it belongs to this body and `encoding`.
    #[must_use]
    pub fn cached_tokens(&self, encoding: Encoding) -> Option<u64> {
        self.tokens
            .filter(|kept| kept.encoding == encoding && kept.digest == TokenCache::digest_of(&self.body))
            .map(|kept| kept.count)
    }

    /// The number of tokens in the body: the stored count if it is valid, else a new count.
    #[must_use]
    pub fn token_count(&self, encoding: Encoding) -> u64 {
        self.cached_tokens(encoding).unwrap_or_else(|| encoding.count(&self.body))
    }

    /// Counts the tokens of the body and stores the count, unless the stored count is valid.
    pub fn keep_token_count(&mut self, encoding: Encoding) {
        if self.cached_tokens(encoding).is_none() {
            let digest = TokenCache::digest_of(&self.body);
            self.tokens = Some(TokenCache { count: encoding.count(&self.body), encoding, digest });
        }
    }
}
