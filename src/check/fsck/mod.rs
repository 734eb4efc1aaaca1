//! Checks everything that is stored in a repository: traces, priorities, forward crumbs, archives, refs.
//!
//! - The trees of tips are read completely, older commits by what each changed, and each object once. Memory holds a few
//!   words per blob and commit.
//! - Traces of plain git (shared positions, trailers that are missing or belong to another tree) are not problems.
//! - Errors in history that a later commit fixed are not problems either: history is not rewritten.
//! - Only [`repair`] makes changes.

mod archive;
mod blobs;
mod line;
mod problem;
mod purged;
mod record;
mod refs;
mod repair;
mod tags;
mod tip;
mod total;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

pub(crate) use problem::Problem;
use problem::Repair;
use purged::Purged;
pub(crate) use refs::lost_refs;
pub(crate) use repair::{Repaired, is_complete, newest_complete, repair};

use crate::base::finding::Weight;
use crate::git::{BACKUP_REFS, Oid, RefListing, Repo};
use crate::memory::crumb::archive::ARCHIVES;
use crate::memory::forward;
use crate::tokens::Counter;
use crate::trace::model::name::{FORWARD_CRUMBS, RECORDS, REMOTE_RECORDS, REMOTES, TRACES};
use crate::trace::model::types::Types;
use crate::trace::store::priority::{Level, RECORD, tags as priority_tags};
use crate::trace::store::settings::counter;
use crate::trace::store::tombstone::{HISTORY as TOMBSTONES, Tombstones};
use crate::trace::{AgentName, ItemId, Time, TraceError, TraceName};
use blobs::{Blobs, Trees};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<Problem>,
    /// Number of traces; the forward crumbs of an agent count as one.
    pub(crate) traces: usize,
    pub(crate) commits: usize,
    /// Number of live items; an item in several traces counts once.
    pub(crate) items: usize,
    /// In a partial clone, the number of objects that were not checked because only the promisor remote has them.
    pub(crate) promised: usize,
}

impl Report {
    pub(crate) fn count(&self, weight: Weight) -> usize {
        self.problems.iter().filter(|problem| problem.weight == weight).count()
    }
}

/// Checks the named traces, or everything if none is named. `watch` is called with the number of commits read so far. Fetches
/// nothing.
pub(crate) fn check(
    repo: &Repo,
    names: &[TraceName],
    clock: Time,
    watch: &dyn Fn(usize),
) -> Result<Report, TraceError> {
    let inspection = Inspection { clock, ..Inspection::new(repo, watch)? };
    repo.without_fetching(|| inspect(repo, names, inspection))
}

fn inspect(repo: &Repo, names: &[TraceName], mut inspection: Inspection<'_>) -> Result<Report, TraceError> {
    inspection.prefix = priority_tags::prefix(repo)?;
    let listing = repo.list_every_ref(&inspection.prefixes())?;
    let lines = inspection.lines(&listing, names)?;
    if names.is_empty() {
        inspection.refs(&listing)?;
    }
    // Not earlier: opening a repository, as for the heads of worktrees, turns verification off again.
    repo.verify_names_of_objects();
    if names.is_empty() {
        inspection.record(&listing)?;
    }
    // Tips first: the token counts of their items are then known when history is read.
    let mut opened = Vec::new();
    for (line, tip) in lines {
        opened.extend(inspection.tip(&line, tip)?.map(|tip| (line, tip)));
    }
    for (line, tip) in &opened {
        inspection.future(line);
        inspection.history(line, tip.commit.oid)?;
    }
    for (line, tip) in &opened {
        inspection.totals(line, tip);
    }
    if names.is_empty() {
        inspection.purged_in_tags(&listing)?;
        inspection.kept(&listing)?;
        inspection.tags(&listing);
        inspection.archives(&listing)?;
        inspection.tombstones(&listing)?;
    }
    inspection.purged();
    let promised = inspection.take_back_promised(&listing)?;
    let Inspection { mut problems, commits, live, traces, .. } = inspection;
    for (oid, path) in repo.damaged_copies() {
        let message = format!("this file of object {oid} is damaged; the object was read from another copy");
        let problem = Problem::warning("object-copy", path.display(), message);
        problems.push(problem.repair(Repair::Copy(oid)));
    }
    Ok(Report { problems, traces, commits: commits.len(), items: live.len(), promised })
}

struct Line {
    label: String,
    refname: String,
    /// The trace, if it is one that git-trace writes.
    name: Option<TraceName>,
    holds_crumbs: bool,
}

impl Line {
    fn of_ref(refname: &str) -> Self {
        Self { label: refname.to_owned(), refname: refname.to_owned(), name: None, holds_crumbs: false }
    }
}

