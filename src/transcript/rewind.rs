//! What a person took back: items of a branch that the session left get the priority skip, and lose it where it is taken up
//! again.
//!
//! That an item was left is known only later, so it comes in as any other. What somebody else decided of it stands.

use std::collections::HashMap;

use super::import::Writing;
use crate::trace::store::priority::tags::introductions;
use crate::trace::store::priority::{self, Level, Request, SetLevel};
use crate::trace::store::view::View;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// Why what was left is skipped.
const LEFT: &str = "left by a rewind";

/// Why it no longer is.
const TAKEN_UP: &str = "taken up again in the session";

/// Items that rewinds left or took up again. Of what is said of an item twice, the last counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewound(HashMap<ItemId, bool>);

impl Rewound {
    /// What is said by two parts of a file, the later one second.
    #[must_use]
    pub(crate) fn then(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    /// Notes items that were left, or taken up again.
    pub(super) fn note<'i>(&mut self, items: impl IntoIterator<Item = &'i ItemId>, left: bool) {
        self.0.extend(items.into_iter().map(|item| (*item, left)));
    }
}

/// Sets the priorities of what was rewound.
pub(super) fn follow(writing: Writing<'_>, name: &TraceName, Rewound(items): Rewound) -> Result<(), TraceError> {
    let Writing { repo, signature, .. } = writing;
    let Some(tip) = Tip::find(repo, name)?.filter(|_| !items.is_empty()) else { return Ok(()) };
    let view = View::at(repo, tip.clone(), None)?;
    let mut changes = Vec::new();
    for slot in &view.slots {
        let Some(left) = items.get(&slot.id) else { continue };
        let ours = match view.level(slot) {
            SetLevel::Default(_) => *left,
            SetLevel::Set(set) => set.reason.as_deref() == Some(if *left { TAKEN_UP } else { LEFT }),
        };
        if ours {
            changes.push((slot, *left));
        }
    }
    let introduced = introductions(repo, &tip, changes.iter().map(|(slot, _)| slot.id))?;
    let requests: Vec<Request> = changes
        .into_iter()
        .map(|(slot, left)| Request {
            item: slot.id,
            level: if left { Level::Skip } else { Level::Normal },
            reason: Some(if left { LEFT } else { TAKEN_UP }.to_owned()),
            seq: Some(slot.seq),
            at: signature.at.after(Some(tip.time())),
            by: None,
            introduced: introduced.get(&slot.id).copied().unwrap_or(tip.commit.oid),
        })
        .collect();
    priority::set(repo, signature, &requests)
}
