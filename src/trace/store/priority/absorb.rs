//! Merging another record into that of this repository.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use super::{HISTORY, item_of, tags};
use crate::git::{Oid, Repo};
use crate::trace::store::signature::Signature;
use crate::trace::{ItemId, TraceError};

/// Adds another record's lines of the items for which `is_wanted` is true to this repository's record, and sets the tags of items
/// that the history of `tips` introduced. Returns the number of items with new lines. `accepted` are records that need no signature.
pub(crate) fn absorb(
    repo: &Repo,
    signature: &Signature,
    (from, accepted): (Oid, &HashSet<Oid>),
    tips: &[Oid],
    mut is_wanted: impl FnMut(ItemId) -> Result<bool, TraceError>,
) -> Result<usize, TraceError> {
    let is_wanted = |path: &str| item_of(path).map_or(Ok(false), &mut is_wanted);
    let mut tagged = Vec::new();
    let changed = HISTORY.absorb(repo, signature, (from, accepted), is_wanted, |union| {
        tagged = union.paths.iter().filter_map(|path| item_of(path)).collect();
        point(repo, &Record::of_tree(repo, Some(union.tree))?, &tagged, tips)
    });
    // Nobody may take the tags of a failed pull for those of a lost record.
    changed.map(|changed| changed.len()).inspect_err(|_| {
        let _ = Record::open(repo).and_then(|record| point(repo, &record, &tagged, tips));
    })
}

/// Sets the tags of items to their levels in a record.
fn point(repo: &Repo, record: &Record, items: &[ItemId], tips: &[Oid]) -> Result<(), TraceError> {
    let (mut levels, mut others) = (HashMap::new(), Vec::new());
    for item in items {
        match record.in_force(repo, *item)? {
            Some(now) => drop(levels.insert(*item, now.setting.level)),
            None => others.push(*item),
        }
    }
    tags::point_within(repo, levels, tips)?;
    tags::remove(repo, &others)
}
