//! The items that a command, a tool, or a library user means: names, ranges, turns, and filters.
//!
//! A range contains the items between its ends in reading order, whichever end is named first. Filters must all match.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use regex::bytes::Regex;

use crate::base::glob;
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::model::calls::Calls;
use crate::trace::model::item_spec::{ItemName, ItemSpec};
use crate::trace::model::json;
use crate::trace::model::tree;
use crate::trace::store::priority::tags::introductions;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total::{Reading, read_item};
use crate::trace::store::turns::Turns;
use crate::trace::store::{revision, settings};
use crate::trace::{Item, ItemEntry, ItemId, ItemType, Tip, TraceError, TraceName, View};

/// Conditions that an item must meet. The default has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemFilter {
    pub item_type: Option<ItemType>,
    /// The name of the tool of a call or result.
    pub tool: Option<String>,
    /// A pattern of the path of an artifact, or of the file that a call or result is about. It may match the end of the path.
    pub path: Option<String>,
    /// Keys of the metadata (or else fields), with the value that each must have; `None` accepts any.
    pub meta: Vec<(String, Option<String>)>,
    pub grep: Option<Regex>,
    pub larger_than: Option<u64>,
    /// The least number of steps that came later.
    pub age: Option<usize>,
    /// Recorded or, if no record has a time, committed before this.
    pub older_than: Option<Time>,
}

impl ItemFilter {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { item_type, tool, path, meta, grep, larger_than, age, older_than } = self;
        item_type.is_none()
            && tool.is_none()
            && path.is_none()
            && meta.is_empty()
            && grep.is_none()
            && larger_than.is_none()
            && age.is_none()
            && older_than.is_none()
    }
}

/// The items that may be selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Among {
    Live,
    /// Live items, and removed ones that are named by id, position, or commit.
    LiveOrNamed,
    /// Removed items, and live ones that are named by id, position, or commit.
    RemovedOrNamed,
}

/// Selects the items that have one of `names` (none: all) and match `filter`, each once, in the order of the names.
///
/// Reads the list of items; filters, turns, and ages read the items, and removed items the history.
///
/// # Errors
///
/// [`TraceError::NothingSelected`], and the errors of a name that does not exist or is ambiguous.
pub(crate) fn select(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    names: &[impl AsRef<str>],
    filter: &ItemFilter,
    among: Among,
) -> Result<Vec<ItemId>, TraceError> {
    let resolver = Resolver::new(repo, name, tip)?;
    let pool = if among == Among::RemovedOrNamed { resolver.removed()? } else { resolver.slots().to_vec() };
    let world = World { repo, name, tip, resolver, pool, among, turns: OnceCell::new() };
    let mut ids: Vec<ItemId> = match names {
        [] => world.pool.iter().map(|slot| slot.id).collect(),
        names => {
            let found: Result<Vec<_>, _> = names.iter().map(|spec| world.named(spec.as_ref())).collect();
            found?.concat()
        }
    };
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    if !filter.is_empty() {
        let matching = world.matching(filter, &ids)?;
        ids.retain(|id| matching.contains(id));
    }
    if ids.is_empty() { Err(TraceError::NothingSelected { trace: name.clone() }) } else { Ok(ids) }
}

/// The one live item that `spec` names.
pub(crate) fn select_one(repo: &Repo, name: &TraceName, tip: &Tip, spec: &str) -> Result<ItemId, TraceError> {
    match select(repo, name, tip, &[spec], &ItemFilter::default(), Among::Live)?.as_slice() {
        [item] => Ok(*item),
        items => Err(TraceError::NotOneItem { spec: spec.to_owned(), count: items.len() }),
    }
}

/// The live results of the calls among `ids` that are not among them. Reads calls and results if there is a call.
pub(crate) fn other_results(repo: &Repo, tip: &Tip, ids: &[ItemId]) -> Result<Vec<ItemId>, TraceError> {
    let chosen: HashSet<ItemId> = ids.iter().copied().collect();
    let mut slots = tree::list(repo, tip.commit.tree)?;
    slots.retain(|slot| slot.item_type == ItemType::tool_io());
    let is_call = |slot: &&ItemEntry| read_item(repo, slot).is_ok_and(|item| item.fields.is_call());
    if !slots.iter().filter(|slot| chosen.contains(&slot.id)).any(|slot| is_call(&slot)) {
        return Ok(Vec::new());
    }
    let (mut calls, mut taken, mut results) = (Calls::default(), HashSet::new(), Vec::new());
    repo.for_each_blob(slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
        let item = Reading::of(slot, bytes).item;
        let call = calls.number_of(&item);
        if chosen.contains(&item.id) && item.fields.is_call() {
            taken.extend(call);
        } else if item.fields.is_result() && call.is_some_and(|call| taken.contains(&call)) {
            results.push(item.id);
        }
        Ok::<_, TraceError>(())
    })?;
    results.retain(|id| !chosen.contains(id));
    Ok(results)
}

