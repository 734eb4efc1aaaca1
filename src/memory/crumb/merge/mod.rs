//! How crumb files merge: by section and entry, by meaning.
//!
//! 1. The header's session is the greater. Its identity is merged three-way; changed on both sides, it is a conflict.
//! 2. An entry is its text. What one side added is added, what one side took out is gone; what both added is there once.
//!    Of copies of one text there are as many as on the side that changed their number, of two that did on the greater.
//! 3. A failure is its name and agent. Counts add what each side added since the base; the later session stays; words that
//!    both changed are those with the greater bytes. Taken out on one side it is gone, unless the other changed it.
//! 4. A section that one side alone changed is taken as it stands. Else the base's entries keep their order and new ones
//!    come last: as they stood where one side alone has new ones, else by session, then by bytes. Sections likewise.
//!
//! Nothing depends on which side is which. Files that cannot be read as crumb files are not merged here.

mod layout;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::base::finding::Plain;
use crate::base::merge::{ConflictText, Hunk, MergeInput, Merged, Side, conflict};
use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::edit::STANDARD;
use crate::memory::crumb::file::check_editable;
use crate::memory::crumb::grammar::document::{CrumbFile, Header, LineEnding, SectionMark};
use crate::memory::crumb::grammar::entry::{Counter, Entry, EntryKind};
use crate::memory::crumb::merge::layout::{Block, Item, Layout};

/// With more sections a file is nobody's memory, and is merged by lines.
const MAX_SECTIONS: usize = 1000;

/// What the text of a merge does not show. Its `Display` is a line for stderr.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// One side took a failure out that the other counted up or changed; it was kept.
    KeptChanged {
        key: String,
        deleted_by: Side,
    },
    Identity,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptChanged { key, deleted_by } => {
                let changed_by = deleted_by.other();
                write!(f, "`{}`: {deleted_by} took it out, {changed_by} changed it; kept", Plain(key))
            }
            Self::Identity => f.write_str("conflict: both sides changed the identity"),
        }
    }
}

/// Merges two crumb files that come from one; see the module for the rules.
///
/// `None` where a side is no crumb file, or full of conflicts: then lines are what can be merged.
pub(crate) fn merge<'a>(sides: MergeInput<'a>) -> Option<Merged<'a, Note>> {
    let whole = |text: &'a [u8]| Some(Merged { hunks: vec![Hunk::Merged(Cow::Borrowed(text))], notes: Vec::new() });
    if sides.ours == sides.theirs || sides.theirs == sides.base {
        return whole(sides.ours);
    }
    if sides.ours == sides.base {
        return whole(sides.theirs);
    }
    let base_text = conflict::flatten_base(sides.base);
    let base = CrumbFile::parse(&base_text).ok()?;
    let (ours, theirs) = (CrumbFile::parse(sides.ours).ok()?, CrumbFile::parse(sides.theirs).ok()?);
    check_editable(&ours).and_then(|()| check_editable(&theirs)).ok()?;
    let (b, o, t) = (Layout::of(&base), Layout::of(&ours), Layout::of(&theirs));
    if [&b, &o, &t].iter().any(|layout| layout.sections.len() > MAX_SECTIONS) {
        return None;
    }
    let eol = pick(&(!base.lines.is_empty()).then(|| base.ending()), &Some(ours.ending()), &Some(theirs.ending()));
    let mut merge = Merge { eol: eol.unwrap_or(LineEnding::Lf).as_str(), text: String::new(), notes: Vec::new() };
    let hunks = merge.files([&base, &ours, &theirs], [&b, &o, &t]);
    Some(Merged { hunks, notes: merge.notes })
}

/// The side that changed it; of two that did the greater.
fn pick<T: Clone + Ord>(base: &T, ours: &T, theirs: &T) -> T {
    if ours == base {
        theirs.clone()
    } else if theirs == base {
        ours.clone()
    } else {
        ours.max(theirs).clone()
    }
}

