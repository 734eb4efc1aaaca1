//! The messages of a session, and which of them stand.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::trace::change::bulk::Replaced;
use crate::trace::model::id::ItemId;
use crate::transcript::Entry;
use crate::transcript::rewind::Rewound;

/// The messages in their order, those that were taken back included.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Standing(Vec<Message>);

#[derive(Serialize, Deserialize)]
struct Message {
    id: String,
    items: Vec<ItemId>,
    stands: bool,
}

impl Standing {
    /// Takes in a message's items, of one that is new or of which more is known now.
    pub(super) fn take(&mut self, id: &str, items: impl Iterator<Item = ItemId>, rewound: &mut Rewound) {
        let Some(known) = self.0.iter_mut().rev().find(|known| known.id == id) else {
            self.0.push(Message { id: id.to_owned(), items: items.collect(), stands: true });
            return;
        };
        known.items.extend(items);
        if !known.stands {
            known.stands = true;
            rewound.note(&known.items, false);
        }
    }

    /// How many messages there were.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes back a message and all behind it; all there are where it is not known, as the agent does.
    pub(super) fn rewind(&mut self, target: &str, rewound: &mut Rewound) {
        let from = self.0.iter().position(|message| message.stands && message.id == target).unwrap_or(0);
        for message in self.0[from..].iter_mut().filter(|message| message.stands) {
            message.stands = false;
            rewound.note(&message.items, true);
        }
    }

    /// Has only the messages `listed` stand, in that order. What no longer stands was taken back, or `summary`, where there
    /// is one, takes its place.
    pub(super) fn set(&mut self, listed: &[String], summary: Option<&mut Entry>, rewound: &mut Rewound) {
        // Of an id that is there twice, the first place counts.
        let places: HashMap<&str, usize> = listed.iter().enumerate().rev().map(|(at, id)| (id.as_str(), at)).collect();
        let place = |message: &Message| places.get(message.id.as_str()).copied();
        let mut gone = Vec::new();
        for message in self.0.iter_mut().filter(|message| message.stands && place(message).is_none()) {
            message.stands = false;
            gone.extend_from_slice(&message.items);
            if summary.is_some() {
                // They are no longer in the trace; should they be said again, that is not by taking them up.
                message.items.clear();
            }
        }
        self.0.sort_by_key(|message| place(message).map_or(0, |place| place + 1));
        match summary {
            Some(summary) if !gone.is_empty() => summary.replaces = Some(Replaced { items: gone, at_end: false }),
            Some(_) => {}
            None => rewound.note(&gone, true),
        }
    }
}
