//! Rewinds: items that the user removed from the session get the priority skip, and lose it when they are brought back.
//!
//! A rewind becomes known only after its items were imported. It never overrides a priority that someone else set.

use std::collections::HashMap;

use super::ImportContext;
use crate::trace::store::priority::tags::introductions;
use crate::trace::store::priority::{self, Level, Request, SetLevel};
use crate::trace::store::view::View;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// The recorded reason of a skip. Later imports recognize their own skips by it.
const REMOVED: &str = "left by a rewind";

const RESTORED: &str = "taken up again in the session";

/// The items that rewinds removed (true) or brought back (false).
pub(crate) type Rewound = HashMap<ItemId, bool>;

pub(super) fn apply(context: ImportContext<'_>, name: &TraceName, items: &Rewound) -> Result<(), TraceError> {
    let ImportContext { repo, signature, .. } = context;
    let Some(tip) = Tip::find(repo, name)?.filter(|_| !items.is_empty()) else { return Ok(()) };
    let view = View::at(repo, tip.clone(), None)?;
    let mut changes = Vec::new();
    for slot in &view.slots {
        let Some(removed) = items.get(&slot.id) else { continue };
        let may_change = match view.level(slot) {
            SetLevel::Default(_) => *removed,
            SetLevel::Set(set) => set.reason.as_deref() == Some(if *removed { RESTORED } else { REMOVED }),
        };
        if may_change {
            changes.push((slot, *removed));
        }
    }
    let introduced = introductions(repo, &tip, changes.iter().map(|(slot, _)| slot.id))?;
    let requests: Vec<Request> = changes
        .into_iter()
        .map(|(slot, removed)| Request {
            item: slot.id,
            level: if removed { Level::Skip } else { Level::Normal },
            reason: Some(if removed { REMOVED } else { RESTORED }.to_owned()),
            seq: Some(slot.seq),
            at: signature.at.after(Some(tip.time())),
            by: None,
            introduced: introduced.get(&slot.id).copied().unwrap_or(tip.commit.oid),
        })
        .collect();
    priority::set(repo, signature, &requests)
}
