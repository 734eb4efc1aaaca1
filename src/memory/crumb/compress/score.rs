//! Scoring entries: how much each is worth keeping, and why.
//!
//! A failure scores by how often and how recently it happened, because it costs most to learn again. Rules and facts are kept
//! at any age. Notes lose points with age.

use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::compress::tier::Tier;
use crate::memory::crumb::grammar::document::{CrumbFile, is_same_section};
use crate::memory::crumb::grammar::entry::{Entry, EntryKind};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Score {
    pub index: usize,
    pub section: String,
    pub line: String,
    /// 0 to 100. The highest should be kept first.
    pub points: u64,
    /// The parts of `points`, with their reasons.
    pub reasons: Vec<(u64, String)>,
}

/// Scores every entry; sorted by score, then by position in the file.
pub(crate) fn triage(crumb: &CrumbFile<'_>) -> Vec<Score> {
    let session = crumb.header().map(|header| header.session);
    let score = |(index, section, entry): (usize, &str, Entry<'_>)| {
        let reasons = reasons(section, &entry, session);
        Score {
            index,
            section: section.to_owned(),
            line: crumb.lines[index].text.to_string(),
            points: reasons.iter().map(|(points, _)| points).sum(),
            reasons,
        }
    };
    let mut scores: Vec<Score> = crumb.entries().map(score).collect();
    scores.sort_by_key(|score| (std::cmp::Reverse(score.points), score.index));
    scores
}

/// Points for the kind of entry: 15 to 70; for how often it happened: up to 25; for how recently: up to 15.
fn reasons(section: &str, entry: &Entry<'_>, session: Option<u64>) -> Vec<(u64, String)> {
    let (points, what) = match entry.kind {
        EntryKind::Lesson if is_same_section(section, FAILURES) => (60, "a failure"),
        EntryKind::Constraint => (70, "a constraint"),
        EntryKind::Lesson => (55, "a lesson"),
        EntryKind::Directive => (50, "a directive"),
        EntryKind::Fact | EntryKind::SharedFact if is_same_section(section, "core") => (65, "who the agent is"),
        EntryKind::Warning => (45, "a warning"),
        EntryKind::Fact | EntryKind::SharedFact => (40, "a fact"),
        EntryKind::Note => (20, "a note"),
        EntryKind::Summary => (15, "a summary"),
    };
    let mut reasons = vec![(points, what.to_owned())];
    if let Some(counter) = entry.counter.filter(|_| entry.kind == EntryKind::Lesson) {
        let points = counter.count.saturating_mul(5).min(25);
        reasons.push((points, format!("happened {} times", counter.count)));
    }
    if let (Some(last), Some(session)) = (entry.frequency().1, session) {
        let tier = Tier::of(last, session);
        let points = match tier {
            Tier::Hot => 15,
            Tier::Warm => 8,
            Tier::Cold => 0,
        };
        let ago = session.saturating_sub(last);
        reasons.push((points, format!("{}, {ago} sessions ago", tier.as_str())));
    }
    reasons
}
