//! What a compaction takes the place of, where compactions are replayed.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{Compaction, Preserved, Record};
use super::turns::key;
use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::transcript::Entry;

/// By thread: what was said and no summary has taken the place of.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Standing(BTreeMap<String, Thread>);

#[derive(Default, Serialize, Deserialize)]
struct Thread {
    /// The items in order, each with the key of its record.
    items: Vec<(u64, ItemId)>,
    /// The first and the last record that the compaction in hand leaves as they are.
    preserved: Option<(u64, u64)>,
}

impl Standing {
    fn thread(&mut self, thread: Option<&str>) -> &mut Thread {
        self.0.entry(thread.unwrap_or_default().to_owned()).or_default()
    }

    /// Takes in what a compaction tells of itself, before its summary.
    pub(super) fn announce(&mut self, thread: Option<&str>, compaction: &RawValue) {
        let told: Compaction<'_> = serde_json::from_str(compaction.get()).unwrap_or_default();
        let preserved = told.preserved.map(|preserved| serde_json::from_str::<Preserved<'_>>(preserved.get()));
        let preserved = preserved.and_then(Result::ok).and_then(|it| Some((key(it.head)?, key(it.tail)?)));
        self.thread(thread).preserved = preserved;
    }

    /// Takes in a record's entries. If it is a summary, given what rewinds left, its first takes the place of all that stands.
    pub(super) fn take(&mut self, record: &Record<'_>, made: &mut [Entry], left: Option<HashSet<ItemId>>) {
        let Some(first) = made.first_mut() else { return };
        let thread = self.thread(first.thread.as_deref());
        if let Some(left) = left {
            let stays = thread.preserved.take().map_or(0..0, |(head, tail)| {
                let place = |wanted| thread.items.iter().position(|(record, _)| *record == wanted);
                let end = thread.items.iter().rposition(|(record, _)| *record == tail);
                place(head).zip(end).map_or(0..0, |(head, tail)| head..tail + 1)
            });
            let mut items = Vec::new();
            let mut index = 0;
            thread.items.retain(|(_, item)| {
                index += 1;
                let kept = stays.contains(&(index - 1)) || left.contains(item);
                if !kept {
                    items.push(*item);
                }
                kept
            });
            if !items.is_empty() {
                first.replaces = Some(Replaced { items, at_end: false });
            }
        }
        let record = key(record.uuid).unwrap_or_default();
        let said = made.iter().filter(|entry| entry.skip.is_none());
        thread.items.extend(said.map(|entry| (record, entry.id)));
    }
}
