//! Which items a compression replaces.

use std::collections::{HashMap, HashSet};

use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Item, ItemType};
use crate::trace::model::level::Level;
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total::item_cost;
use crate::trace::store::view::View;

/// How much of a trace is to be compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    All,
    /// From one item to another, both included, in reading order.
    Between(ItemId, ItemId),
    /// Everything but the last so many items.
    AllButLast(usize),
    /// The types that compress first, the oldest items of each, until the trace, the summary counted in, is down to so many
    /// tokens.
    DownTo {
        /// What the trace may count for afterwards.
        tokens: u64,
        /// What the summary is expected to cost.
        summary: u64,
    },
}

impl Extent {
    /// From the first of these items to the last, as [`crate::trace::store::resolve::Resolver::range`] finds them.
    #[must_use]
    pub(crate) fn of_range(range: &[ItemEntry]) -> Self {
        match range {
            [first, .., last] => Self::Between(first.id, last.id),
            [only] => Self::Between(only.id, only.id),
            [] => Self::All,
        }
    }
}

/// The items that a summary will stand for, in reading order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    pub items: Vec<ItemEntry>,
    /// What they count for, each as a message of its own.
    pub cost: u64,
}

/// What is looked at of an item.
struct Candidate<'v> {
    slot: &'v ItemEntry,
    cost: u64,
    /// Whether it may go at all.
    free: bool,
    /// What ties it to other items: its place in the list of ties.
    tie: Option<usize>,
}

/// Chooses what is compressed: in `extent` and of type `item_type` (none: any), not pinned and not left out. A call is taken
/// only with all of its results, and they only with it.
///
/// Reads every live item.
pub(crate) fn select(
    repo: &Repo,
    view: &View,
    encoding: Encoding,
    extent: Extent,
    item_type: Option<&ItemType>,
) -> Result<Selection, TraceError> {
    let within = bounds(view, extent)?;
    let mut ties = Ties::default();
    let mut candidates: Vec<Candidate<'_>> = Vec::with_capacity(view.slots.len());
    view.for_each_item(repo, |slot, reading| {
        let index = candidates.len();
        let free = within.contains(&index)
            && item_type.is_none_or(|wanted| *wanted == slot.item_type)
            && view.level(slot).level() == Level::Normal
            && view.left_out(slot).is_none();
        let left_out = view.left_out(slot).is_some();
        let tie = if left_out { None } else { ties.of(&reading.item) };
        candidates.push(Candidate { slot, cost: item_cost(&reading.item, encoding), free, tie });
        Ok(())
    })?;
    let bound: HashSet<usize> =
        candidates.iter().filter(|candidate| !candidate.free).filter_map(|candidate| candidate.tie).collect();
    candidates.retain(|candidate| candidate.free && candidate.tie.is_none_or(|tie| !bound.contains(&tie)));
    if let Extent::DownTo { tokens, summary } = extent {
        let total = view.total(repo, encoding)?.tokens;
        let mut excess = if total > tokens { (total + summary).saturating_sub(tokens) } else { 0 };
        // By the types' own order, the oldest first; what is tied to a taken one goes along.
        let order = |candidate: &Candidate<'_>| view.types().rules(&candidate.slot.item_type).compress_order;
        let mut by_order: Vec<&Candidate<'_>> = candidates.iter().collect();
        by_order.sort_by_key(|candidate| order(candidate));
        let (mut taken, mut ties) = (HashSet::new(), HashSet::new());
        for candidate in by_order {
            if candidate.tie.is_some_and(|tie| ties.contains(&tie)) || excess > 0 {
                excess = excess.saturating_sub(candidate.cost);
                taken.insert(candidate.slot.id);
                ties.extend(candidate.tie);
            }
        }
        candidates.retain(|candidate| {
            taken.contains(&candidate.slot.id) || candidate.tie.is_some_and(|tie| ties.contains(&tie))
        });
    }
    let cost = candidates.iter().map(|candidate| candidate.cost).sum();
    Ok(Selection { items: candidates.into_iter().map(|candidate| candidate.slot.clone()).collect(), cost })
}

/// The places in the list that an extent spans.
fn bounds(view: &View, extent: Extent) -> Result<std::ops::Range<usize>, TraceError> {
    let len = view.slots.len();
    let place = |id| {
        let found = view.slots.iter().position(|slot| slot.id == id);
        found.ok_or(TraceError::Gone { item: id })
    };
    Ok(match extent {
        Extent::All | Extent::DownTo { .. } => 0..len,
        Extent::AllButLast(kept) => 0..len.saturating_sub(kept),
        Extent::Between(one, other) => {
            let (one, other) = (place(one)?, place(other)?);
            one.min(other)..one.max(other) + 1
        }
    })
}

/// Calls and their results, tied by the provider's id or by what replies to what.
#[derive(Default)]
struct Ties {
    by_call_id: HashMap<String, usize>,
    by_item: HashMap<ItemId, usize>,
    count: usize,
}

impl Ties {
    /// What an item is tied by; `None` if it is neither a call nor a result.
    fn of(&mut self, item: &Item) -> Option<usize> {
        if !item.fields.is_call() && !item.fields.is_result() {
            return None;
        }
        let known = item.fields.call_id.as_ref().and_then(|id| self.by_call_id.get(id));
        let known = known.or_else(|| item.fields.reply_to.and_then(|id| self.by_item.get(&id)));
        let tie = known.copied().unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        if let Some(call_id) = &item.fields.call_id {
            self.by_call_id.insert(call_id.clone(), tie);
        }
        self.by_item.insert(item.id, tie);
        Some(tie)
    }
}
