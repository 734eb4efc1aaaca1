//! Which items a compression replaces.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::REPLACED;
use super::allowance::{self, Allowance, Fit, Limit, Unfit};
use crate::git::Repo;
use crate::tokens::{Counter, Grouping};
use crate::trace::error::Floor;
use crate::trace::model::calls::Calls;
use crate::trace::model::item::Role;
use crate::trace::model::level::Level;
use crate::trace::store::total::item_cost;
use crate::trace::{Item, ItemEntry, ItemId, ItemType, TraceError, TraceName, View};

/// The part of a trace to be compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Extent {
    #[default]
    All,
    AllButLast(usize),
}

impl Extent {
    fn end(self, view: &View) -> usize {
        let len = view.slots.len();
        match self {
            Self::All => len,
            Self::AllButLast(kept) => len.saturating_sub(kept),
        }
    }
}

/// What to compress, and how far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope<'a> {
    pub extent: Extent,
    /// Only these items; `None`: any.
    pub only: Option<&'a [ItemId]>,
    /// Replaces only as many items as are needed for this, in the order of the grouping. `None`: all.
    pub limit: Option<Limit>,
    pub grouping: Grouping,
    /// This item stays.
    pub spared: Option<ItemId>,
    /// The tokens of the summary as a message, if it is written already.
    pub summary: Option<u64>,
}

/// The items that a summary will replace, in reading order, and the tokens that it may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    pub items: Vec<ItemEntry>,
    pub cost: u64,
    /// The size of the trace before.
    pub total: u64,
    pub summary: Allowance,
}

struct Candidate<'v> {
    slot: &'v ItemEntry,
    cost: u64,
    is_free: bool,
    /// The number of the call that it belongs to, if it is a call or a result.
    call: Option<usize>,
    task: usize,
}

/// Selects the items in the scope that are neither pinned nor left out. A call and its results are selected together or not at
/// all. Selects nothing if the trace is within the limit.
///
/// Reads every live item.
pub(crate) fn select(
    repo: &Repo,
    name: &TraceName,
    view: &View,
    counter: Counter,
    scope: &Scope<'_>,
) -> Result<Selection, TraceError> {
    let total = view.total(repo, counter)?.tokens;
    let none = Selection { items: Vec::new(), cost: 0, total, summary: allowance::unlimited(0) };
    if scope.limit.is_some_and(|limit| total <= limit.max) {
        return Ok(none);
    }
    let all = candidates(repo, view, counter, scope)?;
    let units = units(view, &all, scope.grouping);
    let costs: Vec<u64> = units.iter().map(|unit| unit.iter().map(|index| all[*index].cost).sum()).collect();
    let fit = match scope.limit {
        Some(limit) => allowance::fit(total, &costs, limit, scope.summary).map_err(|unfit| match unfit {
            Unfit::Kept { kept } => TraceError::CannotCompress {
                trace: name.clone(),
                max: limit.max,
                floor: Box::new(Floor { kept, pinned: pinned(view, &all), needed: kept + allowance::MIN_SUMMARY }),
            },
            Unfit::Summary { max } => TraceError::LongSummary { tokens: scope.summary.unwrap_or_default(), max },
        })?,
        None => Fit { taken: units.len(), summary: allowance::unlimited(costs.iter().sum()) },
    };
    let mut taken: Vec<usize> = units[..fit.taken].concat();
    taken.sort_unstable();
    Ok(Selection {
        items: taken.into_iter().map(|index| all[index].slot.clone()).collect(),
        cost: costs[..fit.taken].iter().sum(),
        summary: fit.summary,
        ..none
    })
}

/// All live items. Those that the scope does not release, or whose call or result stays, are not free.
fn candidates<'v>(
    repo: &Repo,
    view: &'v View,
    counter: Counter,
    scope: &Scope<'_>,
) -> Result<Vec<Candidate<'v>>, TraceError> {
    let end = scope.extent.end(view);
    let only: Option<HashSet<ItemId>> = scope.only.map(|ids| ids.iter().copied().collect());
    let (mut calls, mut tasks) = (Calls::default(), Tasks::default());
    let mut all: Vec<Candidate<'_>> = Vec::with_capacity(view.slots.len());
    let mut turn = 0;
    view.for_each_item(repo, |slot, reading| {
        if is_prompt(&reading.item) {
            turn = all.len();
        }
        let is_left_out = view.left_out(slot).is_some();
        let is_free = all.len() < end
            && only.as_ref().is_none_or(|only| only.contains(&slot.id))
            && view.level(slot).level() == Level::Normal
            && scope.spared != Some(slot.id)
            && !is_left_out;
        let call = if is_left_out { None } else { calls.number_of(&reading.item) };
        let task = tasks.number_of(&reading.item, call);
        all.push(Candidate { slot, cost: item_cost(&reading.item, counter), is_free, call, task });
        Ok(())
    })?;
    if scope.limit.is_some() {
        // The result of a call of this turn may still come.
        for item in &mut all[turn..] {
            item.is_free &= item.call.is_none_or(|call| calls.is_answered(call));
        }
    }
    let kept: HashSet<usize> = all.iter().filter(|item| !item.is_free).filter_map(|item| item.call).collect();
    for item in &mut all {
        item.is_free &= item.call.is_none_or(|call| !kept.contains(&call));
    }
    Ok(all)
}