struct World<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    tip: &'r Tip,
    resolver: Resolver<'r>,
    /// The items that ranges, turns, and filters select from, in reading order.
    pool: Vec<ItemEntry>,
    among: Among,
    turns: OnceCell<Turns>,
}

impl World<'_> {
    fn named(&self, spec: &str) -> Result<Vec<ItemId>, TraceError> {
        let Ok(parsed) = spec.parse::<ItemSpec>();
        let range = match parsed {
            ItemSpec::One(ItemName::Turn(turn)) => self.turn(turn)?,
            ItemSpec::One(_) => {
                let mut ids = self.resolver.items(spec)?;
                if self.among == Among::Live {
                    let not_live = TraceError::NotLive { item: ids[0], trace: self.name.clone() };
                    ids.retain(|id| self.resolver.find_live(*id).is_some());
                    return if ids.is_empty() { Err(not_live) } else { Ok(ids) };
                }
                return Ok(ids);
            }
            ItemSpec::Range(first, last) => {
                let first = self.span(&first)?;
                let last = last.map_or(Ok(self.pool.len()..self.pool.len()), |last| self.span(&last))?;
                first.start.min(last.start)..first.end.max(last.end)
            }
        };
        Ok(self.pool[range].iter().map(|slot| slot.id).collect())
    }

    /// The part of the pool that the end of a range names.
    fn span(&self, end: &ItemName) -> Result<Range<usize>, TraceError> {
        match end {
            ItemName::Turn(turn) => self.turn(*turn),
            // A position without an item may be the end of a range, but one that no item has had is an error.
            ItemName::Position(seq) if *seq >= self.tip.next_seq(self.repo)? => {
                Err(TraceError::UnknownItem { spec: end.to_string(), trace: self.name.clone() })
            }
            ItemName::Position(seq) => {
                let index = |end: u32| self.pool.partition_point(|slot| slot.seq < end);
                Ok(index(*seq)..index(*seq + 1))
            }
            ItemName::Other(spec) => {
                let ids = self.resolver.items(spec)?;
                let indexes =
                    self.pool.iter().enumerate().filter(|(_, slot)| ids.contains(&slot.id)).map(|(index, _)| index);
                let (first, last) = (indexes.clone().min(), indexes.max());
                let range = first.zip(last).map(|(first, last)| first..last + 1);
                range.ok_or_else(|| TraceError::Gone { item: ids[0] })
            }
        }
    }

    /// The part of the pool that belongs to a turn. A removed item belongs to the turn around its position.
    fn turn(&self, turn: i64) -> Result<Range<usize>, TraceError> {
        let (turns, live) = (self.turns()?, self.resolver.slots());
        let number = turns.number(turn, self.name)?;
        let start_of = |number: usize| {
            let first = (0..live.len()).find(|index| turns.place(*index).turn >= number).map(|index| &live[index]);
            first.map_or(self.pool.len(), |first| {
                self.pool.partition_point(|slot| (slot.seq, slot.id) < (first.seq, first.id))
            })
        };
        Ok(if number == 1 { 0 } else { start_of(number) }..start_of(number + 1))
    }

    fn turns(&self) -> Result<&Turns, TraceError> {
        if let Some(turns) = self.turns.get() {
            return Ok(turns);
        }
        let turns = Turns::of_view(self.repo, &View::at(self.repo, self.tip.clone(), None)?)?;
        Ok(self.turns.get_or_init(|| turns))
    }

    /// The items among `ids` that match a filter.
    fn matching(&self, filter: &ItemFilter, ids: &[ItemId]) -> Result<HashSet<ItemId>, TraceError> {
        let known: HashSet<ItemId> = self.pool.iter().map(|slot| slot.id).collect();
        let mut slots = self.pool.clone();
        for id in ids.iter().filter(|id| !known.contains(id)) {
            slots.push(match self.resolver.find_live(*id) {
                Some(slot) => slot.clone(),
                None => revision::find(self.repo, self.name, self.tip, *id, None)?.wanted.0,
            });
        }
        let counter = settings::counter(self.repo, Some(self.name))?;
        let wanted: HashSet<ItemId> = ids.iter().copied().collect();
        let (mut calls, mut of_call) = (Calls::default(), HashMap::<usize, About>::new());
        let (mut matching, mut created) = (Vec::new(), HashMap::new());
        // A result may lack what its call says, so other items are read too.
        self.repo.for_each_blob(slots.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            let item = Reading::of(slot, bytes).item;
            let mut about = About::of(&item);
            if let Some(call) = calls.number_of(&item) {
                let of_call = of_call.entry(call).or_default();
                about = About { tool: about.tool.or(of_call.tool.take()), path: about.path.or(of_call.path.take()) };
                *of_call = about.clone();
            }
            if wanted.contains(&slot.id)
                && filter.item_type.as_ref().is_none_or(|item_type| *item_type == slot.item_type)
                && filter.tool.as_ref().is_none_or(|tool| about.tool.as_ref() == Some(tool))
                && filter
                    .path
                    .as_ref()
                    .is_none_or(|pattern| about.path.as_ref().is_some_and(|path| fits(pattern, path)))
                && filter.meta.iter().all(|(key, value)| has(&item, key, value.as_deref()))
                && filter.grep.as_ref().is_none_or(|pattern| pattern.is_match(&item.body))
                && filter.larger_than.is_none_or(|tokens| item.token_count(counter) > tokens)
            {
                created.extend(item.fields.created.map(|time| (slot.id, time)));
                matching.push(slot);
            }
            Ok::<_, TraceError>(())
        })?;
        if let Some(age) = filter.age {
            let turns = self.turns()?;
            matching.retain(|slot| self.age(turns, slot) >= age);
        }
        if let Some(time) = filter.older_than {
            let without_time = matching.iter().map(|slot| slot.id).filter(|id| !created.contains_key(id));
            for (id, commit) in introductions(self.repo, self.tip, without_time.collect::<Vec<_>>())? {
                created.insert(id, Tip::read(self.repo, commit)?.time());
            }
            matching.retain(|slot| created.get(&slot.id).is_some_and(|created| *created < time));
        }
        Ok(matching.into_iter().map(|slot| slot.id).collect())
    }

    /// The number of steps after an item. A removed item is as old as the live one before it.
    fn age(&self, turns: &Turns, slot: &ItemEntry) -> usize {
        let live = self.resolver.slots();
        let after = live.partition_point(|live| (live.seq, live.id) <= (slot.seq, slot.id));
        after.checked_sub(1).map_or_else(|| turns.steps(), |index| turns.age(index))
    }
}

