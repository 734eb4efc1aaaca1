//! Compressing: a summary replaces items and lists their ids.
//!
//! Pinned items stay verbatim. Skipped items stay too, and the summary does not contain them. A call and its results go together or
//! not at all. The summary has the position of the first item that it replaces; [`Trace::expand`] restores all of them.

mod allowance;
mod material;
mod prompt;
pub(crate) mod rule;
mod select;
mod summary;
mod tools;

use std::collections::HashSet;

pub(crate) use allowance::{Limit, expected};
pub(crate) use material::Material;
pub(crate) use prompt::prompt;
pub(crate) use select::{Extent, Scope, Selection, select};
use serde_json::{Value, json};
pub(crate) use summary::{Summary, write};

use tools::Tools;

use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::trace::change::commit::validate_subject;
use crate::trace::change::compressor::is_blank;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::merge::{Choice, Settlement, Strategy};
use crate::trace::change::pending::PendingChange;
use crate::trace::change::replay::Outcome;
use crate::trace::model::trailers::preview;
use crate::trace::model::{schema, tree};
use crate::trace::store::priority::{Level, Record};
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::store::total;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{Draft, Fields, Item, ItemEntry, ItemId, Op, Tip, Trace, TraceError, TraceName};

/// The meta key of a summary that lists the ids of the items that it replaces.
pub(crate) const REPLACED: &str = "stands_for";

/// Sets the meta key that lists the ids of the items that a summary replaces, in reading order.
pub(crate) fn set_replaced_ids(fields: &mut Fields, ids: impl IntoIterator<Item = ItemId>) {
    let ids = ids.into_iter().map(|id| Value::from(id.to_string())).collect();
    fields.meta.insert(REPLACED.to_owned(), Value::Array(ids));
}

#[derive(Debug)]
pub(crate) struct Compressed {
    pub summary: Item,
    pub seq: u32,
    pub commit: Oid,
    pub cost_out: u64,
    pub cost_in: u64,
}

impl Compressed {
    pub(crate) fn after(&self, before: u64) -> u64 {
        (before + self.cost_in).saturating_sub(self.cost_out)
    }
}

/// A compression as JSON.
pub(crate) fn to_json(name: &TraceName, selection: &Selection, done: &Compressed) -> Value {
    let Compressed { summary, seq, commit, cost_in, cost_out } = done;
    let (items, before) = (selection.items.len(), selection.total);
    let tokens = json!({ "before": before, "after": done.after(before), "out": cost_out, "in": cost_in });
    json!({ "trace": name.as_str(), "id": summary.id.to_string(), "seq": seq, "items": items,
        "commit": commit.to_string(), "tokens": tokens })
}

impl Trace<'_> {
    /// Replaces the items of a selection by a summary.
    ///
    /// Fails with [`TraceError::Changed`] if one of them changed since it was selected, and with [`TraceError::PurgedMeanwhile`] if something was
    /// purged.
    pub(crate) fn compress(
        &self,
        selection: &Selection,
        mut summary: Draft,
        subject: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Compressed, TraceError> {
        validate_subject(subject)?;
        // A model may have written the summary meanwhile.
        let _no_purge = require_no_purge(self.repo())?;
        let [mut subject, mut reason] = [subject, reason].map(|line| line.map(str::to_owned));
        let Draft { fields, body } = &mut summary;
        self.scan_for_secrets(fields, body, subject.iter_mut().chain(&mut reason))?;
        prepare(self.repo(), selection, &mut summary)?;
        let (commit, (summary, seq, cost_in)) =
            self.change(|change| change.compress(selection, &summary, subject.as_deref(), reason.as_deref()))?;
        let commit = commit.ok_or_else(|| self.missing())?;
        Ok(Compressed { summary, seq, commit, cost_out: selection.cost, cost_in })
    }
}

/// Adds to a summary what it says about the items that it replaces.
pub(crate) fn prepare(repo: &Repo, selection: &Selection, summary: &mut Draft) -> Result<(), TraceError> {
    if is_blank(&summary.body) {
        return Err(TraceError::BlankSummary);
    }
    set_replaced_ids(&mut summary.fields, selection.items.iter().map(|slot| slot.id));
    Tools::of(repo, &selection.items)?.write_meta(&mut summary.fields.meta);
    schema::complete(&mut summary.fields);
    Ok(schema::validate(summary)?)
}

impl PendingChange<'_> {
    /// Commits the replacement of a selection by a [prepared](prepare) summary. Returns the summary, its position, and its cost.
    pub(crate) fn compress(
        &mut self,
        selection: &Selection,
        summary: &Draft,
        subject: Option<&str>,
        reason: Option<&str>,
    ) -> Result<(Item, u32, u64), TraceError> {
        self.require_tip()?;
        let live: HashSet<ItemEntry> = self.slots()?.into_iter().collect();
        // None of them was pinned or skipped when it was selected.
        let levels = Record::open(self.repo())?.levels(self.repo(), &selection.items, None)?;
        let is_set =
            |slot: &ItemEntry| matches!(levels.of(slot.id, &slot.item_type).level(), Level::Pinned | Level::Skip);
        if let Some(slot) = selection.items.iter().find(|slot| !live.contains(slot) || is_set(slot)) {
            return Err(TraceError::Changed { item: slot.id, trace: self.trace.name().clone() });
        }
        for slot in &selection.items {
            self.remove_file(&slot.path)?;
        }
        self.count(0, selection.cost);
        let summary = self.new_item(summary.clone());
        let seq = selection.items.first().map_or(0, |slot| slot.seq);
        self.put_item(seq, &summary)?;
        let preview = || format!("compress {} items: {}", selection.items.len(), preview(&summary));
        let subject = subject.map_or_else(preview, str::to_owned);
        self.commit_item(Op::Compress, summary.id, &subject, reason)?;
        let cost_in = total::item_cost(&summary, self.counter);
        Ok((summary, seq, cost_in))
    }
}

impl Trace<'_> {
    /// Replaces a summary by the items that it replaced, with the same bytes and positions. Items that are live already do not
    /// change. If the summary has another position than in the commit that made it, as in a trace that it was merged into, the
    /// items are added at the end.
    ///
    /// Walks history back to that commit.
    pub(crate) fn expand(&self, summary: ItemId, reason: Option<&str>) -> Result<Outcome, TraceError> {
        let (repo, tip) = (self.repo(), self.tip()?);
        let made_it = |tip: &Tip| tip.trailers.op == Some(Op::Compress) && tip.item() == Some(summary);
        let mut history = Walk::new(repo, tip.clone(), Parents::All);
        let compression = history.find(|earlier| earlier.as_ref().map_or(true, made_it)).transpose()?;
        let not_found = || TraceError::NotASummary { item: summary, trace: self.name().clone() };
        let compression = compression.ok_or_else(not_found)?;
        let seq_in = |tip: &Tip| -> Result<Option<u32>, TraceError> {
            Ok(tree::list(repo, tip.commit.tree)?.iter().find(|slot| slot.id == summary).map(|slot| slot.seq))
        };
        let stayed = seq_in(&tip)?.is_none_or(|seq| seq_in(&compression).is_ok_and(|then| then == Some(seq)));
        let placement = if stayed { Placement::WhereTheyStood } else { Placement::AtEnd };
        // An edit of the summary is dropped with it; items that are live again stay as they are.
        let settlement =
            Settlement { strategy: Some(Strategy::Ours), by_item: [(summary, Choice::Side(Side::Theirs))].into() };
        self.revert(&[compression.commit.oid], &settlement, "expand", placement, reason)
    }
}
