//! Whether an object is another one without what was purged. A remote may name anything as a replacement.
//!
//! The purged text is unknown here. So an object is accepted if it only lacks parts of the other one, with markers in their place.
//! A revision that no purge has seen may also have the content of such an object of its item, if that has a marker.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use memchr::memmem;

use super::kept::KEPT;
use super::needle::Needle;
use super::rewrite::read_item;
use crate::git::{BACKUP_REFS, Mode, Oid, Repo, TreeStore as _};
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTES, TRACES};
use crate::trace::model::source::Source;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::tombstone::{Fate, Tombstones, content, is_marked, with_content_of};
use crate::trace::store::walk::changes_of;
use crate::trace::{Fields, Item, ItemEntry, ItemId, Tip, TraceError};

/// The characters of base64 next to a marker that depend on it.
const SHARED: usize = 8;

pub(super) struct Verifier<'r> {
    repo: &'r Repo,
    tombstones: &'r Tombstones,
    trees: HashMap<(Oid, Oid), bool>,
    /// The forms of markers, by reason.
    markers: HashMap<String, Needle>,
    /// Whether a file is another one without what was purged.
    files: HashMap<(Oid, Oid), bool>,
    /// The digests of what purges left of items, without the number of the revision, once they are needed.
    left: Option<HashSet<blake3::Hash>>,
    pub(super) histories: Histories,
}

/// The files of purged items in all histories, and whether one of this repository has them. They are read once, if they are needed.
#[derive(Clone, Default)]
pub(super) struct Histories(Rc<OnceCell<HashMap<Oid, bool>>>);

impl Histories {
    fn files(&self, repo: &Repo, tombstones: &Tombstones) -> Result<&HashMap<Oid, bool>, TraceError> {
        if let Some(files) = self.0.get() {
            return Ok(files);
        }
        let (mut files, mut seen) = (HashMap::new(), HashSet::new());
        // A remote may have its own idea of what a purge left.
        for prefix in [TRACES, FORWARD_CRUMBS, BACKUP_REFS, KEPT, REMOTES] {
            let mut commits: Vec<Oid> = repo.list_refs(prefix)?.into_iter().map(|(_, tip)| tip).collect();
            while let Some(oid) = commits.pop() {
                // `fsck` reports damage.
                let Some(tip) = Some(oid).filter(|oid| seen.insert(*oid)).and_then(|oid| Tip::read(repo, oid).ok())
                else {
                    continue;
                };
                for entry in files_of_purged(repo, tombstones, &tip).unwrap_or_default() {
                    files.entry(entry.blob).or_insert(prefix != REMOTES);
                }
                commits.extend(&tip.commit.parents);
            }
        }
        Ok(self.0.get_or_init(|| files))
    }
}

/// The files that a commit changed, of items that were purged.
pub(super) fn files_of_purged(
    repo: &Repo,
    tombstones: &Tombstones,
    commit: &Tip,
) -> Result<Vec<ItemEntry>, TraceError> {
    let changes = changes_of(repo, commit)?;
    let files = changes.iter().filter_map(|change| change.sides().1);
    Ok(files.filter(|file| tombstones.of_id(file.id).is_some()).cloned().collect())
}

impl<'r> Verifier<'r> {
    pub(super) fn new(repo: &'r Repo, tombstones: &'r Tombstones) -> Self {
        Self {
            repo,
            tombstones,
            trees: HashMap::new(),
            markers: HashMap::new(),
            files: HashMap::new(),
            left: None,
            histories: Histories::default(),
        }
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
        if let Some(known) = self.files.get(&(old, new)) {
            return Ok(*known);
        }
        let (before, after) = (self.item(old)?, self.item(new)?);
        let is_edit = || {
            let mut wanted = with_content_of(&before, &after);
            wanted.fields.source.clone_from(&after.fields.source);
            wanted == after && has_source_of(&before, &after) && is_marked(&String::from_utf8_lossy(&content(&after)))
        };
        let is_file = self.lacks_parts(old, &before, &after)
            || (is_edit() && self.left_by_purges()?.contains(&blake3::hash(&content(&after))));
        self.files.insert((old, new), is_file);
        Ok(is_file)
    }

    fn item(&self, file: Oid) -> Result<Item, TraceError> {
        // For a damaged file, which has no readable id.
        let any: ItemId = "0000000000000000".parse().expect("16 digits are an id");
        Ok(read_item(any, &self.repo.read_blob(file)?))
    }

    /// What purges left of items in the histories that are here.
    fn left_by_purges(&mut self) -> Result<&HashSet<blake3::Hash>, TraceError> {
        if self.left.is_none() {
            let (repo, tombstones, mut left) = (self.repo, self.tombstones, HashSet::new());
            let histories = self.histories.clone();
            for (file, is_ours) in histories.files(repo, tombstones)? {
                let Ok(item) = self.item(*file) else { continue };
                match tombstones.fate(repo, *file, &|oid| repo.read_blob(oid).is_ok()) {
                    Fate::Kept if *is_ours && tombstones.is_left_here(&item) => {
                        left.insert(blake3::hash(&content(&item)));
                    }
                    Fate::Replaced(new) => {
                        let new = self.item(new)?;
                        if self.lacks_parts(*file, &item, &new) {
                            left.insert(blake3::hash(&content(&new)));
                        }
                    }
                    _ => {}
                }
            }
            self.left = Some(left);
        }
        Ok(self.left.get_or_insert_default())
    }

    /// Whether an item has the headers of another one, and parts of its text.
    fn lacks_parts(&mut self, old: Oid, before: &Item, after: &Item) -> bool {
        let mut reasons = self.tombstones.reasons(self.repo, old);
        // What two purges left of an item is joined.
        reasons.extend(self.tombstones.reasons_of_id(before.id));
        has_headers_of(before, after) && (before.body == after.body || self.is_text(&reasons, before, after))
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

/// Whether an item has the source of another one, possibly without the digest of its record.
fn has_source_of(before: &Item, after: &Item) -> bool {
    let (old, new) = (&before.fields.source, &after.fields.source);
    old == new || old.as_ref().map(Source::without_record) == *new
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
    without(before) == without(after)
        && has_source_of(before, after)
        && texts(old).iter().zip(&texts(new)).all(|(old, new)| old == new || new.as_deref().is_none_or(is_marked))
        && new
            .meta
            .iter()
            .all(|(key, value)| old.meta.get(key) == Some(value) || is_marked(key) || is_marked(&value.to_string()))
        && new.unknown.iter().all(|header| old.unknown.contains(header) || is_marked(&header.0) || is_marked(&header.1))
}
