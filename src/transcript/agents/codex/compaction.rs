//! The active messages of a rollout, and what rollbacks and compactions do to them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::reader::{Codex, content_hash};
use super::records::Compacted;
use crate::message::Role;
use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::ItemType;
use crate::transcript::TranscriptEntry;
use crate::transcript::read::builder::{EntryBuilder, dialogue, hash};
use crate::transcript::read::json;
use crate::transcript::read::reader::{Outcome, Output};

/// How the agent's own additions to the user's messages begin.
const AGENT_PREFIXES: [&str; 2] = ["<", "# AGENTS.md"];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Author {
    /// The user; the message starts a turn.
    User,
    /// The system, or the agent on behalf of the user.
    System,
    /// The model, a tool, or a compaction.
    Other,
}

/// A record that the model sees.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ActiveMessage {
    content_hash: u64,
    author: Author,
    items: Vec<ItemId>,
}

impl ActiveMessage {
    pub(super) fn new(content_hash: u64, entries: &[TranscriptEntry]) -> Self {
        let author = entries.first().map_or(Author::Other, author);
        Self { content_hash, author, items: entries.iter().map(|entry| entry.id).collect() }
    }
}

fn author(entry: &TranscriptEntry) -> Author {
    let (fields, body) = (&entry.draft.fields, entry.draft.body.trim_ascii_start());
    let is_added = || AGENT_PREFIXES.iter().any(|prefix| body.starts_with(prefix.as_bytes()));
    match fields.role {
        _ if fields.item_type == ItemType::instruction() => Author::System,
        Some(Role::System) => Author::System,
        Some(Role::User) if fields.item_type == ItemType::dialogue() && is_added() => Author::System,
        Some(Role::User) if fields.item_type == ItemType::dialogue() => Author::User,
        _ => Author::Other,
    }
}

/// Removes the last turns and returns their items. Messages before the first turn are never removed.
pub(super) fn roll_back(active: &mut Vec<ActiveMessage>, turns: u64) -> Vec<ItemId> {
    let prompts = active.iter().enumerate().filter(|(_, message)| message.author == Author::User);
    let starts: Vec<usize> = prompts.map(|(index, _)| index).collect();
    let turns = usize::try_from(turns).unwrap_or(usize::MAX);
    let Some(from) = starts.get(starts.len().saturating_sub(turns)) else { return Vec::new() };
    active.drain(from..).flat_map(|message| message.items).collect()
}

impl Codex {
    pub(super) fn compacted(
        &mut self,
        builder: &mut EntryBuilder,
        compacted: &Compacted<'_>,
        output: &Output,
    ) -> Outcome {
        builder.meta.insert("compact_summary".to_owned(), true.into());
        let history = compacted.replacement_history.and_then(json::list).unwrap_or_default();
        let message = json::member_text(compacted.message);
        let is_empty = history.is_empty() && message.is_none();
        if output.replays_compactions && !self.active.is_empty() && !is_empty {
            self.replay(builder, &history, message.as_deref());
        } else {
            self.add_new(builder, &history, message.as_deref());
        }
        self.started |= !builder.entries.is_empty();
        if builder.entries.is_empty() { Outcome::Repeated } else { Outcome::Imported }
    }

    /// Adds the items of a compaction that did not occur before.
    fn add_new(&mut self, builder: &mut EntryBuilder, history: &[&RawValue], message: Option<&str>) {
        builder.skip = self.started.then_some("compaction summary; its originals are here");
        for raw_item in history {
            let item = json::view_of(raw_item);
            let content = content_hash(&item, raw_item.get());
            if self.known_content.insert(content) {
                let started = self.started;
                let before = builder.entries.len();
                self.item(builder, &item, raw_item.get());
                self.started = started;
                if builder.skip.is_none() && builder.entries.len() > before {
                    self.active.push(ActiveMessage::new(content, &builder.entries[before..]));
                }
            }
        }
        self.add_summary(builder, message);
    }

    /// Adds a summary that the compaction's items do not contain.
    fn add_summary(&mut self, builder: &mut EntryBuilder, message: Option<&str>) {
        let Some(message) = message else { return };
        let contains = |entry: &TranscriptEntry| memchr::memmem::find(&entry.draft.body, message.as_bytes()).is_some();
        if !builder.entries.iter().any(contains)
            && self.known_content.insert(hash([&b"summary"[..], message.as_bytes()]))
        {
            builder.push(dialogue(Role::User), message);
        }
    }

    /// Replaces the active messages by what the compaction left.
    fn replay(&mut self, builder: &mut EntryBuilder, history: &[&RawValue], message: Option<&str>) {
        let mut kept = vec![false; self.active.len()];
        let mut added: Vec<ActiveMessage> = Vec::new();
        if history.is_empty() {
            for (kept, message) in kept.iter_mut().zip(&self.active) {
                *kept = message.author != Author::Other;
            }
            builder.push(dialogue(Role::User), message.unwrap_or_default());
            added.push(ActiveMessage::new(0, &builder.entries));
        } else {
            let mut listed = self.match_prefix(history);
            if listed.len() == history.len() && listed.len() < self.active.len() {
                // Some entry must replace the removed messages.
                listed.pop();
            }
            for index in &listed {
                kept[*index] = true;
            }
            for raw_item in &history[listed.len()..] {
                let item = json::view_of(raw_item);
                let before = builder.entries.len();
                self.started = true;
                self.item(builder, &item, raw_item.get());
                added.push(ActiveMessage::new(content_hash(&item, raw_item.get()), &builder.entries[before..]));
            }
        }
        if builder.entries.is_empty() {
            // There is no entry that could replace anything.
            return self.add_summary(builder, message);
        }
        if let Some(summary) = added.last_mut() {
            summary.author = Author::Other;
        }
        let (kept, removed): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.active).into_iter().zip(kept).partition(|(_, kept)| *kept);
        self.active = kept.into_iter().map(|(message, _)| message).chain(added).collect();
        let items: Vec<_> = removed.into_iter().flat_map(|(message, _)| message.items).collect();
        if let Some(last) = builder.entries.last_mut().filter(|_| !items.is_empty()) {
            last.replaces = Some(Replaced { items, at_end: true });
        }
        if !history.is_empty() {
            builder.skip = Some("compaction summary; what took its place is here");
            self.add_summary(builder, message);
        }
    }

    /// The indexes of the active messages that the history lists first, in order.
    fn match_prefix(&self, history: &[&RawValue]) -> Vec<usize> {
        let mut listed: Vec<usize> = Vec::new();
        for raw_item in history {
            let wanted = content_hash(&json::view_of(raw_item), raw_item.get());
            let from = listed.last().map_or(0, |last| last + 1);
            let Some(at) = self.active[from..].iter().position(|message| message.content_hash == wanted) else { break };
            listed.push(from + at);
        }
        listed
    }
}
