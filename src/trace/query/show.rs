//! One item: live, removed, or in an earlier revision.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::diff::ItemDiff;
use super::diff::revisions::{Revision, came_from_another_parent};
use crate::git::Repo;
use crate::tokens::Counter;
use crate::trace::model::json;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::Op;
use crate::trace::model::tree::Change;
use crate::trace::store::priority::Record;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::store::{revision, total};
use crate::trace::{Item, ItemEntry, ItemId, Tip, TraceError, TraceName};

#[derive(Debug)]
pub(crate) struct Shown {
    pub slot: ItemEntry,
    pub item: Item,
    pub is_live: bool,
}

impl Shown {
    pub(crate) fn of(repo: &Repo, slot: &ItemEntry, is_live: bool) -> Result<Self, TraceError> {
        Ok(Self { slot: slot.clone(), item: total::read_item(repo, slot)?, is_live })
    }
}

/// The versions of items that a commit gave them; those that it removed as they were before.
pub(crate) fn of_commit(repo: &Repo, tip: &Tip) -> Result<HashMap<ItemId, ItemEntry>, TraceError> {
    Ok(changes_of(repo, tip)?.iter().map(|change| (change.entry().id, change.entry().clone())).collect())
}

/// The commits that changed each of these items, newest first. Walks history back to where the last of them was added.
pub(crate) fn histories(repo: &Repo, tip: &Tip, ids: &[ItemId]) -> Result<HashMap<ItemId, Vec<Revision>>, TraceError> {
    let mut wanted: HashSet<ItemId> = ids.iter().copied().collect();
    let mut found: HashMap<ItemId, Vec<Revision>> = HashMap::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        if wanted.is_empty() {
            break;
        }
        let earlier = earlier?;
        if earlier.item().is_some_and(|item| !wanted.contains(&item)) {
            continue;
        }
        for change in changes_of(repo, &earlier)? {
            let id = change.entry().id;
            if !wanted.contains(&id) || came_from_another_parent(repo, &earlier, id)? {
                continue;
            }
            let is_first = matches!(earlier.trailers.op, Some(Op::Append | Op::Import | Op::Compress));
            if matches!(change, Change::Added(_)) && is_first && earlier.is_ours() {
                wanted.remove(&id);
            }
            let item = ItemDiff::of_change(&change);
            found.entry(id).or_default().push(Revision { tip: earlier.clone(), item });
        }
    }
    Ok(found)
}

/// A commit that changed an item, as JSON, with the number of the revision that it made.
fn change_to_json(repo: &Repo, change: &Revision) -> Result<Map<String, Value>, TraceError> {
    let Revision { tip, item } = change;
    let mut object = Map::new();
    let mut put = |member: &str, value: Value| object.insert(member.to_owned(), value);
    put("commit", tip.commit.oid.to_string().into());
    put("at", tip.time().to_string().into());
    put("by", tip.commit.author.as_str().into());
    put("changes", item.changes().into());
    if let Some(after) = &item.after {
        put("revision", total::read_item(repo, after)?.revision.into());
    }
    if let Some(op) = tip.trailers.op.filter(|_| tip.is_ours()) {
        put("op", op.as_str().into());
    }
    if let Some(reason) = &tip.trailers.reason {
        put("reason", reason.as_str().into());
    }
    Ok(object)
}

/// Reads an item of a trace with this tip, in `revision` or (none) its newest one.
///
/// Reads the list of items; walks history for a removed item or an earlier revision.
pub(crate) fn read(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    id: ItemId,
    revision: Option<u32>,
) -> Result<Shown, TraceError> {
    let resolver = Resolver::new(repo, name, tip)?;
    let live = resolver.find_live(id);
    let is_live = live.is_some();
    if let (Some(slot), None) = (live, revision) {
        return Shown::of(repo, slot, is_live);
    }
    let (slot, item) = revision::find(repo, name, tip, id, revision)?.wanted;
    Ok(Shown { slot, item, is_live })
}

/// Everything known about an item but its content and its history, as JSON.
pub(crate) fn about(slot: &ItemEntry, item: &Item, level: Level, counter: Counter) -> Map<String, Value> {
    let mut object = json::to_json(item);
    object.retain(|member, _| !matches!(member.as_str(), "text" | "base64"));
    let mut put = |member: &str, value: Value| object.insert(member.to_owned(), value);
    put("tokens", item.token_count(counter).into());
    put("encoding", counter.to_string().into());
    if let Some(usage) = item.reported_usage() {
        put("usage", serde_json::json!(usage));
    }
    put("seq", slot.seq.into());
    put("priority", level.as_str().into());
    object
}

/// The item as JSON, with `seq`, `priority`, `live`, its tokens by `counter`, the usage that a provider reported with it, the
/// newest commit that changed it, and all of them.
pub(crate) fn to_json(
    repo: &Repo,
    shown: &Shown,
    history: &[Revision],
    counter: Counter,
) -> Result<Map<String, Value>, TraceError> {
    let Shown { slot, item, is_live } = shown;
    let levels = Record::open(repo)?.levels(repo, std::slice::from_ref(slot), None)?;
    let mut object = json::to_json(item);
    object.extend(about(slot, item, levels.of(slot.id, &slot.item_type).level(), counter));
    object.insert("live".to_owned(), (*is_live).into());
    let changes = history.iter().map(|change| change_to_json(repo, change)).collect::<Result<Vec<_>, _>>()?;
    if let Some(newest) = changes.first() {
        let of_commit = newest.iter().filter(|(member, _)| !matches!(member.as_str(), "revision" | "changes"));
        object.extend(of_commit.map(|(member, value)| (member.clone(), value.clone())));
    }
    object.insert("revisions".to_owned(), changes.into_iter().map(Value::Object).collect());
    Ok(object)
}
