//! Removals and restorations by imports: noise that the import has just added, and turns that the session rewound or brought back.
//!
//! A removal is a deletion with the reason of a [`Removal`]. An import restores only what an import rewound, and removes no item
//! that a person restored, pinned, skipped, or unpinned.

use std::collections::{HashMap, HashSet};

use super::writer::{KnownItem, Writer};
use super::{Removal, Rewind};
use crate::git::{Oid, Repo};
use crate::trace::model::trailers::{ImportPosition, Trailers, preview};
use crate::trace::store::priority::SetLevel;
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::store::walk::{Parents, Walk, changes_of, touched_by};
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError};

/// The reason with which a rewound item is restored.
const RESUMED: &str = "resumed";

/// The items of a history, and the last deletion or restoration of each.
#[derive(Default)]
pub(super) struct History {
    pub(super) items: HashSet<ItemId>,
    acts: HashMap<ItemId, Act>,
}

struct Act {
    is_restoration: bool,
    reason: Option<String>,
    commit: Oid,
}

impl History {
    /// Walks the complete history.
    pub(super) fn read(repo: &Repo, tip: &Tip) -> Result<Self, TraceError> {
        let mut history = Self::default();
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            let earlier = earlier?;
            if let (Some(item), Some(op @ (Op::Delete | Op::Restore))) = (earlier.item(), earlier.trailers.op) {
                let (is_restoration, commit) = (op == Op::Restore, earlier.commit.oid);
                let reason = earlier.trailers.reason.clone();
                history.acts.entry(item).or_insert(Act { is_restoration, reason, commit });
            }
            history.items.extend(touched_by(repo, &earlier)?);
        }
        Ok(history)
    }

    fn was_rewound(&self, id: ItemId) -> bool {
        let act = self.acts.get(&id).filter(|act| !act.is_restoration);
        act.is_some_and(|act| act.reason.as_deref() == Some(Removal::Rewound.as_str()))
    }

    fn was_restored_by_person(&self, id: ItemId) -> bool {
        self.acts.get(&id).is_some_and(|act| act.is_restoration && act.reason.as_deref() != Some(RESUMED))
    }

    /// The entry of an item before it was deleted.
    fn deleted(&self, repo: &Repo, id: ItemId) -> Result<Option<ItemEntry>, TraceError> {
        let Some(act) = self.acts.get(&id) else { return Ok(None) };
        let changes = changes_of(repo, &Tip::read(repo, act.commit)?)?;
        Ok(changes.iter().map(|change| change.entry().clone()).find(|entry| entry.id == id))
    }
}

