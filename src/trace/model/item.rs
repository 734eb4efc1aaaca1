//! Items: the entries of a trace.
//!
//! An [`Item`] is the value of a file in a trace's tree; a [`Draft`] is an item to be committed. Both have the same
//! [`Fields`]. [`super::item_file`] describes the item file, and [`super::schema`] the fields of each type.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde_json::{Map, Value};
use thiserror::Error;

use super::arguments::PATHS;
use super::id::ItemId;
use super::source::Source;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
pub use crate::message::Role;
pub(crate) use crate::message::Status;
use crate::tokens::image::{ImageRule, data_tokens, image_tokens};
use crate::tokens::{Counter, CounterId, TokenUsage, parse_usage_value};

/// The type of an item: a built-in type or a custom one.
///
/// The name is `[a-z][a-z0-9_]*`, at most 64 bytes; file names contain it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ItemType(Cow<'static, str>);

macro_rules! built_in_types {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        impl ItemType {
            /// The built-in types, in the order in which they are listed everywhere.
            pub const BUILT_IN: [&'static str; 7] = [$(stringify!($name)),+];

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name() -> Self {
                    Self(Cow::Borrowed(stringify!($name)))
                }
            )+
        }
    };
}

built_in_types! {
    /// An instruction for the model, such as a system prompt.
    instruction,
    /// A message of the user, the model, or the system.
    dialogue,
    /// A tool call or its result.
    tool_io,
    /// The model's reasoning.
    reasoning,
    /// A file, an image, or a document; its body may be binary.
    artifact,
    /// The final result of the work.
    output,
    /// Anything else.
    freeform,
}

impl ItemType {
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

impl Display for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid item type `{0}`: expected a letter a-z, then at most 63 of a-z, 0-9 and _")]
pub struct BadType(String);

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
            Err(BadType(text.to_owned()))
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

/// The number of tokens in a body, stored in the item with its counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenCache {
    pub count: u64,
    pub counter: CounterId,
    /// The first four bytes of the BLAKE3 of the body that was counted.
    pub digest: [u8; 4],
}

