//! The turns of a session's main thread, and which of them a rewind removed.
//!
//! A turn is a user's prompt and everything up to the next. Each record names its parent, so a turn that starts at an earlier
//! record than the last one removes the turns between. A fork within a turn, as parallel calls create them, removes
//! nothing, nor does an unknown parent, as in a file that lost a line.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::records::{Block, Record};
use crate::trace::model::id::ItemId;
use crate::transcript::import::rewind::Rewound;
use crate::transcript::read::builder::hash;
use crate::transcript::read::{json, packed};

/// The turns so far. The first one represents everything before the first prompt.
#[derive(Serialize, Deserialize)]
pub(super) struct Turns {
    /// The turn of each record, by the hash of its uuid.
    #[serde(with = "packed")]
    of_record: HashMap<u64, u64>,
    all: Vec<Turn>,
    last: usize,
}

#[derive(Default, Serialize, Deserialize)]
struct Turn {
    previous: usize,
    items: Vec<ItemId>,
    rewound: bool,
}

impl Default for Turns {
    fn default() -> Self {
        Self { of_record: HashMap::new(), all: vec![Turn::default()], last: 0 }
    }
}

impl Turns {
    /// Adds a record, with or without items; a repeated one changes nothing. Returns whether it removed or brought back turns
    /// with items.
    pub(super) fn add_record(
        &mut self,
        record: &Record<'_>,
        content: Option<&RawValue>,
        rewound: &mut Rewound,
    ) -> bool {
        let Some(uuid) = key(record.uuid) else { return false };
        if self.of_record.contains_key(&uuid) {
            return false;
        }
        let known = key(record.parent.or(record.logical_parent)).map(|parent| self.turn_of(parent));
        let compacts = json::is_true(record.is_compact_summary)
            || record.subtype.and_then(json::text).is_some_and(|subtype| subtype == "compact_boundary");
        let previous = match known {
            Some(turn) => turn.unwrap_or(self.last),
            None if compacts => self.last,
            None => 0,
        };
        let (mut turn, mut changed) = (previous, false);
        if is_prompt(record, content) {
            turn = self.all.len();
            self.all.push(Turn { previous, ..Turn::default() });
            if previous != self.last || self.all[previous].rewound {
                changed = self.update_rewound(rewound);
            }
        }
        self.of_record.insert(uuid, turn as u64);
        self.last = turn;
        changed
    }

    /// Adds items to the turn of a record that was added.
    pub(super) fn add_items(
        &mut self,
        record: &Record<'_>,
        items: impl Iterator<Item = ItemId>,
        rewound: &mut Rewound,
    ) {
        let turn = key(record.uuid).and_then(|uuid| self.turn_of(uuid)).unwrap_or(self.last);
        let Some(turn) = self.all.get_mut(turn) else { return };
        let before = turn.items.len();
        turn.items.extend(items);
        if turn.rewound {
            rewound.note(&turn.items[before..], true);
        }
    }

    fn turn_of(&self, record: u64) -> Option<usize> {
        self.of_record.get(&record).and_then(|turn| usize::try_from(*turn).ok()).filter(|turn| *turn < self.all.len())
    }

    /// The items of rewound turns.
    pub(super) fn rewound_items(&self) -> HashSet<ItemId> {
        self.all.iter().filter(|turn| turn.rewound).flat_map(|turn| &turn.items).copied().collect()
    }

    /// Marks the turns that the last one does not follow; returns whether that changed a turn with items.
    fn update_rewound(&mut self, rewound: &mut Rewound) -> bool {
        let mut changed = false;
        let mut follows = vec![false; self.all.len()];
        let mut turn = self.all.len() - 1;
        // The previous turn has a smaller number, so this ends.
        while turn > 0 {
            follows[turn] = true;
            turn = self.all[turn].previous.min(turn - 1);
        }
        for (turn, follows) in self.all.iter_mut().zip(follows).skip(1) {
            if turn.rewound == follows {
                turn.rewound = !follows;
                changed |= !turn.items.is_empty();
                rewound.note(&turn.items, turn.rewound);
            }
        }
        changed
    }
}

pub(super) fn key(uuid: Option<&RawValue>) -> Option<u64> {
    Some(hash([&b"uuid"[..], json::member_text(uuid)?.as_bytes()]))
}

/// Whether a record is the user's own prompt: neither added by the agent on their behalf, nor a tool's result.
fn is_prompt(record: &Record<'_>, content: Option<&RawValue>) -> bool {
    let by_user = record.kind.and_then(json::text).is_some_and(|kind| kind == "user");
    let added = [record.is_meta, record.is_compact_summary].into_iter().any(json::is_true);
    let answers = content.is_some_and(|content| {
        let blocks = json::list(content).unwrap_or_default();
        blocks.into_iter().any(|block| json::view_of::<Block<'_>>(block).call_id.is_some())
    });
    by_user && !added && content.is_some() && !answers
}
