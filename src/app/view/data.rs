//! What a page tells, read from the repository.

use std::collections::{HashMap, HashSet};

use super::redact::Redactor;
use super::{Options, Past};
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::model::item::Item;
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::store::priority::{Record, SetLevel, Setting};
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::view::View;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, Time, Tip, TraceError};

/// A commit and what it changed against its first parent.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) tip: Tip,
    pub(crate) changes: Vec<Change>,
    /// Whether it is on the line that the trace itself took.
    pub(crate) on_line: bool,
}

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Text {
    /// What it costs as a message of its own.
    pub(crate) cost: u64,
    /// The item with its secrets taken out, where it is shown.
    pub(crate) item: Option<Item>,
    pub(crate) damage: Option<String>,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Data<'v> {
    pub(crate) view: &'v View,
    /// The items that are shown, in reading order.
    pub(crate) slots: &'v [ItemEntry],
    /// The items that were taken out and are shown, in reading order.
    pub(crate) gone: Vec<ItemEntry>,
    /// The commits that are shown, newest first.
    pub(crate) steps: Vec<Step>,
    pub(crate) has_earlier_steps: bool,
    /// Changes of priority, oldest first, of each item that had any.
    pub(crate) settings: HashMap<ItemId, Vec<Setting>>,
    pub(crate) past: Past,
    pub(crate) redactor: Redactor,
    texts: HashMap<Oid, Text>,
    /// The items of `slots` and `gone`.
    shown: HashSet<ItemId>,
    live: HashMap<ItemId, Oid>,
    /// What brought an item in or changed its text, newest first: which step, and which of its changes.
    touches: HashMap<ItemId, Vec<(usize, usize)>>,
}

impl Data<'_> {
    /// A text, by its file; `None` of one that is neither shown nor counted.
    pub(crate) fn text(&self, blob: Oid) -> Option<&Text> {
        self.texts.get(&blob)
    }

    /// What a text costs.
    pub(crate) fn cost(&self, blob: Oid) -> u64 {
        self.text(blob).map_or(0, |text| text.cost)
    }

    /// Whether the item is live in the state that is shown.
    pub(crate) fn is_live(&self, id: ItemId) -> bool {
        self.live.contains_key(&id)
    }

    /// Whether the item has a place of its own on the page.
    pub(crate) fn is_shown(&self, id: ItemId) -> bool {
        self.shown.contains(&id)
    }

    /// The commits that brought an item in or changed its text, newest first, with what they did.
    pub(crate) fn touches(&self, id: ItemId) -> impl Iterator<Item = (&Step, &Change)> {
        let step = |index: usize| &self.steps[index];
        let touches = self.touches.get(&id).into_iter().flatten();
        touches.map(move |(index, change)| (step(*index), &step(*index).changes[*change]))
    }

    /// A commit's subject, unless it tells of a text that is not shown: a subject is most often a text's beginning.
    pub(crate) fn subject<'s>(&self, step: &'s Step) -> Option<&'s str> {
        let own = step.tip.trailers.item.filter(|_| step.tip.is_ours());
        let is_known = own.is_none_or(|id| self.past == Past::All || self.is_live(id));
        let mut told = step.changes.iter().filter(|change| own.is_none_or(|id| change.entry().id == id));
        let is_shown = |change: &Change| match (self.past, self.live.get(&change.entry().id)) {
            (Past::All, _) | (Past::Edits, Some(_)) => true,
            (Past::Edits, None) => false,
            (Past::Nothing, live) => live == Some(&change.entry().blob),
        };
        (is_known && told.all(is_shown)).then(|| step.tip.commit.subject())
    }
}

/// Reads what a page of `view` tells; changes of priority later than `at` do not count.
pub(crate) fn gather<'v>(
    repo: &Repo,
    view: &'v View,
    at: Option<Time>,
    options: Options,
    encoding: Encoding,
) -> Result<Data<'v>, TraceError> {
    let slots = &view.slots[view.slots.len().saturating_sub(options.last)..];
    let (steps, has_earlier_steps) = walk(repo, &view.tip, options.last)?;
    let mut data = Data {
        view,
        slots,
        gone: Vec::new(),
        touches: touches(&steps),
        steps,
        has_earlier_steps,
        settings: HashMap::new(),
        past: options.past,
        redactor: Redactor::of_settings(repo)?,
        texts: HashMap::new(),
        shown: HashSet::new(),
        live: view.slots.iter().map(|slot| (slot.id, slot.blob)).collect(),
    };
    if options.past == Past::All {
        data.gone = gone(&data);
    }
    data.shown = data.slots.iter().chain(&data.gone).map(|slot| slot.id).collect();
    data.settings = settings(repo, &data, at)?;
    read_texts(repo, &mut data, encoding)?;
    Ok(data)
}

