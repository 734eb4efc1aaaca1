//! Objects as they are read: facts about item files, each read once, and trees.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map;

use crate::git::{Entry, GitError, Oid, Repo, Tree, TreeStore};
use crate::memory::forward;
use crate::tokens::{Counter, CounterId};
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::types::Types;
use crate::trace::store::tombstone::Tombstones;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::{Draft, ItemId, ItemType};

pub(crate) struct ItemFacts {
    pub(crate) damage: Option<Box<str>>,
    pub(crate) id: ItemId,
    pub(crate) item_type: ItemType,
    pub(crate) revision: u32,
    /// Tokens as a separate message, if they were asked for.
    pub(crate) cost: Option<(u64, CounterId)>,
    pub(crate) source: Option<ItemId>,
    /// The purge that removed this content.
    pub(crate) purge: Option<Box<str>>,
    pub(crate) at_tip: Option<Box<TipFacts>>,
}

#[derive(Default)]
pub(crate) struct TipFacts {
    pub(crate) tokens: Option<(u64, u64)>,
    /// A field that its type does not allow, or that is missing.
    pub(crate) fields: Option<Box<str>>,
    pub(crate) crumb: Option<Box<str>>,
}

/// The item files that were read; `None` could not be read.
pub(crate) struct Blobs {
    known: HashMap<Oid, Option<ItemFacts>>,
    /// `None` if there are none, or if they are damaged.
    pub(crate) tombstones: Option<Tombstones>,
}

#[derive(Clone, Copy)]
pub(crate) struct Depth<'a> {
    pub(crate) cost: Option<Counter>,
    /// For an item of a tip: the types that decide on its fields.
    pub(crate) types: Option<&'a Types>,
}

impl Blobs {
    pub(crate) fn new(tombstones: Option<Tombstones>) -> Self {
        Self { known: HashMap::new(), tombstones }
    }

    /// The purge that removed the content of a file, if the file was read before.
    pub(crate) fn purge_of(&self, blob: Oid) -> Option<String> {
        Some(self.known.get(&blob)?.as_ref()?.purge.as_ref()?.to_string())
    }

    /// The facts about an item's file, which is read at most once per depth. An error is returned only once, then `None`.
    pub(crate) fn facts(
        &mut self,
        repo: &Repo,
        entry: &ItemEntry,
        depth: Depth<'_>,
    ) -> Result<Option<&ItemFacts>, GitError> {
        let is_enough = |facts: &ItemFacts| {
            let has_cost = depth.cost.is_none_or(|counter| facts.cost.is_some_and(|(_, known)| known == counter.id()));
            has_cost && (depth.types.is_none() || facts.at_tip.is_some())
        };
        let tombstones = self.tombstones.as_ref();
        let facts = match self.known.entry(entry.blob) {
            hash_map::Entry::Occupied(known) if known.get().as_ref().is_none_or(is_enough) => known.into_mut(),
            slot => {
                let read = repo.read_blob(entry.blob);
                let facts = read.as_ref().ok().map(|bytes| ItemFacts::read(entry, bytes, depth, tombstones));
                let facts = slot.insert_entry(facts);
                read?;
                facts.into_mut()
            }
        };
        Ok(facts.as_ref())
    }
}

impl ItemFacts {
    fn read(entry: &ItemEntry, bytes: &[u8], depth: Depth<'_>, tombstones: Option<&Tombstones>) -> Self {
        let Reading { item, damage } = Reading::of_any_name(entry, bytes);
        let damage = damage.map(|damage| damage.to_string().into());
        let source = item.fields.source.as_ref().map(ItemId::of_source);
        let (id, revision, item_type) = (item.id, item.revision, item.fields.item_type.clone());
        let purge = tombstones.and_then(|all| Some(all.of_content(&item)?.to_string().into()));
        let cost = depth.cost.map(|counter| (item_cost(&item, counter), counter.id()));
        let at_tip = depth.types.map(|types| {
            let mut at_tip = TipFacts::default();
            if let Some(kept) = item.tokens.filter(|kept| item.has_valid_cache(kept.counter))
                && let Some(counter) = Counter::find(kept.counter)
            {
                let true_count = counter.count(&item.body);
                at_tip.tokens = (true_count != kept.count).then_some((kept.count, true_count));
            }
            if damage.is_none() {
                at_tip.crumb = forward::header_problem(&item.fields).map(Into::into);
                // An unknown type may be declared elsewhere, and an imported item is kept as it was.
                if types.is_known(&item.fields.item_type) && item.fields.source.is_none() {
                    let draft = Draft { fields: item.fields, body: item.body };
                    at_tip.fields = types.validate(&draft).err().map(|error| error.to_string().into());
                }
            }
            Box::new(at_tip)
        });
        Self { damage, id, item_type, revision, cost, source, purge, at_tip }
    }
}

pub(crate) struct Trees<'r> {
    repo: &'r Repo,
    pub(crate) failed: Cell<Option<Oid>>,
}

impl<'r> Trees<'r> {
    pub(crate) fn new(repo: &'r Repo) -> Self {
        Self { repo, failed: Cell::new(None) }
    }
}

impl TreeStore for Trees<'_> {
    fn tree(&self, oid: Oid) -> Result<Tree, GitError> {
        self.repo.tree(oid).inspect_err(|_| self.failed.set(Some(oid)))
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.repo.write_tree(entries)
    }
}