impl PartialOrd for LineEnding {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LineEnding {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// A merge under way.
struct Merge {
    eol: &'static str,
    text: String,
    notes: Vec<Note>,
}

impl Merge {
    fn files<'r>(&mut self, crumbs: [&CrumbFile<'_>; 3], [b, o, t]: [&Layout<'_>; 3]) -> Vec<Hunk<'r>> {
        let [has_bom, our_bom, their_bom] = crumbs.map(|crumb| crumb.has_bom);
        if pick(&has_bom, &our_bom, &their_bom) {
            self.text.push_str(crate::memory::crumb::grammar::document::BOM);
        }
        for blank in pick(&b.before, &o.before, &t.before) {
            self.line(blank);
        }
        let mut hunks = Vec::new();
        if let Some(line) = header(b, o, t) {
            self.line(&line);
        } else {
            self.notes.push(Note::Identity);
            hunks.push(Hunk::Merged(std::mem::take(&mut self.text).into_bytes().into()));
            let part = |layout: &Layout<'_>| {
                let line = layout.header.map_or(String::new(), |(line, _)| format!("{line}{}", self.eol));
                Cow::Owned(line.into_bytes())
            };
            hunks.push(Hunk::Conflict(ConflictText { base: part(b), ours: part(o), theirs: part(t) }));
        }
        let preamble = self.block(Some(&b.preamble), Some(&o.preamble), Some(&t.preamble));
        let mut sections = self.sections(b, o, t);
        let mark = pick(
            &b.mark.map(SectionMark::as_char),
            &o.mark.map(SectionMark::as_char),
            &t.mark.map(SectionMark::as_char),
        );
        if let Some(preamble) = preamble {
            self.write(&preamble);
        }
        let end = pick(&b.end(), &o.end(), &t.end());
        let count = sections.len();
        for (n, section) in sections.iter_mut().enumerate() {
            // A section that came to stand elsewhere is set off from the next one; what ends the file is no section's own.
            if n + 1 == count {
                section.trailing.clone_from(&end);
            } else if section.is_last && section.trailing.is_empty() {
                section.trailing.push("");
            }
            if let Some(mark) = mark {
                let name = section.start.chars().skip(1).collect::<String>();
                section.start = Cow::Owned(format!("{mark}{name}"));
            }
            let start = section.start.clone().into_owned();
            self.line(&start);
            self.write(section);
        }
        if !pick(&b.has_end, &o.has_end, &t.has_end) && self.text.ends_with(self.eol) {
            self.text.truncate(self.text.len() - self.eol.len());
        }
        hunks.push(Hunk::Merged(std::mem::take(&mut self.text).into_bytes().into()));
        hunks
    }

    fn line(&mut self, text: &str) {
        self.text.extend([text, self.eol]);
    }

    fn write(&mut self, block: &Block<'_>) {
        for item in &block.items {
            for line in item.blanks.iter().copied().chain([&*item.text]) {
                self.line(line);
            }
        }
        for blank in &block.trailing {
            self.line(blank);
        }
    }

    /// The sections of the result: those of the base in its order, new ones at their places.
    fn sections<'c>(&mut self, b: &Layout<'c>, o: &Layout<'c>, t: &Layout<'c>) -> Vec<Block<'c>> {
        let mut merged = Vec::new();
        for section in &b.sections {
            merged.extend(self.block(Some(section), o.find(&section.id), t.find(&section.id)));
        }
        let is_new = |section: &&Block<'c>| b.find(&section.id).is_none();
        let (new_ours, new_theirs): (Vec<_>, Vec<_>) =
            (o.sections.iter().filter(is_new).collect(), t.sections.iter().filter(is_new).collect());
        let mut ids: Vec<_> = new_ours.iter().chain(&new_theirs).map(|section| section.id.clone()).collect();
        if !new_ours.is_empty() && !new_theirs.is_empty() {
            ids.sort();
        }
        let mut seen = BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        for id in ids {
            let Some(section) = self.block(None, o.find(&id), t.find(&id)) else { continue };
            let order = |name: &str| STANDARD.iter().position(|standard| *standard == name);
            let place = order(&id.0).and_then(|own| {
                merged.iter().position(|other: &Block<'_>| order(&other.id.0).is_none_or(|other| other > own))
            });
            let mut section = section;
            if place.is_some() {
                section.is_last = true;
            } else if let Some(last) = merged.last_mut() {
                last.is_last = true;
            }
            merged.insert(place.unwrap_or(merged.len()), section);
        }
        if merged.is_empty() {
            // Each side took out what the other kept; a file has at least one section.
            let kept = o.sections.iter().chain(&t.sections).max_by(|a, b| a.id.cmp(&b.id));
            merged.extend(kept.map(|kept| Block { items: Vec::new(), trailing: Vec::new(), ..kept.clone() }));
        }
        merged
    }

