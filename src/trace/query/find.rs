//! Finding a trace by a part of its name, or by a name that is almost right.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use regex::Regex;

use crate::base::string_enum::string_enum;
use crate::git::Repo;
use crate::trace::model::name::TRACES;
use crate::trace::store::archived;
use crate::trace::store::resolve::{closest, fetched};
use crate::trace::store::session::SESSIONS;
use crate::trace::store::trace_index::{Group, ListedTrace, TraceIndex};
use crate::trace::{Time, TraceError, TraceName};

/// The traces whose names begin with `word`, newest first, and those of sub-agents last.
pub(crate) fn newest_named(repo: &Repo, word: &str) -> Result<Vec<ListedTrace>, TraceError> {
    let all = TraceIndex::open(repo)?.groups(repo).flat_map(|group| group.traces);
    let mut traces: Vec<ListedTrace> = all.filter(|trace| trace.name.as_str().starts_with(word)).collect();
    traces.sort_by(|one, other| {
        let key = |trace: &ListedTrace| (trace.name.is_of_sub_agent(), Reverse(trace.time));
        key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
    });
    Ok(traces)
}

string_enum! {
    /// The order of a list of traces.
    Order {
        Newest = "newest",
        Oldest = "oldest",
        Name = "name",
    }
}

/// Which traces are listed, and in which order. The default lists all, the newest first.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub most: usize,
    /// Only traces that were changed since.
    pub since: Option<Time>,
    /// Only sessions of this agent, and traces that share their history.
    pub agent: Option<String>,
    /// Only traces whose last author matches.
    pub author: Option<Regex>,
    /// Only traces whose title matches.
    pub title: Option<Regex>,
    pub order: Order,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { most: usize::MAX, since: None, agent: None, author: None, title: None, order: Order::Newest }
    }
}

impl Wanted {
    /// The groups that have a wanted trace, in their order. The first of the newest are found without the others.
    pub(crate) fn groups<'r>(&'r self, repo: &'r Repo) -> Result<Box<dyn Iterator<Item = Group> + 'r>, TraceError> {
        let all = TraceIndex::open(repo)?.groups(repo);
        let newest = |group: &Group| group.traces.first().and_then(|trace| trace.time);
        let recent = all.take_while(move |group| newest(group) >= self.since);
        let wanted = recent.filter(|group| group.traces.iter().any(|trace| self.accepts(trace)));
        Ok(match self.order {
            Order::Newest => Box::new(wanted),
            Order::Oldest => Box::new(reversed(wanted)),
            Order::Name => {
                let mut groups: Vec<Group> = wanted.collect();
                groups.sort_by(|one, other| one.name.cmp(&other.name));
                Box::new(groups.into_iter())
            }
        })
    }

    /// The wanted traces, in their order; those of sub-agents after all others unless they are sorted by name. The first of the newest
    /// are found without the others.
    pub(crate) fn traces<'r>(
        &'r self,
        repo: &'r Repo,
    ) -> Result<Box<dyn Iterator<Item = ListedTrace> + 'r>, TraceError> {
        let all = || Ok::<_, TraceError>(TraceIndex::open(repo)?.groups(repo).flat_map(|group| group.traces));
        if self.order == Order::Name {
            let mut traces: Vec<ListedTrace> = all()?.filter(|trace| self.accepts(trace)).collect();
            traces.sort_by(|one, other| one.name.cmp(&other.name));
            return Ok(Box::new(traces.into_iter()));
        }
        let recent = TraceIndex::open(repo)?.newest_first(repo).take_while(|trace| trace.time >= self.since);
        let of_sub_agents = std::iter::once_with(all).flatten().flatten().filter(|trace| trace.name.is_of_sub_agent());
        let wanted = recent.chain(of_sub_agents).filter(|trace| self.accepts(trace));
        Ok(if self.order == Order::Oldest { Box::new(reversed(wanted)) } else { Box::new(wanted) })
    }

    fn accepts(&self, trace: &ListedTrace) -> bool {
        let is_of_agent = |agent: &String| trace.group.split_once('/').is_some_and(|(first, _)| first == agent);
        trace.time >= self.since
            && self.agent.as_ref().is_none_or(is_of_agent)
            && self.author.as_ref().is_none_or(|author| author.is_match(&trace.author))
    }
}

fn reversed<T>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut items: Vec<T> = items.collect();
    items.reverse();
    items.into_iter()
}

/// The only trace with a part of this name, or that continues the only session with a part of this id. A name that another found one
/// continues after a `.` is meant only if the part says so: `6b2e` is `claude-code/6b2e…`, not its `.clean`.
pub(crate) fn by_part(repo: &Repo, part: &str) -> Result<Option<TraceName>, TraceError> {
    let refs: BTreeSet<String> = repo.list_refs(TRACES)?.into_iter().map(|(refname, _)| refname).collect();
    let mut sessions = repo.list_symbolic_refs(SESSIONS)?;
    sessions.retain(|(_, target)| refs.contains(target));
    let refs = refs.into_iter().map(|refname| (refname.clone(), refname));
    let mut found: Vec<(String, TraceName)> = Vec::new();
    for (known_as, target) in refs.chain(sessions) {
        let known_as = known_as.trim_start_matches(TRACES).trim_start_matches(SESSIONS);
        if known_as.contains(part)
            && let Some(name) = TraceName::of_ref(&target)
        {
            found.push((known_as.to_owned(), name));
        }
    }
    let extends = |longer: &str, shorter: &str| longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('.'));
    let is_meant = |(name, _): &&(String, TraceName)| !found.iter().any(|(other, _)| extends(name, other));
    let mut meant: Vec<TraceName> = found.iter().filter(is_meant).map(|(_, name)| name.clone()).collect();
    meant.sort();
    meant.dedup();
    match meant.as_slice() {
        [name] => Ok(Some(name.clone())),
        [] => Ok(None),
        _ => Err(TraceError::AmbiguousTrace { part: part.to_owned(), candidates: meant }),
    }
}

/// The error for a name that no trace has, with the trace that may be meant.
pub(crate) fn unknown(repo: &Repo, typed: &TraceName) -> Result<TraceError, TraceError> {
    if let Some(archived) = archived::find(repo, typed)? {
        return Ok(archived.into());
    }
    if let Some((fetched, name)) = fetched(repo, typed)? {
        return Ok(match repo.find_ref(&name.refname())? {
            Some(_) => TraceError::Misspelled { name: typed.clone(), meant: name },
            None => TraceError::OnlyFetched { name, fetched },
        });
    }
    let part = by_part(repo, typed.as_str()).ok().flatten();
    let name = typed.clone();
    Ok(match part.map_or_else(|| closest(repo, typed.as_str()), |part| Ok(Some(part)))? {
        Some(meant) => TraceError::Misspelled { name, meant },
        None => TraceError::NoSuchTrace { name },
    })
}
