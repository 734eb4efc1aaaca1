//! The merge of one item's texts: header by header, the body by lines.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::git::{Oid, Repo, merge_lines};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::item::Item;
use crate::trace::model::json::{set_field, to_json};
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::{file, schema};
use crate::trace::store::total::read;

/// What is said of an item by us and not by its writer, or is merged apart.
const NOT_FIELDS: [&str; 6] = ["id", "text", "base64", "tokens", "revision", "meta"];

/// Merges two versions of an item and writes the result; `None` where they clash.
///
/// Where the two have nothing in common, as in traces that were imported apart, the first revision is the same record on both
/// sides, so the side that has another one edited it.
pub(crate) fn merge_texts(
    repo: &Repo,
    encoding: Encoding,
    base: Option<&ItemEntry>,
    ours: &ItemEntry,
    theirs: &ItemEntry,
) -> Result<Option<Oid>, TraceError> {
    let Some((our_item, their_item)) = undamaged(repo, ours)?.zip(undamaged(repo, theirs)?) else { return Ok(None) };
    let Some(base) = base else {
        return Ok(match (our_item.revision, their_item.revision) {
            (1, 2..) => Some(theirs.blob),
            (2.., 1) => Some(ours.blob),
            _ => None,
        });
    };
    let Some(base_item) = undamaged(repo, base)? else { return Ok(None) };
    let Some(mut merged) = merge_items(&base_item, &our_item, &their_item)? else { return Ok(None) };
    merged.keep_token_count(encoding);
    Ok(Some(repo.write_blob(&file::render(&merged))?))
}

fn undamaged(repo: &Repo, slot: &ItemEntry) -> Result<Option<Item>, TraceError> {
    let reading = read(repo, slot)?;
    Ok(reading.damage.is_none().then_some(reading.item))
}

fn merge_items(base: &Item, ours: &Item, theirs: &Item) -> Result<Option<Item>, TraceError> {
    let Some(body) = merge_lines(&base.body, &ours.body, &theirs.body)? else { return Ok(None) };
    let [base_json, our_json, their_json] = [base, ours, theirs].map(to_json);
    let Some(merged) = merge_maps(&base_json, &our_json, &their_json, &NOT_FIELDS) else { return Ok(None) };
    let [base_meta, our_meta, their_meta] = [base, ours, theirs].map(|item| &item.fields.meta);
    let Some(meta) = merge_maps(base_meta, our_meta, their_meta, &[]) else { return Ok(None) };
    let mut fields = crate::trace::Fields::new(ours.fields.item_type.clone());
    for (field, value) in &merged {
        set_field(&mut fields, field, value)?;
    }
    fields.meta = meta;
    // What cannot be a field in JSON is as we have it.
    fields.source.clone_from(&ours.fields.source);
    for (key, value) in &ours.fields.unknown {
        if !fields.unknown.iter().any(|(known, _)| known == key) && !our_json.contains_key(&key.replace('-', "_")) {
            fields.unknown.push((key.clone(), value.clone()));
        }
    }
    // It signed what was there before.
    if body != ours.body {
        fields.signature = None;
    }
    let draft = crate::trace::Draft { fields, body };
    if schema::validate(&draft).is_err() {
        return Ok(None);
    }
    let revision = ours.revision.max(theirs.revision).saturating_add(1);
    Ok(Some(Item { id: ours.id, fields: draft.fields, revision, tokens: None, body: draft.body }))
}

/// Merges key by key; `None` where both sides changed one differently.
fn merge_maps(
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    apart: &[&str],
) -> Option<Map<String, Value>> {
    let mut merged = Map::new();
    let keys: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    for key in keys.into_iter().filter(|key| !apart.contains(&key.as_str())) {
        let (base, ours, theirs) = (base.get(key), ours.get(key), theirs.get(key));
        let value = if ours == base {
            theirs
        } else if theirs == base || ours == theirs {
            ours
        } else {
            return None;
        };
        merged.extend(value.map(|value| (key.clone(), value.clone())));
    }
    Some(merged)
}