/// The free candidates by index, with each call beside its results, in the order in which they are replaced.
fn units(view: &View, all: &[Candidate<'_>], grouping: Grouping) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut unit_of_call: HashMap<usize, usize> = HashMap::new();
    for (index, item) in all.iter().enumerate().filter(|(_, item)| item.is_free) {
        match item.call.and_then(|call| unit_of_call.get(&call)) {
            Some(unit) => units[*unit].push(index),
            None => {
                unit_of_call.extend(item.call.map(|call| (call, units.len())));
                units.push(vec![index]);
            }
        }
    }
    // The sort is stable, so the oldest come first.
    units.sort_by_key(|unit| view.types().rules(&all[unit[0]].slot.item_type).compress_order);
    match (grouping, all.last()) {
        (Grouping::Task, Some(last)) => by_task(units, all, last.task),
        _ => units,
    }
}

/// Joins the units of each task, and puts the task that was active least recently first. The units of the current task follow one
/// by one.
fn by_task(units: Vec<Vec<usize>>, all: &[Candidate<'_>], current: usize) -> Vec<Vec<usize>> {
    let (rest, earlier): (Vec<_>, Vec<_>) = units.into_iter().partition(|unit| all[unit[0]].task == current);
    let mut tasks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for unit in earlier {
        tasks.entry(all[unit[0]].task).or_default().extend(unit);
    }
    let mut tasks: Vec<Vec<usize>> = tasks.into_values().collect();
    tasks.sort_by_key(|task| task.iter().max().copied());
    tasks.extend(rest);
    tasks
}

fn is_prompt(item: &Item) -> bool {
    item.fields.item_type == ItemType::dialogue() && item.fields.role == Some(Role::User) && !is_summary(item)
}

fn is_summary(item: &Item) -> bool {
    item.fields.meta.contains_key(REPLACED)
}

/// Numbers tasks. A prompt of the user starts one, unless it replies to an item of another. Other items belong to the task of the item
/// that they reply to, of their call, or of their provider's turn, else to that of the last prompt. A summary is a separate task.
#[derive(Default)]
struct Tasks {
    by_item: HashMap<ItemId, usize>,
    by_call: HashMap<usize, usize>,
    by_turn: HashMap<String, usize>,
    current: usize,
    count: usize,
}

impl Tasks {
    fn number_of(&mut self, item: &Item, call: Option<usize>) -> usize {
        let fields = &item.fields;
        let known = call.and_then(|call| self.by_call.get(&call));
        let known = known.or_else(|| fields.reply_to.and_then(|id| self.by_item.get(&id)));
        let known = known.or_else(|| fields.turn.as_ref().and_then(|turn| self.by_turn.get(turn))).copied();
        let task = known.unwrap_or_else(|| {
            let starts_task = is_prompt(item) || is_summary(item);
            self.count += usize::from(starts_task);
            if starts_task { self.count } else { self.current }
        });
        if fields.item_type == ItemType::dialogue() && !is_summary(item) {
            self.current = task;
        }
        self.by_item.insert(item.id, task);
        self.by_call.extend(call.map(|call| (call, task)));
        self.by_turn.extend(fields.turn.clone().map(|turn| (turn, task)));
        task
    }
}

/// How many pinned items there are, their tokens, and the largest of them, for an error.
fn pinned(view: &View, all: &[Candidate<'_>]) -> String {
    const LISTED: usize = 5;
    let is_pinned =
        |item: &&Candidate<'_>| view.left_out(item.slot).is_none() && view.level(item.slot).level() == Level::Pinned;
    let mut pinned: Vec<&Candidate<'_>> = all.iter().filter(is_pinned).collect();
    if pinned.is_empty() {
        return "no item is pinned".to_owned();
    }
    pinned.sort_by_key(|item| std::cmp::Reverse(item.cost));
    let tokens: u64 = pinned.iter().map(|item| item.cost).sum();
    let listed = pinned.iter().take(LISTED);
    let mut listed: Vec<String> =
        listed.map(|item| format!("#{} {} {}", item.slot.seq, item.slot.item_type, item.cost)).collect();
    listed.extend(pinned.len().checked_sub(LISTED + 1).map(|more| format!("{} more", more + 1)));
    format!("{tokens} of them in {} pinned items: {}", pinned.len(), listed.join(", "))
}
