//! How crumb files merge: by section and entry, by meaning.
//!
//! 1. The greater session number is taken. The identity is merged three-way; if both sides changed it, it is a conflict.
//! 2. The identity of an entry is its text. An entry that one side added is added; one that a side removed is removed; one that
//!    both added is there once. If a text occurs several times, the number of copies is that of the side that changed it; if
//!    both did, the greater.
//! 3. The identity of a failure is its name and agent. The counts that each side added since the base are added up, and the
//!    later session is taken. If both sides changed the text, the words of both are kept, separated by ` / `. Tags are merged by
//!    name. A failure that one side removed is removed, unless the other side changed it.
//! 4. If both sides summarized notes, and one new summary covers all sessions of another one by the same agent, only the
//!    wider one stays: both have the same originals. Of two for the same sessions, the one with the greater text stays.
//! 5. A section that only one side changed is taken unchanged. Otherwise the entries of the base keep their order, and new ones
//!    follow: in their order if only one side has new ones, else by session, then by bytes. The same holds for sections.
//!
//! Nothing depends on which side is ours. Files that are not valid crumb files are not merged here.

mod failure;
mod layout;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use layout::{Layout, LayoutLine, SectionLayout};

use super::check::FAILURES;
use super::edit::section_place;
use super::file::check_editable;
use super::grammar::document::{BOM, CrumbFile, Header, LineEnding};
use super::grammar::entry::{Entry, EntryKind, MAX_COMPARED, SessionRange};
use crate::base::escape::Plain;
use crate::base::merge::{ConflictText, Hunk, Markers, MergeInput, Merged, Side, conflict};

/// A file with more sections is not the notes of an agent. Git merges it by lines.
const MAX_SECTIONS: usize = 1000;

/// What the user should know about a merge. Its `Display` is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MergeNote {
    KeptChanged {
        key: String,
        deleted_by: Side,
    },
    Identity,
    /// A new summary whose sessions another new one covers.
    Subsumed {
        kept: String,
        dropped: String,
    },
}

impl fmt::Display for MergeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptChanged { key, deleted_by } => {
                write!(f, "`{}`: {deleted_by} deleted it, {} changed it; kept", Plain(key), deleted_by.other())
            }
            Self::Subsumed { kept, dropped } => write!(f, "`{}` is part of `{}`", Plain(dropped), Plain(kept)),
            Self::Identity => f.write_str("conflict: both sides changed the identity"),
        }
    }
}

