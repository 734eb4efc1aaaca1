//! Decides whether the items before reasoning are still as the model saw them.
//!
//! A provider signs reasoning together with everything before it. A signature counts as valid if, of all live items before the
//! reasoning,
//!
//! - none was edited or compressed: each has its first revision and its own role, and is no summary by git-trace;
//! - none is missing: their positions have no gap, from the first on, unless imports left all gaps of the trace, or all before the first merge that put reasoning after other items: what those
//!   removed was noise, rewound, or compacted, so the model did not see it either;
//! - none was inserted: none is later than the reasoning, if both have a time;
//! - none was skipped or restored since: the last level of each item that is or was skipped is older than the reasoning.
//!
//! In doubt a signature is not sent. An edit before the reasoning invalidates it too, because a tree does not contain the time
//! of an edit, and finding it would walk the history. A merge, rebase, or pick that puts reasoning after other items leaves a gap before it.

use crate::git::Repo;
use crate::trace::change::compress::REPLACED;
use crate::trace::model::item::{Item, ItemType};
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::priority::{Level, Record, SetLevel};
use crate::trace::store::view::{LeftOut, View};
use crate::trace::{Time, TraceError};

pub(super) struct SignedPrefix<'v> {
    repo: &'v Repo,
    view: &'v View,
    record: Option<Record>,
    last_reasoning: Option<u32>,
    next_seq: u32,
    /// Before this position, imports left all gaps.
    vacant_until: u32,
    broken: bool,
    /// The last change of level of an item that is or was skipped.
    last_set: Option<Time>,
    last_created: Option<Time>,
}

impl<'v> SignedPrefix<'v> {
    pub(super) fn new(repo: &'v Repo, view: &'v View) -> Self {
        let reasoning = view.slots.iter().filter(|slot| slot.item_type == ItemType::reasoning());
        Self {
            repo,
            view,
            record: None,
            last_reasoning: reasoning.map(|slot| slot.seq).max(),
            next_seq: 0,
            vacant_until: view.tip.vacant_until(&view.slots),
            broken: false,
            last_set: None,
            last_created: None,
        }
    }

    /// Adds the next item, and whether it has a new role. Returns whether everything before it is unchanged.
    pub(super) fn add(&mut self, slot: &ItemEntry, item: &Item, new_role: bool) -> Result<bool, TraceError> {
        if self.broken || self.last_reasoning.is_none_or(|last| slot.seq > last) {
            return Ok(false);
        }
        self.broken |= slot.seq != self.next_seq && slot.seq > self.vacant_until;
        self.next_seq = slot.seq + 1;
        let created = item.fields.created;
        let before_set = self.last_set.is_none_or(|set| created.is_some_and(|created| created >= set));
        let before_created = created.is_none_or(|created| self.last_created.is_none_or(|last| last <= created));
        // An edit removes the signature, so reasoning that has one is itself unchanged.
        let holds = !self.broken && before_set && before_created;
        // An agent's own summary has a source: the items that it replaces left the session, too.
        let is_compressed = item.fields.source.is_none() && item.fields.meta.contains_key(REPLACED);
        self.broken |= item.revision > 1 || new_role || is_compressed;
        self.broken |= self.view.left_out(slot) == Some(LeftOut::Superseded);
        self.last_created = self.last_created.max(created);
        if let SetLevel::Set(setting) = self.view.level(slot)
            && (setting.level == Level::Skip || self.was_skipped(slot)?)
        {
            self.last_set = self.last_set.max(Some(setting.at));
        }
        Ok(holds)
    }

    fn was_skipped(&mut self, slot: &ItemEntry) -> Result<bool, TraceError> {
        let record = match &mut self.record {
            Some(record) => record,
            record => record.insert(self.view.record(self.repo)?),
        };
        Ok(record.history(self.repo, slot.id)?.iter().any(|setting| setting.level == Level::Skip))
    }
}
