//! Replacing text in JSON so that it stays JSON, with the same bytes elsewhere.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Replaces text in each key and value. A number with a match becomes `marker`. `None` if nothing is replaced.
pub(super) fn replaced(json: &[u8], replace: &dyn Fn(&[u8]) -> Option<Vec<u8>>, marker: &str) -> Option<Vec<u8>> {
    let (mut changed, mut kept) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(token) = next_token(json, at) {
        at = token.end;
        if let Some(new) = new_token(&json[token.clone()], replace, marker) {
            changed.extend_from_slice(&json[kept..token.start]);
            changed.extend(new);
            kept = token.end;
        }
    }
    changed.extend_from_slice(&json[kept..]);
    (kept > 0).then_some(changed)
}

/// `json` in which each key with a marker differs from the keys before it in its object: `marker` is added to an equal one.
pub(super) fn with_distinct_keys(json: &[u8], marker: &str) -> Vec<u8> {
    let (mut changed, mut objects, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(token) = next_token(json, at) {
        let between = &json[at..token.start];
        for byte in between {
            match byte {
                b'{' => objects.push(HashSet::new()),
                b'}' => drop(objects.pop()),
                _ => {}
            }
        }
        changed.extend_from_slice(between);
        at = token.end;
        let mut key = json[token].to_vec();
        if let Some(keys) = objects.last_mut().filter(|_| json[at..].trim_ascii_start().starts_with(b":")) {
            let is_marked = memmem::find(&decoded(&key), b"[purged: ").is_some();
            while !keys.insert(decoded(&key)) && is_marked {
                key.truncate(key.len() - 1);
                key.extend([marker.as_bytes(), b"\""].concat());
            }
        }
        changed.extend(key);
    }
    changed.extend_from_slice(&json[at..]);
    changed
}

/// A string as a parser reads it: escapes are optional.
fn decoded(string: &[u8]) -> Vec<u8> {
    serde_json::from_slice(string).map_or_else(|_| string.to_owned(), String::into_bytes)
}

/// The next string, number, or word.
fn next_token(json: &[u8], at: usize) -> Option<Range<usize>> {
    let is_between = |byte: u8| byte.is_ascii_whitespace() || b"{}[],:".contains(&byte);
    let start = at + json[at..].iter().position(|byte| !is_between(*byte))?;
    let mut end = start + 1;
    if json[start] == b'"' {
        while json.get(end).is_some_and(|byte| *byte != b'"') {
            end += if json[end] == b'\\' { 2 } else { 1 };
        }
        end += 1;
    } else {
        end += json[end..].iter().take_while(|byte| !is_between(**byte)).count();
    }
    Some(start..end.min(json.len()))
}

fn new_token(token: &[u8], replace: &dyn Fn(&[u8]) -> Option<Vec<u8>>, marker: &str) -> Option<Vec<u8>> {
    let quoted = |text: &[u8]| [b"\"", text, b"\""].concat();
    let Some(inner) = token.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return replace(token).map(|_| quoted(marker.as_bytes()));
    };
    let new = quoted(&replace(inner)?);
    if is_json(&new) {
        return Some(new);
    }
    // The match ends within an escape.
    let text: String = serde_json::from_slice(token).unwrap_or_default();
    let new = replace(text.as_bytes()).map_or_else(|| marker.into(), |new| String::from_utf8_lossy(&new).into_owned());
    Some(Value::from(new).to_string().into_bytes())
}
