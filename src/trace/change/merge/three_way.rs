//! The three-way merge of two lists of items.

use std::collections::{HashMap, HashSet};

use super::item::merge_texts;
use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::tree::{self, CAPACITY, Change, TreeEditor, item_path};
use crate::trace::store::total::{Reading, item_cost, read_item};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError, TraceName};

/// An item on which two sides disagree. `None` is an item that is absent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Conflict {
    pub item: ItemId,
    pub base: Option<ItemEntry>,
    pub ours: Option<ItemEntry>,
    pub theirs: Option<ItemEntry>,
}

impl Conflict {
    /// The same conflict with the sides exchanged.
    pub(crate) fn swapped(&self) -> Self {
        let Self { item, base, ours, theirs } = self;
        Self { item: *item, base: base.clone(), ours: theirs.clone(), theirs: ours.clone() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Open,
    Take(Side),
    Base,
    /// An item file that was written for this merge.
    Text(Oid),
}

/// The positions of added items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placement {
    /// After all others, in their own order; a summary at the position of the first item that it replaces.
    AtEnd,
    WhereTheyStood,
}

/// The changes of both sides since their merge base.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    pub theirs: Vec<Change>,
    /// The positions of removed items, to which they return if they are added again.
    pub positions: HashMap<ItemId, u32>,
    /// Our versions of all items that we changed, and of some others; `None` if we do not have them.
    pub(super) ours: HashMap<ItemId, Option<ItemEntry>>,
    /// The items that we added.
    pub(super) added: HashSet<ItemId>,
    /// Those of the base that we removed.
    pub(super) removed: Vec<ItemEntry>,
    /// Those of them that return to the positions that imports left empty.
    pub(super) returning: HashSet<ItemId>,
    /// The base and our tree, unless complete lists were compared.
    compared: Option<(Oid, Oid)>,
    /// Whether an earlier commit in a row left a position empty before its reasoning.
    is_apart: bool,
}

impl Sides {
    /// Compares the tree of `ours` and the tree `after` with the base (none: an empty tree). Reads only what differs, or complete
    /// lists if plain git made one of the two tips.
    pub(crate) fn compare(
        repo: &Repo,
        base: Option<Oid>,
        [ours, theirs]: [&Tip; 2],
        after: Oid,
    ) -> Result<Self, TraceError> {
        let by_folders = ours.is_ours() && theirs.is_ours();
        let changes = |after| -> Result<Vec<Change>, TraceError> {
            if by_folders {
                return Ok(tree::changes(repo, base, after)?);
            }
            let before = base.map_or(Ok(Vec::new()), |base| tree::list(repo, base))?;
            Ok(tree::changes_of_lists(before, tree::list(repo, after)?))
        };
        let compared = base.filter(|_| by_folders).map(|base| (base, ours.commit.tree));
        let ours = changes(ours.commit.tree)?;
        let added = ours.iter().filter(|change| matches!(change, Change::Added(_)));
        let added = added.map(|change| change.entry().id).collect();
        let removed = ours.iter().filter(|change| matches!(change, Change::Removed(_)));
        let (removed, returning) = (removed.map(|change| change.entry().clone()).collect(), HashSet::new());
        let ours = ours.iter().map(|change| (change.entry().id, change.sides().1.cloned())).collect();
        let (theirs, positions) = (changes(after)?, HashMap::new());
        Ok(Self { theirs, positions, ours, added, removed, returning, compared, is_apart: false })
    }

    /// As [`Self::compare`], for the next of several commits in a row, with the same positions. Reads only what differs from the trees
    /// that were compared before, so that the cost of a commit does not grow with the distance to the merge base.
    pub(crate) fn compare_next(
        previous: Option<Self>,
        repo: &Repo,
        base: Option<Oid>,
        [ours, theirs]: [&Tip; 2],
        after: Oid,
    ) -> Result<Self, TraceError> {
        let Some(mut sides) = previous else { return Self::compare(repo, base, [ours, theirs], after) };
        let (Some((last_base, last_ours)), Some(next_base), true, true) =
            (sides.compared, base, ours.is_ours(), theirs.is_ours())
        else {
            let compared = Self::compare(repo, base, [ours, theirs], after)?;
            return Ok(Self { positions: sides.positions, is_apart: sides.is_apart, ..compared });
        };
        for change in tree::changes(repo, Some(last_base), next_base)? {
            // An item that only the base changed is still in our tree as it was before.
            sides.ours.entry(change.entry().id).or_insert_with(|| change.sides().0.cloned());
        }
        for change in tree::changes(repo, Some(last_ours), ours.commit.tree)? {
            sides.ours.insert(change.entry().id, change.sides().1.cloned());
        }
        let compared = Some((next_base, ours.commit.tree));
        Ok(Self { theirs: tree::changes(repo, base, after)?, compared, ..sides })
    }

