//! What a compaction replaces, when compactions are replayed.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::records::{Compaction, Preserved, Record};
use super::turns::key;
use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::json;

/// By thread: the messages that no summary has replaced.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ActiveMessages(BTreeMap<String, ActiveThread>);

#[derive(Default, Serialize, Deserialize)]
struct ActiveThread {
    /// The items in order, each with the key of its record.
    items: Vec<(u64, ItemId)>,
    /// The first and last record that the announced compaction preserves.
    preserved: Option<(u64, u64)>,
}

impl ActiveMessages {
    fn thread(&mut self, thread: Option<&str>) -> &mut ActiveThread {
        self.0.entry(thread.unwrap_or_default().to_owned()).or_default()
    }

    /// Reads the metadata of a compaction, which precedes its summary.
    pub(super) fn announce(&mut self, thread: Option<&str>, compaction: &RawValue) {
        let preserved = json::view_of::<Compaction<'_>>(compaction).preserved;
        let preserved = preserved.and_then(|preserved| serde_json::from_str::<Preserved<'_>>(preserved.get()).ok());
        let preserved = preserved.and_then(|range| Some((key(range.head)?, key(range.tail)?)));
        self.thread(thread).preserved = preserved;
    }

    /// Adds a record's entries. The first entry of a summary, given the items that rewinds removed, replaces all active
    /// items except the preserved ones.
    pub(super) fn add(
        &mut self,
        record: &Record<'_>,
        entries: &mut [TranscriptEntry],
        summary: Option<HashSet<ItemId>>,
    ) {
        let Some(first) = entries.first_mut() else { return };
        let thread = self.thread(first.thread.as_deref());
        if let Some(rewound) = summary {
            let preserved = thread.preserved.take().map_or(0..0, |(head, tail)| {
                let start = thread.items.iter().position(|(record, _)| *record == head);
                let end = thread.items.iter().rposition(|(record, _)| *record == tail);
                start.zip(end).map_or(0..0, |(start, end)| start..end + 1)
            });
            let mut replaced = Vec::new();
            let mut index = 0;
            thread.items.retain(|(_, item)| {
                index += 1;
                let kept = preserved.contains(&(index - 1)) || rewound.contains(item);
                if !kept {
                    replaced.push(*item);
                }
                kept
            });
            if !replaced.is_empty() {
                first.replaces = Some(Replaced { items: replaced, at_end: false });
            }
        }
        let record = key(record.uuid).unwrap_or_default();
        let active = entries.iter().filter(|entry| entry.skip.is_none());
        thread.items.extend(active.map(|entry| (record, entry.id)));
    }
}