/// The tool and the path that a call and its results have in common.
#[derive(Clone, Default)]
struct About {
    tool: Option<String>,
    path: Option<String>,
}

impl About {
    fn of(item: &Item) -> Self {
        let is_tool = item.fields.item_type == ItemType::tool_io();
        Self { tool: item.fields.name.clone().filter(|_| is_tool), path: item.path_or_argument() }
    }
}

/// Whether an item has this key of its metadata, or else this field, with this value.
fn has(item: &Item, key: &str, value: Option<&str>) -> bool {
    let fields;
    let found = match item.fields.meta.get(key) {
        Some(found) => Some(found),
        None => {
            fields = json::to_json(item);
            fields.get(key)
        }
    };
    found.is_some_and(|found| value.is_none_or(|value| found.as_str() == Some(value) || *found.to_string() == *value))
}

/// The items of a trace's history whose newest version matches a filter. Reads all items and the history.
pub(crate) fn in_history(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    filter: &ItemFilter,
) -> Result<HashSet<ItemId>, TraceError> {
    let mut found = HashSet::new();
    for among in [Among::Live, Among::RemovedOrNamed] {
        match select(repo, name, tip, &[] as &[&str], filter, among) {
            Err(TraceError::NothingSelected { .. }) => {}
            ids => found.extend(ids?),
        }
    }
    Ok(found)
}

/// Whether a pattern matches a path or its end: `src/*.rs` also matches `/home/a/src/b.rs`.
fn fits(pattern: &str, path: &str) -> bool {
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    let ends = std::iter::once(0).chain(starts).map(|start| &path[start..]);
    ends.into_iter().any(|end| glob::matches(pattern.as_bytes(), end.as_bytes()))
}
