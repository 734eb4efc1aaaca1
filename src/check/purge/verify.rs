//! Whether an object is another one without what was purged. A remote may name anything as a replacement.
//!
//! The purged text is unknown here. So an object is accepted if it only lacks parts of the other one, with markers in their place.
//! A revision that no purge has seen may also have the content of such an object of its item.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use super::needle::Needle;
use super::rewrite::read_item;
use crate::git::{Mode, Oid, Repo, TreeStore as _};
use crate::trace::model::source::Source;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::tombstone::{Fate, Tombstones, is_marked, is_same_content};
use crate::trace::{Fields, Item, ItemId, TraceError};

/// The characters of base64 next to a marker that depend on it.
const SHARED: usize = 8;

pub(super) struct Verifier<'r> {
    repo: &'r Repo,
    tombstones: &'r Tombstones,
    trees: HashMap<(Oid, Oid), bool>,
    /// The forms of markers, by reason.
    markers: HashMap<String, Needle>,
    /// The replacements that were accepted, by item.
    accepted: HashMap<ItemId, Vec<Item>>,
}

impl<'r> Verifier<'r> {
    pub(super) fn new(repo: &'r Repo, tombstones: &'r Tombstones) -> Self {
        Self { repo, tombstones, trees: HashMap::new(), markers: HashMap::new(), accepted: HashMap::new() }
    }

    /// Whether `new` has the author, dates, operation, and item of `old`, the replacements of its parents, and its files, apart from
    /// purged ones. `commits` are known replacements.
    pub(super) fn is_commit(&mut self, old: Oid, new: Oid, commits: &HashMap<Oid, Oid>) -> Result<bool, TraceError> {
        let (before, after) = (self.repo.read_raw_commit(old)?, self.repo.read_raw_commit(new)?);
        let parents: Option<Vec<Oid>> = before.parents.iter().map(|parent| commits.get(parent).copied()).collect();
        let fixed = |message: &[u8]| {
            let Trailers { op, item, time, next, code, .. } = Trailers::parse(&String::from_utf8_lossy(message));
            (op, item, time, next, code)
        };
        // Where a shallow history ends, the parents and their replacements are unknown.
        let has_parents = parents.as_ref() == Some(&after.parents) || self.repo.shallow_commits()?.contains(&old);
        let is_same = after.has_headers_of(&before) && has_parents && fixed(&before.message) == fixed(&after.message);
        Ok(is_same && self.is_tree(before.tree, after.tree)?)
    }

    fn is_tree(&mut self, old: Oid, new: Oid) -> Result<bool, TraceError> {
        if old == new {
            return Ok(true);
        }
        if let Some(known) = self.trees.get(&(old, new)) {
            return Ok(*known);
        }
        let (before, after) = (self.repo.read_tree(old)?, self.repo.read_tree(new)?);
        let mut is_same = before.len() == after.len();
        for (old, new) in before.iter().zip(&after) {
            is_same = is_same
                && old.name == new.name
                && old.mode() == new.mode()
                && match old.mode() {
                    _ if old.oid == new.oid => true,
                    Mode::Folder => self.is_tree(old.oid, new.oid)?,
                    Mode::File | Mode::Other => self.is_replaced_file(old.oid, new.oid)?,
                };
        }
        self.trees.insert((old, new), is_same);
        Ok(is_same)
    }

    fn is_replaced_file(&mut self, old: Oid, new: Oid) -> Result<bool, TraceError> {
        match self.tombstones.fate(self.repo, old, &|oid| self.repo.read_blob(oid).is_ok()) {
            Fate::Replaced(found) if found == new => self.is_file(old, new),
            _ => Ok(false),
        }
    }

    pub(super) fn is_file(&mut self, old: Oid, new: Oid) -> Result<bool, TraceError> {
        // For a damaged file, which has no readable id.
        let any: ItemId = "0000000000000000".parse().expect("16 digits are an id");
        let (before, after) = (read_item(any, &self.repo.read_blob(old)?), read_item(any, &self.repo.read_blob(new)?));
        let mut reasons = self.tombstones.reasons(self.repo, old);
        // What two purges left of an item is joined.
        reasons.extend(self.tombstones.reasons_of_id(before.id));
        if has_headers_of(&before, &after) && (before.body == after.body || self.is_text(&reasons, &before, &after)) {
            self.accepted.entry(after.id).or_default().push(after);
            return Ok(true);
        }
        let parts = |item: &Item| (item.id, item.revision, item.fields.item_type.clone());
        let accepted = self.accepted.get(&after.id);
        let is_accepted = accepted.is_some_and(|known| known.iter().any(|known| is_same_content(known, &after)));
        Ok(parts(&before) == parts(&after) && is_accepted)
    }

