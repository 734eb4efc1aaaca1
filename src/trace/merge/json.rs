//! Conflicts as JSON.

use serde_json::{Value, json};

use super::three_way::Conflict;
use crate::git::Repo;
use crate::trace::TraceError;
use crate::trace::json::to_json;
use crate::trace::total::read_item;
use crate::trace::tree::Slot;

/// The versions of an item that two sides changed.
///
/// # Errors
///
/// Those of reading objects.
pub fn conflict_to_json(repo: &Repo, conflict: &Conflict) -> Result<Value, TraceError> {
    let version = |slot: &Option<Slot>| -> Result<Value, TraceError> {
        match slot {
            Some(slot) => Ok(Value::Object(to_json(&read_item(repo, slot)?))),
            None => Ok(Value::Null),
        }
    };
    let [base, ours, theirs] = [version(&conflict.base)?, version(&conflict.ours)?, version(&conflict.theirs)?];
    Ok(json!({ "id": conflict.item.to_string(), "base": base, "ours": ours, "theirs": theirs }))
}
