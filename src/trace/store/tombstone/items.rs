//! Purged items, by their ids and contents.
//!
//! A content that a purge left may contain what another one removed from the same item. So it is exempt only from the purges that
//! the leaving one knew. A purge that comes later names it again if it stays.

use std::collections::BTreeSet;

use super::{Purge, Tombstones, content, copied_content, digest, forms_of_text};
use crate::git::Repo;
use crate::trace::store::total::read_item;
use crate::trace::{Item, ItemEntry, ItemId, TraceError};

impl Purge {
    /// Whether it was made with the knowledge of another one, or is that one.
    fn knows(&self, other: &Self) -> bool {
        self.id == other.id || self.knew.as_ref().is_none_or(|knew| knew.contains(&other.id))
    }
}

impl Tombstones {
    /// The purge that removed an item, or text from it. `None` for the item as a purge left it that knew all others of the item.
    pub(crate) fn of_item(&self, item: &Item) -> Option<&Purge> {
        self.of_id(item.id)?;
        let left = self.leaving(item);
        let is_known = |purge: &Purge| left.iter().any(|left| left.knows(purge));
        self.purges_of(item.id).find(|purge| left.is_empty() || !(purge.joins || is_known(purge)))
    }

    /// The purge of this repository of an item that was unknown to those which left this content. If it knew them, it may still not
    /// have seen this content: otherwise it would have named it again.
    pub(crate) fn of_independent(&self, item: &Item) -> Option<&Purge> {
        self.of_id(item.id)?;
        let left = self.leaving(item);
        let is_known = |purge: &Purge| left.iter().any(|left| left.knows(purge));
        self.purges_of(item.id).find(|purge| purge.is_here && !(left.is_empty() || purge.joins || is_known(purge)))
    }

    /// The purge that left this content. The same one in all clones.
    pub(crate) fn of_left(&self, item: &Item) -> Option<&Purge> {
        self.leaving(item).into_iter().min_by_key(|purge| (&purge.reason, &purge.id))
    }

    fn leaving(&self, item: &Item) -> Vec<&Purge> {
        self.of_digest("left", &content(item)).map(|(purge, _)| purge).collect()
    }

    /// The reasons of all purges that changed an item.
    pub(crate) fn reasons_of_id(&self, id: ItemId) -> impl Iterator<Item = &str> {
        self.purges_of(id).map(|purge| &*purge.reason)
    }

    /// The purge that removed a text, or the content of an item, whatever file it is in.
    pub(crate) fn of_content(&self, item: &Item) -> Option<&Purge> {
        let copied = || self.find_digest("copy", &copied_content(item));
        let of_text = forms_of_text(&item.body).find_map(|form| self.find_digest("body", &form));
        of_text.or_else(|| self.find_digest("content", &content(item))).or_else(copied)
    }

    /// The purge that removed a file of an item, or its content.
    pub(crate) fn of_file(&self, repo: &Repo, entry: &ItemEntry) -> Result<Option<&Purge>, TraceError> {
        match self.of_object(entry.blob) {
            None => Ok(self.of_content(&read_item(repo, entry)?)),
            found => Ok(found),
        }
    }

    /// The purge that refuses an item which is not from this repository: it removed this text, or it left something else of this
    /// item.
    pub(crate) fn of_incoming(&self, item: &Item) -> Option<&Purge> {
        self.of_content(item).or_else(|| self.of_item(item))
    }

    /// The purge that removed an item, or text from one of its revisions.
    pub(crate) fn of_id(&self, id: ItemId) -> Option<&Purge> {
        self.find_digest("item", id.to_string().as_bytes())
    }

    fn purges_of(&self, id: ItemId) -> impl Iterator<Item = &Purge> {
        let digests = self.salts.iter().map(move |salt| (salt, digest(salt, "item", id.to_string().as_bytes())));
        let found = digests.flat_map(move |(salt, digest)| {
            self.digests.get(&digest).into_iter().flatten().map(move |found| (salt, &self.purges[found.0]))
        });
        found.filter(|(salt, purge)| purge.salt == **salt).map(|(_, purge)| purge)
    }

    /// The names of the purges of some items.
    pub(super) fn ids_of(&self, items: impl IntoIterator<Item = ItemId>) -> BTreeSet<String> {
        let items: BTreeSet<ItemId> = items.into_iter().collect();
        items.into_iter().flat_map(|item| self.purges_of(item)).map(|purge| purge.id.clone()).collect()
    }
}
