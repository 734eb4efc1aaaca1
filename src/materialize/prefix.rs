//! Whether what a thought was signed over is still as the model saw it.
//!
//! A provider signs a thought as the answer to everything before it. A signature is taken to hold if, of all live items
//! ahead of the thought,
//!
//! - none was edited: every one is of its first revision, and of its own role;
//! - none is missing: their positions have no gap, from the first on;
//! - none came in between: where both have a time of their own, none is later than the thought;
//! - none was skipped or taken back in since: of an item that is or was skipped, the level last set is older than the
//!   thought. What an import brings in skipped was never said, so it changes nothing.
//!
//! This errs to the side of not sending: an edit made before the thought breaks it too, for a tree does not tell when an item
//! was edited, and looking it up would walk history. What a tree cannot show at all is a thought without a time of its own
//! that came in by merge or pick.

use crate::git::Repo;
use crate::trace::model::item::{Item, ItemType};
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::priority::{Level, Record, SetLevel};
use crate::trace::store::view::{LeftOut, View};
use crate::trace::{Time, TraceError};

/// What is known of the items so far.
pub(super) struct Prefix<'v> {
    repo: &'v Repo,
    view: &'v View,
    record: Option<Record>,
    /// The last position at which it matters.
    last_thought: Option<u32>,
    next_seq: u32,
    broken: bool,
    /// When a level last changed of an item that is or was skipped.
    last_set: Option<Time>,
    /// The latest time of an item's own.
    last_created: Option<Time>,
}

impl<'v> Prefix<'v> {
    pub(super) fn new(repo: &'v Repo, view: &'v View) -> Self {
        let thoughts = view.slots.iter().filter(|slot| slot.item_type == ItemType::reasoning());
        Self {
            repo,
            view,
            record: None,
            last_thought: thoughts.map(|slot| slot.seq).max(),
            next_seq: 0,
            broken: false,
            last_set: None,
            last_created: None,
        }
    }

    /// Takes in the next item, and whether somebody gives it another role; whether all before it is as it was when it came in.
    pub(super) fn take(&mut self, slot: &ItemEntry, item: &Item, new_role: bool) -> Result<bool, TraceError> {
        if self.broken || self.last_thought.is_none_or(|last| slot.seq > last) {
            return Ok(false);
        }
        self.broken |= slot.seq != self.next_seq;
        self.next_seq = slot.seq + 1;
        let created = item.fields.created;
        let before_set = self.last_set.is_none_or(|set| created.is_some_and(|created| created >= set));
        let before_created = created.is_none_or(|created| self.last_created.is_none_or(|last| last <= created));
        // An edit keeps no signature, so a thought that has one is itself as it was.
        let holds = !self.broken && before_set && before_created;
        self.broken |= item.revision > 1 || new_role;
        self.broken |= self.view.left_out(slot) == Some(LeftOut::Superseded);
        self.last_created = self.last_created.max(created);
        if let SetLevel::Set(setting) = self.view.level(slot)
            && (setting.level == Level::Skip || self.was_skipped(slot)?)
        {
            self.last_set = self.last_set.max(Some(setting.at));
        }
        Ok(holds)
    }

    /// Whether an item that somebody set a level for was ever skipped.
    fn was_skipped(&mut self, slot: &ItemEntry) -> Result<bool, TraceError> {
        let record = match &mut self.record {
            Some(record) => record,
            record => record.insert(Record::open(self.repo)?),
        };
        Ok(record.history(self.repo, slot.id)?.iter().any(|setting| setting.level == Level::Skip))
    }
}
