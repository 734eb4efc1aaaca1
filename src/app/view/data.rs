//! The data of a page, read from the repository.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::redact::Redactor;
use super::{Options, Past};
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::change::compress::REPLACED;
use crate::trace::model::item::Item;
use crate::trace::model::tree::{Change, ItemEntry};
use crate::trace::store::priority::{Record, SetLevel, Setting};
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::view::View;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, Op, Time, Tip, TraceError};

/// The state of an item in whose place a summary is.
pub(crate) const SUMMARIZED: &str = "summarized";

pub(crate) struct Step {
    pub(crate) tip: Tip,
    pub(crate) changes: Vec<Change>,
    pub(crate) on_line: bool,
}

pub(crate) struct Text {
    pub(crate) cost: u64,
    pub(crate) item: Option<Item>,
    pub(crate) damage: Option<String>,
}

/// The items that a summary, or a prompt that clears the context, replaced.
pub(crate) struct Replaced {
    pub(crate) ids: Vec<ItemId>,
    pub(crate) tokens: u64,
}

pub(crate) struct Data<'v> {
    pub(crate) view: &'v View,
    /// The live items that are shown, in reading order.
    pub(crate) items: &'v [ItemEntry],
    /// The items that are no longer in the context, each as it was last, in reading order.
    pub(crate) gone: Vec<ItemEntry>,
    pub(crate) steps: Vec<Step>,
    pub(crate) has_earlier_steps: bool,
    /// Changes of priority, oldest first, of each item that had any.
    pub(crate) settings: HashMap<ItemId, Vec<Setting>>,
    pub(crate) past: Past,
    pub(crate) redactor: Redactor,
    texts: HashMap<Oid, Text>,
    shown: HashSet<ItemId>,
    /// The step that removed an item last.
    removals: HashMap<ItemId, usize>,
    /// The first item at each position. A summary has the position of the first item that it replaces.
    first_at: HashMap<u32, ItemId>,
    replaced: HashMap<ItemId, Replaced>,
    /// The summary that replaced an item, with its position.
    summaries: HashMap<ItemId, (u32, ItemId)>,
    live: HashMap<ItemId, Oid>,
    /// The changes that introduced an item or changed its text, newest first, by step and position in it.
    touches: HashMap<ItemId, Vec<(usize, usize)>>,
}

impl<'v> Data<'v> {
    /// Reads the data for a page of `view`. Changes of priority later than `at` do not count.
    pub(crate) fn read(
        repo: &Repo,
        view: &'v View,
        at: Option<Time>,
        options: Options,
        counter: Counter,
    ) -> Result<Self, TraceError> {
        let items = &view.slots[view.slots.len().saturating_sub(options.last)..];
        let (steps, has_earlier_steps) = walk(repo, &view.tip, options.last)?;
        let live: HashMap<ItemId, Oid> = view.slots.iter().map(|entry| (entry.id, entry.blob)).collect();
        let mut gone = BTreeMap::new();
        let mut removals = HashMap::new();
        // The newest comes first and stays.
        for (index, step) in steps.iter().enumerate() {
            for change in &step.changes {
                let entry = change.entry();
                if !live.contains_key(&entry.id) {
                    gone.entry(entry.id).or_insert_with(|| entry.clone());
                    if matches!(change, Change::Removed(_)) {
                        removals.entry(entry.id).or_insert(index);
                    }
                }
            }
        }
        let mut gone: Vec<ItemEntry> = gone.into_values().collect();
        gone.sort_by_key(|entry| (entry.seq, entry.id));
        let mut data = Self {
            view,
            first_at: HashMap::new(),
            replaced: HashMap::new(),
            summaries: HashMap::new(),
            items,
            shown: items.iter().chain(&gone).map(|entry| entry.id).collect(),
            gone,
            removals,
            touches: touches(&steps),
            steps,
            has_earlier_steps,
            settings: HashMap::new(),
            past: options.past,
            redactor: Redactor::of_settings(repo)?,
            texts: HashMap::new(),
            live,
        };
        data.read_settings(repo, at)?;
        data.read_texts(repo, counter)?;
        data.find_replaced();
        Ok(data)
    }

    pub(crate) fn text(&self, blob: Oid) -> Option<&Text> {
        self.texts.get(&blob)
    }

    pub(crate) fn cost(&self, blob: Oid) -> u64 {
        self.text(blob).map_or(0, |text| text.cost)
    }

    pub(crate) fn is_live(&self, id: ItemId) -> bool {
        self.live.contains_key(&id)
    }

    pub(crate) fn is_shown(&self, id: ItemId) -> bool {
        self.shown.contains(&id)
    }

