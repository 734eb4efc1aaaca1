//! Merging another record into that of this repository.

use super::record::{InForce, Record};
use super::{HISTORY, item_of, tags};
use crate::git::{Oid, Repo};
use crate::trace::store::signature::Signature;
use crate::trace::{ItemId, TraceError};

/// An item to which another record added lines.
#[derive(Debug)]
pub(crate) struct Absorbed {
    pub item: ItemId,
    pub before: Option<InForce>,
    pub now: InForce,
}

/// Adds another record's lines of the items for which `is_wanted` is true to this repository's record, and sets the tags of items
/// that the history of `tips` introduced.
pub(crate) fn absorb(
    repo: &Repo,
    signature: &Signature,
    from: Oid,
    tips: &[Oid],
    mut is_wanted: impl FnMut(ItemId) -> Result<bool, TraceError>,
) -> Result<Vec<Absorbed>, TraceError> {
    let mut absorbed = Vec::new();
    let is_wanted = |path: &str| item_of(path).map_or(Ok(false), &mut is_wanted);
    HISTORY.absorb(repo, signature, from, is_wanted, |ours, union| {
        let before = Record::of_tree(repo, ours)?;
        let now = Record::of_tree(repo, Some(union.tree))?;
        absorbed.clear();
        for item in union.paths.iter().filter_map(|path| item_of(path)) {
            if let Some(now) = now.in_force(repo, item)? {
                absorbed.push(Absorbed { item, before: before.in_force(repo, item)?, now });
            }
        }
        let levels = absorbed.iter().map(|absorbed| (absorbed.item, absorbed.now.setting.level)).collect();
        tags::point_within(repo, levels, tips)
    })?;
    Ok(absorbed)
}