/// Merges three versions of a crumb file.
///
/// Returns `None` if a side is not a crumb file or contains conflicts. Such files can only be merged by lines.
pub(crate) fn merge(input: MergeInput<'_>) -> Option<Merged<'_, MergeNote>> {
    if let Some(merged) = Merged::trivial(input) {
        return Some(merged);
    }
    let base_text = conflict::flatten_base(input.base, Markers::DEFAULT_SIZE);
    let base = CrumbFile::parse(&base_text).ok()?;
    let (ours, theirs) = (CrumbFile::parse(input.ours).ok()?, CrumbFile::parse(input.theirs).ok()?);
    check_editable(&ours).and_then(|()| check_editable(&theirs)).ok()?;
    let (b, o, t) = (Layout::of(&base), Layout::of(&ours), Layout::of(&theirs));
    if [&b, &o, &t].iter().any(|layout| layout.sections.len() > MAX_SECTIONS) {
        return None;
    }
    let ending = |crumb: &CrumbFile<'_>| Some(crumb.ending().as_str());
    let base_ending = if base.lines.is_empty() { None } else { ending(&base) };
    let eol = pick(&base_ending, &ending(&ours), &ending(&theirs)).unwrap_or(LineEnding::Lf.as_str());
    let mut merge = Merge { eol, text: String::new(), notes: Vec::new() };
    let hunks = merge.files([&base, &ours, &theirs], [&b, &o, &t]);
    Some(Merged { hunks, notes: merge.notes })
}

/// The value of the side that changed it; if both did, the greater.
fn pick<T: Clone + Ord>(base: &T, ours: &T, theirs: &T) -> T {
    if ours == base {
        theirs.clone()
    } else if theirs == base {
        ours.clone()
    } else {
        ours.max(theirs).clone()
    }
}

struct Merge {
    eol: &'static str,
    text: String,
    notes: Vec<MergeNote>,
}

impl Merge {
    fn files<'r>(&mut self, crumbs: [&CrumbFile<'_>; 3], [b, o, t]: [&Layout<'_>; 3]) -> Vec<Hunk<'r>> {
        let [has_bom, our_bom, their_bom] = crumbs.map(|crumb| crumb.has_bom);
        if pick(&has_bom, &our_bom, &their_bom) {
            self.text.push_str(BOM);
        }
        for blank in pick(&b.before, &o.before, &t.before) {
            self.line(blank);
        }
        let mut hunks = Vec::new();
        if let Some(line) = header(b, o, t) {
            self.line(&line);
        } else {
            self.notes.push(MergeNote::Identity);
            hunks.push(Hunk::Merged(std::mem::take(&mut self.text).into_bytes().into()));
            let part = |layout: &Layout<'_>| {
                let line = layout.header.map_or(String::new(), |(line, _)| format!("{line}{}", self.eol));
                Cow::Owned(line.into_bytes())
            };
            hunks.push(Hunk::Conflict(ConflictText { base: part(b), ours: part(o), theirs: part(t) }));
        }
        let preamble = self.section(Some(&b.preamble), Some(&o.preamble), Some(&t.preamble));
        let mut sections = self.sections(b, o, t);
        let mark = pick(&b.mark, &o.mark, &t.mark);
        if let Some(preamble) = preamble {
            self.write(&preamble);
        }
        let end = pick(&b.end(), &o.end(), &t.end());
        let count = sections.len();
        for (n, section) in sections.iter_mut().enumerate() {
            // A blank line separates a section that was last in its file from the next one. The blank lines at the end of the
            // file belong to no section.
            if n + 1 == count {
                section.trailing.clone_from(&end);
            } else if section.is_last && section.trailing.is_empty() {
                section.trailing.push("");
            }
            let mut name = section.start.chars();
            let mark = name.next().and_then(|own| mark.or(Some(own)));
            self.text.extend(mark);
            self.line(name.as_str());
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

    fn write(&mut self, section: &SectionLayout<'_>) {
        for line in &section.lines {
            for line in line.blanks.iter().copied().chain([&*line.text]) {
                self.line(line);
            }
        }
        for blank in &section.trailing {
            self.line(blank);
        }
    }

    /// The sections of the result: those of the base in their order, and new ones.
    fn sections<'c>(&mut self, b: &Layout<'c>, o: &Layout<'c>, t: &Layout<'c>) -> Vec<SectionLayout<'c>> {
        let mut merged = Vec::new();
        for section in &b.sections {
            merged.extend(self.section(Some(section), o.find(&section.id), t.find(&section.id)));
        }
        let [mut ids, theirs] = [o, t].map(|side| {
            let ids = side.sections.iter().map(|section| section.id.clone());
            ids.filter(|id| b.find(id).is_none()).collect::<Vec<_>>()
        });
        let have_both = !ids.is_empty() && !theirs.is_empty();
        ids.extend(theirs);
        if have_both {
            ids.sort();
        }
        let mut seen = BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        for id in ids {
            let Some(mut section) = self.section(None, o.find(&id), t.find(&id)) else { continue };
            let names: Vec<&str> = merged.iter().map(|other: &SectionLayout<'_>| other.id.0.as_str()).collect();
            let place = section_place(&names, &id.0);
            if place < merged.len() {
                section.is_last = true;
            } else if let Some(last) = merged.last_mut() {
                last.is_last = true;
            }
            merged.insert(place, section);
        }
        if merged.is_empty() {
            // Each side removed the sections that the other kept, but a file must have a section.
            let kept = o.sections.iter().chain(&t.sections).max_by(|a, b| a.id.cmp(&b.id));
            merged.extend(kept.map(|kept| SectionLayout { lines: Vec::new(), trailing: Vec::new(), ..kept.clone() }));
        }
        merged
    }

    fn section<'c>(
        &mut self,
        b: Option<&SectionLayout<'c>>,
        o: Option<&SectionLayout<'c>>,
        t: Option<&SectionLayout<'c>>,
    ) -> Option<SectionLayout<'c>> {
        let same = |side: &SectionLayout<'c>| b.is_some_and(|base| base.has_same_content(side));
        let trailing = |o: &SectionLayout<'c>, t: &SectionLayout<'c>| match b {
            Some(b) => pick(&b.trailing, &o.trailing, &t.trailing),
            None => o.trailing.clone().max(t.trailing.clone()),
        };
        match (o, t) {
            (None, None) => None,
            (Some(side), None) | (None, Some(side)) if same(side) => None,
            (Some(side), None) | (None, Some(side)) if b.is_none() => Some(side.clone()),
            (Some(o), Some(t)) if same(o) || same(t) => {
                let changed = if same(o) { t } else { o };
                Some(SectionLayout { trailing: trailing(o, t), is_last: o.is_last || t.is_last, ..changed.clone() })
            }
            _ => {
                let empty = SectionLayout::default();
                let (base, ours, theirs) = (b.unwrap_or(&empty), o.unwrap_or(&empty), t.unwrap_or(&empty));
                let like = o.or(t)?;
                let (start, trailing) = match (o, t) {
                    (Some(o), Some(t)) => (pick(&base.start, &o.start, &t.start), trailing(o, t)),
                    _ => (like.start.clone(), like.trailing.clone()),
                };
                let lines = self.entries(base, ours, theirs, like.id.0 == FAILURES);
                let is_last = ours.is_last || theirs.is_last;
                Some(SectionLayout { id: like.id.clone(), start, lines, trailing, is_last })
            }
        }
    }

    fn entries<'c>(
        &mut self,
        b: &SectionLayout<'c>,
        o: &SectionLayout<'c>,
        t: &SectionLayout<'c>,
        are_failures: bool,
    ) -> Vec<LayoutLine<'c>> {
        let keyed = if are_failures { keys([b, o, t]) } else { BTreeSet::new() };
        let versions = [b, o, t].map(|section| identified(&section.lines, &keyed));
        let counts = versions.each_ref().map(|lines| copies(lines));
        let texts = versions.each_ref().map(|lines| texts(lines));
        let mut merged: BTreeMap<&EntryId, Cow<'c, str>> = BTreeMap::new();
        for id in versions.iter().flatten().map(|(id, _)| id).collect::<BTreeSet<_>>() {
            let [base, ours, theirs] = texts.each_ref().map(|texts| texts.get(id).copied());
            let text = match id {
                EntryId::Failure(_, key) => {
                    let (line, deleted_by) = failure::merge(base, ours, theirs);
                    let note = |deleted_by| MergeNote::KeptChanged { key: key.clone(), deleted_by };
                    self.notes.extend(deleted_by.map(note));
                    line
                }
                EntryId::Text(text, n) => {
                    let [in_base, in_ours, in_theirs] =
                        counts.each_ref().map(|counts| counts.get(text.as_str()).copied());
                    let text = ours.or(theirs).or(base).cloned();
                    text.filter(|_| Some(*n) <= pick(&in_base, &in_ours, &in_theirs))
                }
            };
            merged.extend(text.map(|text| (id, text)));
        }
        // The entries of the base, and the new ones of each side.
        let [old, ours, theirs] = [(0, true), (1, false), (2, false)].map(|(version, is_old)| {
            let is_meant = |id| merged.contains_key(id) && texts[0].contains_key(id) == is_old;
            let lines = versions[version].iter().filter(|(id, _)| is_meant(id));
            lines.map(|(id, line)| (id, line.blanks.clone())).collect::<Vec<_>>()
        });
        let [ours, theirs] = self.without_subsumed([ours, theirs], &merged);
        let new = if theirs.is_empty() || ours == theirs {
            ours
        } else if ours.is_empty() {
            theirs
        } else {
            let all: BTreeSet<&EntryId> = ours.into_iter().chain(theirs).map(|(id, _)| id).collect();
            let session = |id| merged.get(id).and_then(|text| Entry::parse(text)).and_then(|entry| entry.latest());
            let mut sorted: Vec<_> = all.into_iter().map(|id| (session(id), merged.get(id), id)).collect();
            sorted.sort();
            sorted.into_iter().map(|(.., id)| (id, Vec::new())).collect()
        };
        let text_of = |(id, blanks)| Some(LayoutLine { blanks, text: merged.get(id)?.clone() });
        old.into_iter().chain(new).filter_map(text_of).collect()
    }
}

