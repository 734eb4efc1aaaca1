//! The merge of two lists of items against what they come from.

use std::collections::HashMap;

use super::item::merge_texts;
use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::tree::{self, CAPACITY, Change, ItemEntry, TreeEditor, item_path};
use crate::trace::store::tip::Tip;
use crate::trace::store::total::{item_cost, read_item};

/// An item on which two sides disagree. `None` is an item that is not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Conflict {
    pub item: ItemId,
    /// As it was where both come from.
    pub base: Option<ItemEntry>,
    pub ours: Option<ItemEntry>,
    pub theirs: Option<ItemEntry>,
}

impl Conflict {
    /// The same, with the sides exchanged.
    #[must_use]
    pub(crate) fn across(&self) -> Self {
        let Self { item, base, ours, theirs } = self;
        Self { item: *item, base: base.clone(), ours: theirs.clone(), theirs: ours.clone() }
    }
}

/// What is to become of a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Open,
    /// One side's version is taken, its absence too.
    Take(Side),
    /// It is as it was where both come from.
    Base,
}

/// Where items that come in are put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placement {
    /// Behind all that is there, in their own order; a summary where the first item stood that it stands for.
    AtEnd,
    WhereTheyStood,
}

/// What another side did since the two parted.
#[derive(Debug)]
pub(crate) struct Sides {
    /// What they changed, from the base to theirs.
    pub theirs: Vec<Change>,
    /// Places of items that went out and may come back to them.
    pub places: HashMap<ItemId, u32>,
    ours: HashMap<ItemId, Option<ItemEntry>>,
}

impl Sides {
    /// Compares both trees with the base (none: they have nothing in common).
    ///
    /// Costs what differs. `plain` says that plain git made one of them, and that whole lists must be compared.
    pub(crate) fn compare(
        repo: &Repo,
        base: Option<Oid>,
        ours: Oid,
        theirs: Oid,
        plain: bool,
    ) -> Result<Self, TraceError> {
        let changes = |after| -> Result<Vec<Change>, TraceError> {
            if plain {
                let before = base.map_or(Ok(Vec::new()), |base| tree::list(repo, base))?;
                return Ok(tree::changes_of_lists(before, tree::list(repo, after)?));
            }
            Ok(tree::changes(repo, base, after)?)
        };
        let after = |change: Change| match change {
            Change::Added(slot) | Change::Changed(_, slot) => (slot.id, Some(slot)),
            Change::Removed(slot) => (slot.id, None),
        };
        let ours = changes(ours)?.into_iter().map(after).collect();
        Ok(Self { theirs: changes(theirs)?, places: HashMap::new(), ours })
    }

    /// One change of theirs alone, of an item that we have as `ours`.
    #[must_use]
    pub(crate) fn of_change(change: Change, ours: Option<ItemEntry>) -> Self {
        let ours = HashMap::from([(change.entry().id, ours)]);
        Self { theirs: vec![change], places: HashMap::new(), ours }
    }

    /// What we have of an item that was `base` where both come from.
    fn our_slot(&self, id: ItemId, base: Option<&ItemEntry>) -> Option<ItemEntry> {
        self.ours.get(&id).map_or_else(|| base.cloned(), Clone::clone)
    }
}

/// What came of a merge.
#[derive(Debug)]
pub(crate) struct Merged {
    /// The tree, not yet in any commit.
    pub tree: Oid,
    pub next_seq: u32,
    pub added: Vec<ItemId>,
    pub edited: Vec<ItemId>,
    pub removed: Vec<ItemEntry>,
    /// What was left to a person; the tree has ours there.
    pub conflicts: Vec<Conflict>,
    /// What the items that were put in cost.
    pub cost_in: u64,
    /// What the items that were taken out cost.
    pub cost_out: u64,
}

impl Merged {
    /// Whether the tree is ours as it was.
    #[must_use]
    pub(crate) fn is_unchanged(&self) -> bool {
        self.added.is_empty() && self.edited.is_empty() && self.removed.is_empty()
    }
}