    /// Whether a body consists of parts of another one, in order, with markers between them.
    fn is_text(&mut self, reasons: &BTreeSet<&str>, before: &Item, after: &Item) -> bool {
        let (mut spans, mut plain) = (Vec::new(), HashSet::new());
        for reason in reasons {
            let marker = format!("[purged: {reason}]").into_bytes();
            if after.body == marker || after.body == [b"{\"purged\":\"", &*marker, b"\"}"].concat() {
                return true;
            }
            let new = || Needle::new(Some(&marker), None);
            spans.extend(self.markers.entry((*reason).to_owned()).or_insert_with(new).literal_spans(&after.body));
            plain.insert(marker);
        }
        spans.sort_by_key(|span| (span.start, Reverse(span.end)));
        spans.dedup_by(|next, last| next.start < last.end);
        if before.fields.is_call() {
            // A marker in place of a number has quotes.
            for span in &mut spans {
                *span = with_quotes(&after.body, span);
            }
        }
        let is_coded = |span: &Range<usize>| {
            let text = &after.body[span.clone()];
            let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            !plain.contains(inner.unwrap_or(text))
        };
        let (mut rest, mut last) = (&*before.body, None::<&Range<usize>>);
        for next in spans.iter().map(Some).chain([None]) {
            let part = &after.body[last.map_or(0, |span| span.end)..next.map_or(after.body.len(), |span| span.start)];
            let shared =
                |span: Option<&Range<usize>>| if span.is_some_and(is_coded) { SHARED.min(part.len()) } else { 0 };
            let start = shared(last);
            let part = &part[start..(part.len() - shared(next)).max(start)];
            let found = match (last, next) {
                (None, None) => None,
                (None, Some(_)) => rest.starts_with(part).then_some(0),
                (Some(_), Some(_)) => memmem::find(rest, part),
                (Some(_), None) => rest.ends_with(part).then(|| rest.len() - part.len()),
            };
            let Some(found) = found else { return false };
            rest = &rest[found + part.len()..];
            last = next;
        }
        true
    }
}

/// A span with the quotes directly before and after it, if there are both.
fn with_quotes(bytes: &[u8], span: &Range<usize>) -> Range<usize> {
    let is_quoted = bytes[..span.start].ends_with(b"\"") && bytes[span.end..].starts_with(b"\"");
    if is_quoted { span.start - 1..span.end + 1 } else { span.clone() }
}

/// Whether an item has the headers of another one, or fewer, or such with markers.
pub(super) fn has_headers_of(before: &Item, after: &Item) -> bool {
    let (old, new) = (&before.fields, &after.fields);
    let texts = |fields: &Fields| {
        let Fields { name, call_id, signature, kind, path, language, media_type, format, turn, .. } = fields.clone();
        [name, call_id, signature, kind, path, language, media_type, format, turn]
    };
    // All others are compared.
    let without = |item: &Item| {
        let mut item = Item { body: Vec::new(), tokens: None, ..item.clone() };
        let fields = &mut item.fields;
        (fields.name, fields.call_id, fields.signature, fields.kind) = (None, None, None, None);
        (fields.path, fields.language, fields.media_type) = (None, None, None);
        (fields.format, fields.turn) = (None, None);
        fields.source = None;
        fields.meta.clear();
        fields.unknown.clear();
        item
    };
    let is_source = old.source == new.source || old.source.as_ref().map(Source::without_record) == new.source;
    without(before) == without(after)
        && is_source
        && texts(old).iter().zip(&texts(new)).all(|(old, new)| old == new || new.as_deref().is_none_or(is_marked))
        && new
            .meta
            .iter()
            .all(|(key, value)| old.meta.get(key) == Some(value) || is_marked(key) || is_marked(&value.to_string()))
        && new.unknown.iter().all(|header| old.unknown.contains(header) || is_marked(&header.0) || is_marked(&header.1))
}