    /// One section; `None` if it is gone.
    fn block<'c>(&mut self, b: Option<&Block<'c>>, o: Option<&Block<'c>>, t: Option<&Block<'c>>) -> Option<Block<'c>> {
        let same = |side: &Block<'c>| b.is_some_and(|base| base.says_the_same(side));
        let trailing = |o: &Block<'c>, t: &Block<'c>| match b {
            Some(b) => pick(&b.trailing, &o.trailing, &t.trailing),
            None => o.trailing.clone().max(t.trailing.clone()),
        };
        match (o, t) {
            (None, None) => None,
            (Some(side), None) | (None, Some(side)) if same(side) => None,
            (Some(side), None) | (None, Some(side)) if b.is_none() => Some(side.clone()),
            (Some(o), Some(t)) if same(o) || same(t) => {
                let changed = if same(o) { t } else { o };
                Some(Block { trailing: trailing(o, t), is_last: o.is_last || t.is_last, ..changed.clone() })
            }
            _ => {
                let empty = Block::default();
                let (base, ours, theirs) = (b.unwrap_or(&empty), o.unwrap_or(&empty), t.unwrap_or(&empty));
                let like = o.or(t)?;
                let start = match (o, t) {
                    (Some(o), Some(t)) => pick(&base.start, &o.start, &t.start),
                    _ => like.start.clone(),
                };
                let trailing = match (o, t) {
                    (Some(o), Some(t)) => trailing(o, t),
                    _ => like.trailing.clone(),
                };
                let items = self.items(base, ours, theirs, like.id.0 == FAILURES);
                let is_last = ours.is_last || theirs.is_last;
                Some(Block { id: like.id.clone(), start, items, trailing, is_last })
            }
        }
    }

    fn items<'c>(&mut self, b: &Block<'c>, o: &Block<'c>, t: &Block<'c>, are_failures: bool) -> Vec<Item<'c>> {
        let keyed = if are_failures { keys([b, o, t]) } else { BTreeSet::new() };
        let [b, o, t] = [b, o, t].map(|block| numbered(&block.items, &keyed));
        let counts = [&b, &o, &t].map(copies);
        let mut merged: BTreeMap<&Id, Cow<'c, str>> = BTreeMap::new();
        let ids: BTreeSet<&Id> = b.keys().chain(o.keys()).chain(t.keys()).collect();
        for id in ids {
            let [base, ours, theirs] = [b.get(id), o.get(id), t.get(id)].map(|found| found.map(|(_, item)| &item.text));
            let text = match (id, ours, theirs) {
                (Id::Failure(_, key), ours, theirs) => self.failure(key, base, ours, theirs),
                (Id::Text(text, n), ours, theirs) => {
                    let [in_base, in_ours, in_theirs] =
                        counts.each_ref().map(|counts| counts.get(text.as_str()).copied());
                    let text = ours.or(theirs).or(base).cloned();
                    text.filter(|_| Some(*n) <= pick(&in_base, &in_ours, &in_theirs))
                }
            };
            merged.extend(text.map(|text| (id, text)));
        }
        let in_order = |side: &BTreeMap<Id, (usize, &Item<'c>)>, is_meant: &dyn Fn(&Id) -> bool| {
            let mut found: Vec<_> = side.iter().filter(|(id, _)| is_meant(id)).collect();
            found.sort_by_key(|(_, (index, _))| *index);
            found.into_iter().map(|(id, (_, item))| (id.clone(), item.blanks.clone())).collect::<Vec<_>>()
        };
        let old = in_order(&b, &|id| merged.contains_key(id));
        let is_new = |id: &Id| merged.contains_key(id) && !b.contains_key(id);
        let (ours, theirs) = (in_order(&o, &is_new), in_order(&t, &is_new));
        let new = if theirs.is_empty() || ours == theirs {
            ours
        } else if ours.is_empty() {
            theirs
        } else {
            let all: BTreeSet<Id> = ours.into_iter().chain(theirs).map(|(id, _)| id).collect();
            let mut sorted: Vec<Id> = all.into_iter().collect();
            let session = |id: &Id| merged.get(id).and_then(|text| Entry::parse(text)).and_then(|entry| entry.latest());
            sorted.sort_by_key(|id| (session(id), merged.get(id).map(ToString::to_string), id.clone()));
            sorted.into_iter().map(|id| (id, Vec::new())).collect()
        };
        let text_of = |(id, blanks)| Some(Item { blanks, text: merged.get(&id)?.clone() });
        old.into_iter().chain(new).filter_map(text_of).collect()
    }

    fn failure<'c>(
        &mut self,
        key: &str,
        base: Option<&Cow<'c, str>>,
        ours: Option<&Cow<'c, str>>,
        theirs: Option<&Cow<'c, str>>,
    ) -> Option<Cow<'c, str>> {
        let (ours, theirs) = match (ours, theirs) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            (None, None) => return None,
            (Some(side), None) | (None, Some(side)) => {
                if base == Some(side) {
                    return None;
                }
                if base.is_some() {
                    let deleted_by = if ours.is_none() { Side::Ours } else { Side::Theirs };
                    self.notes.push(Note::KeptChanged { key: key.to_owned(), deleted_by });
                }
                return Some(side.clone());
            }
        };
        if base == Some(ours) {
            return Some(theirs.clone());
        }
        if base == Some(theirs) {
            return Some(ours.clone());
        }
        let [b, o, t] = [base, Some(ours), Some(theirs)].map(|text| text.and_then(|text| Entry::parse(text)));
        let (Some(o), Some(t)) = (o, t) else { return Some(ours.max(theirs).clone()) };
        let b = b.as_ref();
        let counter = (o.counter.is_some() || t.counter.is_some()).then(|| {
            let count = |entry: &Entry<'_>| entry.counter.map_or(1, |counter| i128::from(counter.count));
            let sum = count(&o) + count(&t) - b.map_or(0, count);
            let last = |entry: &Entry<'_>| entry.counter.map(|counter| (counter.last.latest(), counter.last));
            let last = pick(&b.and_then(last), &last(&o), &last(&t));
            let last = last.or(o.counter.or(t.counter).map(|counter| (0, counter.last)));
            last.map(|(_, last)| Counter { count: u64::try_from(sum.max(1)).unwrap_or(u64::MAX), last })
        });
        let part = |of: &dyn for<'e> Fn(&Entry<'e>) -> String| pick(&b.map(of), &Some(of(&o)), &Some(of(&t)));
        let words = part(&|entry| entry.text.to_owned()).unwrap_or_default();
        let tags = part(&|entry| entry.tags_text.to_owned()).unwrap_or_default();
        let reference = part(&|entry| entry.reference.map(|reference| reference.to_string()).unwrap_or_default());
        let merged = Entry {
            kind: EntryKind::Lesson,
            agent: o.agent,
            reference: reference.as_deref().and_then(crate::memory::crumb::SessionRange::parse),
            text: &words,
            counter: counter.flatten(),
            tags: Vec::new(),
            content: "",
            tags_text: &tags,
            bad_reference: None,
        };
        Some(Cow::Owned(merged.render()))
    }
}

