//! Compression: older notes are summarized, and the least important failures are archived.
//!
//! Notes and summaries are grouped by section and agent. Hot ones stay, warm ones become one line per session, and cold ones
//! become one line. A range has the age of its later end. An entry without a session stays. Groups whose sessions overlap become one,
//! as after a merge of two branches that compressed differently. A group that is already one summary line stays, so compressing again
//! changes nothing.

pub(crate) mod archive;
pub(crate) mod expand;
pub(crate) mod score;
pub(crate) mod shorten;
pub(crate) mod tier;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::memory::crumb::check::{FAILURE_LIMIT, FAILURES};
use crate::memory::crumb::compress::archive::Archive;
use crate::memory::crumb::compress::shorten::{limit, prompt, shorten};
use crate::memory::crumb::compress::tier::Tier;
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, Line, is_same_section};
use crate::memory::crumb::grammar::entry::{Entry, EntryKind, MAX_COMPARED, SessionRange, SessionRef};
use crate::trace::model::trailers::one_line;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CompressionPlan {
    /// By position in the file, like `evicted`.
    pub groups: Vec<Group>,
    pub evicted: Vec<Evicted>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub tier: Tier,
    pub agent: Option<char>,
    pub reference: SessionRange,
    pub members: Vec<Member>,
    /// The lines that are summarized: those of the members, or their originals.
    lines: Vec<String>,
    /// The text of the new line: shortened by rule, unless a compressor replaced it.
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub index: usize,
    pub line: String,
    content: String,
    reference: SessionRange,
    is_summary: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Evicted {
    pub index: usize,
    /// Its name, or its text if it has no name.
    pub name: String,
    pub line: String,
}

impl Group {
    pub(crate) fn line(&self) -> String {
        let agent = self.agent.map(String::from).unwrap_or_default();
        format!("{}{agent} {} {}", EntryKind::Summary.mark(), self.reference, self.text).trim_end().to_owned()
    }

    /// Sets the text to a compressor's answer, converted to one line and cut to the limit.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.text = shorten(&[&one_line(text)], limit(self.tier));
    }

    pub(crate) fn prompt(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        prompt(&self.reference.to_string(), &lines, self.tier)
    }

    /// Summarizes the originals of summaries that overlap, because these say the same twice. One without originals is kept as it is.
    pub(crate) fn use_originals(&mut self, archive: &Archive<'_>) -> Result<(), CrumbError> {
        let mut ranges: Vec<_> = self.members.iter().filter(|member| member.is_summary).collect();
        ranges.sort_by_key(|member| member.reference.bounds());
        if !ranges.windows(2).any(|pair| pair[0].reference.overlaps(&pair[1].reference)) {
            return Ok(());
        }
        let (mut lines, mut seen) = (Vec::new(), HashSet::new());
        for member in &self.members {
            let originals = if member.is_summary { archive.originals(&member.line)? } else { None };
            let originals = originals.unwrap_or_else(|| vec![member.line.clone()]);
            lines.extend(originals.into_iter().filter(|line| seen.insert(line.clone())));
        }
        lines.sort_by_key(|line| Entry::parse(line).and_then(|entry| entry.latest()));
        let texts: Vec<&str> = lines.iter().filter_map(|line| Some(Entry::parse(line)?.content)).collect();
        self.text = shorten(&texts, limit(self.tier));
        self.lines = lines;
        Ok(())
    }
}

impl CompressionPlan {
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.evicted.is_empty()
    }

    /// Applies the plan to the file that it was made for. A new line takes the position of the first entry of its group.
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
        crumb.fix_line_endings();
    }
}

/// The entries of one group have the same section, agent, and, if warm, session.
type GroupKey = (usize, Option<char>, Option<u64>);

