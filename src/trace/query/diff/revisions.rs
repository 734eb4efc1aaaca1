//! The revisions of one item, each compared with the previous one.

use super::ItemDiff;
use crate::git::Repo;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, Tip, TraceError};

#[derive(Debug)]
pub(crate) struct Revision {
    pub tip: Tip,
    pub item: ItemDiff,
}

/// Every commit in the history of `tip` that touched an item, newest first.
///
/// Includes a merge only if its version of the item differs from that of every parent. Walks the complete history.
pub(crate) fn revisions(repo: &Repo, tip: &Tip, id: ItemId) -> Result<Vec<Revision>, TraceError> {
    let mut found = Vec::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        if earlier.item().is_some_and(|item| item != id) {
            continue;
        }
        let Some(change) = changes_of(repo, &earlier)?.into_iter().find(|change| change.entry().id == id) else {
            continue;
        };
        if !came_from_another_parent(repo, &earlier, id)? {
            found.push(Revision { tip: earlier, item: ItemDiff::of_change(&change) });
        }
    }
    Ok(found)
}

/// Whether a parent other than the first has the same version of the item.
pub(crate) fn came_from_another_parent(repo: &Repo, tip: &Tip, id: ItemId) -> Result<bool, TraceError> {
    for parent in tip.commit.parents.iter().skip(1) {
        let changes = tree::changes(repo, Some(repo.read_commit(*parent)?.tree), tip.commit.tree)?;
        let same = match changes.iter().find(|change| change.entry().id == id) {
            None => true,
            Some(Change::Changed(before, after)) => before.blob == after.blob,
            Some(_) => false,
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}
