//! Removals and restorations by imports: noise that the import has just added, and turns that the session rewound or brought back.
//!
//! A removal is a deletion with the reason of a [`Removal`]. An import restores only what an import rewound, and removes no item
//! that a person restored, pinned, skipped, or unpinned.

use std::collections::{HashMap, HashSet};

use super::known::KnownItem;
use super::writer::Writer;
use super::{Removal, Rewind};
use crate::git::{Oid, Repo};
use crate::trace::model::trailers::{ImportPosition, Trailers};
use crate::trace::model::tree::{self, Change, item_path};
use crate::trace::store::priority::{Record, SetLevel};
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError};

/// The reason with which a rewound item is restored.
const RESUMED: &str = "resumed";

/// The items of a history, and the deletions and restorations of each, the newest first.
#[derive(Default)]
pub(super) struct History {
    pub(super) items: HashSet<ItemId>,
    acts: HashMap<ItemId, Vec<Act>>,
}

struct Act {
    is_restoration: bool,
    reason: Option<String>,
    commit: Oid,
}

impl Act {
    fn is_rewind(&self) -> bool {
        !self.is_restoration && self.reason.as_deref() == Some(Removal::Rewound.as_str())
    }
}

impl History {
    /// Walks the complete history.
    pub(super) fn read(repo: &Repo, tip: &Tip) -> Result<Self, TraceError> {
        let mut history = Self::default();
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            history.add(repo, &earlier?)?;
        }
        Ok(history)
    }

    /// Adds a commit, which is older than those before. The changes of one that names several items, or none, are compared.
    fn add(&mut self, repo: &Repo, earlier: &Tip) -> Result<(), TraceError> {
        let op = earlier.trailers.op.filter(|_| earlier.is_ours());
        if let (Some(item), false) = (earlier.item(), op == Some(Op::Clean)) {
            self.items.insert(item);
            if let Some(Op::Delete | Op::Restore) = op {
                self.note(item, op == Some(Op::Restore), earlier);
            }
            return Ok(());
        }
        let acts = matches!(op, Some(Op::Delete | Op::Restore | Op::Clean));
        for change in changes_of(repo, earlier)? {
            let item = change.entry().id;
            self.items.insert(item);
            match change {
                Change::Removed(_) if acts => self.note(item, false, earlier),
                Change::Added(_) if acts => self.note(item, true, earlier),
                // A revert of several changes also returns items to their earlier texts.
                Change::Changed(..) if op == Some(Op::Restore) => self.note(item, true, earlier),
                _ => {}
            }
        }
        Ok(())
    }

    /// The items that the commits after `mark` name or change; `None` if `mark` is not an ancestor in one line.
    pub(super) fn items_since(repo: &Repo, tip: &Tip, mark: Oid) -> Result<Option<HashSet<ItemId>>, TraceError> {
        let mut history = Self::default();
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            let earlier = earlier?;
            if earlier.commit.oid == mark {
                return Ok(Some(history.items));
            }
            if earlier.commit.parents.len() > 1 {
                break;
            }
            history.add(repo, &earlier)?;
        }
        Ok(None)
    }

    fn note(&mut self, item: ItemId, is_restoration: bool, earlier: &Tip) {
        let (reason, commit) = (earlier.trailers.reason.clone(), earlier.commit.oid);
        self.acts.entry(item).or_default().push(Act { is_restoration, reason, commit });
    }

    fn last(&self, id: ItemId) -> Option<&Act> {
        self.acts.get(&id)?.first()
    }

    /// Whether an import rewound it, and no person deleted it on another side of a merge.
    fn was_rewound(&self, repo: &Repo, id: ItemId) -> Result<bool, TraceError> {
        let Some((last, earlier)) = self.acts.get(&id).and_then(|acts| acts.split_first()) else { return Ok(false) };
        if !last.is_rewind() {
            return Ok(false);
        }
        if earlier.iter().all(|act| act.is_restoration || act.is_rewind()) {
            return Ok(true);
        }
        // In one line, something brought it back after an earlier deletion.
        for act in earlier.iter().filter(|act| !act.is_rewind()) {
            if !repo.is_ancestor(act.commit, last.commit)? {
                return Ok(act.is_restoration);
            }
        }
        Ok(true)
    }

    fn was_restored_by_person(&self, id: ItemId) -> bool {
        self.last(id).is_some_and(|act| act.is_restoration && act.reason.as_deref() != Some(RESUMED))
    }

    /// The entry of an item before it was deleted.
    fn deleted(&self, repo: &Repo, id: ItemId) -> Result<Option<ItemEntry>, TraceError> {
        let Some(act) = self.last(id) else { return Ok(None) };
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
        let Some(item) = self.live.remove(&id) else { return Ok(()) };
        let subject = format!("delete {}", item.preview);
        self.change.vacant.leave(item.seq);
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
        self.list()?;
        if self.ahead.iter().any(|(id, is_rewound)| !is_rewound && !self.is_at_hand(*id)) {
            self.read_history()?;
        }
        let Self { live, deleted, known_before, ahead, .. } = self;
        let is_there = |id: &ItemId| live.contains_key(id) || deleted.contains_key(id) || known_before.contains(id);
        let here: Vec<Rewind> = ahead.extract_if(|id, _| is_there(id)).collect();
        // Of a file that is read again, most are removed already.
        let leaving: HashSet<ItemId> = here
            .iter()
            .filter(|(id, is_rewound)| *is_rewound && self.live.contains_key(id))
            .map(|(id, _)| *id)
            .collect();
        let kept = self.kept_by_person(leaving)?;
        let (mut going, mut returning) = (HashSet::new(), HashSet::new());
        for (id, is_rewound) in here {
            let is_live = self.live.contains_key(&id);
            if is_rewound && is_live && !kept.contains(&id) {
                going.insert(id);
            } else if !is_rewound && !is_live && self.was_rewound(id)? {
                returning.insert(id);
            }
        }
        self.read_live(&going)?;
        self.keep_title(&going)?;
        self.read_deleted(&returning)?;
        let seq = |id: &ItemId| self.live.get(id).or(self.deleted.get(id)).map(|item| item.seq);
        let [going, returning] = [going, returning].map(|ids| {
            let mut ids: Vec<ItemId> = ids.into_iter().collect();
            ids.sort_by_key(|id| (seq(id), *id));
            ids
        });
        let mut left = going.len() + returning.len();
        let mut next_mark = || {
            left -= 1;
            mark.take_if(|_| left == 0)
        };
        for id in going {
            self.lock_objects()?;
            self.delete(id, Removal::Rewound, next_mark())?;
        }
        if returning.is_empty() {
            return Ok(());
        }
        // `gc --renumber` may have given their positions to others. From the first of these on, they follow all others, in their order.
        let taken: HashSet<u32> = self.live.values().map(|item| item.seq).collect();
        let (mut is_at_end, mut last) = (false, None);
        for id in returning {
            self.lock_objects()?;
            let seq = self.deleted.get(&id).map(|item| item.seq);
            is_at_end |= seq.is_some_and(|seq| taken.contains(&seq)) || seq <= last;
            last = seq;
            self.restore(id, is_at_end, next_mark())?;
        }
        Ok(())
    }

    /// Whether an item is live or was removed by this import, so that history need not be read for it.
    fn is_at_hand(&self, id: ItemId) -> bool {
        self.live.contains_key(&id) || self.deleted.contains_key(&id)
    }

    fn was_rewound(&self, id: ItemId) -> Result<bool, TraceError> {
        match (self.deleted.get(&id), &self.history) {
            (Some(item), _) => Ok(item.removal == Some(Removal::Rewound)),
            (None, Some(history)) => history.was_rewound(self.change.repo(), id),
            (None, None) => Ok(false),
        }
    }

    /// The items that a person restored, or whose priority a person set, and the other halves of their calls.
    fn kept_by_person(&mut self, mut ids: HashSet<ItemId>) -> Result<HashSet<ItemId>, TraceError> {
        ids.retain(|id| self.known_before.contains(id));
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let mut kept = self.kept(&ids)?;
        if let Some(history) = self.read_history()? {
            kept.extend(ids.iter().copied().filter(|id| history.was_restored_by_person(*id)));
        }
        if let Some(view) = self.change.total.base_view()? {
            let is_set = |slot: &&ItemEntry| matches!(view.level(slot), SetLevel::Set(_));
            kept.extend(view.slots.iter().filter(|slot| ids.contains(&slot.id)).filter(is_set).map(|slot| slot.id));
        }
        Ok(kept)
    }

    /// Reads items that history has, and this import did not remove.
    fn read_deleted(&mut self, ids: &HashSet<ItemId>) -> Result<(), TraceError> {
        let repo = self.change.repo();
        let mut entries = Vec::new();
        for id in ids.iter().filter(|id| !self.deleted.contains_key(id)) {
            entries.extend(self.history.as_ref().map(|history| history.deleted(repo, *id)).transpose()?.flatten());
        }
        if entries.is_empty() {
            return Ok(());
        }
        let levels = Record::open(repo)?.levels(repo, &entries, None)?;
        for entry in &entries {
            let mut item = KnownItem::of(entry);
            item.read(repo, entry.id, self.change.counter)?;
            item.is_skipped = levels.is_skipped(entry.id, &entry.item_type);
            self.deleted.insert(entry.id, item);
        }
        Ok(())
    }

    /// Restores an item as it was when it was deleted.
    fn restore(&mut self, id: ItemId, at_end: bool, mark: Option<ImportPosition>) -> Result<(), TraceError> {
        let Some(mut item) = self.deleted.remove(&id) else { return Ok(()) };
        if at_end {
            item.seq = self.change.free_seq()?;
            let name = item.path.rsplit_once('/').map_or(&*item.path, |(_, name)| name);
            let (_, item_type, _) = tree::parse_name(name.as_bytes()).expect("the path is that of an item");
            item.path = item_path(item.seq, &item_type, id);
        } else {
            self.change.vacant.refill(item.seq);
        }
        self.change.put_file(&item.path, item.blob)?;
        self.change.next_seq = self.change.next_seq.max(item.seq + 1);
        self.change.total.add(item.cost, item.is_skipped);
        let subject = format!("restore {}", item.preview);
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