/// Plans the compression of a file. The plan is empty if the file has no header.
pub(crate) fn plan(crumb: &CrumbFile<'_>) -> CompressionPlan {
    let Some(header) = crumb.header() else { return CompressionPlan::default() };
    let sections = crumb.sections();
    let mut members_by_key: BTreeMap<GroupKey, Vec<Member>> = BTreeMap::new();
    for (index, _, entry) in crumb.entries() {
        let section = sections.partition_point(|section| section.start < index).checked_sub(1);
        let (Some(section), Some(reference), true) = (section, entry.reference, entry.kind.is_dated()) else {
            continue;
        };
        let is_summary = entry.kind == EntryKind::Summary;
        let latest = reference.later().latest();
        let session = match Tier::of(latest, header.session) {
            Tier::Hot => continue,
            Tier::Warm => Some(latest),
            Tier::Cold => None,
        };
        let (line, content) = (crumb.lines[index].text.to_string(), entry.content.to_owned());
        let member = Member { index, line, content, reference, is_summary };
        members_by_key.entry((section, entry.agent, session)).or_default().push(member);
    }
    let is_done = |members: &[Member]| matches!(members, [Member { is_summary: true, .. }]);
    let groups = joined(members_by_key).into_iter().filter(|(_, members)| !is_done(members));
    let mut groups: Vec<Group> = groups
        .map(|((_, agent, session), members)| {
            group(if session.is_some() { Tier::Warm } else { Tier::Cold }, agent, members)
        })
        .collect();
    groups.sort_by_key(|group| group.members.first().map(|member| member.index));
    CompressionPlan { groups, evicted: evicted(crumb) }
}

/// Joins the groups of a section and agent whose sessions overlap.
fn joined(members_by_key: BTreeMap<GroupKey, Vec<Member>>) -> Vec<(GroupKey, Vec<Member>)> {
    let mut groups: Vec<(GroupKey, Vec<Member>)> = members_by_key.into_iter().collect();
    groups.sort_by_key(|((section, agent, _), members)| (*section, *agent, span(members).bounds()));
    let mut all: Vec<(GroupKey, Vec<Member>)> = Vec::new();
    for (key, members) in groups {
        match all.last_mut() {
            Some((last, known)) if (last.0, last.1) == (key.0, key.1) && span(known).overlaps(&span(&members)) => {
                // The limit of the text is that of the oldest entry.
                last.2 = last.2.and(key.2);
                known.extend(members);
                known.sort_by_key(|member| member.index);
            }
            _ => all.push((key, members)),
        }
    }
    all
}

fn group(tier: Tier, agent: Option<char>, members: Vec<Member>) -> Group {
    let mut by_session: Vec<&Member> = members.iter().collect();
    by_session.sort_by_key(|member| (member.reference.later().latest(), member.reference.earlier().latest()));
    // Two branches may have summarized the same sessions: what the wider summary says is enough.
    let is_subsumed = |index: usize, member: &Member| {
        let wider = |(other, wide): (usize, &&Member)| {
            let is_same = wide.reference.bounds() == member.reference.bounds();
            wide.is_summary && wide.reference.contains(&member.reference) && if is_same { other > index } else { true }
        };
        by_session.len() <= MAX_COMPARED
            && member.is_summary
            && by_session.iter().enumerate().any(|(other, wide)| other != index && wider((other, wide)))
    };
    let texts = by_session.iter().enumerate().filter(|(index, member)| !is_subsumed(*index, member));
    let texts: Vec<&str> = texts.map(|(_, member)| member.content.as_str()).collect();
    let text = shorten(&texts, limit(tier));
    let reference = if let [only] = &members[..] { only.reference } else { span(&members) };
    let lines = members.iter().map(|member| member.line.clone()).collect();
    Group { tier, agent, reference, members, lines, text }
}

fn span(members: &[Member]) -> SessionRange {
    let points = members.iter().flat_map(|member| [member.reference.earlier(), member.reference.later()]);
    let mut points: Vec<SessionRef> = points.collect();
    points.sort_by_key(|point| (point.latest(), *point));
    let (from, to) = (points.first().copied(), points.last().copied());
    let from = from.unwrap_or(SessionRef::plain(0));
    SessionRange { from, to: to.filter(|to| to.latest() != from.latest()) }
}

/// The name of a failure, or its text if it has none.
fn failure_name(entry: &Entry<'_>) -> String {
    entry.key().unwrap_or(entry.text).to_owned()
}

/// All failures but the five with the highest counts, or, of equal counts, the latest.
fn evicted(crumb: &CrumbFile<'_>) -> Vec<Evicted> {
    let mut failures: Vec<_> = crumb
        .entries()
        .filter(|(_, section, entry)| is_same_section(section, FAILURES) && entry.kind == EntryKind::Lesson)
        .collect();
    failures.sort_by_key(|(index, _, entry)| (std::cmp::Reverse(entry.frequency()), *index));
    let mut evicted: Vec<Evicted> = failures
        .into_iter()
        .skip(FAILURE_LIMIT)
        .map(|(index, _, entry)| Evicted {
            index,
            name: failure_name(&entry),
            line: crumb.lines[index].text.to_string(),
        })
        .collect();
    evicted.sort_by_key(|evicted| evicted.index);
    evicted
}
