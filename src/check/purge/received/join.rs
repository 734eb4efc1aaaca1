//! Joining two forms of a text from which different parts were purged.
//!
//! The text itself is unknown. Only text in both forms stays, and a marker takes the place of everything else. The result does not
//! depend on the order of the forms, so all clones make the same one. It contains nothing that either purge removed, because each of
//! its parts between markers is part of both forms.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::check::purge::content::{Target, is_blank, is_marker};
use crate::check::purge::json::{is_json, with_distinct_keys};
use crate::check::purge::verify::has_headers_of;
use crate::tokens::Counter;
use crate::trace::Item;
use crate::trace::model::source::Source;

/// The comparisons of words after which the forms are no longer aligned, so that the time stays linear.
const MOST: usize = 1_000_000;

type Meta = Map<String, Value>;

pub(super) fn join(one: &[u8], other: &[u8], marker: &str) -> Vec<u8> {
    compare(one, other, marker).0
}

/// Whether both texts may be forms of one: they differ only where a marker is.
pub(super) fn may_be_forms(one: &[u8], other: &[u8]) -> bool {
    is_blank(one) || is_blank(other) || compare(one, other, "").1
}

/// The joined text, and whether markers explain all differences.
fn compare(one: &[u8], other: &[u8], marker: &str) -> (Vec<u8>, bool) {
    let (one, other) = (words(one.min(other)), words(one.max(other)));
    let head = common(&mut one.iter().zip(&other));
    let tail = common(&mut one[head..].iter().rev().zip(other[head..].iter().rev()));
    let (from, to) = (&one[head..one.len() - tail], &other[head..other.len() - tail]);
    let aligned = align(from, to, marker);
    // A marker next to text that only one form has already says that something is missing.
    let is_marked = one[..head].last().into_iter().chain(one[one.len() - tail..].first()).any(|word| is_marker(word));
    let is_marked = is_marked && (from.is_empty() || to.is_empty());
    let middle = if is_marked { Vec::new() } else { marker.as_bytes().to_vec() };
    let is_aligned = aligned.is_some();
    ([one[..head].concat(), aligned.unwrap_or(middle), one[one.len() - tail..].concat()].concat(), is_aligned)
}

/// Joins two forms whose markers hide text of each other. `None` if they differ anywhere else.
fn align(one: &[&[u8]], other: &[&[u8]], marker: &str) -> Option<Vec<u8>> {
    let (mut one, mut other, mut joined, mut steps) = (one, other, Vec::new(), 0);
    loop {
        let same = common(&mut one.iter().zip(other));
        joined.extend(one[..same].concat());
        (one, other) = (&one[same..], &other[same..]);
        let (hiding, hidden) = match (one.first(), other.first()) {
            (None, None) => return Some(joined),
            (Some(word), _) if is_marker(word) => (&mut one, &mut other),
            (_, Some(word)) if is_marker(word) => (&mut other, &mut one),
            _ => return None,
        };
        let rest = &hiding[1..];
        let end = (0..=hidden.len()).find(|end| {
            let (is_continued, same) = is_continued(rest, &hidden[*end..]);
            steps += same + 1;
            is_continued || steps > MOST
        })?;
        if steps > MOST {
            return None;
        }
        joined.extend_from_slice(marker_of(&[&hiding[..1], &hidden[..end]].concat(), marker));
        (*hiding, *hidden) = (rest, &hidden[end..]);
    }
}

/// Whether two forms are the same up to the next marker, and how many words are.
fn is_continued(one: &[&[u8]], other: &[&[u8]]) -> (bool, usize) {
    let same = common(&mut one.iter().zip(other));
    let ends = [one.get(same), other.get(same)];
    (ends == [None, None] || ends.into_iter().flatten().any(|word| is_marker(word)), same)
}

fn common<'w>(pairs: &mut dyn Iterator<Item = (&'w &'w [u8], &'w &'w [u8])>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// The only marker in a gap, else `marker`.
fn marker_of<'m>(gap: &[&'m [u8]], marker: &'m str) -> &'m [u8] {
    let mut found = gap.iter().filter(|word| is_marker(word));
    match found.next() {
        Some(only) if found.all(|other| other == only) => only,
        _ => marker.as_bytes(),
    }
}

const MARKER: &[u8] = b"[purged: ";

/// As [`join`], for text.
pub(super) fn join_text(one: &str, other: &str, marker: &str) -> String {
    String::from_utf8_lossy(&join(one.as_bytes(), other.as_bytes(), marker)).into_owned()
}

