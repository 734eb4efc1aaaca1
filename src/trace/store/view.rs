//! A trace as it is read: its live items with their levels, now or at an earlier moment.

use std::collections::{HashMap, HashSet};

use super::priority::{Level, Levels, Record, SetLevel};
use super::resolve;
use super::tip::Tip;
use super::total::{self, Reading, item_cost};
use crate::base::time::Time;
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::ItemType;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::Total;
use crate::trace::model::tree::{self, ItemEntry};
use crate::trace::model::types::Types;

/// A trace at one of its commits: names and levels; items' files are read on demand.
#[derive(Debug)]
pub struct View {
    /// The commit.
    pub tip: Tip,
    /// The live items, in reading order.
    pub slots: Vec<ItemEntry>,
    levels: Levels,
    /// Instructions that another one of their name follows.
    superseded: HashSet<ItemId>,
}

/// Why a live item is left out of what the model sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// Its priority is skip.
    Skip,
    /// An instruction of the same name follows it.
    Superseded,
}

impl LeftOut {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Superseded => "superseded",
        }
    }
}

impl View {
    /// Opens a trace as it is now, or as it was at `as_of` (a commit, an item or a time).
    ///
    /// Reads trees, the record of priorities and, where there are two or more, instructions.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`], and an error if `as_of` names no state.
    pub fn open(repo: &Repo, name: &TraceName, as_of: Option<&str>) -> Result<Self, TraceError> {
        let tip = Tip::of_trace(repo, name)?;
        let (tip, at) = match as_of {
            Some(spec) => {
                let moment = resolve::moment(repo, name, &tip, spec)?;
                (moment.tip, Some(moment.at))
            }
            None => (tip, None),
        };
        Self::at(repo, tip, at)
    }

    /// Opens a trace at a commit, with the priorities of `at` (none: of now).
    ///
    /// # Errors
    ///
    /// Those of reading objects.
    pub fn at(repo: &Repo, tip: Tip, at: Option<Time>) -> Result<Self, TraceError> {
        let slots = tree::list(repo, tip.commit.tree)?;
        Self::of_slots(repo, tip, slots, at)
    }

    /// The same where the live items of `tip` have been listed already.
    ///
    /// # Errors
    ///
    /// Those of reading objects.
    pub fn of_slots(repo: &Repo, tip: Tip, slots: Vec<ItemEntry>, at: Option<Time>) -> Result<Self, TraceError> {
        let levels = Record::open(repo)?.levels(repo, &slots, at)?;
        let superseded = superseded(repo, &slots, &levels)?;
        Ok(Self { tip, slots, levels, superseded })
    }

    /// The same view of some of its items alone: as if the trace held no others.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn of_only(&self, repo: &Repo, slots: Vec<ItemEntry>) -> Result<Self, TraceError> {
        let superseded = superseded(repo, &slots, &self.levels)?;
        Ok(Self { tip: self.tip.clone(), slots, levels: self.levels.clone(), superseded })
    }

    /// The types and their rules, as they are now.
    #[must_use]
    pub fn types(&self) -> &Types {
        self.levels.types()
    }

    /// The level in force for an item.
    #[must_use]
    pub fn level(&self, slot: &ItemEntry) -> SetLevel<'_> {
        self.levels.of(slot.id, &slot.item_type)
    }

    /// Why an item is left out; `None` if it is not.
    #[must_use]
    pub fn left_out(&self, slot: &ItemEntry) -> Option<LeftOut> {
        if self.level(slot).level() == Level::Skip {
            Some(LeftOut::Skip)
        } else {
            self.superseded.contains(&slot.id).then_some(LeftOut::Superseded)
        }
    }

    /// Reads the items' files in order and hands each to `visit`.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn for_each_item<'v>(
        &'v self,
        repo: &Repo,
        mut visit: impl FnMut(&'v ItemEntry, Reading) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        repo.for_each_blob(self.slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            visit(slot, Reading::of(slot, bytes))
        })
    }

    /// The total of what is not left out: the commit's own, less what is. Reads the items that are left out.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn total(&self, repo: &Repo, encoding: Encoding) -> Result<Total, TraceError> {
        let Total { tokens, basis } = self.tip.total(repo, encoding)?;
        Ok(Total { tokens: tokens.saturating_sub(self.left_out_cost(repo, encoding)?), basis })
    }

    /// What the items that are left out would cost. Reads them.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::MissingObject`] and its kin.
    pub fn left_out_cost(&self, repo: &Repo, encoding: Encoding) -> Result<u64, TraceError> {
        let mut cost = 0;
        for slot in self.slots.iter().filter(|slot| self.left_out(slot).is_some()) {
            cost += item_cost(&total::read_item(repo, slot)?, encoding);
        }
        Ok(cost)
    }
}

/// The instructions that do not speak, because a later one of their name does.
fn superseded(repo: &Repo, slots: &[ItemEntry], levels: &Levels) -> Result<HashSet<ItemId>, TraceError> {
    let speaking =
        |slot: &&ItemEntry| slot.item_type == ItemType::instruction() && !levels.is_skipped(slot.id, &slot.item_type);
    let instructions: Vec<&ItemEntry> = slots.iter().filter(speaking).collect();
    if instructions.len() < 2 {
        return Ok(HashSet::new());
    }
    let mut last_of_name: HashMap<String, ItemId> = HashMap::new();
    let mut superseded = HashSet::new();
    for slot in instructions {
        let item = total::read_item(repo, slot)?;
        if let Some(name) = item.fields.name
            && let Some(earlier) = last_of_name.insert(name, slot.id)
        {
            superseded.insert(earlier);
        }
    }
    Ok(superseded)
}
