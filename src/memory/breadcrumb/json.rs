//! The JSON of a line: its depth, its members, and one spelling for each value.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::base::members;

/// How deep a line may nest, including its own braces. `serde_json` and other readers accept no more.
pub(crate) const MAX_DEPTH: usize = 127;

/// A string that borrows if it contains no escapes.
#[derive(serde::Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The members of an object in order, including repeated names.
pub(crate) type Members<'a> = members::Members<Text<'a>, &'a RawValue>;

pub(crate) fn depth(json: &str) -> usize {
    if !json.starts_with(['{', '[']) {
        return 0;
    }
    let (mut deepest, mut level) = (0_usize, 0_usize);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                level += 1;
                deepest = deepest.max(level);
            }
            b'}' | b']' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A JSON text with members sorted by name, one spelling of strings, and no spaces; unchanged if it does not parse.
pub(crate) fn canonical_json(text: &str) -> String {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let canonical = match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).ok().map(|text: String| json(&text)),
        Some(b'[') => serde_json::from_str(text).ok().map(|items: Vec<&RawValue>| {
            let items: Vec<_> = items.into_iter().map(|item| canonical_json(item.get())).collect();
            format!("[{}]", items.join(","))
        }),
        Some(b'{') => serde_json::from_str(text).ok().map(|members::Members(members): Members<'_>| {
            join_members(members.iter().map(|(name, raw)| (name.0.as_ref(), canonical_json(raw.get()))).collect())
        }),
        _ => None,
    };
    canonical.unwrap_or_else(|| text.to_owned())
}

pub(crate) fn join_members(mut members: Vec<(&str, String)>) -> String {
    // The sort is stable: if a name occurs twice, the order of its values is part of the meaning.
    members.sort_by(|a, b| a.0.cmp(b.0));
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("{}:{value}", json(name))).collect();
    format!("{{{}}}", members.join(","))
}

pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("strings, numbers, and objects of them serialize")
}
