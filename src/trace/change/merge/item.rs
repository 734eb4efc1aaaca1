//! The merge of two versions of an item: headers by key, the body by lines.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::three_way::Conflict;
use crate::git::{Oid, Repo, merge_lines};
use crate::tokens::Counter;
use crate::trace::change::compress::REPLACED;
use crate::trace::model::json::{set_field, to_json};
use crate::trace::model::{item_file, schema};
use crate::trace::store::total::{Reading, read};
use crate::trace::{Draft, Fields, Item, ItemEntry, TraceError};

/// The fields in JSON that are computed, or merged separately. `newest` depends on the position of a forward crumb.
const NOT_FIELDS: [&str; 7] = ["id", "text", "base64", "tokens", "revision", "meta", "newest"];

/// Merges two versions of an item and writes the result; `None` if they conflict.
///
/// Without a base, as in traces that were imported separately, the first revision is the same record on both sides. So a side
/// with a later revision edited it.
pub(crate) fn merge_texts(
    repo: &Repo,
    counter: Counter,
    base: Option<&ItemEntry>,
    ours: &ItemEntry,
    theirs: &ItemEntry,
) -> Result<Option<Oid>, TraceError> {
    let Some((our_item, their_item)) = undamaged(repo, ours)?.zip(undamaged(repo, theirs)?) else { return Ok(None) };
    let Some(base) = base else {
        return Ok(match (our_item.revision, their_item.revision) {
            (1, 2..) => Some(theirs.blob),
            (2.., 1) => Some(ours.blob),
            (1, 1) => same_record(repo, (ours.blob, our_item), (theirs.blob, their_item))?,
            _ => None,
        });
    };
    let Some(base_item) = undamaged(repo, base)? else { return Ok(None) };
    let Some(mut merged) = merge_items(&base_item, &our_item, &their_item)? else { return Ok(None) };
    merged.keep_token_count(counter);
    Ok(Some(repo.write_blob(&item_file::render(&merged))?))
}

/// The file of one record that both sides recorded; `None` if the items differ in more than what an import computes: the count of tokens, and
/// what a summary replaced here. A summary replaces what it replaced on either side.
fn same_record(repo: &Repo, ours: (Oid, Item), theirs: (Oid, Item)) -> Result<Option<Oid>, TraceError> {
    // The same on both sides of a later merge.
    let (mut one, mut other) = if ours.0 < theirs.0 { (ours, theirs) } else { (theirs, ours) };
    let [replaced, others] = [&mut one.1, &mut other.1].map(|item| match item.fields.meta.remove(REPLACED) {
        Some(Value::Array(ids)) => ids,
        _ => Vec::new(),
    });
    let [fields, other_fields] = [&one.1, &other.1].map(|item| {
        let mut fields = to_json(item);
        fields.retain(|field, _| !NOT_FIELDS.contains(&field.as_str()));
        fields
    });
    if one.1.body != other.1.body || one.1.fields.meta != other.1.fields.meta || fields != other_fields {
        return Ok(None);
    }
    let set = |ids: &[Value]| ids.iter().map(Value::to_string).collect::<HashSet<String>>();
    let (here, there) = (set(&replaced), set(&others));
    if there.is_subset(&here) {
        return Ok(Some(one.0));
    }
    if here.is_subset(&there) {
        return Ok(Some(other.0));
    }
    let more: Vec<Value> = others.into_iter().filter(|id| !here.contains(&id.to_string())).collect();
    one.1.fields.meta.insert(REPLACED.to_owned(), [replaced, more].concat().into());
    Ok(Some(repo.write_blob(&item_file::render(&one.1))?))
}

/// Writes the next revision of an item on whose text the sides disagree.
pub(super) fn with_text(repo: &Repo, conflict: &Conflict, text: &[u8]) -> Result<Oid, TraceError> {
    let sides = [&conflict.ours, &conflict.theirs, &conflict.base];
    let mut versions = Vec::new();
    for slot in sides.into_iter().flatten() {
        versions.push(read(repo, slot)?.item);
    }
    let newest = versions.iter().map(|item| item.revision).max().unwrap_or_default();
    for item in versions.iter_mut().filter(|item| item.body != text) {
        text.clone_into(&mut item.body);
        // A signature belongs to the body that it signed.
        item.fields.signature = None;
    }
    let merged = match &versions[..] {
        [ours, theirs, base] => merge_items(base, ours, theirs)?,
        _ => None,
    };
    let Some(mut item) = merged.or_else(|| versions.into_iter().next()) else {
        unreachable!("a conflict has a version")
    };
    item.revision = newest.saturating_add(1);
    item.keep_token_count(Counter::default());
    Ok(repo.write_blob(&item_file::render(&item))?)
}

fn undamaged(repo: &Repo, slot: &ItemEntry) -> Result<Option<Item>, TraceError> {
    let Reading { item, damage } = read(repo, slot)?;
    Ok(damage.is_none().then_some(item))
}

fn merge_items(base: &Item, ours: &Item, theirs: &Item) -> Result<Option<Item>, TraceError> {
    let Some(body) = merge_lines(&base.body, &ours.body, &theirs.body)? else { return Ok(None) };
    let [base_json, our_json, their_json] = [base, ours, theirs].map(to_json);
    let Some(merged) = merge_maps(&base_json, &our_json, &their_json, &NOT_FIELDS) else { return Ok(None) };
    let [base_meta, our_meta, their_meta] = [base, ours, theirs].map(|item| &item.fields.meta);
    let Some(meta) = merge_maps(base_meta, our_meta, their_meta, &[]) else { return Ok(None) };
    let mut fields = Fields { meta, ..Fields::new(ours.fields.item_type.clone()) };
    for (field, value) in &merged {
        set_field(&mut fields, field, value)?;
    }
    // Keep our headers that JSON cannot represent.
    fields.source.clone_from(&ours.fields.source);
    for (key, value) in &ours.fields.unknown {
        let field = key.replace('-', "_");
        let is_merged = our_json.contains_key(&field) && !NOT_FIELDS.contains(&field.as_str());
        if !is_merged && !fields.unknown.iter().any(|(known, _)| known == key) {
            fields.unknown.push((key.clone(), value.clone()));
        }
    }
    // A signature belongs to the body that it signed.
    if body != ours.body {
        fields.signature = None;
    }
    let draft = Draft { fields, body };
    if schema::validate(&draft).is_err() {
        return Ok(None);
    }
    let revision = ours.revision.max(theirs.revision).saturating_add(1);
    Ok(Some(Item { revision, ..Item::new(ours.id, draft) }))
}

/// Merges key by key; `None` if both sides changed a value differently.
fn merge_maps(
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    except: &[&str],
) -> Option<Map<String, Value>> {
    let mut merged = Map::new();
    let keys: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    for key in keys.into_iter().filter(|key| !except.contains(&key.as_str())) {
        let (base, ours, theirs) = (base.get(key), ours.get(key), theirs.get(key));
        let value = match (ours == base, theirs == base || ours == theirs) {
            (true, _) => theirs,
            (false, true) => ours,
            (false, false) => return None,
        };
        merged.extend(value.map(|value| (key.clone(), value.clone())));
    }
    Some(merged)
}