/// Brings what `sides` says of theirs into the tree of `ours`.
///
/// An item that only one side touched is as that side has it. One that both edited is merged by field and line; where that
/// clashes, and where one side edited what the other took out, `decide` is asked. An item that both have keeps our place.
///
/// Writes texts and trees, which nothing holds yet; costs what differs.
pub(crate) fn three_way(
    repo: &Repo,
    name: &TraceName,
    encoding: Encoding,
    ours: &Tip,
    sides: &Sides,
    placement: Placement,
    decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
) -> Result<Merged, TraceError> {
    let next_seq = ours.next_seq(repo)?;
    let editor = TreeEditor::new(repo, Some(ours.commit.tree))?;
    let (added, edited, removed, conflicts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let merged =
        Merged { tree: ours.commit.tree, next_seq, added, edited, removed, conflicts, cost_in: 0, cost_out: 0 };
    // What comes in at a place that the same side cleared, such as a summary, takes the place over.
    let freed = sides.theirs.iter().filter_map(|change| match change {
        Change::Removed(base) => {
            Some((base.seq, sides.our_slot(base.id, Some(base)).map_or(base.seq, |ours| ours.seq)))
        }
        _ => None,
    });
    let freed = freed.collect();
    let mut work = Work { repo, name, encoding, placement, freed, places: &sides.places, editor, merged };
    for change in &sides.theirs {
        let (base, theirs) = match change {
            Change::Added(after) => (None, Some(after)),
            Change::Changed(before, after) => (Some(before), Some(after)),
            Change::Removed(before) => (Some(before), None),
        };
        let item = change.entry().id;
        let ours = sides.our_slot(item, base);
        if same_text(base, theirs) || same_text(ours.as_ref(), theirs) {
            continue;
        }
        if same_text(ours.as_ref(), base) {
            work.put(ours.as_ref(), base, theirs)?;
            continue;
        }
        if let (Some(our_slot), Some(their_slot)) = (&ours, theirs)
            && let Some(blob) = merge_texts(repo, encoding, base, our_slot, their_slot)?
        {
            let theirs = ItemEntry { blob, ..their_slot.clone() };
            work.put(Some(our_slot), base, Some(&theirs))?;
            continue;
        }
        let conflict = Conflict { item, base: base.cloned(), ours, theirs: theirs.cloned() };
        match decide(&conflict)? {
            Verdict::Open => work.merged.conflicts.push(conflict),
            Verdict::Take(Side::Ours) => {}
            Verdict::Take(Side::Theirs) => work.put(conflict.ours.as_ref(), base, theirs)?,
            Verdict::Base => work.put(conflict.ours.as_ref(), base, base)?,
        }
    }
    work.merged.tree = work.editor.write(repo)?;
    Ok(work.merged)
}

/// Whether two versions say the same, wherever they stand.
fn same_text(one: Option<&ItemEntry>, other: Option<&ItemEntry>) -> bool {
    one.map(|slot| slot.blob) == other.map(|slot| slot.blob)
}

struct Work<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    encoding: Encoding,
    placement: Placement,
    /// Places that theirs cleared: as they number them, and as we do.
    freed: HashMap<u32, u32>,
    places: &'r HashMap<ItemId, u32>,
    editor: TreeEditor,
    merged: Merged,
}

impl Work<'_> {
    /// Replaces what we have of an item by another version of it.
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
            // What we took out and they insist on was here before.
            (None, Some(base)) => base.seq,
            (None, None) => match (self.placement, self.places.get(&slot.id).or(self.freed.get(&slot.seq))) {
                (Placement::WhereTheyStood, _) => slot.seq,
                (Placement::AtEnd, Some(place)) => *place,
                (Placement::AtEnd, None) => self.merged.next_seq,
            },
        };
        if seq >= CAPACITY {
            return Err(TraceError::Full { trace: self.name.clone() });
        }
        self.merged.next_seq = self.merged.next_seq.max(seq + 1);
        self.editor.put(self.repo, &item_path(seq, &slot.item_type, slot.id), slot.blob)?;
        self.merged.cost_in += self.cost(slot)?;
        let list = if ours.is_some() { &mut self.merged.edited } else { &mut self.merged.added };
        list.push(slot.id);
        Ok(())
    }

    fn cost(&self, slot: &ItemEntry) -> Result<u64, TraceError> {
        Ok(item_cost(&read_item(self.repo, slot)?, self.encoding))
    }
}
