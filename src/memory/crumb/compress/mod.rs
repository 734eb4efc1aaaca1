//! Compressing: what is no longer fresh becomes shorter, and the failures that matter least go.
//!
//! Notes and summaries are grouped by section and agent. Hot ones stay; warm ones become one line a session, cold ones one
//! line in all. A range ranks by its later end; an entry that names no session stays. What is one summary line already is
//! left alone, so compressing again changes nothing.

pub(crate) mod archive;
pub(crate) mod expand;
pub(crate) mod score;
mod shorten;
pub(crate) mod tier;

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::crumb::check::{FAILURE_LIMIT, FAILURES};
use crate::memory::crumb::compress::shorten::{limit, prompt, shorten};
use crate::memory::crumb::compress::tier::Tier;
use crate::memory::crumb::edit::fix_line_endings;
use crate::memory::crumb::grammar::document::{CrumbFile, Line};
use crate::memory::crumb::grammar::entry::{EntryKind, SessionRange, SessionRef};
use crate::trace::model::trailers::one_line;

/// What compressing a file would do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CompressionPlan {
    /// Lines that take the place of others, by place.
    pub groups: Vec<Group>,
    pub evicted: Vec<Evicted>,
}

/// Entries that become one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub tier: Tier,
    pub agent: Option<char>,
    pub reference: SessionRange,
    pub members: Vec<Member>,
    /// What the line will say; as shortened by rule, until somebody says it better.
    pub text: String,
}

/// An entry that is compressed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub index: usize,
    pub line: String,
    content: String,
    reference: SessionRange,
}

/// A failure that goes to the archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Evicted {
    pub index: usize,
    /// Its name, or all its words where it has none.
    pub name: String,
    pub line: String,
}

impl Group {
    /// The line that takes their place.
    pub(crate) fn line(&self) -> String {
        let agent = self.agent.map(String::from).unwrap_or_default();
        format!("{}{agent} {} {}", EntryKind::Summary.mark(), self.reference, self.text).trim_end().to_owned()
    }

    /// Takes what a compressor said as the text: made one line, and cut by rule where it is too long.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.text = shorten(&[&one_line(text)], limit(self.tier));
    }

    /// What a compressor is asked.
    pub(crate) fn prompt(&self) -> String {
        let lines: Vec<&str> = self.members.iter().map(|member| member.line.as_str()).collect();
        prompt(&self.reference.to_string(), &lines, self.tier)
    }
}

impl CompressionPlan {
    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.evicted.is_empty()
    }

    /// Does it, to the file that the plan was made of. Each new line stands where the first of its members did.
    pub(crate) fn apply(&self, crumb: &mut CrumbFile<'_>) {
        let mut gone: BTreeSet<usize> = self.evicted.iter().map(|evicted| evicted.index).collect();
        for group in &self.groups {
            let mut members = group.members.iter().map(|member| member.index);
            let Some(first) = members.next() else { continue };
            crumb.lines[first] = Line::new(group.line(), crumb.lines[first].ending);
            gone.extend(members);
        }
        let mut index = 0;
        crumb.lines.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
        fix_line_endings(crumb);
    }
}

/// Which line an entry goes to: section, agent, and for a warm one its session.
type Place = (usize, Option<char>, Option<u64>);

/// Plans the compressing of a file; nothing without a header.
pub(crate) fn plan(crumb: &CrumbFile<'_>) -> CompressionPlan {
    let Some(header) = crumb.header() else { return CompressionPlan::default() };
    let sections = crumb.sections();
    let mut places: BTreeMap<Place, (Tier, bool, Vec<Member>)> = BTreeMap::new();
    for (index, _, entry) in crumb.entries() {
        let section = sections.partition_point(|section| section.start < index).checked_sub(1);
        let (Some(section), Some(reference), true) = (section, entry.reference, entry.kind.is_dated()) else {
            continue;
        };
        let latest = reference.later().latest();
        let session = match Tier::of(latest, header.session) {
            Tier::Hot => continue,
            Tier::Warm => Some(latest),
            Tier::Cold => None,
        };
        let tier = if session.is_some() { Tier::Warm } else { Tier::Cold };
        let member =
            Member { index, line: crumb.lines[index].text.to_string(), content: entry.content.to_owned(), reference };
        let (_, is_done, members) =
            places.entry((section, entry.agent, session)).or_insert_with(|| (tier, true, Vec::new()));
        *is_done = members.is_empty() && entry.kind == EntryKind::Summary;
        members.push(member);
    }
    let mut groups: Vec<Group> = places
        .into_iter()
        .filter(|(_, (_, is_done, _))| !is_done)
        .map(|((_, agent, _), (tier, _, members))| group(tier, agent, members))
        .collect();
    groups.sort_by_key(|group| group.members.first().map(|member| member.index));
    CompressionPlan { groups, evicted: evicted(crumb) }
}

fn group(tier: Tier, agent: Option<char>, members: Vec<Member>) -> Group {
    let mut by_session: Vec<&Member> = members.iter().collect();
    by_session.sort_by_key(|member| (member.reference.later().latest(), member.reference.earlier().latest()));
    let texts: Vec<&str> = by_session.iter().map(|member| member.content.as_str()).collect();
    let text = shorten(&texts, limit(tier));
    let reference = if let [only] = &members[..] { only.reference } else { span(&members) };
    Group { tier, agent, reference, members, text }
}

/// The sessions from the earliest to the latest.
fn span(members: &[Member]) -> SessionRange {
    let points = members.iter().flat_map(|member| [member.reference.earlier(), member.reference.later()]);
    let mut points: Vec<SessionRef> = points.collect();
    points.sort_by_key(|point| (point.latest(), *point));
    let (from, to) = (points.first().copied(), points.last().copied());
    let from = from.unwrap_or(SessionRef::plain(0));
    SessionRange { from, to: to.filter(|to| to.latest() != from.latest()) }
}

/// The failures past the five with the highest counts, of equal ones the latest.
fn evicted(crumb: &CrumbFile<'_>) -> Vec<Evicted> {
    let mut failures: Vec<_> =
        crumb.entries().filter(|(_, section, entry)| *section == FAILURES && entry.kind == EntryKind::Lesson).collect();
    failures.sort_by_key(|(index, _, entry)| {
        let count = entry.counter.map_or(1, |counter| counter.count);
        let last = entry.counter.map(|counter| counter.last.latest()).max(entry.latest());
        (std::cmp::Reverse((count, last)), *index)
    });
    let mut evicted: Vec<Evicted> = failures
        .into_iter()
        .skip(FAILURE_LIMIT)
        .map(|(index, _, entry)| Evicted {
            index,
            name: entry.key().unwrap_or(entry.text).to_owned(),
            line: crumb.lines[index].text.to_string(),
        })
        .collect();
    evicted.sort_by_key(|evicted| evicted.index);
    evicted
}
