//! The active messages of a rollout, and what rollbacks and compactions do to them.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::value::RawValue;

use super::reader::{Codex, content_hash};
use super::records::{Compacted, ResponseItem};
use crate::message::Role;
use crate::trace::change::bulk::{Removal, Replaced};
use crate::trace::model::item::ItemType;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::active::{Rewound, Tag};
use crate::transcript::read::builder::{EntryBuilder, dialogue, hash};
use crate::transcript::read::json;
use crate::transcript::read::reader::{Outcome, Output};

/// How the agent's own additions to the user's messages begin.
const AGENT_PREFIXES: [&str; 2] = ["<", "# AGENTS.md"];

/// Whether a message of the user is one that the agent added.
pub(super) fn is_added(body: &[u8]) -> bool {
    AGENT_PREFIXES.iter().any(|prefix| body.trim_ascii_start().starts_with(prefix.as_bytes()))
}

/// Who wrote a message, and the ordinal of its record in the session, 0 in old files.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    author: Author,
    ordinal: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Author {
    User,
    /// The system, or the agent on behalf of the user.
    System,
    Other,
}

impl Tag for Origin {
    fn number(self) -> u64 {
        self.ordinal << 2 | self.author as u64
    }

    fn of_number(number: u64) -> Option<Self> {
        let author = [Author::User, Author::System, Author::Other].into_iter();
        let author = author.into_iter().find(|author| *author as u64 == number & 3)?;
        Some(Self { author, ordinal: number >> 2 })
    }
}

impl Author {
    fn of(entry: &TranscriptEntry) -> Self {
        let fields = &entry.draft.fields;
        match fields.role {
            _ if fields.item_type == ItemType::instruction() => Self::System,
            Some(Role::System) => Self::System,
            Some(Role::User) if fields.item_type == ItemType::dialogue() && is_added(&entry.draft.body) => Self::System,
            Some(Role::User) if fields.item_type == ItemType::dialogue() => Self::User,
            _ => Self::Other,
        }
    }
}

impl Codex {
    /// Adds what the model sees of a response item; `text` is its JSON.
    pub(super) fn add_message(&mut self, item: &ResponseItem<'_>, text: &str, entries: &[TranscriptEntry]) {
        if let Some(first) = entries.first() {
            let items = entries.iter().map(|entry| entry.id).collect();
            self.active.push(content_hash(item, text), self.origin(Author::of(first)), items);
        }
    }

    fn origin(&self, author: Author) -> Origin {
        Origin { author, ordinal: self.ordinal }
    }

    /// Rewinds what has this ordinal or a later one; returns whether there was any.
    pub(super) fn revert_to(&mut self, ordinal: u64, rewound: &mut Rewound) -> bool {
        self.active.set_rewound(|message| message.rewound || message.tag.ordinal >= ordinal, rewound)
    }

    /// Rewinds the last turns. Messages before the first turn are never removed.
    pub(super) fn roll_back(&mut self, turns: u64, rewound: &mut Rewound) {
        let prompts = self.active.iter().filter(|(_, message)| message.tag.author == Author::User);
        let starts: Vec<usize> = prompts.map(|(index, _)| index).collect();
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        if let Some(from) = starts.get(starts.len().saturating_sub(turns)) {
            self.active.rewind_from(*from, rewound);
        }
    }

    pub(super) fn compacted(
        &mut self,
        builder: &mut EntryBuilder,
        compacted: &Compacted<'_>,
        output: &Output,
    ) -> Outcome {
        builder.add_meta("compact_summary", Some(true));
        let history = compacted.replacement_history.and_then(json::list).unwrap_or_default();
        let message = json::member_text(compacted.message);
        let is_empty = history.is_empty() && message.is_none();
        // They belong to the user's next message, not to one that the compaction repeats.
        let settings = std::mem::take(&mut self.settings);
        if output.replays_compactions && self.active.iter().next().is_some() && !is_empty {
            self.replay(builder, &history, message.as_deref());
        } else {
            self.add_new(builder, &history, message.as_deref());
        }
        self.settings = settings;
        self.started |= !builder.entries.is_empty();
        if builder.entries.is_empty() { Outcome::Repeated } else { Outcome::Imported }
    }

    /// Adds the items of a compaction that did not occur before.
    fn add_new(&mut self, builder: &mut EntryBuilder, history: &[&RawValue], message: Option<&str>) {
        builder.removal = self.started.then_some(Removal::Compaction);
        for raw_item in history {
            let item = json::view_of(raw_item);
            if self.is_new(content_hash(&item, raw_item.get())) {
                let started = self.started;
                let before = builder.entries.len();
                self.item(builder, &item, raw_item.get());
                self.started = started;
                if builder.removal.is_none() {
                    self.add_message(&item, raw_item.get(), &builder.entries[before..]);
                }
            }
        }
        self.add_summary(builder, message);
    }

    fn add_summary(&mut self, builder: &mut EntryBuilder, message: Option<&str>) {
        let Some(message) = message else { return };
        let contains = |entry: &TranscriptEntry| memchr::memmem::find(&entry.draft.body, message.as_bytes()).is_some();
        if !builder.entries.iter().any(contains) && self.is_new(hash([&b"summary"[..], message.as_bytes()])) {
            builder.push(dialogue(Role::User), message);
        }
    }

    /// Replaces the active messages by what the compaction left.
    fn replay(&mut self, builder: &mut EntryBuilder, history: &[&RawValue], message: Option<&str>) {
        let mut kept = HashSet::new();
        // The key of each new message, and its entries.
        let mut added: Vec<(u64, Range<usize>)> = Vec::new();
        if history.is_empty() {
            let by_others = self.active.iter().filter(|(_, message)| message.tag.author != Author::Other);
            kept.extend(by_others.map(|(index, _)| index));
            builder.push(dialogue(Role::User), message.unwrap_or_default());
            added.push((0, 0..1));
        } else {
            let mut listed = self.match_prefix(history);
            if listed.len() == history.len() && listed.len() < self.active.iter().count() {
                // Some entry must replace the removed messages.
                listed.pop();
            }
            for raw_item in &history[listed.len()..] {
                let item = json::view_of(raw_item);
                let before = builder.entries.len();
                self.started = true;
                self.item(builder, &item, raw_item.get());
                added.push((content_hash(&item, raw_item.get()), before..builder.entries.len()));
            }
            kept.extend(listed);
        }
        if builder.entries.is_empty() {
            // There is no entry that could replace anything.
            return self.add_summary(builder, message);
        }
        let items = self.active.replace(|index, _| kept.contains(&index));
        let summary = added.len() - 1;
        for (number, (key, range)) in added.into_iter().enumerate() {
            let entries = &builder.entries[range];
            let author = entries.first().filter(|_| number != summary).map_or(Author::Other, Author::of);
            let origin = self.origin(author);
            self.active.push(key, origin, entries.iter().map(|entry| entry.id).collect());
        }
        if let Some(last) = builder.entries.last_mut().filter(|_| !items.is_empty()) {
            last.replaces = Some(Replaced { items, at_end: true });
        }
        if !history.is_empty() {
            builder.removal = Some(Removal::Compaction);
            self.add_summary(builder, message);
        }
    }

    /// The indexes of the active messages that the history lists first, in order.
    fn match_prefix(&self, history: &[&RawValue]) -> Vec<usize> {
        let mut active = self.active.iter();
        let hash = |raw_item: &&RawValue| content_hash(&json::view_of(raw_item), raw_item.get());
        let found = |key| active.find(|(_, message)| message.key == key).map(|(index, _)| index);
        history.iter().map(hash).map_while(found).collect()
    }
}
