//! One item: live, removed, or in an earlier revision.

use serde_json::{Map, Value};

use crate::git::Repo;
use crate::tokens::Counter;
use crate::trace::model::json;
use crate::trace::store::priority::Record;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::{revision, total};
use crate::trace::{Item, ItemEntry, ItemId, Tip, TraceError, TraceName};

#[derive(Debug)]
pub(crate) struct Shown {
    pub slot: ItemEntry,
    pub item: Item,
    pub is_live: bool,
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
        return Ok(Shown { slot: slot.clone(), item: total::read_item(repo, slot)?, is_live });
    }
    let (slot, item) = revision::find(repo, name, tip, id, revision)?.wanted;
    Ok(Shown { slot, item, is_live })
}

/// The item as JSON, with `seq`, `priority`, `live`, its tokens by `counter`, and the usage that a provider reported with it.
pub(crate) fn to_json(repo: &Repo, shown: &Shown, counter: Counter) -> Result<Map<String, Value>, TraceError> {
    let Shown { slot, item, is_live } = shown;
    let levels = Record::open(repo)?.levels(repo, std::slice::from_ref(slot), None)?;
    let mut object = json::to_json(item);
    object.insert("tokens".to_owned(), item.token_count(counter).into());
    object.insert("encoding".to_owned(), counter.to_string().into());
    if let Some(usage) = item.reported_usage() {
        object.insert("usage".to_owned(), serde_json::json!(usage));
    }
    object.insert("seq".to_owned(), slot.seq.into());
    object.insert("priority".to_owned(), levels.of(slot.id, &slot.item_type).level().as_str().into());
    object.insert("live".to_owned(), (*is_live).into());
    Ok(object)
}
