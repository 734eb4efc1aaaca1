//! The side that changed an item last.

use super::three_way::{Conflict, Verdict};
use crate::base::merge::Side;
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::model::tree;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemEntry, ItemId, Tip, TraceError};

/// Takes the side that changed the item later. If the times are equal, takes the greater oid, so that the result does not depend on
/// who merges. Walks back from both tips to these changes.
pub(crate) fn newest(repo: &Repo, conflict: &Conflict, ours: &Tip, theirs: &Tip) -> Result<Verdict, TraceError> {
    let rank = |tip, slot: &Option<ItemEntry>| -> Result<_, TraceError> {
        Ok((changed_at(repo, tip, conflict.item)?, slot.as_ref().map(|slot| slot.blob)))
    };
    let side = if rank(theirs, &conflict.theirs)? > rank(ours, &conflict.ours)? { Side::Theirs } else { Side::Ours };
    Ok(Verdict::Take(side))
}

/// The time of an item's last change in the history of `tip`. A merge changed an item that no parent has in that form.
fn changed_at(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Time>, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        let mut changed = changes_of(repo, &earlier)?.iter().any(|change| change.entry().id == item);
        for parent in earlier.commit.parents.iter().skip(1) {
            let changes = tree::changes(repo, Some(repo.read_commit(*parent)?.tree), earlier.commit.tree)?;
            changed &= changes.iter().any(|change| change.entry().id == item);
        }
        if changed {
            return Ok(Some(earlier.time()));
        }
    }
    Ok(None)
}
