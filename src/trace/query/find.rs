//! Finding a trace by a part of its name, or by a name that is almost right.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::git::Repo;
use crate::trace::model::name::TRACES;
use crate::trace::store::resolve::closest;
use crate::trace::store::session::SESSIONS;
use crate::trace::{Tip, TraceError, TraceName};

/// All traces with their tips, newest first, and those of sub-agents last. A damaged tip is `None`.
pub(crate) fn newest_first(repo: &Repo) -> Result<Vec<(Option<Tip>, TraceName)>, TraceError> {
    let refs = repo.list_refs(TRACES)?.into_iter();
    let named = refs.filter_map(|(refname, oid)| Some((Tip::read(repo, oid).ok(), TraceName::of_ref(&refname)?)));
    let mut traces: Vec<_> = named.collect();
    traces.sort_by_key(|(tip, name)| (name.is_of_sub_agent(), Reverse(tip.as_ref().map(Tip::time))));
    Ok(traces)
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
pub(crate) fn unknown(repo: &Repo, name: &TraceName) -> Result<TraceError, TraceError> {
    let part = by_part(repo, name.as_str()).ok().flatten();
    Ok(match part.map_or_else(|| closest(repo, name.as_str()), |part| Ok(Some(part)))? {
        Some(meant) => TraceError::Misspelled { name: name.clone(), meant },
        None => TraceError::NoSuchTrace { name: name.clone() },
    })
}