/// Markers, words, and all other bytes.
fn words(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut words, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let marker = rest.starts_with(MARKER).then(|| memchr::memchr(b']', &rest[..rest.len().min(1000)])).flatten();
        let len = marker.map_or_else(|| rest.iter().take_while(is_word).count().max(1), |end| end + 1);
        let (word, after) = rest.split_at(len);
        words.push(word);
        rest = after;
    }
    words
}

/// JSON that is joined as text; `None` if the result is none.
fn join_json<T: Serialize + DeserializeOwned>(one: &T, other: &T, marker: &str) -> Option<T> {
    let json = join(&serde_json::to_vec(one).ok()?, &serde_json::to_vec(other).ok()?, marker);
    serde_json::from_slice(&with_distinct_keys(&json, marker)).ok()
}

/// The parts that both forms have of the values of each key. Keys that only one form has are joined, too.
fn join_meta(one: &Meta, other: &Meta, marker: &str) -> Meta {
    // A purge of the item removes all.
    if one.is_empty() || other.is_empty() {
        return Meta::new();
    }
    let both = one.iter().filter_map(|(key, value)| Some((key, value, other.get(key)?)));
    let mut joined: Meta = both
        .map(|(key, value, other)| {
            let value = match (value, other) {
                _ if value == other => value.clone(),
                (Value::String(value), Value::String(other)) => join_text(value, other, marker).into(),
                _ => join_json(value, other, marker).unwrap_or_else(|| marker.into()),
            };
            (key.clone(), value)
        })
        .collect();
    let rest = |meta: &Meta| -> Meta {
        let rest = meta.iter().filter(|(key, _)| !joined.contains_key(*key));
        rest.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let (one, other) = (rest(one), rest(other));
    if one != other {
        let marked = || Meta::from_iter([(marker.to_owned(), marker.into())]);
        for (mut key, value) in join_json(&one, &other, marker).unwrap_or_else(marked) {
            while joined.contains_key(&key) {
                key += marker;
            }
            joined.insert(key, value);
        }
    }
    joined
}

/// `None` if these are not two forms of one revision.
pub(super) fn join_items(one: &Item, other: &Item, target: &Target) -> Option<Item> {
    let marker = &target.marker;
    let mut joined = Item { body: join(&one.body, &other.body, marker), tokens: None, ..one.clone() };
    let (new, old) = (&mut joined.fields, &other.fields);
    for (text, other) in [
        (&mut new.name, &old.name),
        (&mut new.call_id, &old.call_id),
        (&mut new.signature, &old.signature),
        (&mut new.kind, &old.kind),
        (&mut new.path, &old.path),
        (&mut new.language, &old.language),
        (&mut new.media_type, &old.media_type),
        (&mut new.format, &old.format),
        (&mut new.turn, &old.turn),
    ] {
        if text != other {
            *text = text.as_ref().zip(other.as_ref()).map(|(text, other)| join_text(text, other, marker));
        }
    }
    if new.source.as_ref().map(Source::without_record) == old.source {
        new.source.clone_from(&old.source);
    }
    new.meta = join_meta(&new.meta, &old.meta, marker);
    let pairs = new.unknown.iter().zip(&old.unknown);
    if new.unknown.len() == old.unknown.len() && pairs.clone().all(|(one, other)| one.0 == other.0) {
        let joined = pairs.map(|(one, other)| (one.0.clone(), join_text(&one.1, &other.1, marker)));
        new.unknown = joined.collect();
    } else {
        new.unknown.retain(|header| old.unknown.contains(header));
    }
    if joined.body != one.body || joined.body != other.body {
        joined.fields.signature = None;
    }
    if joined.fields.is_call() {
        if is_json(&joined.body) {
            joined.body = with_distinct_keys(&joined.body, marker);
        } else {
            joined.body.clear();
            target.blank(&mut joined);
        }
    }
    let counter = one.tokens.zip(other.tokens).filter(|(one, other)| one.counter == other.counter);
    if let Some(counter) = counter.and_then(|(one, _)| Counter::find(one.counter)) {
        joined.keep_token_count(counter);
    }
    (has_headers_of(one, &joined) && has_headers_of(other, &joined)).then_some(joined)
}

#[cfg(test)]
#[path = "../../../../tests/unit/check/join.rs"]
mod tests;
