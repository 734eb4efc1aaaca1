//! What must not come back after a purge.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use memchr::memmem;

use super::{Rewriter, read_item};
use crate::git::Oid;
use crate::trace::store::tombstone::{Removed, SHORTEST_COPY, Tombstones, forms_of_text, is_same_content};
use crate::trace::{Item, ItemId};

impl Rewriter<'_> {
    /// An export has the reasons and subjects, and an import of it must not bring the text back. Other items may have the same words
    /// without it.
    pub(super) fn forget_words(&mut self, text: &str) {
        if self.target.needle.is_in(text.as_bytes()) {
            self.changed_lines.insert(text.to_owned());
        }
    }

    /// Those texts of purged items that other items have too. They stay there, so they are not refused.
    fn repeated(&self, bodies: &HashSet<Vec<u8>>) -> HashSet<Vec<u8>> {
        let mut same = HashSet::new();
        if !bodies.is_empty() && !self.target.items.is_empty() {
            for (id, blob) in self.unchanged.iter().filter(|(id, _)| !self.target.items.contains(id)) {
                let item = read_item(*id, &self.repo.read_blob(*blob).unwrap_or_default());
                same.extend(forms_of_text(&item.body).filter(|form| bodies.contains(&**form)).map(Cow::into_owned));
            }
        }
        same
    }

    /// What must not come back, if these objects are purged. Trees are not listed: they contain no text.
    pub(in crate::check::purge) fn tombstones(&self, removed: &HashSet<Oid>) -> Removed {
        let trees: HashSet<Oid> =
            self.trees.keys().map(|(_, tree)| *tree).chain(self.archive_trees.0.iter().copied()).collect();
        let blobs: HashMap<Oid, Oid> = self.blobs.iter().map(|((_, old), new)| (*old, *new)).collect();
        let new = |old: &Oid| self.commits.get(old).or_else(|| blobs.get(old)).copied();
        let mut objects: Vec<_> = removed.difference(&trees).map(|old| (*old, new(old))).collect();
        objects.sort_unstable();
        let items: BTreeSet<ItemId> = self.target.items.union(&self.changed_items).copied().collect();
        let mut lines = self.changed_lines.clone();
        // The equal file of an item that is not purged keeps its lines.
        for (_, blob) in self.blobs.keys().filter(|(_, blob)| self.kept.contains(blob)) {
            let text = self.repo.read_blob(*blob).unwrap_or_default();
            lines.retain(|line| memmem::find(&text, line.as_bytes()).is_none());
        }
        let mut changed: Vec<_> = self.items.iter().filter(|(blob, _)| removed.contains(blob)).collect();
        changed.sort_unstable_by_key(|(blob, _)| **blob);
        let is_known_by_text = |before: &Item, after: &Item| {
            let is_long = || !self.target.items.contains(&before.id) || before.body.len() >= SHORTEST_COPY;
            before.body != after.body && is_long()
        };
        let (texts, others): (Vec<_>, Vec<_>) =
            changed.iter().map(|(_, sides)| *sides).partition(|(before, after)| is_known_by_text(before, after));
        let bodies: HashSet<Vec<u8>> = texts.into_iter().flat_map(|(before, _)| self.forms_of(before)).collect();
        let mut bodies: Vec<Vec<u8>> = bodies.difference(&self.repeated(&bodies)).cloned().collect();
        bodies.sort_unstable();
        let lines = lines.into_iter().collect();
        let others = others.into_iter().filter(|(before, after)| !is_same_content(before, after));
        let contents: Vec<Item> = others.map(|(before, _)| before.clone()).collect();
        let copies = contents.iter().filter(|before| !self.target.items.contains(&before.id)).cloned().collect();
        let left = |is_unapplied: bool| {
            let left = changed.iter().filter(|(blob, _)| self.unapplied.contains(*blob) == is_unapplied);
            left.map(|(_, (_, after))| after.clone()).collect()
        };
        let (left, left_unapplied, items) = (left(false), left(true), items.into_iter().collect());
        Removed { objects, items, lines, bodies, contents, copies, left, left_unapplied, joins: false }
    }

    /// The changed revisions of items that an earlier purge changed, too.
    pub(in crate::check::purge) fn changed_again(&self, known: &Tombstones) -> HashSet<Oid> {
        let changed = self.items.iter().filter(|(_, (before, _))| known.of_id(before.id).is_some());
        changed.map(|(blob, _)| *blob).collect()
    }

    /// The contents of other revisions of the changed items that earlier purges left, and that this one leaves too.
    pub(in crate::check::purge) fn left_again(&self, known: &Tombstones) -> Vec<Item> {
        let is_named = |id: &ItemId| self.target.items.contains(id) || self.changed_items.contains(id);
        let mut left = Vec::new();
        let mut files: Vec<_> = self.unchanged.iter().filter(|(id, _)| is_named(id)).collect();
        files.sort_unstable();
        for (id, blob) in files.into_iter().filter(|(id, _)| known.of_id(*id).is_some()) {
            // An unreachable commit may lack it.
            let Ok(bytes) = self.repo.read_blob(*blob) else { continue };
            let item = read_item(*id, &bytes);
            if known.of_left(&item).is_some() && known.of_item(&item).is_none() {
                left.push(item);
            }
        }
        left
    }

    /// The text of an item, and the forms of it that are specific enough to refuse them. JSON may lack the purged text in another form,
    /// if a member is there twice.
    fn forms_of(&self, item: &Item) -> impl Iterator<Item = Vec<u8>> {
        let is_purged = self.target.items.contains(&item.id);
        let is_specific = move |form: &[u8]| {
            form == item.body || self.target.needle.is_in(form) || (is_purged && form.len() >= SHORTEST_COPY)
        };
        forms_of_text(&item.body).filter(move |form| is_specific(form)).map(Cow::into_owned)
    }
}
