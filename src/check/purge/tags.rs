//! Tags of priorities after a pull has applied a purge.

use std::collections::{HashMap, HashSet};

use crate::git::{Oid, Repo};
use crate::trace::TraceError;
use crate::trace::model::name::TRACES;
use crate::trace::store::priority::{RECORD, Record, tags};
use crate::trace::store::tombstone::Tombstones;

/// Moves the tags on rewritten commits. Other tags that lead to purged content but to no trace, such as that of an item whose commit
/// was undone, or one that plain git fetched, are removed, and set again if a trace has their item.
pub(super) fn apply_to_tags(
    repo: &Repo,
    tombstones: &Tombstones,
    commits: &HashMap<Oid, Oid>,
) -> Result<(), TraceError> {
    let prefix = tags::prefix(repo)?;
    let listed = repo.list_refs(&prefix)?.into_iter();
    let tagged: Vec<_> = listed.filter_map(|tag| Some((tags::parse(&prefix, &tag.0)?, tag))).collect();
    if tagged.is_empty() {
        return Ok(());
    }
    let _lock = repo.lock(RECORD)?;
    let moved = tagged.iter().filter_map(|((item, level), (_, oid))| {
        let new = commits.get(oid).filter(|new| *new != oid)?;
        Some((*item, *level, *new))
    });
    tags::point(repo, moved)?;
    let is_here = |oid: &Oid| repo.read_commit(*oid).is_ok();
    let traces: Vec<Oid> = repo.list_refs(TRACES)?.into_iter().map(|(_, tip)| tip).filter(is_here).collect();
    let targets = tagged.iter().map(|(_, (_, oid))| *oid);
    let targets: Vec<Oid> = targets.filter(|oid| !commits.contains_key(oid) && is_here(oid)).collect();
    // A history with damage, which `fsck` reports, stops no pull.
    let strays: HashSet<Oid> = repo.commits_only_in(&targets, &traces).unwrap_or_default().into_iter().collect();
    let (record, mut stale, mut levels) = (Record::open(repo)?, Vec::new(), HashMap::new());
    for ((item, _), (refname, oid)) in tagged.iter().filter(|(_, (_, oid))| strays.contains(oid)) {
        if tombstones.in_history(repo, *oid, None).is_ok_and(|found| !found.is_empty()) {
            stale.push(refname.as_str());
            levels.extend(record.in_force(repo, *item)?.map(|found| (*item, found.setting.level)));
        }
    }
    repo.delete_refs(stale)?;
    tags::point_within(repo, levels, &traces)
}
