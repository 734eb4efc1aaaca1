//! The messages of a session, and which of them are active.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::transcript::TranscriptEntry;
use crate::transcript::import::rewind::Rewound;

/// All messages in order, rewound ones included.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ActiveMessages(Vec<StoredMessage>);

#[derive(Serialize, Deserialize)]
struct StoredMessage {
    id: String,
    items: Vec<ItemId>,
    active: bool,
}

impl ActiveMessages {
    /// Adds the items of a new message, or further items of a known one.
    pub(super) fn add(&mut self, id: &str, items: impl Iterator<Item = ItemId>, rewound: &mut Rewound) {
        let Some(known) = self.0.iter_mut().rev().find(|known| known.id == id) else {
            self.0.push(StoredMessage { id: id.to_owned(), items: items.collect(), active: true });
            return;
        };
        known.items.extend(items);
        if !known.active {
            known.active = true;
            rewound.note(&known.items, false);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Removes a message and all later ones; if it is unknown, removes all, as the agent does.
    pub(super) fn rewind_to(&mut self, target: &str, rewound: &mut Rewound) {
        let from = self.0.iter().position(|message| message.active && message.id == target).unwrap_or(0);
        for message in self.0[from..].iter_mut().filter(|message| message.active) {
            message.active = false;
            rewound.note(&message.items, true);
        }
    }

    /// Makes only the listed messages active, in that order. The others were rewound or, if there is a summary, are replaced
    /// by it.
    pub(super) fn set(&mut self, listed: &[String], summary: Option<&mut TranscriptEntry>, rewound: &mut Rewound) {
        // The first occurrence of a repeated id counts.
        let places: HashMap<&str, usize> = listed.iter().enumerate().rev().map(|(at, id)| (id.as_str(), at)).collect();
        let place = |message: &StoredMessage| places.get(message.id.as_str()).copied();
        let mut removed = Vec::new();
        for message in self.0.iter_mut().filter(|message| message.active && place(message).is_none()) {
            message.active = false;
            removed.extend_from_slice(&message.items);
            if summary.is_some() {
                // The summary removes them from the trace. If the message returns, that does not bring these items back.
                message.items.clear();
            }
        }
        self.0.sort_by_key(|message| place(message).map_or(0, |place| place + 1));
        match summary {
            Some(summary) if !removed.is_empty() => summary.replaces = Some(Replaced { items: removed, at_end: false }),
            Some(_) => {}
            None => rewound.note(&removed, true),
        }
    }
}
