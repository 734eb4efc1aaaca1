//! A comparison as JSON.
//!
//! ```text
//! {"before":{"commit":…,"at":…,"ref":…},"after":{…},
//!  "items":[{"id":…,"changes":["edited"],"lines":{"added":1,"removed":1},"before":{item},"after":{item},
//!            "priority":{"before":"normal","after":"skip"}}],
//!  "counts":{"added":0,"removed":0,"edited":1,"moved":0,"priority":0,"unchanged":7},"tokens":12}
//! ```
//!
//! `before` is null before the first commit. The sides of an item have the usual form, with `seq`; an absent side is omitted.
//! `tokens` is the difference of the totals.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::content::{Body, Content};
use super::revisions::Revision;
use super::{Diff, ItemDiff};
use crate::git::Repo;
use crate::trace::model::json::to_json;
use crate::trace::store::resolve::State;
use crate::trace::{Item, ItemEntry, TraceError};

pub(crate) fn diff_to_json(repo: &Repo, diff: &Diff) -> Result<Value, TraceError> {
    let items = diff.items.iter().map(|item| item_to_json(repo, item)).collect::<Result<Vec<_>, _>>()?;
    let before = diff.before.as_ref().map(side);
    Ok(json!({
        "before": before,
        "after": side(&diff.after),
        "items": items,
        "counts": diff.counts().into_iter().collect::<BTreeMap<_, _>>(),
        "tokens": i64::try_from(diff.tokens).unwrap_or_default(),
    }))
}

fn side(state: &State) -> Value {
    let mut side = json!({ "commit": state.tip.commit.oid.to_string(), "at": state.tip.time().to_string() });
    if let Some(refname) = &state.refname {
        side["ref"] = refname.as_str().into();
    }
    side
}

/// A revision of an item as a JSON object: commit, time, author, and change.
pub(crate) fn revision_to_json(repo: &Repo, revision: &Revision) -> Result<Value, TraceError> {
    let Revision { tip, item } = revision;
    let (commit, at) = (tip.commit.oid.to_string(), tip.time().to_string());
    Ok(json!({ "commit": commit, "at": at, "by": tip.commit.author, "item": item_to_json(repo, item)? }))
}

pub(crate) fn item_to_json(repo: &Repo, item: &ItemDiff) -> Result<Value, TraceError> {
    let content = Content::read(repo, item)?;
    let mut object = Map::new();
    object.insert("id".to_owned(), item.entry().map(|slot| slot.id.to_string()).into());
    object.insert("changes".to_owned(), item.changes().into());
    if let Body::Text(lines) = content.body(0) {
        object.insert("lines".to_owned(), json!({ "added": lines.added, "removed": lines.removed }));
    }
    let sides = [("before", &item.before, &content.before), ("after", &item.after, &content.after)];
    for (word, slot, side) in sides {
        if let (Some(slot), Some(side)) = (slot, side) {
            object.insert(word.to_owned(), whole(slot, side));
        }
    }
    if let Some((before, after)) = item.levels {
        object.insert("priority".to_owned(), json!({ "before": before.as_str(), "after": after.as_str() }));
    }
    Ok(object.into())
}

fn whole(slot: &ItemEntry, item: &Item) -> Value {
    let mut object = to_json(item);
    object.insert("seq".to_owned(), slot.seq.into());
    object.into()
}
