//! What a compaction put in the place of all before it: mostly what was said, and a summary.

use serde_json::value::RawValue;

use super::record::{Compacted, Item};
use super::scribe::{Scribe, essence, view};
use super::standing::{Said, Voice};
use crate::message::Role;
use crate::trace::change::bulk::Replaced;
use crate::transcript::raw;
use crate::transcript::reader::Outcome;
use crate::transcript::sheet::{Sheet, dialogue, hash};

impl Scribe {
    pub(super) fn compacted(&mut self, sheet: &mut Sheet<'_>, compacted: &Compacted<'_>) -> Outcome {
        sheet.meta.insert("compact_summary".to_owned(), true.into());
        let history = compacted.replacement_history.and_then(raw::list).unwrap_or_default();
        let message = compacted.message.and_then(raw::text).filter(|text| !text.is_empty());
        if self.as_seen && !self.standing.is_empty() && !(history.is_empty() && message.is_none()) {
            self.replay(sheet, &history, message.as_deref());
        } else {
            self.take_new(sheet, &history, message.as_deref());
        }
        self.spoken |= !sheet.entries.is_empty();
        if sheet.entries.is_empty() { Outcome::Repeated } else { Outcome::Imported }
    }

    /// Takes in what was not said before.
    fn take_new(&mut self, sheet: &mut Sheet<'_>, history: &[&RawValue], message: Option<&str>) {
        sheet.skip = self.spoken.then_some("compaction summary; its originals are here");
        for raw_item in history {
            let item = view::<Item<'_>>(raw_item);
            if self.said.insert(essence(&item, raw_item.get())) {
                let skipped = self.spoken;
                let before = sheet.entries.len();
                self.item(sheet, &item, raw_item.get());
                self.spoken = skipped;
                if sheet.skip.is_none() && sheet.entries.len() > before {
                    self.standing.push(Said::new(essence(&item, raw_item.get()), &sheet.entries[before..]));
                }
            }
        }
        self.note_message(sheet, message);
    }

    /// Takes in a summary that the history does not have.
    fn note_message(&mut self, sheet: &mut Sheet<'_>, message: Option<&str>) {
        let Some(message) = message else { return };
        let there =
            sheet.entries.iter().any(|entry| memchr::memmem::find(&entry.draft.body, message.as_bytes()).is_some());
        if !there && self.said.insert(hash([&b"summary"[..], message.as_bytes()])) {
            sheet.push(dialogue(Role::User), message.as_bytes().to_vec());
        }
    }

    /// Has what the compaction left take the place of what stood.
    fn replay(&mut self, sheet: &mut Sheet<'_>, history: &[&RawValue], message: Option<&str>) {
        let mut stays = vec![false; self.standing.len()];
        let mut fresh: Vec<Said> = Vec::new();
        if history.is_empty() {
            for (stays, said) in stays.iter_mut().zip(&self.standing) {
                *stays = said.voice != Voice::Other;
            }
            sheet.push(dialogue(Role::User), message.unwrap_or_default().as_bytes().to_vec());
            fresh.push(Said::new(0, sheet.entries));
        } else {
            let mut named = self.match_first(history);
            if named.len() == history.len() && named.len() < self.standing.len() {
                // Something must stand for what goes.
                named.pop();
            }
            for index in &named {
                stays[*index] = true;
            }
            for raw_item in &history[named.len()..] {
                let item = view::<Item<'_>>(raw_item);
                let before = sheet.entries.len();
                self.spoken = true;
                self.item(sheet, &item, raw_item.get());
                fresh.push(Said::new(essence(&item, raw_item.get()), &sheet.entries[before..]));
            }
        }
        if sheet.entries.is_empty() {
            // Nothing takes the place of anything.
            return self.note_message(sheet, message);
        }
        if let Some(summary) = fresh.last_mut() {
            summary.voice = Voice::Other;
        }
        let (kept, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.standing).into_iter().zip(stays).partition(|(_, stays)| *stays);
        self.standing = kept.into_iter().map(|(said, _)| said).chain(fresh).collect();
        let items: Vec<_> = gone.into_iter().flat_map(|(said, _)| said.items).collect();
        if let Some(last) = sheet.entries.last_mut().filter(|_| !items.is_empty()) {
            last.replaces = Some(Replaced { items, at_end: true });
        }
        if !history.is_empty() {
            sheet.skip = Some("compaction summary; what took its place is here");
            self.note_message(sheet, message);
        }
    }

    /// The places of what stands, as long as the history names it in order.
    fn match_first(&self, history: &[&RawValue]) -> Vec<usize> {
        let mut named: Vec<usize> = Vec::new();
        for raw_item in history {
            let wanted = essence(&view(raw_item), raw_item.get());
            let from = named.last().map_or(0, |last| last + 1);
            let Some(at) = self.standing[from..].iter().position(|said| said.essence == wanted) else { break };
            named.push(from + at);
        }
        named
    }
}
