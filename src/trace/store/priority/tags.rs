//! Lightweight tags that show priorities to git itself.
//!
//! Derived from the record, which is what reading uses. Each points straight at the commit that brought its item in, so
//! git keeps that commit, decorates logs with it and finds it.

use std::collections::{HashMap, HashSet};

use super::set::Request;
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::level::Level;
use crate::trace::model::trailers::Op;
use crate::trace::model::tree::Change;
use crate::trace::store::tip::Tip;
use crate::trace::store::walk::{Parents, Walk, changes_of};

/// Where the tags are, unless `trace.tagPrefix` says otherwise: outside `refs/tags/`, which a plain clone would follow.
const DEFAULT_PREFIX: &str = "refs/trace-tags/";

/// Where the tags of this repository are; ends in `/`.
pub(crate) fn prefix(repo: &Repo) -> Result<String, TraceError> {
    let configured = repo.config()?.text("trace.tagPrefix")?;
    Ok(format!("{}/", configured.as_deref().unwrap_or(DEFAULT_PREFIX).trim_end_matches('/')))
}

/// The tag of an item at a level.
fn refname(prefix: &str, level: &str, item: ItemId) -> String {
    format!("{}/{level}/{item}", prefix.trim_end_matches('/'))
}

/// Sets the tags of new levels, then drops those of the old ones. Of several changes of one item the last one counts.
pub(crate) fn follow(repo: &Repo, requests: &[Request]) -> Result<(), TraceError> {
    let prefix = &prefix(repo)?;
    let (mut new, mut old) = (Vec::new(), Vec::new());
    let last: HashMap<ItemId, &Request> = requests.iter().map(|request| (request.item, request)).collect();
    for request in last.into_values() {
        new.push((refname(prefix, request.level.as_str(), request.item), request.introduced));
        let others = Level::VALUES.iter().filter(|word| **word != request.level.as_str());
        old.extend(others.map(|word| refname(prefix, word, request.item)));
    }
    repo.set_tags(&new)?;
    Ok(repo.delete_refs(old.iter().map(String::as_str))?)
}

/// Sets the tag of an item's level and drops those of the others.
pub(crate) fn point(repo: &Repo, item: ItemId, level: Level, introduced: Oid) -> Result<(), TraceError> {
    let prefix = &prefix(repo)?;
    repo.set_tags(&[(refname(prefix, level.as_str(), item), introduced)])?;
    let others = Level::VALUES.iter().filter(|word| **word != level.as_str());
    let old: Vec<String> = others.map(|word| refname(prefix, word, item)).collect();
    Ok(repo.delete_refs(old.iter().map(String::as_str))?)
}

/// Finds the commit that brought an item in; `None` if history has none that did.
///
/// Walks history, which no other everyday operation does.
pub(crate) fn introduction(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Oid>, TraceError> {
    Ok(introductions(repo, tip, [item])?.remove(&item))
}

/// Finds the commits that brought items in, by one walk that ends when all are found.
pub(crate) fn introductions(
    repo: &Repo,
    tip: &Tip,
    items: impl IntoIterator<Item = ItemId>,
) -> Result<HashMap<ItemId, Oid>, TraceError> {
    let mut wanted: HashSet<ItemId> = items.into_iter().collect();
    let mut found = HashMap::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        if wanted.is_empty() {
            break;
        }
        let earlier = earlier?;
        match BroughtIn::by(&earlier) {
            BroughtIn::Item(item) => {
                if wanted.remove(&item) {
                    found.insert(item, earlier.commit.oid);
                }
            }
            BroughtIn::Nothing => {}
            BroughtIn::WhatWasAdded => {
                // It may have been brought in by another before, and only come here.
                let changes = changes_of(repo, &earlier)?;
                let added = BroughtIn::added(&changes);
                found.extend(added.filter(|item| wanted.contains(item)).map(|item| (item, earlier.commit.oid)));
            }
        }
    }
    Ok(found)
}

/// What a commit brought in, as far as its trailers tell.
pub(crate) enum BroughtIn {
    Item(ItemId),
    Nothing,
    /// What its tree has and its first parent's has not: plain git made it, or it is a merge.
    WhatWasAdded,
}

impl BroughtIn {
    pub(crate) fn by(commit: &Tip) -> Self {
        let item = commit.trailers.item.filter(|_| commit.is_ours());
        match (commit.trailers.op, item) {
            (Some(Op::Append | Op::Import | Op::Compress), Some(item)) => Self::Item(item),
            (Some(Op::Edit | Op::Delete | Op::Restore), Some(_)) => Self::Nothing,
            _ => Self::WhatWasAdded,
        }
    }

    /// The items that were added by changes.
    pub(crate) fn added(changes: &[Change]) -> impl Iterator<Item = ItemId> {
        changes.iter().filter(|change| matches!(change, Change::Added(_))).map(|change| change.entry().id)
    }
}
