//! Two recordings of one session, as by a host and its container. Their items have the same ids, and one of them may be ahead.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::three_way::Sides;
use crate::git::{Oid, Repo};
use crate::trace::change::bulk::Removal;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::Change;
use crate::trace::store::total::read_item;
use crate::trace::store::walk::changes_of;
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError};

impl Sides {
    /// Follows what a session did that both sides recorded, where the last common state does not show it.
    pub(super) fn follow_sessions(&mut self, repo: &Repo, tips: [&Tip; 2]) -> Result<(), TraceError> {
        self.leave_out_removed(repo, tips)?;
        self.leave_out_resumed(repo, tips)
    }

    /// Leaves out recorded items that both sides added, and that one of them has removed, as two clones that record one session do: the base has no
    /// trace of them. Reads the commits of a side only if the other one has such items.
    fn leave_out_removed(&mut self, repo: &Repo, [ours, theirs]: [&Tip; 2]) -> Result<(), TraceError> {
        let (mut only_theirs, mut only_ours) = (HashMap::new(), HashMap::new());
        for change in &self.theirs {
            if let Change::Added(entry) = change
                && self.our_slot(entry.id, None).is_none()
            {
                only_theirs.extend(Kept::of(repo, entry)?.map(|kept| (entry.id, kept)));
            }
        }
        let known: HashSet<ItemId> = self.theirs.iter().map(|change| change.entry().id).collect();
        for id in self.added.iter().filter(|id| !known.contains(id)) {
            if let Some(Some(entry)) = self.ours.get(id) {
                only_ours.extend(Kept::of(repo, entry)?.map(|kept| (*id, kept)));
            }
        }
        let removed = removed_in(repo, ours, theirs, &only_theirs)?;
        self.theirs.retain(|change| !removed.contains_key(&change.entry().id));
        for (id, entry) in removed_in(repo, theirs, ours, &only_ours)? {
            // At its position there, and with our text: what takes its place there takes our position over.
            self.theirs.push(Change::Removed(ItemEntry { blob: only_ours[&id].blob, ..entry }));
        }
        Ok(())
    }

    /// Leaves out what one side removed as rewound and the other one restored, as the session did: two clones recorded it, and one is ahead. Reads the
    /// commits of a side only if the other one removed something.
    fn leave_out_resumed(&mut self, repo: &Repo, [ours, theirs]: [&Tip; 2]) -> Result<(), TraceError> {
        let removed = |change: &Change| matches!(change, Change::Removed(_)).then(|| change.entry().id);
        let resumed = resumed_in(repo, theirs, ours, &self.theirs.iter().filter_map(removed).collect())?;
        self.theirs.retain(|change| removed(change).is_none_or(|id| !resumed.contains(&id)));
        let resumed = resumed_in(repo, ours, theirs, &self.removed.iter().map(|entry| entry.id).collect())?;
        let taken: HashSet<u32> = self.ours.values().flatten().map(|entry| entry.seq).collect();
        let known: HashSet<ItemId> = self.theirs.iter().map(|change| change.entry().id).collect();
        for entry in self.removed.iter().filter(|entry| resumed.contains(&entry.id) && !known.contains(&entry.id)) {
            self.theirs.push(Change::Added(entry.clone()));
            if !taken.contains(&entry.seq) {
                self.positions.insert(entry.id, entry.seq);
                self.returning.insert(entry.id);
            }
        }
        Ok(())
    }
}

/// A recorded item that only one side has.
struct Kept {
    blob: Oid,
    /// Whether it still is as it was recorded. The other side had the same record, though maybe with another count of tokens.
    is_first: bool,
}

impl Kept {
    /// `None` if it was not recorded.
    fn of(repo: &Repo, entry: &ItemEntry) -> Result<Option<Self>, TraceError> {
        let item = read_item(repo, entry)?;
        Ok(item.fields.source.is_some().then_some(Self { blob: entry.blob, is_first: item.revision == 1 }))
    }
}

/// Of `items`, those that a commit of `tip` removed, as they were there, unless one of `other` restored them.
fn removed_in(
    repo: &Repo,
    tip: &Tip,
    other: &Tip,
    items: &HashMap<ItemId, Kept>,
) -> Result<BTreeMap<ItemId, ItemEntry>, TraceError> {
    if items.is_empty() {
        return Ok(BTreeMap::new());
    }
    let removal = |(_, change)| match change {
        Change::Removed(entry) => {
            let is_it = items.get(&entry.id).is_some_and(|kept| kept.is_first || kept.blob == entry.blob);
            is_it.then_some((entry.id, entry))
        }
        _ => None,
    };
    let mut removed: BTreeMap<_, _> = own_changes(repo, tip, other)?.into_iter().filter_map(removal).collect();
    if !removed.is_empty() {
        for (trailers, change) in own_changes(repo, other, tip)? {
            if trailers.op == Some(Op::Restore) {
                removed.remove(&change.entry().id);
            }
        }
    }
    Ok(removed)
}

/// Of `items`, those that the last commit of `tip` which removed them rewound, and one of `other` restored.
fn resumed_in(repo: &Repo, tip: &Tip, other: &Tip, items: &HashSet<ItemId>) -> Result<HashSet<ItemId>, TraceError> {
    let mut reasons: HashMap<ItemId, bool> = HashMap::new();
    if items.is_empty() {
        return Ok(HashSet::new());
    }
    for (trailers, change) in own_changes(repo, tip, other)? {
        if let Change::Removed(entry) = change
            && items.contains(&entry.id)
        {
            let is_rewind = trailers.reason.as_deref() == Some(Removal::Rewound.as_str());
            reasons.insert(entry.id, is_rewind && trailers.op == Some(Op::Delete));
        }
    }
    reasons.retain(|_, is_rewind| *is_rewind);
    if reasons.is_empty() {
        return Ok(HashSet::new());
    }
    let others = own_changes(repo, other, tip)?.into_iter();
    let restored = others.filter(|(trailers, _)| trailers.op == Some(Op::Restore)).map(|(_, change)| change.entry().id);
    Ok(restored.filter(|id| reasons.contains_key(id)).collect())
}

/// The changes by commits of `tip` that `other` lacks, oldest first. What a merge takes out, one of its sides removed, which may be `other`.
fn own_changes(repo: &Repo, tip: &Tip, other: &Tip) -> Result<Vec<(Rc<Trailers>, Change)>, TraceError> {
    let mut changes = Vec::new();
    for oid in repo.commits_beyond(tip.commit.oid, Some(other.commit.oid))? {
        let commit = Tip::read(repo, oid)?;
        if commit.commit.parents.len() < 2 {
            let of_commit = changes_of(repo, &commit)?;
            let trailers = Rc::new(commit.trailers);
            changes.extend(of_commit.into_iter().map(|change| (trailers.clone(), change)));
        }
    }
    Ok(changes)
}
