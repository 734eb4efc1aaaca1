//! The history of a trace: commits that match a query, and their changes.

use std::collections::{HashMap, HashSet};

use regex::Regex;
use serde_json::{Value, json};

use super::code::CodeRange;
use crate::git::{Oid, Repo};
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

/// The commits that a log lists.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub tips: Vec<Tip>,
    /// The commit whose history is left out, with one tip.
    pub without: Option<Oid>,
}

impl Range {
    fn walk<'r>(&self, repo: &'r Repo) -> Result<Walk<'r>, TraceError> {
        match (self.tips.as_slice(), self.without) {
            ([tip], Some(without)) => Walk::beyond(repo, tip.clone(), without),
            _ => Ok(Walk::of_all(repo, self.tips.clone(), Parents::All)),
        }
    }
}

/// The commits that match, newest first. Reads history as the iterator advances.
pub(crate) fn entries<'a>(
    repo: &'a Repo,
    query: &'a Query,
    range: &Range,
) -> Result<impl Iterator<Item = Result<Entry, TraceError>> + 'a, TraceError> {
    let record = Record::open(repo)?;
    let walk = range.walk(repo)?;
    Ok(walk.filter_map(move |tip| tip.and_then(|tip| select(repo, query, &record, tip)).transpose()))
}

/// The commits that match, at most `count`, each with the next older ones of its history. No commit comes before one that has it
/// in its history. Reads all commits of the range.
pub(crate) fn graph(
    repo: &Repo,
    query: &Query,
    range: &Range,
    count: usize,
) -> Result<Vec<(Entry, Vec<Oid>)>, TraceError> {
    let record = Record::open(repo)?;
    let mut found = Vec::new();
    let commits = children_first(range.walk(repo)?.collect::<Result<_, _>>()?);
    let parents: Vec<_> = commits.iter().map(|tip| (tip.commit.oid, tip.commit.parents.clone())).collect();
    let mut examined = 0;
    for tip in commits {
        if found.len() == count {
            break;
        }
        examined += 1;
        found.extend(select(repo, query, &record, tip)?);
    }
    let mut shown: HashSet<Oid> = found.iter().map(|entry| entry.tip.commit.oid).collect();
    // Lines of development lead on to the commits after the last one.
    shown.extend(parents.iter().skip(examined).map(|(oid, _)| *oid));
    // The nearest commits that are shown, for each commit that is not.
    let mut nearest: HashMap<Oid, Vec<Oid>> = HashMap::new();
    let mut next: HashMap<Oid, Vec<Oid>> = HashMap::new();
    for (oid, parents) in parents.into_iter().rev() {
        let mut below = Vec::new();
        for parent in parents {
            let reached =
                if shown.contains(&parent) { vec![parent] } else { nearest.get(&parent).cloned().unwrap_or_default() };
            below.extend(reached.into_iter().filter(|oid| !below.contains(oid)).collect::<Vec<_>>());
        }
        if shown.contains(&oid) {
            next.insert(oid, below)
        } else {
            nearest.insert(oid, below)
        };
    }
    let with_next = |entry: Entry| {
        let next = next.remove(&entry.tip.commit.oid).unwrap_or_default();
        (entry, next)
    };
    Ok(found.into_iter().map(with_next).collect())
}

/// Sorts commits so that each comes after all that have it as a parent, and lines of development stay together, as in
/// `git log --topo-order`.
fn children_first(commits: Vec<Tip>) -> Vec<Tip> {
    let mut children: HashMap<Oid, usize> = HashMap::new();
    for parent in commits.iter().flat_map(|tip| &tip.commit.parents) {
        *children.entry(*parent).or_default() += 1;
    }
    let is_ready = |tip: &&Tip| !children.contains_key(&tip.commit.oid);
    let mut ready: Vec<Oid> = commits.iter().rev().filter(is_ready).map(|tip| tip.commit.oid).collect();
    let mut waiting: HashMap<Oid, Tip> = commits.into_iter().map(|tip| (tip.commit.oid, tip)).collect();
    let mut sorted = Vec::with_capacity(waiting.len());
    while let Some(oid) = ready.pop() {
        let Some(tip) = waiting.remove(&oid) else { continue };
        for parent in &tip.commit.parents {
            let left = children.entry(*parent).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                ready.push(*parent);
            }
        }
        sorted.push(tip);
    }
    sorted
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

/// The commit as JSON, with the size, the priority, the usage, and the metadata of each item that it changed, which is read.
pub(crate) fn to_json(repo: &Repo, record: &Record, entry: &Entry, counter: Counter) -> Result<Value, TraceError> {
    let Entry { tip, touched, settings } = entry;
    let slots: Vec<ItemEntry> = touched.iter().map(|change| change.entry().clone()).collect();
    let levels = record.levels(repo, &slots, None)?;
    let items: Result<Vec<Value>, TraceError> = touched
        .iter()
        .map(|change| {
            let slot = change.entry();
            let item = total::read_item(repo, slot)?;
            let change = match change {
                Change::Added(_) => "added",
                Change::Removed(_) => "removed",
                Change::Changed(..) => "changed",
            };
            let mut object = json!({
                "id": slot.id.to_string(),
                "seq": slot.seq,
                "type": slot.item_type.as_str(),
                "change": change,
                "revision": item.revision,
                "tokens": item.token_count(counter),
                "priority": levels.of(slot.id, &slot.item_type).level().as_str(),
            });
            if let Some(usage) = item.reported_usage() {
                object["usage"] = json!(usage);
            }
            if !item.fields.meta.is_empty() {
                object["meta"] = item.fields.meta.into();
            }
            Ok(object)
        })
        .collect();
    let mut object = Value::Object(tip.to_json());
    object["items"] = items?.into();
    if !settings.is_empty() {
        let listed = settings.iter().map(|setting| {
            json!({ "level": setting.level.as_str(), "at": setting.at.to_string(), "by": setting.by, "reason": setting.reason })
        });
        object["priorities"] = listed.collect();
    }
    Ok(object)
}
