//! The parts of items that identify purged content.

use crate::trace::{Fields, Item};

/// The parts of an item that a purge may change, with its id.
pub(super) fn content(item: &Item) -> Vec<u8> {
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

pub(crate) fn is_same_content(one: &Item, other: &Item) -> bool {
    content(one) == content(other)
}
