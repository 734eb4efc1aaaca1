//! From lines of the code to the sessions that wrote them.
//!
//! Git says which commit added a line. The sessions that were recorded since a while before that commit are searched for a call
//! whose new text has the line, in a file with its path. The call must not be later than the commit, and must not have failed. If
//! there are several, one between the commit and its parent is preferred, then the one with most neighboring lines, then the last.
//!
//! Traces that did not change since then are not read, and of the others only the commits since then.

mod edit;
mod session;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(crate) use self::session::Cited;
use self::session::Work;
use super::code::CodeRange;
use crate::base::string_enum::string_enum;
use crate::git::{CodeLine, Oid, Repo};
use crate::trace::store::trace_index::TraceIndex;
use crate::trace::{Tip, TraceError, TraceName};

/// How long before a commit its work is searched, in seconds: two weeks. A rebase makes a commit later than its work.
const LOOKBACK: i64 = 14 * 24 * 60 * 60;

/// A line that is nowhere else by chance has at least this number of letters and digits.
const DISTINCTIVE: usize = 4;

/// How far apart lines are that one call may have written, though there are other lines between.
const NEAR: usize = 5;

/// A line that a file has more often says nothing.
const MAX_EQUAL: usize = 100;

string_enum! {
    /// How sure it is that a session wrote a line.
    Certainty {
        /// A call between the commit and its parent wrote exactly this line into this file.
        Certain = "certain",
        /// A call wrote it with other white space, with a command, or earlier than the parent of the commit; or the line is as short
        /// as `}`, and a call wrote such a line near.
        Likely = "likely",
        /// The session worked between the commit and its parent, but no call of it has the line.
        Possible = "possible",
        /// No recorded session is known to have to do with it.
        Unknown = "unknown",
    }
}

/// Neighboring lines with the same origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub commit: Option<Oid>,
    /// The path in that commit.
    pub path: String,
    /// The first and the last line.
    pub lines: (usize, usize),
    pub certainty: Certainty,
    pub origin: Option<Origin>,
}

/// The part of a session that wrote lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub trace: TraceName,
    pub prompt: Option<Cited>,
    pub model: Option<String>,
    /// None if no call is known.
    pub calls: Vec<Cited>,
}

/// A call that has a line, the better the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    is_exact: bool,
    is_inside: bool,
    /// How many neighboring lines the call has too.
    run: usize,
    at: i128,
    work: usize,
    call: usize,
}

/// Explains lines, which are in the order of their files. Lines that are not `wanted` only help to explain their neighbors.
pub(crate) fn explain(
    repo: &Repo,
    lines: &[CodeLine],
    wanted: impl Fn(&CodeLine) -> bool,
) -> Result<Vec<Answer>, TraceError> {
    let mut ranges: HashMap<Option<Oid>, CodeRange> = HashMap::new();
    for line in lines {
        if let Entry::Vacant(vacant) = ranges.entry(line.commit) {
            let range =
                line.commit.map_or_else(|| CodeRange::since_head(repo), |commit| CodeRange::to(repo, commit))?;
            vacant.insert(range);
        }
    }
    let works = search(repo, &ranges)?;
    let found = matches(lines, &works, &ranges);
    let mut answers: Vec<Answer> = Vec::new();
    let mut last = None;
    for (index, line) in lines.iter().enumerate() {
        if !wanted(line) {
            continue;
        }
        let answer = answer(line, found[index], &works, &ranges[&line.commit]);
        match answers.last_mut().filter(|before| last == Some(index.wrapping_sub(1)) && before.continues_in(&answer)) {
            Some(before) => before.add(answer),
            None => answers.push(answer),
        }
        last = Some(index);
    }
    Ok(answers)
}

/// The sessions that may have written lines of commits, newest first.
fn search(repo: &Repo, ranges: &HashMap<Option<Oid>, CodeRange>) -> Result<Vec<Work>, TraceError> {
    let ends = || ranges.values().map(CodeRange::until);
    let (Some(first), Some(last)) = (ends().min(), ends().max()) else { return Ok(Vec::new()) };
    let since = first.saturating_sub(LOOKBACK);
    let mut works = Vec::new();
    let mut known = HashSet::new();
    for group in TraceIndex::open(repo)?.groups(repo) {
        for trace in group.traces.iter().filter(|trace| trace.time.is_none_or(|time| time.as_second() > since)) {
            let tip = Tip::read(repo, trace.tip)?;
            let work = Work::read(repo, &trace.name, tip, (since, last), &mut known)?;
            works.extend((!work.calls.is_empty() || !work.prompts.is_empty()).then_some(work));
        }
    }
    Ok(works)
}

