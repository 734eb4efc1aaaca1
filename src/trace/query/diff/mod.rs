//! The differences between two states of traces, by item.
//!
//! Items are matched by id. An item with another position *moved* only if its order among the items of both states changed. The
//! cost depends on the differences, because equal folders are not read.

pub(crate) mod content;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod order;
pub(crate) mod revisions;

use std::collections::{BTreeMap, HashMap};

use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::priority::{Level, Record};
use crate::trace::store::resolve::{self, State, find_tip, state};
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError, TraceName, View};

#[derive(Debug)]
pub(crate) struct Diff {
    /// The older state; `None` before the first commit.
    pub before: Option<State>,
    pub after: State,
    /// The items that differ, in the reading order of the newer state; removed items at their old positions.
    pub items: Vec<ItemDiff>,
    /// The number of items that both states have and that do not differ.
    pub unchanged: usize,
    /// The counted total of the newer state minus that of the older one. What providers reported is not compared.
    pub tokens: i128,
}

#[derive(Clone, Debug)]
pub(crate) struct ItemDiff {
    pub before: Option<ItemEntry>,
    pub after: Option<ItemEntry>,
    /// Whether its order among the items of both states changed.
    pub moved: bool,
    /// Its priority before and after, if they differ.
    pub levels: Option<(Level, Level)>,
}

impl ItemDiff {
    fn of(before: Option<ItemEntry>, after: Option<ItemEntry>) -> Self {
        Self { before, after, moved: false, levels: None }
    }

    /// The changes of one commit.
    pub(crate) fn of_change(change: &Change) -> Self {
        let moved = matches!(change, Change::Changed(before, after) if before.seq != after.seq);
        let (before, after) = change.sides();
        Self { moved, ..Self::of(before.cloned(), after.cloned()) }
    }

    /// Its new entry, or its old one if it was removed.
    pub(crate) fn entry(&self) -> Option<&ItemEntry> {
        self.after.as_ref().or(self.before.as_ref())
    }

    pub(crate) fn is_edited(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.blob != after.blob)
    }

    /// Its changes: `added`, `removed`, or any of `edited`, `moved`, and `priority`.
    pub(crate) fn changes(&self) -> Vec<&'static str> {
        match (&self.before, &self.after) {
            (None, _) => vec!["added"],
            (_, None) => vec!["removed"],
            _ => {
                let words = [(self.is_edited(), "edited"), (self.moved, "moved"), (self.levels.is_some(), "priority")];
                words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
            }
        }
    }

    /// Whether it was added or removed.
    pub(crate) fn is_whole(&self) -> bool {
        self.before.is_none() || self.after.is_none()
    }

    fn is_instruction(&self) -> bool {
        let is = |slot: &Option<ItemEntry>| slot.as_ref().is_some_and(|slot| slot.item_type == ItemType::instruction());
        is(&self.before) || is(&self.after)
    }
}

impl Diff {
    /// The number of items added, removed, edited, moved, with another priority, and unchanged.
    pub(crate) fn counts(&self) -> [(&'static str, usize); 6] {
        let count = |word| self.items.iter().filter(|item| item.changes().contains(&word)).count();
        let changes = |word| (word, count(word));
        let [added, removed, edited] = ["added", "removed", "edited"].map(changes);
        [added, removed, edited, changes("moved"), changes("priority"), ("unchanged", self.unchanged)]
    }

    /// A summary in one line: [`Self::counts`] without zeros, and the difference of the totals.
    pub(crate) fn summary(&self) -> String {
        let mut parts: Vec<String> = self
            .counts()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(word, count)| match word {
                "priority" => format!("{count} with another priority"),
                word => format!("{count} {word}"),
            })
            .collect();
        if self.items.is_empty() {
            parts.insert(0, "no item differs".to_owned());
        }
        format!("{}, {:+} tokens", parts.join(", "), self.tokens)
    }
}

/// For two tips, reads only the differences, unless an instruction or the order changed or a total was reported: then it reads
/// both lists, as for an earlier state with the priorities of its time.
pub(crate) fn between(repo: &Repo, before: Option<State>, after: State, counter: Counter) -> Result<Diff, TraceError> {
    let old_tree = before.as_ref().map(|state| state.tip.commit.tree);
    let mut items = Vec::new();
    let mut shifted = false;
    for change in tree::changes(repo, old_tree, after.tip.commit.tree)? {
        shifted |= matches!(&change, Change::Changed(before, after) if before.seq != after.seq);
        let (before, after) = change.sides();
        items.push(ItemDiff::of(before.cloned(), after.cloned()));
    }
    if let Some(old_tree) = old_tree.filter(|_| shifted) {
        mark_moved(repo, &mut items, old_tree, &after)?;
    }
    items.retain(|item| item.is_edited() || item.moved || item.is_whole());
    let quick = match &before {
        Some(before) if before.at.is_none() && after.at.is_none() => {
            quick_tokens(repo, before, &after, &items, counter)?
        }
        _ => None,
    };
    let tokens = match quick {
        Some(tokens) => tokens,
        None => compare_views(repo, before.as_ref(), &after, &mut items, counter)?,
    };
    items.sort_by_key(|item| item.entry().map(|slot| (slot.seq, slot.id)));
    let in_both = items.iter().filter(|item| item.after.is_some()).count();
    let unchanged = tree::list(repo, after.tip.commit.tree)?.len().saturating_sub(in_both);
    Ok(Diff { before, after, items, unchanged, tokens })
}

