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
    let changed = HISTORY.absorb(repo, signature, (from, accepted), is_wanted, |union| {
        let (now, mut levels) = (Record::of_tree(repo, Some(union.tree))?, HashMap::new());
        for item in union.paths.iter().filter_map(|path| item_of(path)) {
            levels.extend(now.in_force(repo, item)?.map(|now| (item, now.setting.level)));
        }
        tags::point_within(repo, levels, tips)
    })?;
    Ok(changed.len())
}
