//! Merging another record into that of this repository.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use super::{HISTORY, RECORD, item_of, tags};
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
    // Also while tags are set back.
    let lock = repo.lock(RECORD)?;
    let mut earlier = Vec::new();
    let changed = HISTORY.absorb_under(&lock, repo, signature, (from, accepted), is_wanted, |union| {
        let (record, mut levels) = (Record::of_tree(repo, Some(union.tree))?, HashMap::new());
        for item in union.paths.iter().filter_map(|path| item_of(path)) {
            levels.extend(record.in_force(repo, item)?.map(|now| (item, now.setting.level)));
        }
        // Plain git may move the record meanwhile, so that this is repeated.
        if earlier.is_empty() {
            earlier = tags::of_items(repo, levels.keys())?;
        }
        tags::point_within(repo, levels, tips)
    });
    // Nobody may take the tags of a failed pull for those of a lost record.
    changed.map(|changed| changed.len()).inspect_err(|_| {
        let _ = tags::set_back(repo, &earlier);
    })
}
