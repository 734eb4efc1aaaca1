//! Reports of token usage, which follow the items of their request.
//!
//! A report is for the last request, whose last item by the model gets it. Results of tools may be between the two. The agent writes
//! a report again when its limits change, one without figures before the first request, and one of zero after a compaction.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::records::{TokenCount, TokenInfo};
use crate::message::Role;
use crate::trace::ItemId;
use crate::trace::change::bulk::Usage;
use crate::trace::model::item::ItemType;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::builder::hash;
use crate::transcript::read::json;
use crate::transcript::read::reader::Output;

/// Longer usage objects are not stored; real ones have about two hundred bytes.
const MAX_USAGE: usize = 8 * 1024;

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Reports {
    /// The last item by the model since the last report.
    answer: Option<ItemId>,
    /// The hash of the last report's sum over the session, which grows with each request.
    last: u64,
    /// Whether a compaction was not replayed. From then on, a report is not that of the trace.
    differs: bool,
    /// Whether turns were rolled back since the last item, so that the last report is not that of the trace any more.
    is_void: bool,
}

impl Reports {
    /// Notes that the last report no longer describes the session.
    pub(super) fn void(&mut self) {
        self.is_void = true;
        self.answer = None;
    }

    /// Notes the entries of a record, which are not in the output yet.
    pub(super) fn add_entries(&mut self, entries: &mut [TranscriptEntry], is_compaction: bool, output: &mut Output) {
        let Some(last) = entries.last_mut() else { return };
        if is_compaction {
            self.differs |= !output.replays_compactions;
            self.void();
        }
        if std::mem::take(&mut self.is_void) {
            last.usage = Usage::Void;
        }
        let fields = &last.draft.fields;
        let is_output = || fields.name.as_deref().is_some_and(|name| name.ends_with("_output"));
        let is_freeform = fields.item_type == ItemType::freeform();
        match fields.role {
            _ if is_compaction || fields.is_result() || (is_freeform && is_output()) => {}
            Some(Role::Assistant) => self.answer = Some(last.id),
            None if fields.item_type == ItemType::reasoning() => self.answer = Some(last.id),
            None if fields.item_type == ItemType::artifact() => {}
            // The next request begins.
            _ => self.answer = None,
        }
        output.awaits_usage = self.answer.is_some();
    }

    /// Reads a report and gives it to its item, if that was not taken from the output yet.
    pub(super) fn read(&mut self, record: &TokenCount<'_>, output: &mut Output) {
        let info: TokenInfo<'_> = record.info.map(json::view_of).unwrap_or_default();
        let Some(usage) = info.last.filter(|usage| usage.get().len() <= MAX_USAGE) else { return };
        let sum = hash([&b"report"[..], info.total.map_or("", |total| total.get()).as_bytes()]);
        if info.total.is_some() && std::mem::replace(&mut self.last, sum) == sum {
            return;
        }
        output.awaits_usage = false;
        let Some(answer) = self.answer.take() else { return };
        let Some(entry) = output.entries.iter_mut().rev().find(|entry| entry.id == answer) else { return };
        let Ok(usage @ Value::Object(_)) = serde_json::from_str::<Value>(usage.get()) else { return };
        if !output.usage.read(&usage).is_ok_and(|usage| usage.context_tokens() > 0) {
            return;
        }
        let meta = &mut entry.draft.fields.meta;
        let read = output.usage.store(usage, "usage", meta);
        let window = info.window.and_then(|window| window.get().parse::<u64>().ok()).filter(|window| *window > 0);
        if let (Some(window), Some(Value::Object(stored))) = (window, meta.get_mut("usage")) {
            stored.insert("context_window".to_owned(), window.into());
        }
        if let Some(usage) = read.filter(|_| !self.differs && entry.usage == Usage::Unsaid) {
            entry.usage = Usage::reported(usage.context_tokens());
        }
    }
}
