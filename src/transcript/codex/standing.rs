//! What stands of a rollout: the records that the model sees, in order, but for compactions that are not replayed.

use serde::{Deserialize, Serialize};

use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Fields, ItemType, Role};
use crate::transcript::Entry;

/// What the agent itself puts in the person's mouth begins so.
const ADDED: [&str; 2] = ["<", "# AGENTS.md"];

/// Whose word a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Voice {
    /// The person's; a turn begins with it.
    Person,
    /// The system's, or what the agent added as the person's.
    Setting,
    /// The model's, a tool's, or that of a compaction.
    Other,
}

/// A record that stands.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) essence: u64,
    pub(super) voice: Voice,
    pub(super) items: Vec<ItemId>,
}

impl Said {
    pub(super) fn new(essence: u64, entries: &[Entry]) -> Self {
        let voice = entries.first().map_or(Voice::Other, |entry| voice(&entry.draft.fields, &entry.draft.body));
        Self { essence, voice, items: entries.iter().map(|entry| entry.id).collect() }
    }
}

fn voice(fields: &Fields, body: &[u8]) -> Voice {
    let added = || ADDED.iter().any(|start| body.trim_ascii_start().starts_with(start.as_bytes()));
    match fields.role {
        _ if fields.item_type == ItemType::instruction() => Voice::Setting,
        Some(Role::System) => Voice::Setting,
        Some(Role::User) if fields.item_type == ItemType::dialogue() => {
            if added() {
                Voice::Setting
            } else {
                Voice::Person
            }
        }
        _ => Voice::Other,
    }
}

/// Takes the last `turns` turns off, and says which items these were. Before the first turn nothing is taken.
pub(super) fn roll_back(standing: &mut Vec<Said>, turns: u64) -> Vec<ItemId> {
    let begins = standing.iter().enumerate().filter(|(_, said)| said.voice == Voice::Person).map(|(index, _)| index);
    let back = usize::try_from(turns).unwrap_or(usize::MAX);
    let begins: Vec<usize> = begins.collect();
    let Some(from) = begins.get(begins.len().saturating_sub(back)) else { return Vec::new() };
    standing.drain(from..).flat_map(|said| said.items).collect()
}