impl TokenCache {
    fn digest_of(body: &[u8]) -> [u8; 4] {
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

/// A header with a value of one line.
pub(crate) trait Header {
    fn get(&self) -> Option<String>;
    fn is_set(&self) -> bool;
    /// Parses and sets the value, or returns the cause of the error.
    fn set(&mut self, value: &str) -> Result<(), String>;
    fn unset(&mut self);
}

impl<T: Display + FromStr<Err: Display>> Header for Option<T> {
    fn get(&self) -> Option<String> {
        self.as_ref().map(ToString::to_string)
    }

    fn is_set(&self) -> bool {
        self.is_some()
    }

    fn set(&mut self, value: &str) -> Result<(), String> {
        *self = Some(value.parse().map_err(|cause: T::Err| cause.to_string())?);
        Ok(())
    }

    fn unset(&mut self) {
        *self = None;
    }
}

macro_rules! headers {
    ($($key:literal $json:literal $field:ident),+ $(,)?) => {
        impl Fields {
            /// Fields of a type with everything else absent.
            #[must_use]
            pub fn new(item_type: ItemType) -> Self {
                Self { item_type, $($field: None,)+ meta: Map::new(), unknown: Vec::new() }
            }

            /// The headers of one line in the order of the file: the key there, the field in JSON, and the value.
            pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str, &dyn Header)> {
                [$(($key, $json, &self.$field as &dyn Header)),+].into_iter()
            }

            /// The header with a key of the file.
            pub(crate) fn header_mut(&mut self, key: &str) -> Option<&mut dyn Header> {
                match key {
                    $($key => Some(&mut self.$field),)+
                    _ => None,
                }
            }

            /// The header with a name in JSON.
            pub(crate) fn json_mut(&mut self, field: &str) -> Option<&mut dyn Header> {
                match field {
                    $($json => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

headers! {
    "role" "role" role,
    "direction" "direction" direction,
    "name" "name" name,
    "call-id" "call_id" call_id,
    "status" "status" status,
    "signature" "signature" signature,
    "kind" "kind" kind,
    "path" "path" path,
    "language" "language" language,
    "media-type" "media_type" media_type,
    "format" "format" format,
    "turn" "turn" turn,
    "reply-to" "reply_to" reply_to,
    "source" "source" source,
    "created" "created_at" created,
}

impl Fields {
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
    /// The first revision of an item, not counted yet.
    pub(crate) fn new(id: ItemId, draft: Draft) -> Self {
        Self { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body }
    }

    /// The body, if it is text without NUL.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.body).ok().filter(|text| !text.contains('\0'))
    }

    /// Its path, or the path in the arguments of a call.
    pub(crate) fn path_or_argument(&self) -> Option<String> {
        if self.fields.path.is_some() || !self.fields.is_call() {
            return self.fields.path.clone();
        }
        let arguments: Value = serde_json::from_slice(&self.body).ok()?;
        PATHS.into_iter().find_map(|name| arguments.get(name)?.as_str().map(str::to_owned))
    }

    /// What the provider reported for the request that ended with this item. Zero is no report.
    pub(crate) fn reported_usage(&self) -> Option<TokenUsage> {
        let usage = self.fields.meta.get("usage").or_else(|| self.fields.meta.get("tokens"))?;
        parse_usage_value(usage).ok().filter(|usage| usage.context_tokens() > 0)
    }

    /// The window of the model according to the session.
    pub(crate) fn window(&self) -> Option<u64> {
        self.fields.meta.get("usage")?.get("context_window")?.as_u64()
    }

    /// The tokens of a body that is not text, such as an image. They need no stored count, and one that version 0.1 stored is that
    /// of the bytes.
    pub(crate) fn data_tokens(&self) -> Option<u64> {
        let Fields { item_type, source, media_type, .. } = &self.fields;
        let rule = || ImageRule::of_format(source.as_ref().map(Source::format));
        match item_type.as_str() {
            "artifact" | "freeform" if std::str::from_utf8(&self.body).is_err() => {
                Some(data_tokens(&self.body, rule()))
            }
            // The header of a small image may be valid text.
            "artifact" if media_type.as_deref().is_some_and(|media_type| media_type.starts_with("image/")) => {
                image_tokens(&self.body, rule())
            }
            _ => None,
        }
    }

    /// The count without reading the tokens of the body: the stored count, if it belongs to this body and `counter`, or that of
    /// data.
    #[must_use]
    pub fn cached_tokens(&self, counter: Counter) -> Option<u64> {
        self.data_tokens().or_else(|| self.stored_tokens(counter.id()))
    }

    /// Whether the stored count claims to be that of this text. Only a new count shows whether it is true.
    pub(crate) fn has_valid_cache(&self, counter: CounterId) -> bool {
        self.data_tokens().is_none() && self.stored_tokens(counter).is_some()
    }

    fn stored_tokens(&self, counter: CounterId) -> Option<u64> {
        // An item of somebody else may say anything; a token has at least a byte or so.
        let most = 4 * self.body.len() as u64 + 16;
        self.tokens
            .filter(|kept| {
                kept.counter == counter && kept.count <= most && kept.digest == TokenCache::digest_of(&self.body)
            })
            .map(|kept| kept.count)
    }

    /// The number of tokens in the body: the stored count if it is valid, else a new count.
    #[must_use]
    pub fn token_count(&self, counter: Counter) -> u64 {
        self.cached_tokens(counter).unwrap_or_else(|| counter.count(&self.body))
    }

    /// Counts the tokens of the body and stores the count, unless the stored count is valid.
    pub fn keep_token_count(&mut self, counter: Counter) {
        if self.stored_tokens(counter.id()).is_none() {
            let digest = TokenCache::digest_of(&self.body);
            self.tokens = Some(TokenCache { count: self.token_count(counter), counter: counter.id(), digest });
        }
    }
}
