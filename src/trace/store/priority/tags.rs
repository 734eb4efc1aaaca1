//! Lightweight tags that show priorities to git.
//!
//! They are derived from the record. If it is lost, `fsck --repair` reads them. A tag points to the commit that introduced its item, so
//! git keeps that commit and shows the tag in logs.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use crate::git::{GitError, Oid, Repo};
use crate::trace::model::level::Level;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, Op, Tip, TraceError};

/// The namespace of the tags unless `trace.tagPrefix` is set. A plain clone would fetch tags in `refs/tags/`.
const DEFAULT_PREFIX: &str = "refs/trace-tags/";

/// Checks the setting: for git, a file outside of `refs/` is no ref.
pub(crate) fn prefix(repo: &Repo) -> Result<String, TraceError> {
    const KEY: &str = "trace.tagPrefix";
    let Some(value) = repo.config()?.text(KEY)? else { return Ok(DEFAULT_PREFIX.to_owned()) };
    let prefix = format!("{}/", value.trim_end_matches('/'));
    let is_own = ["refs/traces/", "refs/trace-"].iter().any(|own| prefix.starts_with(own));
    let is_own = is_own && !prefix.starts_with(DEFAULT_PREFIX);
    if !prefix.starts_with("refs/") || is_own || !Repo::is_refname(&format!("{prefix}normal")) {
        let expected = "a folder of refs that git-trace does not use, such as refs/tags/";
        return Err(GitError::BadSetting { key: KEY.to_owned(), value, expected }.into());
    }
    Ok(prefix)
}

/// What the name of a tag says. The prefix alone does not tell: it may be `refs/tags/`, where the code has its tags.
pub(crate) fn parse(prefix: &str, refname: &str) -> Option<(ItemId, Level)> {
    let (level, item) = refname.strip_prefix(prefix)?.split_once('/')?;
    Some((item.parse().ok()?, level.parse().ok()?))
}

/// As [`point_within`], at the levels that apply now, if any.
pub(crate) fn point_at_levels(
    repo: &Repo,
    items: impl IntoIterator<Item = ItemId>,
    tips: &[Oid],
) -> Result<(), TraceError> {
    let (record, mut levels) = (Record::open(repo)?, HashMap::new());
    for item in items {
        levels.extend(record.in_force(repo, item)?.map(|now| (item, now.setting.level)));
    }
    point_within(repo, levels, tips)
}

/// As [`point`], at the commits that introduced the items in the histories of `tips`.
pub(crate) fn point_within(repo: &Repo, mut levels: HashMap<ItemId, Level>, tips: &[Oid]) -> Result<(), TraceError> {
    for tip in tips {
        if levels.is_empty() {
            break;
        }
        let found = introductions(repo, &Tip::read(repo, *tip)?, levels.keys().copied())?;
        let found = found.into_iter().filter_map(|(item, introduced)| Some((item, levels.remove(&item)?, introduced)));
        point(repo, found)?;
    }
    // A shallow clone does not have the commits that introduced the others.
    for tip in tips {
        if levels.is_empty() {
            break;
        }
        let slots = tree::list(repo, repo.read_commit(*tip)?.tree)?;
        point(repo, slots.into_iter().filter_map(|slot| Some((slot.id, levels.remove(&slot.id)?, *tip))))?;
    }
    // Nor do the tips have what was deleted.
    let prefix = prefix(repo)?;
    for (item, level) in levels {
        if let Some(commit) = tagged(repo, &prefix, item)? {
            point(repo, [(item, level, commit)])?;
        }
    }
    Ok(())
}

/// The commit to which the tag of an item points.
pub(crate) fn tagged(repo: &Repo, prefix: &str, item: ItemId) -> Result<Option<Oid>, TraceError> {
    for word in Level::VALUES {
        if let Some(commit) = repo.find_ref(&format!("{prefix}{word}/{item}"))? {
            return Ok(Some(commit));
        }
    }
    Ok(None)
}

/// Sets the tags of items' levels to the commits that introduced them, then deletes the tags of other levels. If an item occurs
/// several times, the last level counts.
pub(crate) fn point(repo: &Repo, levels: impl IntoIterator<Item = (ItemId, Level, Oid)>) -> Result<(), TraceError> {
    let prefix = prefix(repo)?;
    let (mut new, mut old) = (Vec::new(), Vec::new());
    let last: HashMap<ItemId, (Level, Oid)> =
        levels.into_iter().map(|(item, level, introduced)| (item, (level, introduced))).collect();
    for (item, (level, introduced)) in last {
        for word in Level::VALUES {
            let refname = format!("{prefix}{word}/{item}");
            if *word == level.as_str() { new.push((refname, introduced)) } else { old.push(refname) }
        }
    }
    repo.set_tags(&new)?;
    Ok(repo.delete_refs(old.iter().map(String::as_str))?)
}

/// Deletes the tags of items.
pub(crate) fn remove(repo: &Repo, items: impl IntoIterator<Item = ItemId>) -> Result<(), TraceError> {
    let (prefix, mut tags) = (prefix(repo)?, Vec::new());
    for item in items {
        tags.extend(Level::VALUES.iter().map(|word| format!("{prefix}{word}/{item}")));
    }
    Ok(repo.delete_refs(tags.iter().map(String::as_str))?)
}

/// Finds the commit that introduced an item. Walks history, which no other common operation does.
pub(crate) fn introduction(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Oid>, TraceError> {
    Ok(introductions(repo, tip, [item])?.remove(&item))
}

/// Finds the commits that introduced items, by one walk that ends when all are found.
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
            BroughtIn::Item(item) if wanted.remove(&item) => drop(found.insert(item, earlier.commit.oid)),
            BroughtIn::Item(_) | BroughtIn::Nothing => {}
            BroughtIn::WhatWasAdded => {
                // An earlier commit may have introduced the item on another branch.
                let changes = changes_of(repo, &earlier)?;
                let added = BroughtIn::added(&changes);
                found.extend(added.filter(|item| wanted.contains(item)).map(|item| (item, earlier.commit.oid)));
            }
        }
    }
    Ok(found)
}

/// The items that a commit introduced, according to its trailers.
pub(crate) enum BroughtIn {
    Item(ItemId),
    Nothing,
    /// The items that its first parent lacks: the commit is a merge, or plain git made it.
    WhatWasAdded,
}

impl BroughtIn {
    pub(crate) fn by(commit: &Tip) -> Self {
        match (commit.trailers.op, commit.item()) {
            (Some(Op::Append | Op::Import | Op::Compress), Some(item)) => Self::Item(item),
            (Some(Op::Edit | Op::Delete | Op::Restore), Some(_)) => Self::Nothing,
            _ => Self::WhatWasAdded,
        }
    }

    pub(crate) fn added(changes: &[Change]) -> impl Iterator<Item = ItemId> {
        changes.iter().filter(|change| matches!(change, Change::Added(_))).map(|change| change.entry().id)
    }
}
