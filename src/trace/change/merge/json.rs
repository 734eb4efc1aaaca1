//! The result of a merge, and its conflicts, as JSON.

use serde_json::{Value, json};

use super::Outcome;
use super::three_way::Conflict;
use crate::git::Repo;
use crate::trace::model::json::to_json;
use crate::trace::store::total::read_item;
use crate::trace::{ItemEntry, TraceError, TraceName};

/// The result of a merge: `result`, and the numbers of items added, edited, and removed; or the conflicts.
pub(crate) fn outcome_to_json(repo: &Repo, name: &TraceName, outcome: &Outcome) -> Result<Value, TraceError> {
    let (result, commit, [added, edited, removed]) = match outcome {
        Outcome::UpToDate => ("up_to_date", None, [0; 3]),
        Outcome::FastForward(commit) => ("fast_forward", Some(commit), [0; 3]),
        Outcome::Merged(commit, merged) => {
            ("merge", Some(commit), [merged.added.len(), merged.edited.len(), merged.removed.len()])
        }
        Outcome::Diverged => return Ok(json!({ "trace": name.as_str(), "result": "diverged" })),
        Outcome::Conflicts(conflicts) => {
            let listed = conflicts.iter().map(|conflict| conflict_to_json(repo, conflict));
            let listed = listed.collect::<Result<Vec<_>, _>>()?;
            return Ok(json!({ "trace": name.as_str(), "result": "conflicts", "conflicts": listed }));
        }
    };
    Ok(json!({ "trace": name.as_str(), "result": result, "commit": commit.map(ToString::to_string),
        "added": added, "edited": edited, "removed": removed }))
}

pub(crate) fn conflict_to_json(repo: &Repo, conflict: &Conflict) -> Result<Value, TraceError> {
    let version = |slot: &Option<ItemEntry>| -> Result<Value, TraceError> {
        Ok(slot.as_ref().map(|slot| read_item(repo, slot)).transpose()?.map(|item| to_json(&item)).into())
    };
    let [base, ours, theirs] = [version(&conflict.base)?, version(&conflict.ours)?, version(&conflict.theirs)?];
    Ok(json!({ "id": conflict.item.to_string(), "base": base, "ours": ours, "theirs": theirs }))
}
