//! The item file: the form of an item in the tree of a trace.
//!
//! ```text
//! id: 0be7719d3a2f61c8
//! type: tool_io
//! role: tool
//! direction: result
//! name: grep
//! call-id: toolu_01A
//! reply-to: 81d2f0a94c55b9a0
//! revision: 2
//! tokens: 57 o200k_base 9c1185a5
//! meta: {"duration_ms":12}
//!
//! <body>
//! ```
//!
//! Header lines `key: value`, an empty line, then the bytes of the body without a final line break.
//!
//! - Absent headers are omitted. Headers that this version does not know are kept, after the known ones.
//! - A value is one line of UTF-8. [`super::schema`] refuses any other draft, so no committed value forges a header. In
//!   addition, [`render`] replaces line breaks in values.
//! - `render(parse(x))` is `x` for every file that `render` wrote.

use std::fmt::{Display, Write as _};

use memchr::memmem;
use thiserror::Error;

use super::id::ItemId;
use super::item::{BadType, Direction, Fields, Header as _, Item, ItemType, MAX_UNKNOWN_HEADERS, Role, TokenCache};

#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BadItemFile {
    #[error("no empty line ends the header")]
    NoBody,
    #[error("it has more than {MAX_UNKNOWN_HEADERS} unknown headers")]
    TooMany,
    #[error("the header is not UTF-8")]
    NotUtf8,
    #[error("header line {line} is not `key: value`")]
    NotAHeader { line: usize },
    #[error("the header `{key}` is missing")]
    Missing { key: &'static str },
    #[error("header `{key}`: {cause}")]
    BadValue { key: String, cause: String },
    #[error("it says `{key}: {value}`, unlike its name")]
    OtherName { key: &'static str, value: String },
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Item, BadItemFile> {
    let header_len = memmem::find(bytes, b"\n\n").ok_or(BadItemFile::NoBody)?;
    let header = std::str::from_utf8(&bytes[..header_len]).map_err(|_| BadItemFile::NotUtf8)?;
    let body = &bytes[header_len + 2..];

    let mut read =
        Read { fields: Fields::new(ItemType::freeform()), id: None, typed: false, revision: None, tokens: None };
    for (index, line) in header.split('\n').enumerate() {
        let (key, value) = line
            .split_once(": ")
            .or_else(|| line.strip_suffix(':').map(|key| (key, "")))
            .ok_or(BadItemFile::NotAHeader { line: index + 1 })?;
        read.header(key, value)?;
    }
    read.infer_direction();
    if !read.typed {
        return Err(BadItemFile::Missing { key: "type" });
    }
    Ok(Item {
        id: read.id.ok_or(BadItemFile::Missing { key: "id" })?,
        fields: read.fields,
        revision: read.revision.unwrap_or(1).max(1),
        // A byte makes at most one token, or three if it is not UTF-8. A larger count is false.
        tokens: read.tokens.filter(|cache| cache.count / 3 <= body.len() as u64),
        body: body.to_vec(),
    })
}

struct Read {
    fields: Fields,
    id: Option<ItemId>,
    typed: bool,
    revision: Option<u32>,
    tokens: Option<TokenCache>,
}

impl Read {
    fn header(&mut self, key: &str, value: &str) -> Result<(), BadItemFile> {
        let fields = &mut self.fields;
        let bad_value = |cause: String| BadItemFile::BadValue { key: key.to_owned(), cause };
        // A line merge may leave two headers with the same name. The second one is kept among the unknown headers.
        let fresh = match key {
            "id" if self.id.is_none() => {
                self.id.set(value).map_err(bad_value)?;
                true
            }
            "type" if !self.typed => {
                fields.item_type = value.parse().map_err(|cause: BadType| bad_value(cause.to_string()))?;
                self.typed = true;
                true
            }
            // These two are computed. A second one adds nothing, and must not be written first.
            "revision" => {
                match self.revision {
                    None => self.revision.set(value).map_err(bad_value)?,
                    Some(seen) => self.revision = Some(value.parse().map_or(seen, |other: u32| seen.max(other))),
                }
                true
            }
            "tokens" => {
                // This is a cache: an unreadable value is computed again.
                self.tokens = self.tokens.take().or_else(|| parse_tokens(value));
                true
            }
            "meta" if fields.meta.is_empty() => {
                fields.meta = serde_json::from_str(value).map_err(|cause| bad_value(cause.to_string()))?;
                true
            }
            _ => match fields.header_mut(key).filter(|header| !header.is_set()) {
                Some(header) => {
                    header.set(value).map_err(bad_value)?;
                    true
                }
                None => false,
            },
        };
        if !fresh {
            if fields.unknown.len() >= MAX_UNKNOWN_HEADERS {
                return Err(BadItemFile::TooMany);
            }
            fields.unknown.push((key.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    fn infer_direction(&mut self) {
        if self.fields.item_type.as_str() == "tool_io" && self.fields.direction.is_none() {
            self.fields.direction = match self.fields.role {
                Some(Role::Tool) => Some(Direction::Result),
                Some(Role::Assistant) => Some(Direction::Call),
                _ => None,
            };
        }
    }
}

fn parse_tokens(value: &str) -> Option<TokenCache> {
    let mut words = value.split(' ');
    let count = words.next()?.parse().ok()?;
    let counter = words.next()?.parse().ok()?;
    let digest = u32::from_str_radix(words.next().filter(|hex| hex.len() == 8)?, 16).ok()?;
    Some(TokenCache { count, counter, digest: digest.to_be_bytes() })
}

pub(crate) fn render(item: &Item) -> Vec<u8> {
    [format!("id: {}\n", item.id).as_bytes(), &render_without_id(item)].concat()
}

/// The file without its id, from which the id is derived.
pub(crate) fn render_without_id(item: &Item) -> Vec<u8> {
    let fields = &item.fields;
    let mut header = String::with_capacity(256);
    push(&mut header, "type", &fields.item_type);
    for (key, _, value) in fields.headers() {
        if let Some(value) = value.get() {
            push(&mut header, key, &value);
        }
    }
    if item.revision > 1 {
        push(&mut header, "revision", &item.revision);
    }
    if let Some(TokenCache { count, counter, digest }) = item.tokens {
        push(&mut header, "tokens", &format_args!("{count} {counter} {:08x}", u32::from_be_bytes(digest)));
    }
    if !fields.meta.is_empty() {
        push(&mut header, "meta", &serde_json::Value::Object(fields.meta.clone()));
    }
    for (key, value) in &fields.unknown {
        push(&mut header, key, value);
    }
    header.push('\n');
    [header.as_bytes(), &item.body].concat()
}

fn push(header: &mut String, key: &str, value: &dyn Display) {
    let start = header.len();
    // Writing to a String cannot fail.
    let _ = write!(header, "{key}: {value}");
    if header[start..].contains('\n') {
        let line = header.split_off(start).replace('\n', " ");
        header.push_str(&line);
    }
    header.push('\n');
}
