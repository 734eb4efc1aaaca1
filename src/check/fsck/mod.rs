//! Checking everything that is kept in a repository: traces, priorities, forward crumbs, archives, refs.
//!
//! - Tips' trees are read whole, history by what each commit changed, and each object once. Memory holds a few words for
//!   each blob and commit.
//! - What plain git leaves behind (shared positions, trailers that are missing or of another tree) is no fault.
//! - What was wrong in history and was put right since is no fault either: history is not rewritten.
//! - Nothing is changed here but by [`repair`].

mod archive;
mod blobs;
mod fault;
mod head;
mod line;
mod place;
mod promised;
mod record;
mod repair;
mod tags;
mod tip;
mod total;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

pub(crate) use fault::Fault;
pub(crate) use repair::{Repaired, repair};

use crate::base::finding::Weight;
use crate::git::{Oid, RefListing, Repo};
use crate::tokens::Encoding;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::model::types::Types;
use crate::trace::store::backup::BACKUP_REFS;
use crate::trace::store::priority::{Level, RECORD, tags as priority_tags};
use crate::trace::store::settings::encoding;
use crate::trace::{AgentName, ItemId, TraceError, TraceName};
use blobs::{Blobs, Trees};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Report {
    /// What is not as it should be, in the order in which it was met.
    pub(crate) faults: Vec<Fault>,
    /// How many traces were checked, forward crumbs of an agent counted as one.
    pub(crate) traces: usize,
    /// How many commits.
    pub(crate) commits: usize,
    /// How many live items, those of several traces once.
    pub(crate) items: usize,
    /// In a partial clone, how many objects were not looked at because they are not here and a remote promised them.
    pub(crate) promised: usize,
}

impl Report {
    /// How many faults have this weight.
    pub(crate) fn count(&self, weight: Weight) -> usize {
        self.faults.iter().filter(|fault| fault.weight == weight).count()
    }
}

/// Checks traces, or, where none is named, everything. `watch` is told how many commits were read so far. Fetches nothing.
pub(crate) fn check(repo: &Repo, names: &[TraceName], watch: &dyn Fn(usize)) -> Result<Report, TraceError> {
    let inspection = Inspection::new(repo, watch)?;
    repo.without_fetching(|| inspect(repo, names, inspection))
}

fn inspect(repo: &Repo, names: &[TraceName], mut inspection: Inspection<'_>) -> Result<Report, TraceError> {
    inspection.prefix = priority_tags::prefix(repo)?;
    let listing = repo.list_every_ref(&inspection.prefixes())?;
    let lines = inspection.lines(&listing, names)?;
    if names.is_empty() {
        inspection.places(&listing)?;
    }
    // Not before: whoever opens a repository, as for the heads of worktrees, turns it off again.
    repo.verify_names_of_objects();
    if names.is_empty() {
        inspection.record(&listing)?;
    }
    // Tips first: what their items count for is then known when history comes by.
    let mut opened = Vec::new();
    for (line, tip) in lines {
        opened.extend(inspection.tip(&line, tip)?.map(|tip| (line, tip)));
    }
    for (line, tip) in &opened {
        inspection.history(line, tip.commit.oid)?;
    }
    for (line, tip) in &opened {
        inspection.totals(line, tip)?;
    }
    if names.is_empty() {
        inspection.kept(&listing)?;
        inspection.tags(&listing);
        inspection.archives(&listing)?;
    }
    let promised = inspection.take_back_promised(&listing)?;
    let Inspection { mut faults, commits, live, traces, .. } = inspection;
    for (oid, path) in repo.damaged_copies() {
        let message = format!("this file of object {oid} is damaged; the object was read from another copy");
        let remedy = "remove the file, or keep it elsewhere";
        faults.push(Fault::warning("object-copy", path.display(), message).remedy(remedy));
    }
    Ok(Report { faults, traces, commits: commits.len(), items: live.len(), promised })
}

/// A line of commits that is checked.
struct Line {
    /// How it is called in faults.
    label: String,
    /// Its ref.
    refname: String,
    /// The trace, where it is one that we write.
    name: Option<TraceName>,
    /// Whether its items are forward crumbs.
    holds_crumbs: bool,
}

impl Line {
    /// What stands at a ref that is no trace's.
    fn of_ref(refname: &str) -> Self {
        Self { label: refname.to_owned(), refname: refname.to_owned(), name: None, holds_crumbs: false }
    }
}

/// A check under way.
struct Inspection<'r> {
    repo: &'r Repo,
    watch: &'r dyn Fn(usize),
    encoding: Encoding,
    types: Rc<Types>,
    is_partial: bool,
    prefix: String,
    trees: Trees<'r>,
    blobs: Blobs,
    /// The commits that were read.
    commits: HashSet<Oid>,
    /// Where a shallow clone ends.
    shallow: HashSet<Oid>,
    /// Objects that were told of.
    told: HashSet<Oid>,
    live: HashSet<ItemId>,
    traces: usize,
    /// The level of each item that has one in the record.
    levels: HashMap<ItemId, Level>,
    /// Whether something of the record could not be read, so that it may have levels that are not known here.
    record_in_part: bool,
    /// The commits that brought those items in, the earliest last.
    introductions: HashMap<ItemId, Vec<Oid>>,
    faults: Vec<Fault>,
}

impl<'r> Inspection<'r> {
    fn new(repo: &'r Repo, watch: &'r dyn Fn(usize)) -> Result<Self, TraceError> {
        Ok(Self {
            repo,
            watch,
            encoding: encoding(repo)?,
            types: Rc::new(Types::read(repo)?),
            is_partial: repo.is_partial()?,
            prefix: String::new(),
            trees: Trees::new(repo),
            blobs: Blobs::default(),
            commits: HashSet::new(),
            shallow: repo.shallow_commits()?.clone(),
            told: HashSet::new(),
            live: HashSet::new(),
            traces: 0,
            levels: HashMap::new(),
            record_in_part: false,
            introductions: HashMap::new(),
            faults: Vec::new(),
        })
    }

    /// Where refs of ours are.
    fn prefixes(&self) -> Vec<&str> {
        let ours =
            [TRACES, FORWARD_CRUMBS, BACKUP_REFS, RECORD, place::REMOTES, crate::memory::crumb::archive::ARCHIVES];
        let shared = [place::RECORDS, place::REMOTE_RECORDS];
        let all: BTreeSet<&str> = ours.into_iter().chain(shared).chain([self.prefix.as_str()]).collect();
        all.into_iter().collect()
    }

    /// The lines to be checked, with their tips.
    fn lines(&mut self, listing: &RefListing, names: &[TraceName]) -> Result<Vec<(Line, Oid)>, TraceError> {
        let mut lines = Vec::new();
        let wanted: HashSet<String> = names.iter().map(TraceName::refname).collect();
        for (refname, tip) in &listing.refs {
            let name = match (refname.strip_prefix(TRACES), refname.strip_prefix(FORWARD_CRUMBS)) {
                (Some(_), _) => TraceName::of_ref(refname),
                (_, Some(agent)) => agent.parse::<AgentName>().ok().map(|agent| TraceName::of_agent(&agent)),
                _ => continue,
            };
            if !wanted.is_empty() && !wanted.contains(refname) {
                continue;
            }
            let Some(name) = name else {
                let message = "this cannot be the name of a trace or of an agent, so no command reads it";
                let remedy = "give it another name with `git update-ref`";
                self.faults.push(Fault::warning("ref-name", refname, message).commit(*tip).remedy(remedy));
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
}