/// What makes an entry the same on all sides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Id {
    Failure(Option<char>, String),
    /// Its text, and how many of that text stood before it.
    Text(String, usize),
}

/// Agent and name of an item that is a failure.
fn failure_key(item: &Item<'_>) -> Option<(Option<char>, String)> {
    let entry = Entry::parse(&item.text).filter(|entry| entry.kind == EntryKind::Lesson)?;
    Some((entry.agent, entry.key()?.to_owned()))
}

/// The failures that no side has twice.
fn keys(sides: [&Block<'_>; 3]) -> BTreeSet<(Option<char>, String)> {
    let mut keys = BTreeSet::new();
    let mut twice = BTreeSet::new();
    for side in sides {
        let mut seen = BTreeSet::new();
        for key in side.items.iter().filter_map(failure_key) {
            if !seen.insert(key.clone()) {
                twice.insert(key.clone());
            }
            keys.insert(key);
        }
    }
    keys.difference(&twice).cloned().collect()
}

/// How often a side has each text.
fn copies<'i>(side: &'i BTreeMap<Id, (usize, &Item<'_>)>) -> BTreeMap<&'i str, usize> {
    // The last of a text's ids has the greatest number.
    let texts = side.keys().filter_map(|id| if let Id::Text(text, n) = id { Some((&**text, *n)) } else { None });
    texts.collect()
}

fn numbered<'i, 'c>(
    items: &'i [Item<'c>],
    keyed: &BTreeSet<(Option<char>, String)>,
) -> BTreeMap<Id, (usize, &'i Item<'c>)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbered = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let id = if let Some((agent, key)) = failure_key(item).filter(|key| keyed.contains(key)) {
            Id::Failure(agent, key)
        } else {
            let count = seen.entry(&item.text).or_default();
            *count += 1;
            Id::Text(item.text.to_string(), *count)
        };
        numbered.insert(id, (index, item));
    }
    numbered
}

/// The header of the result; `None` if both sides changed the identity.
fn header(b: &Layout<'_>, o: &Layout<'_>, t: &Layout<'_>) -> Option<String> {
    let ((our_line, ours), (their_line, theirs)) = (o.header?, t.header?);
    let identity = if ours.identity == theirs.identity {
        ours.identity
    } else {
        let base = b.header?.1.identity;
        match (ours.identity == base, theirs.identity == base) {
            (true, _) => theirs.identity,
            (_, true) => ours.identity,
            (false, false) => return None,
        }
    };
    let version = match b.header {
        Some((_, base)) => pick(&base.version, &ours.version, &theirs.version),
        None => ours.version.max(theirs.version),
    };
    let merged = Header { version, identity, session: ours.session.max(theirs.session) };
    let base_line = b.header.map(|(line, _)| line);
    Some(match (ours == merged, theirs == merged) {
        (true, true) => pick(&base_line, &Some(our_line), &Some(their_line)).unwrap_or(our_line).to_owned(),
        (true, false) => our_line.to_owned(),
        (false, true) => their_line.to_owned(),
        (false, false) => merged.to_string(),
    })
}
