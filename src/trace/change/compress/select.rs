//! Which items a compression replaces.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::model::level::Level;
use crate::trace::store::total::item_cost;
use crate::trace::{Item, ItemEntry, ItemId, ItemType, TraceError, View};

/// The part of a trace to be compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    All,
    Between(ItemId, ItemId),
    AllButLast(usize),
    /// As many items as are needed to leave at most `tokens` with a summary that costs `summary`: by the order of their types,
    /// then oldest first.
    DownTo {
        tokens: u64,
        summary: u64,
    },
}

impl Extent {
    pub(crate) fn of_range(range: &[ItemEntry]) -> Self {
        range.first().zip(range.last()).map_or(Self::All, |(first, last)| Self::Between(first.id, last.id))
    }

    fn indexes(self, view: &View) -> Result<Range<usize>, TraceError> {
        let len = view.slots.len();
        let index_of = |id| {
            let found = view.slots.iter().position(|slot| slot.id == id);
            found.ok_or(TraceError::Gone { item: id })
        };
        Ok(match self {
            Self::All | Self::DownTo { .. } => 0..len,
            Self::AllButLast(kept) => 0..len.saturating_sub(kept),
            Self::Between(one, other) => {
                let (one, other) = (index_of(one)?, index_of(other)?);
                one.min(other)..one.max(other) + 1
            }
        })
    }
}

/// The items that a summary will replace, in reading order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    pub items: Vec<ItemEntry>,
    pub cost: u64,
}

struct Candidate<'v> {
    slot: &'v ItemEntry,
    cost: u64,
    is_free: bool,
    /// The number of the call that it belongs to, if it is a call or a result.
    call: Option<usize>,
}

/// Selects the items in `extent` of type `item_type` (none: any) that are neither pinned nor left out. A call and its results are
/// selected together or not at all.
///
/// Reads every live item.
pub(crate) fn select(
    repo: &Repo,
    view: &View,
    encoding: Encoding,
    extent: Extent,
    item_type: Option<&ItemType>,
) -> Result<Selection, TraceError> {
    let within = extent.indexes(view)?;
    let mut calls = Calls::default();
    let mut candidates: Vec<Candidate<'_>> = Vec::with_capacity(view.slots.len());
    view.for_each_item(repo, |slot, reading| {
        let is_left_out = view.left_out(slot).is_some();
        let is_free = within.contains(&candidates.len())
            && item_type.is_none_or(|wanted| *wanted == slot.item_type)
            && view.level(slot).level() == Level::Normal
            && !is_left_out;
        let call = if is_left_out { None } else { calls.number_of(&reading.item) };
        candidates.push(Candidate { slot, cost: item_cost(&reading.item, encoding), is_free, call });
        Ok(())
    })?;
    let kept: HashSet<usize> =
        candidates.iter().filter(|candidate| !candidate.is_free).filter_map(|candidate| candidate.call).collect();
    candidates.retain(|candidate| candidate.is_free && candidate.call.is_none_or(|call| !kept.contains(&call)));
    if let Extent::DownTo { tokens, summary } = extent {
        let total = view.total(repo, encoding)?.tokens;
        let mut excess = if total > tokens { (total + summary).saturating_sub(tokens) } else { 0 };
        let mut by_order: Vec<&Candidate<'_>> = candidates.iter().collect();
        by_order.sort_by_key(|candidate| view.types().rules(&candidate.slot.item_type).compress_order);
        let (mut taken, mut taken_calls) = (HashSet::new(), HashSet::new());
        for candidate in by_order {
            if candidate.call.is_some_and(|call| taken_calls.contains(&call)) || excess > 0 {
                excess = excess.saturating_sub(candidate.cost);
                taken.insert(candidate.slot.id);
                taken_calls.extend(candidate.call);
            }
        }
        candidates.retain(|candidate| {
            taken.contains(&candidate.slot.id) || candidate.call.is_some_and(|call| taken_calls.contains(&call))
        });
    }
    let cost = candidates.iter().map(|candidate| candidate.cost).sum();
    Ok(Selection { items: candidates.into_iter().map(|candidate| candidate.slot.clone()).collect(), cost })
}

/// Numbers calls. A result belongs to the call with the same provider's id, or to the one that it replies to.
#[derive(Default)]
struct Calls {
    by_call_id: HashMap<String, usize>,
    by_item: HashMap<ItemId, usize>,
    count: usize,
}

impl Calls {
    fn number_of(&mut self, item: &Item) -> Option<usize> {
        if !item.fields.is_call() && !item.fields.is_result() {
            return None;
        }
        let known = item.fields.call_id.as_ref().and_then(|id| self.by_call_id.get(id));
        let known = known.or_else(|| item.fields.reply_to.and_then(|id| self.by_item.get(&id)));
        let number = known.copied().unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        self.by_call_id.extend(item.fields.call_id.clone().map(|id| (id, number)));
        self.by_item.insert(item.id, number);
        Some(number)
    }
}
