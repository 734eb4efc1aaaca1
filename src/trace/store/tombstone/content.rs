//! The parts of items that identify purged content.

use std::borrow::Cow;

use serde_json::Value;

use crate::trace::{Fields, Item};

/// In bytes. A marker is recognized up to 1,000.
pub(crate) const LONGEST_REASON: usize = 500;

/// Whether a reason can be part of what replaces a text: JSON, headers, and messages stay valid, and the marker ends at its only `]`.
pub(crate) fn is_reason(reason: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '…' | '[' | ']');
    (1..=LONGEST_REASON).contains(&reason.len()) && reason.chars().all(is_plain)
}

/// A text, and the forms in which exports may write it again: without spaces around it, and JSON without spaces, its members in order.
pub(crate) fn forms_of_text(text: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let trimmed = text.trim_ascii();
    let is_json = trimmed.starts_with(b"{") || trimmed.starts_with(b"[");
    let json = is_json.then(|| serde_json::from_slice::<Value>(trimmed).ok()).flatten();
    let json = json.map(|json| json.to_string().into_bytes()).filter(|json| json != trimmed);
    let shorter = Some(Cow::Borrowed(trimmed)).filter(|_| trimmed.len() < text.len());
    [Some(Cow::Borrowed(text)), shorter, json.map(Cow::Owned)].into_iter().flatten()
}

/// The parts of an item that a purge may change, with its id.
pub(crate) fn content(item: &Item) -> Vec<u8> {
    content_with(&item.id.to_string(), item)
}

/// As [`content`], for a copy under any id.
pub(super) fn copied_content(item: &Item) -> Vec<u8> {
    content_with("", item)
}

fn content_with(id: &str, item: &Item) -> Vec<u8> {
    let Fields { name, call_id, signature, kind, path, language, media_type, format, turn, meta, unknown, .. } =
        &item.fields;
    let headers = (name, call_id, signature, kind, path, language, media_type, format, turn);
    let headers = serde_json::to_vec(&(id, headers, meta, unknown)).unwrap_or_default();
    [&*headers, b"\n", &*item.body].concat()
}

/// An item with these parts of another one, but with its own revision, type, role, and source.
pub(crate) fn with_content_of(item: &Item, other: &Item) -> Item {
    let Fields { name, call_id, signature, kind, path, language, media_type, format, turn, meta, unknown, .. } =
        other.fields.clone();
    let own = item.fields.clone();
    let fields =
        Fields { name, call_id, signature, kind, path, language, media_type, format, turn, meta, unknown, ..own };
    Item { fields, tokens: other.tokens, body: other.body.clone(), ..*item }
}

pub(crate) fn is_same_content(one: &Item, other: &Item) -> bool {
    content(one) == content(other)
}