/// The best match of each line.
fn matches(lines: &[CodeLine], works: &[Work], ranges: &HashMap<Option<Oid>, CodeRange>) -> Vec<Option<Match>> {
    let mut best: Vec<Option<Match>> = vec![None; lines.len()];
    // The distinctive lines of each file.
    let mut files: BTreeMap<&str, HashMap<&str, Vec<usize>>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_distinctive(&line.text)) {
        files.entry(&line.path).or_default().entry(line.text.trim()).or_default().push(index);
    }
    for (work_number, work) in works.iter().enumerate() {
        for (number, call) in work.calls.iter().enumerate() {
            for edit in &call.edits {
                for (_, file) in files.iter().filter(|(path, _)| edit_may_write(edit, path)) {
                    let mut seen = HashSet::new();
                    for (at, new) in edit.lines.iter().enumerate() {
                        let places = file.get(new.text.trim()).filter(|places| places.len() <= MAX_EQUAL);
                        for place in places.into_iter().flatten() {
                            if seen.contains(&(*place, at)) {
                                continue;
                            }
                            let run = run(lines, &edit.lines, (*place, at));
                            seen.extend(run.clone());
                            let count = run.len();
                            for (place, at) in run {
                                let (line, new) = (&lines[place], &edit.lines[at]);
                                let range = &ranges[&line.commit];
                                let time = call.cited.at.as_second();
                                if !new.is_added
                                    || time > range.until()
                                    || range.until().saturating_sub(LOOKBACK) >= time
                                {
                                    continue;
                                }
                                let found = Match {
                                    is_exact: edit.path.is_some() && new.text.trim_end() == line.text.trim_end(),
                                    is_inside: range.holds_work_at(call.code.as_deref(), time),
                                    run: count,
                                    at: call.cited.at.as_nanosecond(),
                                    work: work_number,
                                    call: number,
                                };
                                best[place] = best[place].max(Some(found));
                            }
                        }
                    }
                }
            }
        }
    }
    let neighbors = |place: usize| (place.saturating_sub(NEAR)..=place + NEAR).filter(|near| *near < lines.len());
    let of_neighbor = |place: usize| {
        let line = &lines[place];
        let near = neighbors(place).filter(|near| lines[*near].commit == line.commit && lines[*near].path == line.path);
        let has_line = |found: &Match| {
            let edits = &works[found.work].calls[found.call].edits;
            let mut news = edits.iter().filter(|edit| edit_may_write(edit, &line.path)).flat_map(|edit| &edit.lines);
            news.any(|new| new.is_added && new.text.trim() == line.text.trim())
        };
        let found = near.filter_map(|near| best[near]).find(has_line)?;
        Some(Match { is_exact: false, ..found })
    };
    let is_left = |place: &usize| best[*place].is_none() && !is_distinctive(&lines[*place].text);
    let others: Vec<_> = (0..lines.len()).filter(is_left).map(|place| (place, of_neighbor(place))).collect();
    for (place, found) in others {
        best[place] = found;
    }
    best
}

fn is_distinctive(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphanumeric()).nth(DISTINCTIVE - 1).is_some()
}

/// Whether an edit is of the file, or is a command that names it.
fn edit_may_write(edit: &edit::Edit, path: &str) -> bool {
    match &edit.path {
        Some(edited) => {
            let edited = edited.strip_prefix("./").unwrap_or(edited);
            edited == path || edited.strip_suffix(path).is_some_and(|folder| folder.ends_with(['/', '\\']))
        }
        None => {
            let name = path.rsplit('/').next().unwrap_or(path);
            edit.lines.iter().any(|line| line.text.contains(name))
        }
    }
}

/// The longest run of equal neighboring lines around a pair.
fn run(lines: &[CodeLine], new: &[edit::NewLine], (place, at): (usize, usize)) -> Vec<(usize, usize)> {
    let is_same = |place: usize, at: usize| lines[place].text.trim() == new[at].text.trim();
    let follows = |place: usize| {
        let (before, line) = (&lines[place - 1], &lines[place]);
        before.number + 1 == line.number
    };
    let mut first = 0;
    while place > first && at > first && follows(place - first) && is_same(place - first - 1, at - first - 1) {
        first += 1;
    }
    let (place, at) = (place - first, at - first);
    let mut length = 1;
    while place + length < lines.len()
        && at + length < new.len()
        && follows(place + length)
        && is_same(place + length, at + length)
    {
        length += 1;
    }
    (0..length).map(|step| (place + step, at + step)).collect()
}

fn answer(line: &CodeLine, found: Option<Match>, works: &[Work], range: &CodeRange) -> Answer {
    let (certainty, origin) = match found {
        Some(found) => {
            let work = &works[found.work];
            let call = &work.calls[found.call];
            let is_certain = found.is_exact && found.is_inside;
            let origin = Origin {
                trace: work.name.clone(),
                prompt: call.prompt.map(|number| work.prompts[number].0.clone()),
                model: call.model.clone(),
                calls: vec![call.cited.clone()],
            };
            (if is_certain { Certainty::Certain } else { Certainty::Likely }, Some(origin))
        }
        None => {
            let asked = works.iter().filter_map(|work| {
                let is_inside = |(prompt, code): &&(Cited, Option<String>)| {
                    range.holds_work_at(code.as_deref(), prompt.at.as_second())
                };
                work.prompts.iter().rfind(is_inside).map(|(prompt, _)| (work, prompt))
            });
            // The last prompt before the commit.
            let origin = asked.max_by_key(|(_, prompt)| prompt.at).map(|(work, prompt)| Origin {
                trace: work.name.clone(),
                prompt: Some(prompt.clone()),
                model: None,
                calls: Vec::new(),
            });
            (if origin.is_some() { Certainty::Possible } else { Certainty::Unknown }, origin)
        }
    };
    Answer { commit: line.commit, path: line.path.clone(), lines: (line.number, line.number), certainty, origin }
}

impl Answer {
    /// Whether the next line has the same origin.
    fn continues_in(&self, next: &Self) -> bool {
        let key = |answer: &Self| {
            let origin = answer.origin.as_ref();
            origin.map(|origin| (origin.trace.clone(), origin.prompt.as_ref().map(|prompt| prompt.id)))
        };
        self.commit == next.commit
            && self.path == next.path
            && self.certainty == next.certainty
            && self.lines.1 + 1 == next.lines.0
            && key(self) == key(next)
    }

    fn add(&mut self, next: Self) {
        self.lines.1 = next.lines.1;
        if let Some((origin, next)) = self.origin.as_mut().zip(next.origin) {
            origin.calls.extend(next.calls.into_iter().filter(|call| !origin.calls.contains(call)).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/trace/why.rs"]
mod tests;
