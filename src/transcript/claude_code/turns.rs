//! The turns of a session's main line, and which of them a rewind left.
//!
//! A turn is what a person said with all that came of it. Each record follows on its parent, so a turn that begins behind an
//! earlier one than the last leaves what came between. Of a fork within a turn, as parallel calls make them, nothing is
//! left. Where the parent is not known, as in a file that lost a line, nothing is either.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::Record;
use crate::trace::model::id::ItemId;
use crate::transcript::rewind::Rewound;
use crate::transcript::sheet::hash;
use crate::transcript::{packed, raw};

/// The turns so far. The first stands for what came before anybody said anything.
#[derive(Serialize, Deserialize)]
pub(super) struct Turns {
    /// By the hash of a record's uuid: its turn.
    #[serde(with = "packed")]
    of_record: HashMap<u64, u64>,
    all: Vec<Turn>,
    /// The turn of the last record.
    last: usize,
}

#[derive(Default, Serialize, Deserialize)]
struct Turn {
    /// The turn that it follows.
    after: usize,
    items: Vec<ItemId>,
    left: bool,
}

impl Default for Turns {
    fn default() -> Self {
        Self { of_record: HashMap::new(), all: vec![Turn::default()], last: 0 }
    }
}

impl Turns {
    /// Takes in a record, whether it gives items or not; one that is there again changes nothing. Whether turns with items were
    /// left or taken up by it.
    pub(super) fn take(&mut self, record: &Record<'_>, content: Option<&RawValue>, rewound: &mut Rewound) -> bool {
        let Some(uuid) = key(record.uuid) else { return false };
        if self.of_record.contains_key(&uuid) {
            return false;
        }
        let known = key(record.parent.or(record.logical_parent)).map(|parent| self.turn_of(parent));
        let compacts = raw::is_true(record.is_compact_summary)
            || record.subtype.and_then(raw::text).is_some_and(|subtype| subtype == "compact_boundary");
        let after = match known {
            Some(turn) => turn.unwrap_or(self.last),
            None if compacts => self.last,
            None => 0,
        };
        let (mut turn, mut turned) = (after, false);
        if is_said(record, content) {
            turn = self.all.len();
            self.all.push(Turn { after, ..Turn::default() });
            if after != self.last || self.all[after].left {
                turned = self.judge(rewound);
            }
        }
        self.of_record.insert(uuid, turn as u64);
        self.last = turn;
        turned
    }

    /// Adds items to the turn of the record that was taken in last.
    pub(super) fn add(&mut self, record: &Record<'_>, items: impl Iterator<Item = ItemId>, rewound: &mut Rewound) {
        let turn = key(record.uuid).and_then(|uuid| self.turn_of(uuid)).unwrap_or(self.last);
        let Some(turn) = self.all.get_mut(turn) else { return };
        let before = turn.items.len();
        turn.items.extend(items);
        if turn.left {
            rewound.note(&turn.items[before..], true);
        }
    }

    /// The turn of a record.
    fn turn_of(&self, record: u64) -> Option<usize> {
        self.of_record.get(&record).and_then(|turn| usize::try_from(*turn).ok()).filter(|turn| *turn < self.all.len())
    }

    /// The items that are left.
    pub(super) fn left(&self) -> HashSet<ItemId> {
        self.all.iter().filter(|turn| turn.left).flat_map(|turn| &turn.items).copied().collect()
    }

    /// Finds what the last turn does not follow on; whether that was another before.
    fn judge(&mut self, rewound: &mut Rewound) -> bool {
        let mut turned = false;
        let mut follows = vec![false; self.all.len()];
        let mut turn = self.all.len() - 1;
        // What precedes a turn has a smaller number, so this ends.
        while turn > 0 {
            follows[turn] = true;
            turn = self.all[turn].after.min(turn - 1);
        }
        for (turn, follows) in self.all.iter_mut().zip(follows).skip(1) {
            if turn.left == follows {
                turn.left = !follows;
                turned |= !turn.items.is_empty();
                rewound.note(&turn.items, turn.left);
            }
        }
        turned
    }
}

pub(super) fn key(uuid: Option<&RawValue>) -> Option<u64> {
    let uuid = uuid.and_then(raw::text).filter(|uuid| !uuid.is_empty())?;
    Some(hash([&b"uuid"[..], uuid.as_bytes()]))
}

/// Whether a person said it: not what the agent added in their name, nor a tool's results.
fn is_said(record: &Record<'_>, content: Option<&RawValue>) -> bool {
    let by_user = record.kind.and_then(raw::text).is_some_and(|kind| kind == "user");
    let added = [record.is_meta, record.is_compact_summary].into_iter().any(raw::is_true);
    let answers = content.is_some_and(|content| {
        let blocks = raw::list(content).unwrap_or_default();
        blocks.into_iter().any(|block| {
            let block: super::record::Block<'_> = serde_json::from_str(block.get()).unwrap_or_default();
            block.call_id.is_some()
        })
    });
    by_user && !added && content.is_some() && !answers
}