struct Inspection<'r> {
    repo: &'r Repo,
    watch: &'r dyn Fn(usize),
    clock: Time,
    counter: Counter,
    types: Rc<Types>,
    is_partial: bool,
    prefix: String,
    trees: Trees<'r>,
    blobs: Blobs,
    commits: HashSet<Oid>,
    shallow: HashSet<Oid>,
    reported: HashSet<Oid>,
    live: HashSet<ItemId>,
    traces: usize,
    /// The level of each item that has one in the record.
    levels: HashMap<ItemId, Level>,
    /// Whether part of the record could not be read, so that it may hold levels that are unknown here.
    is_record_partial: bool,
    introductions: HashMap<ItemId, Vec<Oid>>,
    purged: BTreeMap<String, Purged>,
    problems: Vec<Problem>,
}

impl<'r> Inspection<'r> {
    fn new(repo: &'r Repo, watch: &'r dyn Fn(usize)) -> Result<Self, TraceError> {
        Ok(Self {
            repo,
            watch,
            clock: Time::from_second(0),
            counter: counter(repo, None)?,
            types: Rc::new(Types::read(repo)?),
            is_partial: repo.is_partial()?,
            prefix: String::new(),
            trees: Trees::new(repo),
            blobs: Blobs::new(Tombstones::find(repo).unwrap_or_default()),
            commits: HashSet::new(),
            shallow: repo.shallow_commits()?.clone(),
            reported: HashSet::new(),
            live: HashSet::new(),
            traces: 0,
            levels: HashMap::new(),
            is_record_partial: false,
            introductions: HashMap::new(),
            purged: BTreeMap::new(),
            problems: Vec::new(),
        })
    }

    fn prefixes(&self) -> Vec<&str> {
        let mut prefixes =
            vec![TRACES, FORWARD_CRUMBS, BACKUP_REFS, RECORD, ARCHIVES, TOMBSTONES.refname, &self.prefix];
        prefixes.extend([REMOTES, RECORDS, REMOTE_RECORDS]);
        prefixes.sort_unstable();
        prefixes.dedup();
        prefixes
    }

    fn lines(&mut self, listing: &RefListing, names: &[TraceName]) -> Result<Vec<(Line, Oid)>, TraceError> {
        let mut lines = Vec::new();
        let wanted: HashSet<String> = names.iter().map(TraceName::refname).collect();
        for (refname, tip) in &listing.refs {
            let name = if refname.starts_with(TRACES) {
                TraceName::of_ref(refname)
            } else if refname.starts_with(FORWARD_CRUMBS) {
                AgentName::of_ref(refname).map(|agent| TraceName::of_agent(&agent))
            } else {
                continue;
            };
            if !wanted.is_empty() && !wanted.contains(refname) {
                continue;
            }
            let Some(name) = name else {
                let message = "this is not a valid name of a trace or an agent, so no command reads it";
                let problem = Problem::warning("ref-name", refname, message).commit(*tip);
                self.problems.push(problem.remedy("rename it with `git update-ref`"));
                continue;
            };
            let holds_crumbs = refname.starts_with(FORWARD_CRUMBS);
            let line = Line { label: name.to_string(), refname: refname.clone(), name: Some(name), holds_crumbs };
            lines.push((line, *tip));
        }
        for name in names {
            let refname = name.refname();
            if !lines.iter().any(|(line, _)| line.refname == refname) {
                if !listing.broken.contains(&refname) {
                    return Err(TraceError::NoSuchTrace { name: name.clone() });
                }
                self.broken_ref(&refname)?;
            }
        }
        self.traces = lines.len();
        Ok(lines)
    }

    /// Warns of forward crumbs that are dated in the future. Unreadable ones were reported before.
    fn future(&mut self, line: &Line) {
        let Some(agent) = AgentName::of_ref(&line.refname) else { return };
        let Ok(found) = forward::search(self.repo, &agent, &forward::Query::all(), self.clock) else { return };
        for (id, message) in forward::future(&found.crumbs, self.clock) {
            let problem = Problem::warning("forward-date", &line.label, message).item(Some(id));
            self.problems.push(problem.remedy(forward::FUTURE_REMEDY));
        }
    }

    /// Removes the problems about promised objects, and returns the number of these objects. In a partial clone, objects that
    /// a promisor remote has may be missing and are not fetched, as in `git fsck`.
    fn take_back_promised(&mut self, listing: &RefListing) -> Result<usize, TraceError> {
        let missing: HashSet<Oid> = self.problems.iter().filter_map(|problem| problem.missing).collect();
        if missing.is_empty() || !self.is_partial {
            return Ok(0);
        }
        // Refs that do not point to commits lead to none of these objects.
        let tips = listing.refs.iter().map(|(_, tip)| *tip).filter(|tip| self.repo.read_commit(*tip).is_ok());
        let lost = self.repo.lost(&missing, tips)?;
        self.problems.retain(|problem| problem.missing.is_none_or(|oid| lost.contains(&oid)));
        Ok(missing.len() - lost.len())
    }
}
