//! Merging another record into that of this repository.

use std::collections::HashSet;

use super::record::Record;
use super::{HISTORY, item_of, tags};
use crate::git::{Oid, Repo};
use crate::trace::store::signature::Signature;
use crate::trace::{ItemId, Tip, TraceError};

/// Adds another record's lines to this repository's record, and sets the tags of items that the history of `tips` introduced.
/// Returns the number of items with new lines.
pub(crate) fn absorb(repo: &Repo, signature: &Signature, from: Oid, tips: &[Oid]) -> Result<usize, TraceError> {
    let absorbed = HISTORY.absorb(
        repo,
        signature,
        from,
        |_| Ok(true),
        |union| {
            let items = union.paths.iter().filter_map(|path| item_of(path)).collect();
            point_tags(repo, &Record::of_tree(repo, union.tree)?, items, tips)
        },
    )?;
    Ok(absorbed.len())
}

fn point_tags(repo: &Repo, record: &Record, mut items: HashSet<ItemId>, tips: &[Oid]) -> Result<(), TraceError> {
    for tip in tips {
        if items.is_empty() {
            break;
        }
        let tip = Tip::read(repo, *tip)?;
        for (item, introduced) in tags::introductions(repo, &tip, items.iter().copied())? {
            items.remove(&item);
            let in_force = record.history(repo, item)?.pop();
            tags::point(repo, in_force.map(|setting| (item, setting.level, introduced)))?;
        }
    }
    Ok(())
}
