//! A trace as it is read: its live items with their levels, now or at an earlier time.

use std::collections::{HashMap, HashSet};

use super::priority::{Before, Level, Levels, Record, SetLevel, Setting};
use super::resolve;
use super::total::{self, Reading, item_cost};
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::model::tree;
use crate::trace::model::types::Types;
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError, TraceName};

/// A trace at one of its commits: the entries of its items, and their levels. Item files are read on demand.
#[derive(Debug)]
pub struct View {
    /// The commit.
    pub tip: Tip,
    /// The live items, in reading order.
    pub(crate) slots: Vec<ItemEntry>,
    levels: Levels,
    superseded: HashSet<ItemId>,
    /// The tree of the priority record.
    record: Option<Oid>,
}

string_enum! {
    /// The reason why a live item is left out of the context.
    LeftOut {
        /// Its level is skip.
        Skip = "skip",
        /// It is an instruction, and a later one has its name.
        Superseded = "superseded",
    }
}

impl View {
    /// Opens a trace as it is now, or as it was at `as_of`: a commit, an item, or a time.
    ///
    /// Reads the list of items, the priority record, and, if there are several, the instructions.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`], and [`TraceError::UnknownMoment`] or [`TraceError::BeforeTheFirst`] for `as_of`.
    pub fn open(repo: &Repo, name: &TraceName, as_of: Option<&str>) -> Result<Self, TraceError> {
        let tip = Tip::of_trace(repo, name)?;
        let Some(spec) = as_of else { return Self::at(repo, tip, None) };
        let moment = resolve::moment(repo, name, &tip, spec)?;
        Self::at(repo, moment.tip, moment.at)
    }

    /// Opens a trace at a commit, with the priorities of `at`, or (none) those of now.
    pub(crate) fn at(repo: &Repo, tip: Tip, at: Option<Time>) -> Result<Self, TraceError> {
        let slots = tree::list(repo, tip.commit.tree)?;
        Self::of_slots(repo, tip, slots, at)
    }

    /// As [`Self::at`], for items of `tip` that are listed already.
    pub(crate) fn of_slots(repo: &Repo, tip: Tip, slots: Vec<ItemEntry>, at: Option<Time>) -> Result<Self, TraceError> {
        Self::with_record(repo, &Record::open(repo)?, tip, slots, at)
    }

    /// As [`Self::of_slots`]. To open many traces, open the record once.
    pub(crate) fn with_record(
        repo: &Repo,
        record: &Record,
        tip: Tip,
        slots: Vec<ItemEntry>,
        at: Option<Time>,
    ) -> Result<Self, TraceError> {
        let levels = record.levels(repo, &slots, at)?;
        Self::with_levels(repo, record, tip, slots, levels)
    }

    /// Opens a trace as it was when `before` was read.
    pub(crate) fn earlier(repo: &Repo, before: &Before, tip: Tip) -> Result<Self, TraceError> {
        let slots = tree::list(repo, tip.commit.tree)?;
        let levels = before.record.levels(repo, &slots, None)?;
        Self::with_levels(repo, &before.record, tip, slots, levels)
    }

    fn with_levels(
        repo: &Repo,
        record: &Record,
        tip: Tip,
        slots: Vec<ItemEntry>,
        levels: Levels,
    ) -> Result<Self, TraceError> {
        let superseded = superseded(repo, &slots, &levels)?;
        Ok(Self { tip, slots, levels, superseded, record: record.tree })
    }

    pub(crate) fn types(&self) -> &Types {
        &self.levels.types
    }

    pub(crate) fn level(&self, slot: &ItemEntry) -> SetLevel<'_> {
        self.levels.of(slot.id, &slot.item_type)
    }

    /// The record from which the levels are.
    pub(crate) fn record(&self, repo: &Repo) -> Result<Record, TraceError> {
        Record::of_tree(repo, self.record)
    }

    /// The concurrent changes of an item's priority that lost against its level.
    pub(crate) fn rivals(&self, slot: &ItemEntry) -> &[Setting] {
        self.levels.rivals(slot.id)
    }

    /// The number of items with concurrent changes of priority.
    pub(crate) fn disputed(&self) -> usize {
        self.slots.iter().filter(|slot| !self.rivals(slot).is_empty()).count()
    }

    pub(crate) fn left_out(&self, slot: &ItemEntry) -> Option<LeftOut> {
        if self.level(slot).level() == Level::Skip {
            Some(LeftOut::Skip)
        } else {
            self.superseded.contains(&slot.id).then_some(LeftOut::Superseded)
        }
    }

    /// Reads the item files in reading order and passes each to `visit`.
    pub(crate) fn for_each_item<'v>(
        &'v self,
        repo: &Repo,
        mut visit: impl FnMut(&'v ItemEntry, Reading) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        repo.for_each_blob(self.slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            visit(slot, Reading::of(slot, bytes))
        })
    }

    /// The total of the context: that of the commit minus the items that are left out, which are read.
    pub(crate) fn total(&self, repo: &Repo, counter: Counter) -> Result<Total, TraceError> {
        let Total { tokens, basis } = self.tip.total(repo, counter)?;
        Ok(Total { tokens: tokens.saturating_sub(self.left_out_cost(repo, counter)?), basis })
    }

    /// The counted tokens of the context: those of the commit minus the items that are left out, which are read.
    pub(crate) fn counted(&self, repo: &Repo, counter: Counter) -> Result<u64, TraceError> {
        Ok(self.tip.counted(repo, counter)?.saturating_sub(self.left_out_cost(repo, counter)?))
    }

    /// The counted tokens of the context for a list of traces. In a trace that version 0.1 wrote, the size that a provider reported,
    /// because a count reads every item.
    pub(crate) fn listed_total(&self, repo: &Repo, counter: Counter) -> Result<Total, TraceError> {
        let said = self.tip.said_count(repo, counter)?;
        let total = match said {
            Some(tokens) => Total { tokens, basis: Basis::Counted(counter.id()) },
            None => self.tip.total(repo, counter)?,
        };
        let left_out = self.left_out_cost(repo, counter)?;
        Ok(Total { tokens: total.tokens.saturating_sub(left_out), ..total })
    }

    /// The cost of the items that are left out, which are read.
    pub(crate) fn left_out_cost(&self, repo: &Repo, counter: Counter) -> Result<u64, TraceError> {
        let left_out = self.slots.iter().filter(|slot| self.left_out(slot).is_some());
        left_out.map(|slot| Ok(item_cost(&total::read_item(repo, slot)?, counter))).sum()
    }
}

/// The instructions that a later one with their name replaces. Skipped instructions do not count.
fn superseded(repo: &Repo, slots: &[ItemEntry], levels: &Levels) -> Result<HashSet<ItemId>, TraceError> {
    let in_force =
        |slot: &&ItemEntry| slot.item_type == ItemType::instruction() && !levels.is_skipped(slot.id, &slot.item_type);
    let instructions: Vec<&ItemEntry> = slots.iter().filter(in_force).collect();
    if instructions.len() < 2 {
        return Ok(HashSet::new());
    }
    let mut last_of_name: HashMap<String, ItemId> = HashMap::new();
    let mut superseded = HashSet::new();
    for slot in instructions {
        if let Some(name) = total::read_item(repo, slot)?.fields.name {
            superseded.extend(last_of_name.insert(name, slot.id));
        }
    }
    Ok(superseded)
}