/// Marks the items that moved, and adds items whose order changed although their files did not.
fn mark_moved(
    repo: &Repo,
    items: &mut Vec<ItemDiff>,
    old_tree: crate::git::Oid,
    after: &State,
) -> Result<(), TraceError> {
    let (old, new) = (tree::list(repo, old_tree)?, tree::list(repo, after.tip.commit.tree)?);
    let mut moved = order::moved(&old, &new);
    for item in items.iter_mut() {
        let id = item.entry().map(|slot| slot.id);
        item.moved = !item.is_whole() && id.is_some_and(|id| moved.remove(&id));
    }
    let find = |slots: &[ItemEntry], id: ItemId| slots.iter().find(|slot| slot.id == id).cloned();
    items.extend(moved.into_iter().map(|id| ItemDiff { moved: true, ..ItemDiff::of(find(&old, id), find(&new, id)) }));
    Ok(())
}

/// The difference of the totals of two tips, from the changed items alone; `None` if that is not enough. Levels are the same on
/// both sides, so an unchanged item is omitted on both or on neither, unless an instruction replaces another.
fn quick_tokens(
    repo: &Repo,
    before: &State,
    after: &State,
    items: &[ItemDiff],
    counter: Counter,
) -> Result<Option<i128>, TraceError> {
    if items.iter().any(ItemDiff::is_instruction) {
        return Ok(None);
    }
    let (old, new) = (before.tip.said_count(repo, counter)?, after.tip.said_count(repo, counter)?);
    let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
    let slots: Vec<ItemEntry> = items.iter().flat_map(|item| item.before.iter().chain(&item.after)).cloned().collect();
    let levels = Record::open(repo)?.levels(repo, &slots, None)?;
    let mut tokens = i128::from(new) - i128::from(old);
    for item in items {
        for (slot, sign) in [(&item.before, 1), (&item.after, -1)] {
            if let Some(slot) = slot.as_ref().filter(|slot| levels.is_skipped(slot.id, &slot.item_type)) {
                tokens += sign * i128::from(item_cost(&read_item(repo, slot)?, counter));
            }
        }
    }
    Ok(Some(tokens))
}

/// The difference of the totals of two views. Adds the items whose priority differs.
fn compare_views(
    repo: &Repo,
    before: Option<&State>,
    after: &State,
    items: &mut Vec<ItemDiff>,
    counter: Counter,
) -> Result<i128, TraceError> {
    let new = View::at(repo, after.tip.clone(), after.at)?;
    let new_total = i128::from(new.counted(repo, counter)?);
    let Some(before) = before else { return Ok(new_total - i128::from(PER_REPLY)) };
    let old = View::at(repo, before.tip.clone(), before.at)?;
    let old_slots: HashMap<ItemId, &ItemEntry> = old.slots.iter().map(|slot| (slot.id, slot)).collect();
    let mut changed = BTreeMap::new();
    for slot in &new.slots {
        let Some(old_slot) = old_slots.get(&slot.id) else { continue };
        let levels = (old.level(old_slot).level(), new.level(slot).level());
        if levels.0 != levels.1 {
            changed.insert(slot.id, (levels, *old_slot, slot));
        }
    }
    for item in items.iter_mut() {
        let found = item.entry().and_then(|slot| changed.remove(&slot.id));
        item.levels = found.map(|(levels, _, _)| levels);
    }
    items.extend(changed.into_values().map(|(levels, old, new)| ItemDiff {
        levels: Some(levels),
        ..ItemDiff::of(Some(old.clone()), Some(new.clone()))
    }));
    Ok(new_total - i128::from(old.counted(repo, counter)?))
}

#[derive(Debug)]
pub(crate) enum Target {
    /// Two states; `None` is the state before a trace's first commit.
    States(Box<(Option<State>, State)>),
    Item(ItemId),
}

/// Resolves the user's arguments in the trace `current`: none (the changes of its last commit), one state (from there to now),
/// `A..B` (an absent side is now), `A...B` (from the merge base), two states, or one item.
pub(crate) fn target(
    repo: &Repo,
    current: &TraceName,
    now: impl Fn() -> Result<State, TraceError>,
    words: &[String],
) -> Result<Target, TraceError> {
    let named = |spec: &str| match spec {
        "" => now(),
        spec => state(repo, current, spec),
    };
    match words {
        [] => {
            let after = now()?;
            let before = after.tip.commit.parents.first().map(|oid| earlier(repo, *oid)).transpose()?;
            Ok(states(before, after))
        }
        [a, b, ..] => Ok(states(Some(named(a)?), named(b)?)),
        [one] => {
            if let Some((a, b)) = one.split_once("...") {
                let (a, b) = (named(a)?, named(b)?);
                let bases = repo.merge_bases(a.tip.commit.oid, b.tip.commit.oid)?;
                let base = bases.first().map(|oid| earlier(repo, *oid)).transpose()?;
                return Ok(states(base, b));
            }
            if let Some((a, b)) = one.split_once("..") {
                return Ok(states(Some(named(a)?), named(b)?));
            }
            if find_tip(repo, one)?.is_none()
                && Tip::find(repo, current)?.is_some()
                && let Some(item) = resolve::item_by_name(repo, current, &now()?.tip, one)?
            {
                return Ok(Target::Item(item));
            }
            Ok(states(Some(named(one)?), now()?))
        }
    }
}

fn states(before: Option<State>, after: State) -> Target {
    Target::States(Box::new((before, after)))
}

fn earlier(repo: &Repo, commit: Oid) -> Result<State, TraceError> {
    Ok(State::after(Tip::read(repo, commit)?))
}