type NewLine<'i, 'c> = (&'i EntryId, Vec<&'c str>);

impl Merge {
    /// The new lines of both sides without summaries that another new summary covers.
    fn without_subsumed<'i, 'c>(
        &mut self,
        sides: [Vec<NewLine<'i, 'c>>; 2],
        merged: &BTreeMap<&EntryId, Cow<'c, str>>,
    ) -> [Vec<NewLine<'i, 'c>>; 2] {
        let ids: BTreeSet<&EntryId> = sides.iter().flatten().map(|(id, _)| *id).collect();
        let summary = |id: &&EntryId| {
            let text = merged.get(*id)?;
            let entry = Entry::parse(text).filter(|entry| entry.kind == EntryKind::Summary)?;
            Some((entry.agent, entry.reference?, text.as_ref()))
        };
        let mut summaries: Vec<_> = ids.iter().filter_map(summary).collect();
        // The widest first; of the same sessions, the greatest text.
        summaries.sort_by_key(|(_, range, text)| {
            let (from, to) = range.bounds();
            (Reverse(to.saturating_sub(from)), Reverse(text.len()), Reverse(*text))
        });
        let mut kept: Vec<(Option<char>, SessionRange, &str)> = Vec::new();
        let mut dropped = BTreeSet::new();
        for (agent, range, text) in summaries {
            match kept
                .iter()
                .take(MAX_COMPARED)
                .find(|(other, wide, known)| *other == agent && wide.contains(&range) && *known != text)
            {
                Some((.., wide)) => {
                    dropped.insert(text);
                    self.notes.push(MergeNote::Subsumed { kept: (*wide).to_owned(), dropped: text.to_owned() });
                }
                None => kept.push((agent, range, text)),
            }
        }
        let is_kept = |id: &EntryId| merged.get(id).is_none_or(|text| !dropped.contains(text.as_ref()));
        sides.map(|side| side.into_iter().filter(|(id, _)| is_kept(id)).collect())
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum EntryId {
    Failure(Option<char>, String),
    /// Its text, and the number of the copy, from 1.
    Text(String, usize),
}

fn failure_key(item: &LayoutLine<'_>) -> Option<(Option<char>, String)> {
    let entry = Entry::parse(&item.text).filter(|entry| entry.kind == EntryKind::Lesson)?;
    Some((entry.agent, entry.key()?.to_owned()))
}

/// The failures that no side has more than once.
fn keys(sides: [&SectionLayout<'_>; 3]) -> BTreeSet<(Option<char>, String)> {
    let mut keys = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for side in sides {
        let mut found: Vec<_> = side.lines.iter().filter_map(failure_key).collect();
        found.sort();
        repeated.extend(found.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()));
        keys.extend(found);
    }
    keys.difference(&repeated).cloned().collect()
}

type IdentifiedLine<'i, 'c> = (EntryId, &'i LayoutLine<'c>);

fn copies<'i>(lines: &'i [IdentifiedLine<'_, '_>]) -> BTreeMap<&'i str, usize> {
    // Copies are numbered in order, so the last one has the greatest number.
    let texts = lines.iter().filter_map(|(id, _)| match id {
        EntryId::Text(text, n) => Some((&**text, *n)),
        EntryId::Failure(..) => None,
    });
    texts.collect()
}

