//! Items: the entries of a trace, as values.
//!
//! An [`Item`] is what a file in a trace's tree holds; a [`Draft`] is what somebody wants recorded. Both carry the same
//! [`Fields`]. How an item looks on disk is in [`super::file`], what each type asks of its fields in [`super::schema`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use thiserror::Error;

use super::id::ItemId;
use super::source::Source;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
pub use crate::message::{Role, Status};
use crate::tokens::Encoding;

/// Says what an item is by nature: one of the built-in types, or a custom one.
///
/// The name is `[a-z][a-z0-9_]*`, at most 64 bytes; it stands in file names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ItemType(Cow<'static, str>);

impl ItemType {
    /// The built-in types, in the order in which they are listed everywhere.
    pub const BUILT_IN: [&'static str; 7] =
        ["instruction", "dialogue", "tool_io", "reasoning", "artifact", "output", "freeform"];

    /// What the model is told to be and do.
    #[must_use]
    pub fn instruction() -> Self {
        Self(Cow::Borrowed("instruction"))
    }

    /// What a person, the model or the system says.
    #[must_use]
    pub fn dialogue() -> Self {
        Self(Cow::Borrowed("dialogue"))
    }

    /// A call of a tool, or its result.
    #[must_use]
    pub fn tool_io() -> Self {
        Self(Cow::Borrowed("tool_io"))
    }

    /// What the model thought.
    #[must_use]
    pub fn reasoning() -> Self {
        Self(Cow::Borrowed("reasoning"))
    }

    /// A file, an image, a document; its body may be binary.
    #[must_use]
    pub fn artifact() -> Self {
        Self(Cow::Borrowed("artifact"))
    }

    /// What the work produced in the end.
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

/// Why a text is not the name of a type.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not the name of a type: a letter a-z and then a-z, 0-9 and _ are, 64 at most")]
pub struct BadType {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for ItemType {
    type Err = BadType;

    fn from_str(text: &str) -> Result<Self, BadType> {
        // A trace has ten thousand names and seven types; a text for each name would cost a tenth of `status`.
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
    /// Which half of a tool's use an item is.
    Direction {
        /// The model calls; the body is the arguments as JSON.
        Call = "call",
        /// The tool answers.
        Result = "result",
    }
}

/// The most headers of its own that an item has, beside those that this version knows; what walks them may look at each
/// for each.
pub(crate) const MAX_UNKNOWN_HEADERS: usize = 1000;

/// A token count kept in an item: what was counted, by which encoding, of which body.
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
    /// The digest that a count of `body` is kept under.
    #[must_use]
    pub fn digest_of(body: &[u8]) -> [u8; 4] {
        let mut digest = [0; 4];
        digest.copy_from_slice(&blake3::hash(body).as_bytes()[..4]);
        digest
    }
}

/// Everything that is said of an item beside its body, its id and what the tool keeps about it.
///
/// Texts are one line each, without control characters, where they were made by us; see [`super::schema`].
#[derive(Clone, PartialEq, Debug)]
pub struct Fields {
    /// What the item is by nature.
    pub item_type: ItemType,
    /// Who speaks; for `tool_io` it follows the direction.
    pub role: Option<Role>,
    /// Which half of a tool's use.
    pub direction: Option<Direction>,
    /// Name of the instruction, speaker or tool.
    pub name: Option<String>,
    /// The provider's id that ties a result to its call.
    pub call_id: Option<String>,
    /// How a call went.
    pub status: Option<Status>,
    /// The provider's signature of a reasoning block, verbatim.
    pub signature: Option<String>,
    /// What sort of artifact.
    pub kind: Option<String>,
    /// Where an artifact lives.
    pub path: Option<String>,
    /// Programming language of an artifact.
    pub language: Option<String>,
    /// Media type of an artifact.
    pub media_type: Option<String>,
    /// Format of an output.
    pub format: Option<String>,
    /// The provider message this block came in; blocks of one turn are put back together.
    pub turn: Option<String>,
    /// The item this one answers.
    pub reply_to: Option<ItemId>,
    /// Where an imported item came from.
    pub source: Option<Source>,
    /// The record's own time, of an imported item.
    pub created: Option<Time>,
    /// Open dictionary; written as compact JSON with sorted keys.
    pub meta: Map<String, Value>,
    /// Header lines that this version does not know, in the order found; kept for ever.
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

/// What somebody wants recorded: fields and a body, not yet an item.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// What is said of it.
    pub fields: Fields,
    /// The content, byte for byte.
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

/// One entry of a trace, as its file holds it.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Its lasting id.
    pub id: ItemId,
    /// What is said of it.
    pub fields: Fields,
    /// How often the content was replaced, plus one.
    pub revision: u32,
    /// The kept token count; whether it still holds is for [`Item::cached_tokens`] to say.
    pub tokens: Option<TokenCache>,
    /// The content, byte for byte.
    pub body: Vec<u8>,
}

impl Item {
    /// The kept count, if it is of this very body and in `encoding`.
    #[must_use]
    pub fn cached_tokens(&self, encoding: Encoding) -> Option<u64> {
        self.tokens
            .filter(|kept| kept.encoding == encoding && kept.digest == TokenCache::digest_of(&self.body))
            .map(|kept| kept.count)
    }

    /// Tokens of the body: the kept count where it still holds, else counted.
    #[must_use]
    pub fn token_count(&self, encoding: Encoding) -> u64 {
        self.cached_tokens(encoding).unwrap_or_else(|| encoding.count(&self.body))
    }

    /// Counts the body and keeps the count, unless the kept one holds.
    pub fn keep_token_count(&mut self, encoding: Encoding) {
        if self.cached_tokens(encoding).is_none() {
            let digest = TokenCache::digest_of(&self.body);
            self.tokens = Some(TokenCache { count: encoding.count(&self.body), encoding, digest });
        }
    }
}
