//! What changes of priorities mean for traces.

use std::collections::HashMap;

use super::record::InForce;
use crate::git::Repo;
use crate::trace::model::level::Level;
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::model::types::Types;
use crate::trace::{ItemEntry, ItemId, TraceError, TraceName};

/// A change of an item's priority in a trace that contains the item.
#[derive(Clone, Debug)]
pub(crate) struct ChangedPriority {
    pub trace: TraceName,
    pub entry: ItemEntry,
    pub before: Level,
    pub now: InForce,
    /// False if only a dispute about the level is new.
    pub is_changed: bool,
}

/// The priorities in force for items, before and after a change.
pub(crate) type Changes = HashMap<ItemId, (Option<InForce>, InForce)>;

/// The items of all traces whose level changed or is disputed now, by trace and position. Lists the items of every trace, because a
/// priority belongs to an item in all of them.
pub(crate) fn in_traces(repo: &Repo, changes: &Changes) -> Result<Vec<ChangedPriority>, TraceError> {
    let mut listed = Vec::new();
    if changes.is_empty() {
        return Ok(listed);
    }
    let types = Types::read(repo)?;
    for (refname, tip) in repo.list_refs(TRACES)? {
        // `fsck` reports damaged tips.
        let entries = repo.read_commit(tip).and_then(|commit| tree::list(repo, commit.tree));
        let (Some(trace), Ok(entries)) = (TraceName::of_ref(&refname), entries) else { continue };
        for entry in entries {
            let Some((before, now)) = changes.get(&entry.id) else { continue };
            let was_disputed = before.as_ref().is_some_and(|before| !before.rivals.is_empty());
            let is_old_skip = |one: &InForce| one.setting.level == Level::Skip && one.setting.is_by_old_import();
            // The skip of an old import applies in some traces only.
            let was_old_skip = before.as_ref().is_some_and(is_old_skip);
            let level = |one: &InForce| one.setting.level;
            let before = before.as_ref().map_or_else(|| types.rules(&entry.item_type).priority, level);
            let is_changed = before != level(now) || was_old_skip != is_old_skip(now);
            if is_changed || (!now.rivals.is_empty() && !was_disputed) {
                listed.push(ChangedPriority { trace: trace.clone(), entry, before, now: now.clone(), is_changed });
            }
        }
    }
    Ok(listed)
}