/// The newest commits, and whether there are more.
fn walk(repo: &Repo, tip: &Tip, last: usize) -> Result<(Vec<Step>, bool), TraceError> {
    let mut steps: Vec<Step> = Vec::new();
    let mut next_on_line = Some(tip.commit.oid);
    for tip in Walk::new(repo, tip.clone(), Parents::All) {
        if steps.len() >= last {
            return Ok((steps, true));
        }
        let tip = tip?;
        let on_line = next_on_line == Some(tip.commit.oid);
        if on_line {
            next_on_line = tip.commit.parents.first().copied();
        }
        steps.push(Step { changes: changes_of(repo, &tip)?, tip, on_line });
    }
    Ok((steps, false))
}

/// For each item the steps that brought it in or changed its text. What a merge took over from a side that is told of itself
/// is not told twice.
fn touches(steps: &[Step]) -> HashMap<ItemId, Vec<(usize, usize)>> {
    let made = |change: &Change| match change {
        Change::Added(after) => Some((after.id, after.blob)),
        Change::Changed(before, after) if before.blob != after.blob => Some((after.id, after.blob)),
        _ => None,
    };
    let is_merge = |step: &Step| step.tip.commit.parents.len() > 1;
    let told: HashSet<(ItemId, Oid)> =
        steps.iter().filter(|step| !is_merge(step)).flat_map(|step| step.changes.iter().filter_map(made)).collect();
    let mut touches: HashMap<ItemId, Vec<(usize, usize)>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        for (place, change) in step.changes.iter().enumerate() {
            if let Some((id, _)) = made(change).filter(|made| !is_merge(step) || !told.contains(made)) {
                touches.entry(id).or_default().push((index, place));
            }
        }
    }
    touches
}

/// The items that were taken out, each as it was last.
fn gone(data: &Data<'_>) -> Vec<ItemEntry> {
    let mut seen = HashSet::new();
    let mut gone: Vec<ItemEntry> = Vec::new();
    for change in data.steps.iter().flat_map(|step| &step.changes) {
        let slot = change.entry();
        if !data.is_live(slot.id) && seen.insert(slot.id) {
            gone.push(slot.clone());
        }
    }
    gone.sort_by_key(|slot| (slot.seq, slot.id));
    gone
}

/// The changes of priority of every item that is shown or counted.
fn settings(repo: &Repo, data: &Data<'_>, at: Option<Time>) -> Result<HashMap<ItemId, Vec<Setting>>, TraceError> {
    let record = Record::open(repo)?;
    let live =
        data.view.slots.iter().filter(|slot| matches!(data.view.level(slot), SetLevel::Set(_))).map(|slot| slot.id);
    let touched = data.steps.iter().flat_map(|step| &step.changes).map(|change| change.entry().id);
    let ids: HashSet<ItemId> = live.chain(touched.filter(|id| !data.is_live(*id))).collect();
    let mut settings = HashMap::new();
    for id in ids {
        let mut history = record.history(repo, id)?;
        history.retain(|setting| at.is_none_or(|at| setting.at <= at));
        if !history.is_empty() {
            settings.insert(id, history);
        }
    }
    Ok(settings)
}

/// Reads each text once: those that are shown are kept, of the others only what they cost.
fn read_texts(repo: &Repo, data: &mut Data<'_>, encoding: Encoding) -> Result<(), TraceError> {
    let mut wanted: Vec<(ItemEntry, Oid)> = Vec::new();
    let mut kept: HashSet<Oid> = HashSet::new();
    for slot in data.slots.iter().chain(&data.gone) {
        kept.insert(slot.blob);
        wanted.push((slot.clone(), slot.blob));
    }
    for change in data.steps.iter().flat_map(|step| &step.changes) {
        let is_edit = matches!(change, Change::Changed(before, after) if before.blob != after.blob);
        let keep = is_edit && data.past != Past::Nothing && data.is_shown(change.entry().id);
        for slot in change.clone().newest_first() {
            if keep {
                kept.insert(slot.blob);
            }
            let blob = slot.blob;
            wanted.push((slot, blob));
        }
    }
    // What was skipped at any time, of the items before the shown ones, comes off the total and on to it.
    let is_moved = |slot: &&ItemEntry| data.view.left_out(slot).is_some() || data.settings.contains_key(&slot.id);
    wanted.extend(data.view.slots.iter().filter(is_moved).map(|slot| (slot.clone(), slot.blob)));
    let mut seen = HashSet::new();
    wanted.retain(|(_, blob)| seen.insert(*blob));
    let (redactor, texts) = (&data.redactor, &mut data.texts);
    repo.for_each_blob(wanted, |slot, blob, bytes| {
        let Reading { mut item, damage } = Reading::of(&slot, bytes);
        let cost = item_cost(&item, encoding);
        let item = kept.contains(&blob).then(|| {
            if let Some(clean) = redactor.bytes(&item.body) {
                item.body = clean;
            }
            item
        });
        texts.insert(blob, Text { cost, item, damage: damage.map(|damage| damage.to_string()) });
        Ok::<_, TraceError>(())
    })
}
