//! Two recordings of one session, as by a host and its container. Their items have the same ids, and one of them may be ahead.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::three_way::Sides;
use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::trace::change::bulk::Removal;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::Change;
use crate::trace::store::total::read_item;
use crate::trace::store::walk::changes_of;
use crate::trace::{ItemEntry, ItemId, Op, Tip, TraceError};

impl Sides {
    /// Follows what a session did that both sides recorded, where the last common state does not show it.
    pub(super) fn follow_sessions(&mut self, repo: &Repo, [ours, theirs]: [&Tip; 2]) -> Result<(), TraceError> {
        let histories = Histories { repo, ours, theirs, read: [OnceCell::new(), OnceCell::new()] };
        self.leave_out_resumed(&histories)?;
        self.leave_out_removed(&histories)
    }

    /// Leaves out recorded items that both sides added, and that one of them has removed, as two clones that record one session do: the base has no
    /// trace of them. Reads the commits of a side only if the other one has such items.
    fn leave_out_removed(&mut self, histories: &Histories<'_>) -> Result<(), TraceError> {
        let repo = histories.repo;
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
        let removed = histories.removed_by(Side::Ours, &only_theirs)?;
        self.theirs.retain(|change| !removed.contains_key(&change.entry().id));
        for (id, entry) in histories.removed_by(Side::Theirs, &only_ours)? {
            // At its position there, and with our text: what takes its place there takes our position over.
            self.theirs.push(Change::Removed(ItemEntry { blob: only_ours[&id].blob, ..entry }));
        }
        Ok(())
    }

    /// Leaves out what one side removed as rewound and the other one took up again, as the session did: two clones recorded it, and one is ahead.
    /// Reads the commits of a side only if the other one removed something.
    fn leave_out_resumed(&mut self, histories: &Histories<'_>) -> Result<(), TraceError> {
        let is_removed = |change: &Change| matches!(change, Change::Removed(_));
        let by_theirs: HashSet<ItemId> = self
            .theirs
            .iter()
            .filter(|change| is_removed(change) && self.our_slot(change.entry().id, Some(change.entry())).is_some())
            .map(|change| change.entry().id)
            .collect();
        let changed_by_theirs: HashSet<ItemId> = self.theirs.iter().map(|change| change.entry().id).collect();
        let by_ours = self.removed.iter().map(|entry| entry.id).filter(|id| !changed_by_theirs.contains(id)).collect();
        let kept = histories.resumed_after(Side::Theirs, &by_theirs)?;
        self.theirs.retain(|change| !kept.contains(&change.entry().id));
        let resumed = histories.resumed_after(Side::Ours, &by_ours)?;
        let taken: HashSet<u32> = self.ours.values().flatten().map(|entry| entry.seq).collect();
        for entry in self.removed.iter().filter(|entry| resumed.contains(&entry.id)) {
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

/// What the commits of one side did with an item.
#[derive(Default)]
struct Acts {
    /// How often it was removed and restored. The side that did this more often is further in the session.
    count: usize,
    /// Where it was when it was removed last, and whether an import did that, as rewound or for another reason.
    removed: Option<(ItemEntry, Option<Removal>)>,
}

/// The commits of each side that the other one lacks, read once if they are needed.
struct Histories<'r> {
    repo: &'r Repo,
    ours: &'r Tip,
    theirs: &'r Tip,
    read: [OnceCell<Vec<OwnChange>>; 2],
}

/// A change, and the trailers of its commit.
type OwnChange = (Rc<Trailers>, Change);

impl Histories<'_> {
    /// Of `items`, those that a side removed, as they were there, unless the other one took them up again.
    fn removed_by(&self, side: Side, items: &HashMap<ItemId, Kept>) -> Result<BTreeMap<ItemId, ItemEntry>, TraceError> {
        let acts = self.acts(side, &items.keys().copied().collect())?;
        let mut removed: BTreeMap<ItemId, (ItemEntry, Option<usize>)> = BTreeMap::new();
        for (id, Acts { count, removed: last }) in acts {
            if let Some((entry, reason)) = last
                && (items[&id].is_first || items[&id].blob == entry.blob)
            {
                removed.insert(id, (entry, reason.map(|_| count)));
            }
        }
        for (id, acts) in self.acts(side.other(), &removed.keys().copied().collect())? {
            // An item that a person removed stays removed.
            if removed[&id].1.is_some_and(|count| acts.count > count) {
                removed.remove(&id);
            }
        }
        Ok(removed.into_iter().map(|(id, (entry, _))| (id, entry)).collect())
    }

    /// Of `items`, those that an import of a side removed as rewound, and that the other side took up again.
    fn resumed_after(&self, side: Side, items: &HashSet<ItemId>) -> Result<HashSet<ItemId>, TraceError> {
        let mut rewound = self.acts(side, items)?;
        rewound.retain(|_, acts| matches!(acts.removed, Some((_, Some(Removal::Rewound)))));
        let others = self.acts(side.other(), &rewound.keys().copied().collect())?;
        Ok(others.into_iter().filter(|(id, acts)| acts.count > rewound[id].count).map(|(id, _)| id).collect())
    }

    fn acts(&self, side: Side, items: &HashSet<ItemId>) -> Result<HashMap<ItemId, Acts>, TraceError> {
        let mut found: HashMap<ItemId, Acts> = HashMap::new();
        if items.is_empty() {
            return Ok(found);
        }
        for (trailers, change) in self.changes(side)?.iter().filter(|(_, change)| items.contains(&change.entry().id)) {
            let acts = found.entry(change.entry().id).or_default();
            match change {
                Change::Removed(entry) => {
                    let reason = match trailers.op {
                        Some(Op::Delete) => trailers.reason.as_deref().and_then(|reason| reason.parse().ok()),
                        Some(Op::Compress) => Some(Removal::Compaction),
                        _ => None,
                    };
                    acts.count += 1;
                    acts.removed = Some((entry.clone(), reason));
                }
                Change::Added(_) if trailers.op == Some(Op::Restore) => acts.count += 1,
                Change::Added(_) | Change::Changed(..) => {}
            }
        }
        Ok(found)
    }

    /// The changes by a side's own commits, oldest first. A merge has none: one of its sides made them, which may be the other side here.
    fn changes(&self, side: Side) -> Result<&[OwnChange], TraceError> {
        let (read, [tip, other]) = match side {
            Side::Ours => (&self.read[0], [self.ours, self.theirs]),
            Side::Theirs => (&self.read[1], [self.theirs, self.ours]),
        };
        if let Some(changes) = read.get() {
            return Ok(changes);
        }
        let mut changes = Vec::new();
        for oid in self.repo.commits_beyond(tip.commit.oid, Some(other.commit.oid))? {
            let commit = Tip::read(self.repo, oid)?;
            if commit.commit.parents.len() < 2 {
                let of_commit = changes_of(self.repo, &commit)?;
                let trailers = Rc::new(commit.trailers);
                changes.extend(of_commit.into_iter().map(|change| (trailers.clone(), change)));
            }
        }
        Ok(read.get_or_init(|| changes))
    }
}