    /// A single change of theirs, of an item that we have as `ours`. `is_apart`: whether earlier ones in a row have
    /// [added reasoning](Self::adds_reasoning).
    pub(crate) fn of_change(change: Change, ours: Option<ItemEntry>, is_apart: bool) -> Self {
        let (ours, positions) = (HashMap::from([(change.entry().id, ours)]), HashMap::new());
        let (added, removed, returning) = (HashSet::new(), Vec::new(), HashSet::new());
        Self { theirs: vec![change], positions, ours, added, removed, returning, compared: None, is_apart }
    }

    /// Whether they add reasoning that follows other items here than it did there.
    pub(crate) fn adds_reasoning(&self) -> bool {
        let is_reasoning = |entry: &ItemEntry| entry.item_type == ItemType::reasoning();
        let is_new = |id| self.our_slot(id, None).is_none();
        self.theirs
            .iter()
            .any(|change| matches!(change, Change::Added(entry) if is_reasoning(entry) && is_new(entry.id)))
    }

    /// Whether they add or remove anything that reasoning may follow.
    pub(crate) fn moves_reasoning(&self) -> bool {
        self.adds_reasoning() || self.theirs.iter().any(|change| matches!(change, Change::Removed(_)))
    }

    /// The same, without an empty position before added reasoning.
    pub(crate) fn without_gap(self) -> Self {
        Self { is_apart: true, ..self }
    }

    /// Notes what was merged, for the next commit in a row. An item that is deleted and restored in it returns to its position.
    pub(crate) fn note(&mut self, merged: &Merged) {
        self.positions.extend(merged.removed.iter().map(|slot| (slot.id, slot.seq)));
        self.is_apart |= self.adds_reasoning();
    }

    /// Our version of an item, whose version in the base is `base`.
    pub(super) fn our_slot(&self, id: ItemId, base: Option<&ItemEntry>) -> Option<ItemEntry> {
        self.ours.get(&id).map_or_else(|| base.cloned(), Clone::clone)
    }
}

#[derive(Debug)]
pub(crate) struct Merged {
    pub tree: Oid,
    pub next_seq: u32,
    /// The position that stays empty before added items with reasoning.
    pub apart: Option<u32>,
    /// The positions to which items that were removed here returned.
    pub refilled: Vec<u32>,
    pub added: Vec<ItemId>,
    pub edited: Vec<ItemId>,
    pub removed: Vec<ItemEntry>,
    pub conflicts: Vec<Conflict>,
    pub cost_in: u64,
    pub cost_out: u64,
}

impl Merged {
    pub(crate) fn is_unchanged(&self) -> bool {
        self.added.is_empty() && self.edited.is_empty() && self.removed.is_empty()
    }
}