    /// All items on the page, in reading order: a summary after what it replaces.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &ItemEntry> {
        let mut entries: Vec<&ItemEntry> = self.items.iter().chain(&self.gone).collect();
        let mut places: HashMap<ItemId, (u32, u32)> = entries.iter().map(|entry| (entry.id, (entry.seq, 0))).collect();
        // The oldest first, because a summary may replace another.
        let mut summaries: Vec<(&ItemId, &Replaced)> = self.replaced.iter().collect();
        summaries.sort_by_key(|(id, _)| (Reverse(self.origin(**id)), **id));
        for (id, replaced) in summaries {
            if let Some((seq, depth)) = replaced.ids.iter().filter_map(|id| places.get(id)).max().copied() {
                places.insert(*id, (seq, depth + 1));
            }
        }
        entries.sort_by_key(|entry| places[&entry.id]);
        entries.into_iter()
    }

    /// The items that a summary on the page replaced.
    pub(crate) fn replaced(&self, id: ItemId) -> Option<&Replaced> {
        self.replaced.get(&id)
    }

    /// The anchor of the summary that replaced an item.
    pub(crate) fn summary(&self, id: ItemId) -> Option<String> {
        self.summaries.get(&id).map(|(seq, summary)| self.anchor_of(*seq, *summary))
    }

    /// The item, if its text may be shown and was read.
    pub(crate) fn item(&self, entry: &ItemEntry) -> Option<&Item> {
        self.text(entry.blob).filter(|_| self.shows_text(entry))?.item.as_ref()
    }

    /// The commit that removed an item from the context.
    pub(crate) fn removal(&self, id: ItemId) -> Option<&Step> {
        self.removals.get(&id).map(|step| &self.steps[*step])
    }

    /// Whether two items, whose texts are not on the page, were removed by the same person for the same reason.
    pub(crate) fn are_gone_together(&self, one: &ItemEntry, other: &ItemEntry) -> bool {
        let removal = |entry: &ItemEntry| {
            let tip = &self.removal(entry.id).filter(|_| self.item(entry).is_none())?.tip;
            Some((tip.trailers.op, &tip.trailers.reason, &tip.commit.author))
        };
        removal(one).is_some_and(|removal_of_one| Some(removal_of_one) == removal(other))
    }

    /// Whether a text is on the page. A summary is not made to hide what it summarizes; a deletion may be.
    pub(crate) fn shows_text(&self, entry: &ItemEntry) -> bool {
        self.is_live(entry.id) || self.past.shows(self.state(entry) == SUMMARIZED)
    }

    /// The name of an item in links: its position, with its id if another item has that position too.
    pub(crate) fn anchor(&self, entry: &ItemEntry) -> String {
        self.anchor_of(entry.seq, entry.id)
    }

    fn anchor_of(&self, seq: u32, id: ItemId) -> String {
        match self.first_at.get(&seq) {
            Some(first) if *first != id => format!("{seq}-{id}"),
            _ => seq.to_string(),
        }
    }

    /// The index of the step that added an item.
    pub(crate) fn origin(&self, id: ItemId) -> Option<usize> {
        self.touches.get(&id)?.last().map(|(step, _)| *step)
    }

    /// `deleted` or `summarized`, the reason why the item is left out, or its priority.
    pub(crate) fn state(&self, entry: &ItemEntry) -> &'static str {
        match self.view.left_out(entry) {
            _ if !self.is_live(entry.id) => match self.removal(entry.id) {
                Some(step) if step.tip.trailers.op == Some(Op::Compress) => SUMMARIZED,
                _ => "deleted",
            },
            Some(reason) => reason.as_str(),
            None => self.view.level(entry).level().as_str(),
        }
    }

    pub(crate) fn touches(&self, id: ItemId) -> impl Iterator<Item = (&Step, &Change)> {
        let touches = self.touches.get(&id).into_iter().flatten();
        touches.map(|(step, change)| (&self.steps[*step], &self.steps[*step].changes[*change]))
    }

    /// A commit's subject, unless it is about a text that is not shown: a subject is often the beginning of a text.
    pub(crate) fn subject<'s>(&self, step: &'s Step) -> Option<&'s str> {
        let own = step.tip.item();
        let is_summarized = |id| self.removal(id).is_some_and(|step| step.tip.trailers.op == Some(Op::Compress));
        let is_known = own.is_none_or(|id| self.is_live(id) || self.past.shows(is_summarized(id)));
        let mut about = step.changes.iter().filter(|change| own.is_none_or(|id| change.entry().id == id));
        let is_shown = |change: &Change| match (self.past, self.live.get(&change.entry().id)) {
            (Past::All, _) | (Past::Edits, Some(_)) => true,
            (Past::Edits, None) => self.shows_text(change.entry()),
            (Past::Nothing, live) => live == Some(&change.entry().blob),
        };
        (is_known && about.all(is_shown)).then(|| step.tip.commit.subject())
    }

    fn find_replaced(&mut self) {
        let shown: HashMap<ItemId, Oid> =
            self.items.iter().chain(&self.gone).map(|entry| (entry.id, entry.blob)).collect();
        let (mut replaced, mut summaries) = (HashMap::new(), HashMap::new());
        for entry in self.items.iter().chain(&self.gone) {
            let ids = self.item(entry).and_then(|item| item.fields.meta.get(REPLACED)?.as_array());
            let Some(ids) = ids else { continue };
            let ids: Vec<ItemId> = ids.iter().filter_map(|id| id.as_str()?.parse().ok()).collect();
            let tokens = ids.iter().filter_map(|id| shown.get(id)).map(|blob| self.cost(*blob)).sum();
            summaries.extend(ids.iter().map(|id| (*id, (entry.seq, entry.id))));
            replaced.insert(entry.id, Replaced { ids, tokens });
        }
        let (of_summaries, others): (Vec<&ItemEntry>, Vec<&ItemEntry>) =
            self.items.iter().chain(&self.gone).partition(|entry| replaced.contains_key(&entry.id));
        let mut first_at = HashMap::new();
        for entry in others.into_iter().chain(of_summaries) {
            first_at.entry(entry.seq).or_insert(entry.id);
        }
        (self.first_at, self.replaced, self.summaries) = (first_at, replaced, summaries);
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.steps.iter().flat_map(|step| &step.changes)
    }

    fn read_settings(&mut self, repo: &Repo, at: Option<Time>) -> Result<(), TraceError> {
        let record = Record::open(repo)?;
        let is_set = |entry: &&ItemEntry| matches!(self.view.level(entry), SetLevel::Set(_));
        let live = self.view.slots.iter().filter(is_set).map(|entry| entry.id);
        let touched = self.changes().map(|change| change.entry().id).filter(|id| !self.is_live(*id));
        let ids: HashSet<ItemId> = live.chain(touched).collect();
        for id in ids {
            let mut history = record.history(repo, id)?;
            history.retain(|setting| at.is_none_or(|at| setting.at <= at));
            if !history.is_empty() {
                self.settings.insert(id, history);
            }
        }
        Ok(())
    }

    /// Reads each text once. Those that are shown are kept; of the others only the cost is.
    fn read_texts(&mut self, repo: &Repo, counter: Counter) -> Result<(), TraceError> {
        let mut wanted: Vec<&ItemEntry> = self.items.iter().chain(&self.gone).collect();
        let mut kept: HashSet<Oid> =
            wanted.iter().filter(|entry| self.shows_text(entry)).map(|entry| entry.blob).collect();
        for change in self.changes() {
            let (before, after) = change.sides();
            wanted.extend(after.into_iter().chain(before));
            if let (Some(before), Some(after)) = (before, after)
                && before.blob != after.blob
                && self.past != Past::Nothing
                && self.is_shown(after.id)
                && self.shows_text(after)
            {
                kept.extend([before.blob, after.blob]);
            }
        }
        // An earlier item that was skipped at some time is subtracted from the total and added to it.
        let is_moved =
            |entry: &&ItemEntry| self.view.left_out(entry).is_some() || self.settings.contains_key(&entry.id);
        wanted.extend(self.view.slots.iter().filter(is_moved));
        let mut seen = HashSet::new();
        wanted.retain(|entry| seen.insert(entry.blob));
        let wanted: Vec<_> = wanted.into_iter().map(|entry| (entry.clone(), entry.blob)).collect();
        repo.for_each_blob(wanted, |entry, blob, bytes| {
            let Reading { mut item, damage } = Reading::of(&entry, bytes);
            let cost = item_cost(&item, counter);
            let item = kept.contains(&blob).then(|| {
                if let Some(clean) = self.redactor.bytes(&item.body) {
                    item.body = clean;
                }
                item
            });
            self.texts.insert(blob, Text { cost, item, damage: damage.map(|damage| damage.to_string()) });
            Ok::<_, TraceError>(())
        })
    }
}

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

/// The touches of each item. A change that a merge took from a side is not listed again.
fn touches(steps: &[Step]) -> HashMap<ItemId, Vec<(usize, usize)>> {
    let made = |change: &Change| match change.sides() {
        (Some(before), Some(after)) if before.blob == after.blob => None,
        (_, after) => after.map(|after| (after.id, after.blob)),
    };
    let is_merge = |step: &Step| step.tip.commit.parents.len() > 1;
    let direct = steps.iter().filter(|step| !is_merge(step));
    let direct: HashSet<(ItemId, Oid)> = direct.flat_map(|step| step.changes.iter().filter_map(made)).collect();
    let mut touches: HashMap<ItemId, Vec<(usize, usize)>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        for (position, change) in step.changes.iter().enumerate() {
            if let Some((id, _)) = made(change).filter(|made| !is_merge(step) || !direct.contains(made)) {
                touches.entry(id).or_default().push((index, position));
            }
        }
    }
    touches
}
