//! What changes of priorities mean for traces.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::record::{InForce, Record, SetLevel, Setting};
use crate::git::{Oid, Repo};
use crate::trace::model::level::Level;
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::{ItemEntry, ItemId, Tip, TraceError, TraceName};

/// A change of the level that applies to an item in a trace, or of the level of an item that no trace contains.
#[derive(Clone, Debug)]
pub(crate) struct ChangedPriority {
    pub item: ItemId,
    /// `None` if the item is in no trace: it was deleted, or its trace was deleted or archived, and may come back.
    pub place: Option<(TraceName, ItemEntry)>,
    /// `None` if nothing was set, and the type is not known because the item is in no trace.
    pub before: Option<Level>,
    /// The level that applies now.
    pub level: Level,
    pub now: InForce,
    /// False if only a dispute about the level is new.
    pub is_changed: bool,
}

/// What decides about priorities, as it was before a pull, a purge, or an import.
#[derive(Debug)]
pub(crate) struct Before {
    pub record: Record,
    tips: HashMap<TraceName, Oid>,
}

impl Before {
    pub(crate) fn read(repo: &Repo) -> Result<Self, TraceError> {
        let refs = repo.list_refs(TRACES)?.into_iter();
        let tips = refs.filter_map(|(refname, tip)| Some((TraceName::of_ref(&refname)?, tip))).collect();
        Ok(Self { record: Record::open(repo)?, tips })
    }

    /// The items whose lines in the record are others now, whatever changed them.
    pub(crate) fn changed_items(&self, repo: &Repo) -> Result<HashSet<ItemId>, TraceError> {
        Record::open(repo)?.items_changed_since(repo, &self.record)
    }

    pub(crate) fn tip(&self, name: &TraceName) -> Option<Oid> {
        self.tips.get(name).copied()
    }
}

/// The items whose level changed or is disputed now, by trace and position, then those that are in no trace. Lists the items of every
/// trace, because a priority belongs to an item in all of them.
pub(crate) fn in_traces(repo: &Repo, before: &Before) -> Result<Vec<ChangedPriority>, TraceError> {
    let (record, changed, mut listed) = (Record::open(repo)?, before.changed_items(repo)?, Vec::new());
    let mut elsewhere: BTreeSet<ItemId> = changed.iter().copied().collect();
    let traces = if changed.is_empty() { Vec::new() } else { repo.list_refs(TRACES)? };
    for (refname, tip) in traces {
        let Some(trace) = TraceName::of_ref(&refname) else { continue };
        // `fsck` reports damaged tips.
        let entries = Tip::read(repo, tip).and_then(|tip| Ok(tree::list(repo, tip.commit.tree)?));
        let Ok(mut entries) = entries else { continue };
        entries.retain(|entry| changed.contains(&entry.id));
        let [now, earlier] = [&record, &before.record].map(|record| record.levels(repo, &entries, None));
        let (now, earlier) = (now?, earlier?);
        for entry in entries {
            elsewhere.remove(&entry.id);
            let [old, new] = [&earlier, &now].map(|levels| levels.of(entry.id, &entry.item_type));
            let rivals = now.rivals(entry.id);
            let is_changed = old.level() != new.level();
            if !is_changed && !is_any_new(rivals, earlier.rivals(entry.id)) {
                continue;
            }
            let (item, before, level) = (entry.id, Some(old.level()), new.level());
            let now = match new {
                SetLevel::Set(setting) => Some(InForce { setting: setting.clone(), rivals: rivals.to_vec() }),
                SetLevel::Default(_) => record.in_force(repo, item)?,
            };
            let place = Some((trace.clone(), entry));
            listed.extend(now.map(|now| ChangedPriority { item, place, before, level, now, is_changed }));
        }
    }
    for item in elsewhere {
        let Some(now) = record.in_force(repo, item)? else { continue };
        let before = before.record.in_force(repo, item)?;
        let earlier = before.as_ref().map_or(&[][..], |before| &before.rivals);
        let is_disputed = is_any_new(&now.rivals, earlier);
        let (before, level) = (before.as_ref().map(|before| before.setting.level), now.setting.level);
        let is_changed = before != Some(level);
        if is_changed || is_disputed {
            listed.push(ChangedPriority { item, place: None, before, level, now, is_changed });
        }
    }
    Ok(listed)
}

/// Whether a concurrent change was not known before. A purge of its reason does not make it another one.
fn is_any_new(rivals: &[Setting], earlier: &[Setting]) -> bool {
    rivals.iter().any(|rival| !earlier.iter().any(|known| known.digest() == rival.digest()))
}
