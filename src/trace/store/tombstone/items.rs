//! Purged items, by their ids and contents.
//!
//! A content that a purge left may contain what another one removed from the same item. It is therefore exempt only from the
//! purges that the leaving one knew. A purge that comes later names it again if it stays.

use std::collections::BTreeSet;

use super::{LEFT, LEFT_UNAPPLIED, Purge, Tombstones, content, copied_content, forms_of_text};
use crate::git::Repo;
use crate::trace::store::total::read_item;
use crate::trace::{Item, ItemEntry, ItemId, TraceError};

/// A purge that left a content.
struct Leaving<'t> {
    purge: &'t Purge,
    /// Whether the purges that it knew were applied to the revision before.
    is_applied: bool,
}

impl Leaving<'_> {
    /// Whether it was made with the knowledge of another one, or is that one.
    fn knows(&self, other: &Purge) -> bool {
        let knew = || self.purge.knew.as_ref().is_none_or(|knew| knew.contains(&other.id));
        self.purge.id == other.id || (self.is_applied && knew())
    }
}

impl Tombstones {
    /// The purge that removed an item, or text from it. `None` for the item as a purge left it that knew all others of the item.
    pub(crate) fn of_item(&self, item: &Item) -> Option<&Purge> {
        self.of_id(item.id)?;
        self.unknown_of(item).next()
    }

    /// The purge of this repository of an item that was unknown to those which left this content. If it knew them, it may still not
    /// have seen this content: otherwise it would have named it again.
    pub(crate) fn of_independent(&self, item: &Item) -> Option<&Purge> {
        self.of_left(item)?;
        self.unknown_of(item).find(|purge| purge.is_here)
    }

    /// The purges of an item that those which left this content did not know; all, if none left it.
    fn unknown_of(&self, item: &Item) -> impl Iterator<Item = &Purge> {
        let left = self.leaving(item);
        let knows = |purge: &Purge, left: &[Leaving<'_>]| left.iter().any(|left| left.knows(purge));
        self.purges_of(item.id).filter(move |purge| left.is_empty() || !(purge.joins || knows(purge, &left)))
    }

    /// The purge that left this content. The same one in all clones.
    pub(crate) fn of_left(&self, item: &Item) -> Option<&Purge> {
        self.leaving(item).into_iter().map(|left| left.purge).min_by_key(|purge| (&purge.reason, &purge.id))
    }

    /// Whether a purge of this repository left this content.
    pub(crate) fn is_left_here(&self, item: &Item) -> bool {
        self.leaving(item).iter().any(|left| left.purge.is_here)
    }

    fn leaving(&self, item: &Item) -> Vec<Leaving<'_>> {
        let content = content(item);
        let of_kind = |kind, is_applied| {
            self.of_digest(kind, &content).map(move |(purge, _)| Leaving { purge, is_applied }).collect::<Vec<_>>()
        };
        [of_kind(LEFT, true), of_kind(LEFT_UNAPPLIED, false)].into_iter().flatten().collect()
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
        self.of_digest("item", id.to_string().as_bytes()).map(|(purge, _)| purge)
    }

    /// The names of the purges of some items.
    pub(super) fn ids_of(&self, items: impl IntoIterator<Item = ItemId>) -> BTreeSet<String> {
        let items: BTreeSet<ItemId> = items.into_iter().collect();
        items.into_iter().flat_map(|item| self.purges_of(item)).map(|purge| purge.id.clone()).collect()
    }
}
