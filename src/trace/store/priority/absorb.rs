//! Merging another record into that of this repository.

use std::collections::HashSet;

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
    // Keep the lock, so that tags change in the same order as the record.
    let lock = repo.lock(RECORD)?;
    let changed = HISTORY.absorb_under(&lock, repo, signature, (from, accepted), is_wanted)?;
    tags::point_at_levels(repo, changed.iter().filter_map(|path| item_of(path)), tips)?;
    Ok(changed.len())
}