/// Merges what they changed according to `sides` into the tree of `ours`.
///
/// An item that only one side changed is taken from that side. An item that both edited is merged by header and line. `decide`
/// decides the rest. An item that both have stays at our position. Before added items with reasoning, a position stays empty: the
/// signatures of reasoning do not hold after other items, and a gap shows that.
///
/// Writes texts and trees, to which no ref points yet.
pub(crate) fn three_way(
    repo: &Repo,
    name: &TraceName,
    counter: Counter,
    ours: &Tip,
    sides: &Sides,
    placement: Placement,
    decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
) -> Result<Merged, TraceError> {
    let is_apart = placement == Placement::AtEnd && !sides.is_apart && sides.adds_reasoning();
    let next_seq = ours.next_seq(repo)?;
    let merged = Merged {
        tree: ours.commit.tree,
        next_seq: next_seq + u32::from(is_apart),
        apart: is_apart.then_some(next_seq),
        refilled: Vec::new(),
        added: Vec::new(),
        edited: Vec::new(),
        removed: Vec::new(),
        conflicts: Vec::new(),
        cost_in: 0,
        cost_out: 0,
    };
    // An item that they added at a position that they cleared, such as a summary, takes this position over.
    let freed = sides.theirs.iter().filter_map(|change| match change {
        Change::Removed(base) => {
            Some((base.seq, sides.our_slot(base.id, Some(base)).map_or(base.seq, |ours| ours.seq)))
        }
        _ => None,
    });
    let freed = freed.collect();
    let editor = TreeEditor::new(repo, Some(ours.commit.tree))?;
    let (positions, returning) = (&sides.positions, &sides.returning);
    let mut merge = Merge { repo, name, counter, placement, freed, positions, returning, editor, merged };
    for change in &sides.theirs {
        let (base, theirs) = change.sides();
        let item = change.entry().id;
        let ours = sides.our_slot(item, base);
        if same_text(base, theirs) || same_text(ours.as_ref(), theirs) {
            continue;
        }
        if same_text(ours.as_ref(), base) {
            merge.put(ours.as_ref(), base, theirs)?;
            continue;
        }
        if let (Some(our_slot), Some(their_slot)) = (&ours, theirs)
            && let Some(blob) = merge_texts(repo, counter, base, our_slot, their_slot)?
        {
            let theirs = with_file(repo, their_slot, blob)?;
            merge.put(Some(our_slot), base, Some(&theirs))?;
            continue;
        }
        let conflict = Conflict { item, base: base.cloned(), ours, theirs: theirs.cloned() };
        match decide(&conflict)? {
            Verdict::Open => merge.merged.conflicts.push(conflict),
            Verdict::Take(Side::Ours) => {}
            Verdict::Take(Side::Theirs) => merge.put(conflict.ours.as_ref(), base, theirs)?,
            Verdict::Base => merge.put(conflict.ours.as_ref(), base, base)?,
            Verdict::Text(blob) => {
                let version = conflict.ours.as_ref().or(theirs).map(|slot| with_file(repo, slot, blob)).transpose()?;
                merge.put(conflict.ours.as_ref(), base, version.as_ref())?;
            }
        }
    }
    merge.merged.tree = merge.editor.write(repo)?;
    Ok(merge.merged)
}

/// An item with another file, whose type may differ.
fn with_file(repo: &Repo, slot: &ItemEntry, blob: Oid) -> Result<ItemEntry, TraceError> {
    let item_type = Reading::of_any_name(slot, &repo.read_blob(blob)?).item.fields.item_type;
    Ok(ItemEntry { item_type, blob, ..slot.clone() })
}

/// Whether two versions have the same text, at any position.
fn same_text(one: Option<&ItemEntry>, other: Option<&ItemEntry>) -> bool {
    one.map(|slot| slot.blob) == other.map(|slot| slot.blob)
}

struct Merge<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    counter: Counter,
    placement: Placement,
    freed: HashMap<u32, u32>,
    positions: &'r HashMap<ItemId, u32>,
    returning: &'r HashSet<ItemId>,
    editor: TreeEditor,
    merged: Merged,
}

impl Merge<'_> {
    /// Replaces our version of an item with another one.
    fn put(
        &mut self,
        ours: Option<&ItemEntry>,
        base: Option<&ItemEntry>,
        version: Option<&ItemEntry>,
    ) -> Result<(), TraceError> {
        if let Some(slot) = ours {
            self.editor.remove(self.repo, &slot.path)?;
            self.merged.cost_out += self.cost(slot)?;
        }
        let Some(slot) = version else {
            self.merged.removed.extend(ours.cloned());
            return Ok(());
        };
        let seq = match (ours, base) {
            (Some(ours), _) => ours.seq,
            // We removed it, and they keep it.
            (None, Some(base)) => {
                self.merged.refilled.push(base.seq);
                base.seq
            }
            (None, None) if self.placement == Placement::WhereTheyStood => slot.seq,
            (None, None) => {
                let known = self.positions.get(&slot.id).or(self.freed.get(&slot.seq));
                known.copied().unwrap_or(self.merged.next_seq)
            }
        };
        if seq >= CAPACITY {
            return Err(TraceError::Full { trace: self.name.clone() });
        }
        if self.returning.contains(&slot.id) {
            self.merged.refilled.push(seq);
        }
        self.merged.next_seq = self.merged.next_seq.max(seq + 1);
        self.editor.put(self.repo, &item_path(seq, &slot.item_type, slot.id), slot.blob)?;
        self.merged.cost_in += self.cost(slot)?;
        let list = if ours.is_some() { &mut self.merged.edited } else { &mut self.merged.added };
        list.push(slot.id);
        Ok(())
    }

    fn cost(&self, slot: &ItemEntry) -> Result<u64, TraceError> {
        Ok(item_cost(&read_item(self.repo, slot)?, self.counter))
    }
}