fn texts<'i, 'c>(lines: &'i [IdentifiedLine<'i, 'c>]) -> BTreeMap<&'i EntryId, &'i Cow<'c, str>> {
    lines.iter().map(|(id, line)| (id, &line.text)).collect()
}

fn identified<'i, 'c>(
    lines: &'i [LayoutLine<'c>],
    keyed: &BTreeSet<(Option<char>, String)>,
) -> Vec<IdentifiedLine<'i, 'c>> {
    let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
    let id = |line: &'i LayoutLine<'c>| {
        if let Some((agent, key)) = failure_key(line).filter(|key| keyed.contains(key)) {
            return EntryId::Failure(agent, key);
        }
        let count = copies.entry(&line.text).or_default();
        *count += 1;
        EntryId::Text(line.text.to_string(), *count)
    };
    lines.iter().map(id).zip(lines).collect()
}

/// The header of the result; `None` if both sides changed the identity.
fn header(b: &Layout<'_>, o: &Layout<'_>, t: &Layout<'_>) -> Option<String> {
    let ((our_line, ours), (their_line, theirs)) = (o.header?, t.header?);
    let identity = match b.header.map(|(_, base)| base.identity) {
        _ if ours.identity == theirs.identity => ours.identity,
        Some(base) if ours.identity == base => theirs.identity,
        Some(base) if theirs.identity == base => ours.identity,
        _ => return None,
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
