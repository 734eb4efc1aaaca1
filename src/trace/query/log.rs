//! The history of a trace: commits that match a query, and their changes.

use std::collections::HashSet;

use regex::Regex;
use serde_json::{Value, json};

use super::code::CodeRange;
use crate::git::Repo;
use crate::tokens::Counter;
use crate::trace::Time;
use crate::trace::model::tree::Change;
use crate::trace::store::priority::{Level, Levels, Record, Setting};
use crate::trace::store::total;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError};

/// A filter for commits. The default matches all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub items: Option<HashSet<ItemId>>,
    pub item_type: Option<ItemType>,
    /// Commits that touched an item that has this priority now.
    pub priority: Option<Level>,
    pub grep: Option<Regex>,
    pub reason: Option<Regex>,
    pub code: Option<CodeRange>,
    pub since: Option<Time>,
    pub until: Option<Time>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub tip: Tip,
    pub touched: Vec<Change>,
    pub settings: Vec<Setting>,
}

/// The commits in the history of `tip` that match, newest first. Reads history as the iterator advances.
pub(crate) fn entries<'a>(
    repo: &'a Repo,
    query: &'a Query,
    tip: Tip,
) -> Result<impl Iterator<Item = Result<Entry, TraceError>> + 'a, TraceError> {
    let record = Record::open(repo)?;
    let walk = Walk::new(repo, tip, Parents::All);
    Ok(walk.filter_map(move |tip| tip.and_then(|tip| select(repo, query, &record, tip)).transpose()))
}

/// The matching part of a commit, if any.
fn select(repo: &Repo, query: &Query, record: &Record, tip: Tip) -> Result<Option<Entry>, TraceError> {
    let items = query.items.as_ref();
    let at = tip.time();
    if query.since.is_some_and(|since| at < since) || query.until.is_some_and(|until| at > until) {
        return Ok(None);
    }
    if query.code.as_ref().is_some_and(|code| !code.holds(&tip)) {
        return Ok(None);
    }
    let mut touched = changes_of(repo, &tip)?;
    let filtered = items.is_some() || query.item_type.is_some() || query.priority.is_some() || query.grep.is_some();
    touched.retain(|change| items.is_none_or(|items| items.contains(&change.entry().id)));
    touched.retain(|change| query.item_type.as_ref().is_none_or(|item_type| change.entry().item_type == *item_type));
    if let Some(level) = query.priority {
        let slots: Vec<ItemEntry> = touched.iter().map(|change| change.entry().clone()).collect();
        let levels: Levels = record.levels(repo, &slots, None)?;
        touched.retain(|change| levels.of(change.entry().id, &change.entry().item_type).level() == level);
    }
    if let Some(pattern) = &query.grep
        && !pattern.is_match(tip.commit.subject())
    {
        let mut matching = Vec::new();
        for change in touched {
            let item = total::read_item(repo, change.entry())?;
            if pattern.is_match(&String::from_utf8_lossy(&item.body)) {
                matching.push(change);
            }
        }
        touched = matching;
    }
    if filtered && touched.is_empty() {
        return Ok(None);
    }
    let mut settings = Vec::new();
    if let Some(pattern) = &query.reason {
        for change in &touched {
            settings.extend(record.history(repo, change.entry().id)?);
        }
        settings.retain(|setting| setting.reason.as_ref().is_some_and(|reason| pattern.is_match(reason)));
        let own = tip.trailers.reason.as_ref().is_some_and(|reason| pattern.is_match(reason));
        if !own && settings.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(Entry { tip, touched, settings }))
}

/// The tokens of the items that a commit added, changed, or removed, which are read.
pub(crate) fn tokens(repo: &Repo, entry: &Entry, counter: Counter) -> Result<u64, TraceError> {
    let counts = entry.touched.iter().map(|change| Ok(total::read_item(repo, change.entry())?.token_count(counter)));
    counts.sum()
}

/// The commit as JSON, with the tokens of each item that it added or changed, which is read.
pub(crate) fn to_json(repo: &Repo, entry: &Entry, counter: Counter) -> Result<Value, TraceError> {
    let Entry { tip, touched, settings } = entry;
    let items: Result<Vec<Value>, TraceError> = touched
        .iter()
        .map(|change| {
            let slot = change.entry();
            let tokens = total::read_item(repo, slot)?.token_count(counter);
            let change = match change {
                Change::Added(_) => "added",
                Change::Removed(_) => "removed",
                Change::Changed(..) => "changed",
            };
            Ok(json!({ "id": slot.id.to_string(), "seq": slot.seq, "type": slot.item_type.as_str(), "change": change,
                "tokens": tokens }))
        })
        .collect();
    let mut object = json!({
        "commit": tip.commit.oid.to_string(),
        "at": tip.time().to_string(),
        "by": tip.commit.author,
        "subject": tip.commit.subject(),
        "items": items?,
    });
    let trailers = &tip.trailers;
    let texts = [
        ("op", trailers.op.filter(|_| tip.is_ours()).map(|op| op.to_string())),
        ("reason", trailers.reason.clone()),
        ("code", trailers.code.clone()),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            object[field] = text.into();
        }
    }
    if !settings.is_empty() {
        let listed = settings.iter().map(|setting| {
            json!({ "level": setting.level.as_str(), "at": setting.at.to_string(), "by": setting.by, "reason": setting.reason })
        });
        object["priorities"] = listed.collect();
    }
    Ok(object)
}
