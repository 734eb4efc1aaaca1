//! Which side touched an item last.

use super::three_way::{Conflict, Verdict};
use crate::base::merge::Side;
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::tree;
use crate::trace::store::tip::Tip;
use crate::trace::store::walk::{Parents, Walk};

/// The side whose last change of the item is the later one; of two at the same instant, the side with the greater bytes, so
/// that it does not matter who merges.
///
/// Walks back from both tips to those changes.
pub(crate) fn newest(repo: &Repo, conflict: &Conflict, ours: &Tip, theirs: &Tip) -> Result<Verdict, TraceError> {
    let rank = |tip, slot: &Option<_>| -> Result<_, TraceError> {
        let blob = slot.as_ref().map(|slot: &tree::ItemEntry| slot.blob);
        Ok((touched_at(repo, tip, conflict.item)?, blob))
    };
    let side = if rank(theirs, &conflict.theirs)? > rank(ours, &conflict.ours)? { Side::Theirs } else { Side::Ours };
    Ok(Verdict::Take(side))
}

/// When an item was last changed, in the history of `tip`; a merge changed what none of its parents has in that form.
fn touched_at(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Time>, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        let mut touched = true;
        for parent in &earlier.commit.parents {
            let before = repo.read_commit(*parent)?.tree;
            let changes = tree::changes(repo, Some(before), earlier.commit.tree)?;
            touched &= changes.iter().any(|change| change.entry().id == item);
        }
        if earlier.commit.parents.is_empty() {
            touched = tree::list(repo, earlier.commit.tree)?.iter().any(|slot| slot.id == item);
        }
        if touched {
            return Ok(Some(earlier.time()));
        }
    }
    Ok(None)
}