impl Writer<'_> {
    /// Deletes an item.
    pub(super) fn delete(
        &mut self,
        id: ItemId,
        reason: Removal,
        mark: Option<ImportPosition>,
    ) -> Result<(), TraceError> {
        let Some(mut item) = self.live.remove(&id) else { return Ok(()) };
        if item.cost == 0 {
            self.subtract(&HashSet::from([id]))?;
            item.preview = preview(&read_item(self.change.repo(), &item.entry(id))?);
        }
        let subject = format!("delete {}", item.preview);
        self.change.vacant += 1;
        self.remove(id, KnownItem { removal: Some(reason), ..item })?;
        *self.removed.entry(reason).or_default() += 1;
        self.commit_act((Op::Delete, id), &subject, reason.as_str(), mark)
    }

    /// Deletes what the session rewound, and restores what it brought back, as far as the items are there.
    pub(crate) fn rewind(&mut self, more: Vec<Rewind>, mut mark: Option<ImportPosition>) -> Result<(), TraceError> {
        self.ahead.extend(more);
        if self.ahead.is_empty() {
            return Ok(());
        }
        let Self { live, deleted, known_before, ahead, .. } = self;
        let is_there = |id: &ItemId| live.contains_key(id) || deleted.contains_key(id) || known_before.contains(id);
        let here: Vec<Rewind> = ahead.extract_if(|id, _| is_there(id)).collect();
        let mut wanted: Vec<Rewind> = Vec::new();
        let kept = self.kept_by_person(&here)?;
        for (id, is_rewound) in here {
            let was_rewound = match self.deleted.get(&id) {
                Some(item) => item.removal == Some(Removal::Rewound),
                None => self.history.as_ref().is_some_and(|history| history.was_rewound(id)),
            };
            let is_live = self.live.contains_key(&id);
            if if is_rewound { is_live && !kept.contains(&id) } else { !is_live && was_rewound } {
                wanted.push((id, is_rewound));
            }
        }
        let seq = |id: &ItemId| self.live.get(id).or(self.deleted.get(id)).map(|item| item.seq);
        wanted.sort_by_key(|(id, _)| (seq(id), *id));
        let count = wanted.len();
        for (number, (id, is_rewound)) in wanted.into_iter().enumerate() {
            let mark = if number + 1 == count { mark.take() } else { None };
            self.lock_objects()?;
            if is_rewound {
                self.delete(id, Removal::Rewound, mark)?;
            } else {
                self.restore(id, mark)?;
            }
        }
        Ok(())
    }

    /// The items that a person restored, or whose priority a person set, and the other halves of their calls.
    fn kept_by_person(&mut self, rewinds: &[Rewind]) -> Result<HashSet<ItemId>, TraceError> {
        let ids: Vec<ItemId> = rewinds.iter().map(|(id, _)| *id).filter(|id| self.known_before.contains(id)).collect();
        let mut kept = HashSet::new();
        if ids.is_empty() {
            return Ok(kept);
        }
        let repo = self.change.repo();
        if let Some(tip) = self.change.tip().filter(|_| self.history.is_none()) {
            self.history = Some(History::read(repo, tip)?);
        }
        kept.extend(self.kept(&ids)?);
        let is_restored =
            |id: &ItemId| self.history.as_ref().is_some_and(|history| history.was_restored_by_person(*id));
        kept.extend(ids.iter().copied().filter(is_restored));
        if let Some(view) = self.change.total.base_view()? {
            let is_set = |slot: &&ItemEntry| matches!(view.level(slot), SetLevel::Set(set) if !set.is_by_old_import());
            kept.extend(view.slots.iter().filter(|slot| ids.contains(&slot.id)).filter(is_set).map(|slot| slot.id));
        }
        Ok(kept)
    }

    /// Restores an item as it was when it was deleted.
    fn restore(&mut self, id: ItemId, mark: Option<ImportPosition>) -> Result<(), TraceError> {
        let repo = self.change.repo();
        let mut item = match self.deleted.remove(&id) {
            Some(item) => item,
            None => match self.history.as_ref().map(|history| history.deleted(repo, id)).transpose()?.flatten() {
                Some(entry) => KnownItem::of(&entry),
                None => return Ok(()),
            },
        };
        if item.cost == 0 {
            let read = read_item(repo, &item.entry(id))?;
            (item.cost, item.revision, item.preview) =
                (item_cost(&read, self.change.counter), read.revision, preview(&read));
        }
        self.change.put_file(&item.path, item.blob)?;
        self.change.total.add(item.cost, item.is_skipped);
        let subject = format!("restore {}", item.preview);
        self.change.vacant = self.change.vacant.saturating_sub(1);
        self.live.insert(id, KnownItem { removal: None, ..item });
        self.commit_act((Op::Restore, id), &subject, RESUMED, mark)
    }

    fn commit_act(
        &mut self,
        (op, item): (Op, ItemId),
        subject: &str,
        reason: &str,
        source: Option<ImportPosition>,
    ) -> Result<(), TraceError> {
        let (at, reason) = (self.time(None), Some(reason.to_owned()));
        let author = self.change.signature.author.at(at.as_second());
        let trailers =
            Trailers { op: Some(op), item: Some(item), time: Some(at), source, reason, ..Trailers::default() };
        self.change.commit(subject, trailers, Some(&author))?;
        self.last_author = Some(author);
        Ok(())
    }
}
