//! Search in the text of items.
//!
//! Searches bodies line by line, as git does, and not headers.

use std::collections::HashSet;
use std::ops::ControlFlow;

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::show::about;
use crate::git::{GitError, Oid, Repo};
use crate::tokens::Counter;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::priority::Record;
use crate::trace::store::total;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemEntry, ItemId, ItemType, Tip, TraceError};

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct PatternOptions {
    pub fixed: bool,
    pub ignore_case: bool,
}

#[derive(Debug)]
pub(crate) struct Query {
    pattern: Regex,
    item_type: Option<ItemType>,
    /// The only items that are searched.
    pub items: Option<HashSet<ItemId>>,
}

#[derive(Debug)]
pub(crate) struct Hit {
    pub slot: ItemEntry,
    /// The lines that match; empty if the body is not text.
    pub lines: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct Line {
    /// Its number in the body, from 1.
    pub number: usize,
    pub text: String,
}

impl Hit {
    /// The number of matching lines; 1 if the body is not text.
    pub(crate) fn count(&self) -> usize {
        self.lines.len().max(1)
    }
}

impl Query {
    /// Searches for `pattern` in items of one type, or of all. `^` and `$` match at line ends.
    pub(crate) fn new(
        pattern: &str,
        options: PatternOptions,
        item_type: Option<ItemType>,
    ) -> Result<Self, regex::Error> {
        let pattern = if options.fixed { regex::escape(pattern) } else { pattern.to_owned() };
        let pattern = RegexBuilder::new(&pattern).multi_line(true).case_insensitive(options.ignore_case).build()?;
        Ok(Self { pattern, item_type, items: None })
    }

    /// The parts of a line; `true` marks those that match.
    pub(crate) fn parts<'l>(&self, line: &'l str) -> Vec<(bool, &'l str)> {
        let (mut parts, mut written) = (Vec::new(), 0);
        for (start, end) in self.places(line) {
            parts.extend([(false, &line[written..start]), (true, &line[start..end])]);
            written = end;
        }
        parts.push((false, &line[written..]));
        parts
    }

    /// The byte ranges in a line that match.
    pub(crate) fn places(&self, line: &str) -> Vec<(usize, usize)> {
        let places = self.pattern.find_iter(line.as_bytes()).map(|place| (place.start(), place.end()));
        places
            .filter(|(start, end)| start < end && line.is_char_boundary(*start) && line.is_char_boundary(*end))
            .collect()
    }

    fn takes(&self, slot: &ItemEntry) -> bool {
        self.item_type.as_ref().is_none_or(|item_type| slot.item_type == *item_type)
            && self.items.as_ref().is_none_or(|items| items.contains(&slot.id))
    }

    /// The matches in an item file, if any.
    fn search(&self, slot: &ItemEntry, file: &[u8]) -> Option<Hit> {
        // Search a damaged file including its headers.
        let body = memmem::find(file, b"\n\n").map_or(file, |end| &file[end + 2..]);
        if body.is_empty() || !self.pattern.is_match(body) {
            return None;
        }
        let slot = slot.clone();
        let Some(text) = std::str::from_utf8(body).ok().filter(|text| !text.contains('\0')) else {
            return Some(Hit { slot, lines: Vec::new() });
        };
        // A match may extend over several lines; only matches within a line count.
        let lines = text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
        let matching = lines.enumerate().filter(|(_, line)| self.pattern.is_match(line.as_bytes()));
        let lines: Vec<Line> =
            matching.map(|(index, line)| Line { number: index + 1, text: line.to_owned() }).collect();
        (!lines.is_empty()).then_some(Hit { slot, lines })
    }
}

/// Why a search ends early.
enum End {
    Wanted,
    Failed(TraceError),
}

impl From<GitError> for End {
    fn from(error: GitError) -> Self {
        Self::Failed(error.into())
    }
}

/// Calls `visit` for each live item that matches, in reading order, until it breaks. Reads only the item files.
pub(crate) fn live(
    repo: &Repo,
    tip: &Tip,
    query: &Query,
    mut visit: impl FnMut(Hit) -> ControlFlow<()>,
) -> Result<(), TraceError> {
    let slots = tree::list(repo, tip.commit.tree)?;
    let wanted = slots.iter().filter(|slot| query.takes(slot));
    let searched = repo.for_each_blob(wanted.map(|slot| (slot, slot.blob)), |slot, _, file| {
        let goes_on = query.search(slot, file).map_or(ControlFlow::Continue(()), &mut visit);
        if goes_on.is_continue() { Ok(()) } else { Err(End::Wanted) }
    });
    match searched {
        Ok(()) | Err(End::Wanted) => Ok(()),
        Err(End::Failed(error)) => Err(error),
    }
}

/// Calls `visit` for each matching version of an item in history, with the commit that added it, newest first, until it breaks.
///
/// Walks the complete history.
pub(crate) fn history(
    repo: &Repo,
    tip: &Tip,
    query: &Query,
    mut visit: impl FnMut(&Tip, Hit) -> ControlFlow<()>,
) -> Result<(), TraceError> {
    let mut candidates: Vec<(Oid, ItemEntry)> = Vec::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        for change in changes_of(repo, &earlier)? {
            let (Change::Added(slot) | Change::Changed(_, slot)) = change else { continue };
            if query.takes(&slot) {
                candidates.push((earlier.commit.oid, slot));
            }
        }
    }
    // A merge also contains the text of both sides; the oldest commit with a text added it.
    let mut seen = HashSet::new();
    candidates.reverse();
    candidates.retain(|(_, slot)| seen.insert(slot.blob));
    for (commit, slot) in candidates.into_iter().rev() {
        if let Some(hit) = query.search(&slot, &repo.read_blob(slot.blob)?)
            && visit(&Tip::read(repo, commit)?, hit).is_break()
        {
            break;
        }
    }
    Ok(())
}

/// A hit as JSON, with the commit that added this version if history was searched.
pub(crate) fn to_json(
    repo: &Repo,
    record: &Record,
    commit: Option<&Tip>,
    hit: &Hit,
    counter: Counter,
) -> Result<Value, TraceError> {
    let slot = &hit.slot;
    let levels = record.levels(repo, std::slice::from_ref(slot), None)?;
    let level = levels.of(slot.id, &slot.item_type).level();
    let mut object = commit.map(Tip::to_json).unwrap_or_default();
    object.extend(match total::read_item(repo, slot) {
        Ok(item) => about(slot, &item, level, counter),
        // A damaged item is found by its bytes, and has only what its place says.
        Err(_) => Map::new(),
    });
    let mut object = Value::Object(object);
    object["id"] = slot.id.to_string().into();
    object["seq"] = slot.seq.into();
    object["type"] = slot.item_type.as_str().into();
    let lines = hit.lines.iter().map(|line| json!({ "line": line.number, "text": line.text }));
    object["lines"] = lines.collect();
    Ok(object)
}
