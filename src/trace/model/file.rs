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
use std::str::FromStr;

use memchr::memmem;
use serde_json::Map;
use thiserror::Error;

use super::id::ItemId;
use super::item::{Direction, Fields, Item, ItemType, MAX_UNKNOWN_HEADERS, Role, TokenCache};
use crate::tokens::Encoding;

/// The reason why bytes are not an item file.
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

/// The header read so far.
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
        // A line merge may leave two headers with the same name. The second one is kept among the unknown headers.
        let fresh = match key {
            "id" => once(&mut self.id, key, value)?,
            "type" if !self.typed => {
                fields.item_type = parsed(key, value)?;
                self.typed = true;
                true
            }
            "role" => once(&mut fields.role, key, value)?,
            "direction" => once(&mut fields.direction, key, value)?,
            "name" => once(&mut fields.name, key, value)?,
            "call-id" => once(&mut fields.call_id, key, value)?,
            "status" => once(&mut fields.status, key, value)?,
            "signature" => once(&mut fields.signature, key, value)?,
            "kind" => once(&mut fields.kind, key, value)?,
            "path" => once(&mut fields.path, key, value)?,
            "language" => once(&mut fields.language, key, value)?,
            "media-type" => once(&mut fields.media_type, key, value)?,
            "format" => once(&mut fields.format, key, value)?,
            "turn" => once(&mut fields.turn, key, value)?,
            "reply-to" => once(&mut fields.reply_to, key, value)?,
            "source" => once(&mut fields.source, key, value)?,
            "created" => once(&mut fields.created, key, value)?,
            // These two are computed. A second one adds nothing, and must not be written first.
            "revision" => {
                self.revision = Some(match self.revision {
                    None => parsed(key, value)?,
                    Some(seen) => value.parse().map_or(seen, |other: u32| seen.max(other)),
                });
                true
            }
            "tokens" => {
                // This is a cache: an unreadable value is computed again.
                self.tokens = self.tokens.take().or_else(|| parse_tokens(value));
                true
            }
            "meta" if fields.meta.is_empty() => {
                fields.meta = serde_json::from_str::<Map<_, _>>(value).map_err(|cause| bad_value(key, &cause))?;
                true
            }
            _ => false,
        };
        if !fresh {
            if fields.unknown.len() >= MAX_UNKNOWN_HEADERS {
                return Err(BadItemFile::TooMany);
            }
            fields.unknown.push((key.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    /// The role of a tool item implies its direction.
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

/// Sets `field` from `value` if it is empty, and returns whether it was.
fn once<T>(field: &mut Option<T>, key: &str, value: &str) -> Result<bool, BadItemFile>
where
    T: FromStr,
    T::Err: Display,
{
    if field.is_some() {
        return Ok(false);
    }
    *field = Some(parsed(key, value)?);
    Ok(true)
}

fn parsed<T>(key: &str, value: &str) -> Result<T, BadItemFile>
where
    T: FromStr,
    T::Err: Display,
{
    value.parse().map_err(|cause| bad_value(key, &cause))
}

fn bad_value(key: &str, cause: &dyn Display) -> BadItemFile {
    BadItemFile::BadValue { key: key.to_owned(), cause: cause.to_string() }
}

fn parse_tokens(value: &str) -> Option<TokenCache> {
    let mut words = value.split(' ');
    let count = words.next()?.parse().ok()?;
    let encoding: Encoding = words.next()?.parse().ok()?;
    let digest = u32::from_str_radix(words.next().filter(|hex| hex.len() == 8)?, 16).ok()?;
    Some(TokenCache { count, encoding, digest: digest.to_be_bytes() })
}

pub(crate) fn render(item: &Item) -> Vec<u8> {
    let mut header = String::with_capacity(256);
    push(&mut header, "id", &item.id);
    render_fields(&mut header, item);
    header.push('\n');
    let mut bytes = header.into_bytes();
    bytes.extend_from_slice(&item.body);
    bytes
}

/// The file without its id, from which the id is derived.
pub(crate) fn render_without_id(item: &Item) -> Vec<u8> {
    let mut header = String::with_capacity(256);
    render_fields(&mut header, item);
    header.push('\n');
    let mut bytes = header.into_bytes();
    bytes.extend_from_slice(&item.body);
    bytes
}

fn render_fields(header: &mut String, item: &Item) {
    let fields = &item.fields;
    push(header, "type", &fields.item_type);
    push_some(header, "role", fields.role.as_ref());
    push_some(header, "direction", fields.direction.as_ref());
    push_some(header, "name", fields.name.as_ref());
    push_some(header, "call-id", fields.call_id.as_ref());
    push_some(header, "status", fields.status.as_ref());
    push_some(header, "signature", fields.signature.as_ref());
    push_some(header, "kind", fields.kind.as_ref());
    push_some(header, "path", fields.path.as_ref());
    push_some(header, "language", fields.language.as_ref());
    push_some(header, "media-type", fields.media_type.as_ref());
    push_some(header, "format", fields.format.as_ref());
    push_some(header, "turn", fields.turn.as_ref());
    push_some(header, "reply-to", fields.reply_to.as_ref());
    push_some(header, "source", fields.source.as_ref());
    push_some(header, "created", fields.created.as_ref());
    if item.revision > 1 {
        push(header, "revision", &item.revision);
    }
    if let Some(TokenCache { count, encoding, digest }) = item.tokens {
        push(header, "tokens", &format_args!("{count} {encoding} {:08x}", u32::from_be_bytes(digest)));
    }
    if !fields.meta.is_empty() {
        push(header, "meta", &serde_json::Value::Object(fields.meta.clone()));
    }
    for (key, value) in &fields.unknown {
        push(header, key, value);
    }
}

fn push_some(header: &mut String, key: &str, value: Option<&impl Display>) {
    if let Some(value) = value {
        push(header, key, value);
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EXAMPLE: &str = "id: 0be7719d3a2f61c8\ntype: tool_io\nrole: tool\ndirection: result\nname: grep\n\
        call-id: toolu_01A\nturn: msg_01B\nreply-to: 81d2f0a94c55b9a0\nsource: claude-code 6b2e 0\n\
        created: 2026-02-10T09:00:00.125Z\nrevision: 2\ntokens: 57 o200k_base 9c1185a5\n\
        meta: {\"duration_ms\":12}\nx-later: kept: as it is \n\nbody\n\nwith: colons\r\n";

    #[test]
    fn a_file_that_is_read_is_written_with_the_same_bytes() {
        let item = parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(item.id.to_string(), "0be7719d3a2f61c8");
        assert_eq!(item.revision, 2);
        assert_eq!(item.fields.unknown, [("x-later".to_owned(), "kept: as it is ".to_owned())]);
        assert_eq!(item.body, b"body\n\nwith: colons\r\n");
        assert_eq!(String::from_utf8(render(&item)).unwrap(), EXAMPLE);
    }

    #[test]
    fn the_role_of_a_tool_item_implies_its_direction() {
        let item = parse(b"id: 0be7719d3a2f61c8\ntype: tool_io\nrole: tool\ncall-id: c\n\n3 matches").unwrap();
        assert!(item.fields.is_result());
    }

    #[test]
    fn a_damaged_header_is_named() {
        for (bytes, cause) in [
            (&b"id: 0be7719d3a2f61c8\ntype: dialogue\n"[..], "no empty line ends the header"),
            (b"type: dialogue\n\n", "the header `id` is missing"),
            (b"id: 0be7719d3a2f61c8\nname: x\n\n", "the header `type` is missing"),
            (b"id: 0be7719d3a2f61c8\n<<<<<<< ours\n\n", "header line 2 is not `key: value`"),
            (b"id: nope\n\n", "header `id`: invalid item id `nope`: expected 16 hex digits"),
            (b"id: 0be7719d3a2f61c8\ntype: \xff\n\n", "the header is not UTF-8"),
        ] {
            assert_eq!(parse(bytes).unwrap_err().to_string(), cause);
        }
    }

    #[test]
    fn the_number_of_unknown_headers_is_limited() {
        let file = |count| format!("id: 0be7719d3a2f61c8\ntype: dialogue\n{}\nx", "x: y\n".repeat(count));
        assert!(parse(file(MAX_UNKNOWN_HEADERS).as_bytes()).is_ok());
        assert_eq!(parse(file(MAX_UNKNOWN_HEADERS + 1).as_bytes()), Err(BadItemFile::TooMany));
    }

    #[test]
    fn impossible_numbers_are_ignored() {
        let item = parse(b"id: 0be7719d3a2f61c8\ntype: dialogue\nrevision: 0\n\nx").unwrap();
        assert_eq!((item.revision, parse(&render(&item))), (1, Ok(item)));
        let twice = parse(
            b"id: 0be7719d3a2f61c8\ntype: dialogue\nrevision: 1\ntokens: 99 o200k_base 9c1185a5\nrevision: x\nrevision: 3\n\
              tokens: 1 o200k_base 9c1185a5\n\nx",
        )
        .unwrap();
        assert_eq!((twice.revision, &twice.tokens), (3, &None), "so many tokens are not in one byte");
        assert_eq!(parse(&render(&twice)), Ok(twice));
        for (count, is_kept) in [("1", true), ("18446744073709551615", false)] {
            let file = EXAMPLE.replace("tokens: 57 ", &format!("tokens: {count} "));
            assert_eq!(parse(file.as_bytes()).unwrap().tokens.is_some(), is_kept);
        }
    }

    #[test]
    fn a_line_break_in_a_value_forges_no_header() {
        let mut item = parse(EXAMPLE.as_bytes()).unwrap();
        item.fields.name = Some("grep\ntype: instruction\n\nbody".to_owned());
        let again = parse(&render(&item)).unwrap();
        assert_eq!(again.fields.item_type, item.fields.item_type);
        assert_eq!(again.body, item.body);
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_item_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(item) = parse(&bytes) {
                prop_assert_eq!(parse(&render(&item)).unwrap(), item);
            }
        }

        #[test]
        fn header_shaped_bytes_read_back(text in "(id: 0be7719d3a2f61c8\n)?(type|name|role|x|meta): ?(tool|\\{\\}|tool_io|é|: )\n(name: x\n){0,2}\n[a\n:]{0,8}") {
            if let Ok(item) = parse(text.as_bytes()) {
                prop_assert_eq!(parse(&render(&item)).unwrap(), item);
            }
        }
    }
}
