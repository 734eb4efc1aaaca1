//! Objects as they are read: what is known of item files, each read once, and trees.

use std::cell::Cell;
use std::collections::HashMap;

use crate::git::{Entry, GitError, Oid, Repo, Tree, TreeStore};
use crate::memory::forward;
use crate::tokens::Encoding;
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::types::Types;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::{Draft, ItemId, ItemType};

/// What an item file says of itself.
pub(crate) struct ItemFacts {
    /// Why it cannot be read as one.
    pub(crate) damage: Option<Box<str>>,
    pub(crate) id: ItemId,
    pub(crate) item_type: ItemType,
    pub(crate) revision: u32,
    /// What it counts for, as every reader takes it, with which encoding, where that was asked for.
    pub(crate) cost: Option<(u64, Encoding)>,
    pub(crate) source: Option<ItemId>,
    /// The additional facts about items at a tip.
    pub(crate) at_tip: Option<Box<TipFacts>>,
}

/// What is wrong with an item that stands at a tip.
#[derive(Default)]
pub(crate) struct TipFacts {
    /// The kept token count, and the true one.
    pub(crate) tokens: Option<(u64, u64)>,
    /// A field that its type does not take, or that is missing.
    pub(crate) fields: Option<Box<str>>,
    pub(crate) crumb: Option<Box<str>>,
}

/// The item files that were read.
#[derive(Default)]
pub(crate) struct Blobs(HashMap<Oid, Option<ItemFacts>>);

/// How closely an item file is inspected.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The encoding that its cost is wanted in.
    pub(crate) cost: Option<Encoding>,
    /// Of items at a tip: the types, to judge fields by.
    pub(crate) types: Option<&'a Types>,
}

impl Blobs {
    /// What is known of an item's file; it is read if it was not. An error is given the first time alone, then `None`.
    pub(crate) fn facts(
        &mut self,
        repo: &Repo,
        slot: &ItemEntry,
        wanted: Wanted<'_>,
    ) -> Result<Option<&ItemFacts>, GitError> {
        let is_enough = |facts: &ItemFacts| {
            let has_cost = wanted.cost.is_none_or(|encoding| facts.cost.is_some_and(|(_, known)| known == encoding));
            has_cost && (wanted.types.is_none() || facts.at_tip.is_some())
        };
        let known = self.0.get(&slot.blob).is_some_and(|facts| facts.as_ref().is_none_or(is_enough));
        if !known {
            match repo.read_blob(slot.blob) {
                Ok(bytes) => self.0.insert(slot.blob, Some(read(slot, &bytes, wanted))),
                Err(error) => {
                    self.0.insert(slot.blob, None);
                    return Err(error);
                }
            };
        }
        Ok(self.0.get(&slot.blob).and_then(Option::as_ref))
    }
}

fn read(slot: &ItemEntry, bytes: &[u8], wanted: Wanted<'_>) -> ItemFacts {
    let Reading { item, damage } = Reading::of(slot, bytes);
    let damage = damage.map(|damage| damage.to_string().into());
    let source = item.fields.source.as_ref().map(ItemId::of_source);
    let (id, revision, item_type) = (item.id, item.revision, item.fields.item_type.clone());
    let cost = wanted.cost.map(|encoding| (item_cost(&item, encoding), encoding));
    let at_tip = wanted.types.map(|types| {
        let mut at_tip = TipFacts::default();
        if let Some(kept) = item.tokens.filter(|kept| item.cached_tokens(kept.encoding).is_some()) {
            let true_count = kept.encoding.count(&item.body);
            at_tip.tokens = (true_count != kept.count).then_some((kept.count, true_count));
        }
        if damage.is_none() {
            at_tip.crumb = forward::header_problem(&item.fields).map(Into::into);
            // A type that is not declared here may be elsewhere; and what was imported is taken as it was.
            if types.is_known(&item.fields.item_type) && item.fields.source.is_none() {
                let draft = Draft { fields: item.fields, body: item.body };
                at_tip.fields = types.validate(&draft).err().map(|error| error.to_string().into());
            }
        }
        Box::new(at_tip)
    });
    ItemFacts { damage, id, item_type, revision, cost, source, at_tip }
}

/// Trees as they are read, and which could not be.
pub(crate) struct Trees<'r> {
    repo: &'r Repo,
    failed: Cell<Option<Oid>>,
}

impl<'r> Trees<'r> {
    pub(crate) fn new(repo: &'r Repo) -> Self {
        Self { repo, failed: Cell::new(None) }
    }

    /// The tree that could not be read last.
    pub(crate) fn failed(&self) -> Option<Oid> {
        self.failed.get()
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
