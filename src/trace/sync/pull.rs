//! Fetching traces and merging them into local ones.

use super::lines::{self, fetched_lines};
use super::{is_private, matches, tracking_ref};
use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::trace::change::merge::{FastForward, Options, Outcome, Settlement};
use crate::trace::model::name::TRACES;
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::{Tip, Trace, TraceError, TraceName};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub name: TraceName,
    pub tip: Oid,
}

#[derive(Debug)]
pub(crate) struct Pulled {
    /// Whether it was not here before.
    pub is_new: bool,
    pub outcome: Outcome,
}

/// Fetches the traces that match names or globs (none: all), and merges the lines of the priority record. Returns the number of
/// items with new lines. Local traces do not change.
pub(crate) fn fetch(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    patterns: &[String],
    options: &[&str],
) -> Result<usize, TraceError> {
    let mut refspecs = vec![lines::refspec(remote)];
    let all = ["*".to_owned()];
    for pattern in if patterns.is_empty() { &all[..] } else { patterns } {
        if is_private(pattern) {
            refspecs.push(format!("{pattern}:{pattern}"));
        } else {
            let name = pattern.strip_prefix(TRACES).unwrap_or(pattern);
            refspecs.push(format!("+{TRACES}{name}:{}", tracking_ref(remote, name)));
        }
    }
    repo.fetch(remote, &refspecs, options)?;
    let Some(record) = fetched_lines(repo, remote, &priority::HISTORY)? else { return Ok(0) };
    let mut tips: Vec<Oid> = arrivals(repo, remote, patterns)?.into_iter().map(|arrival| arrival.tip).collect();
    tips.extend(repo.list_refs(TRACES)?.into_iter().map(|(_, oid)| oid));
    priority::absorb(repo, signature, record, &tips)
}

/// The traces of a remote as last fetched that match names or globs (none: all), by name.
pub(crate) fn arrivals(repo: &Repo, remote: &str, patterns: &[String]) -> Result<Vec<Arrival>, TraceError> {
    let prefix = tracking_ref(remote, "");
    let wanted = |name: &str| {
        let fits = |pattern: &String| matches(pattern.strip_prefix(TRACES).unwrap_or(pattern), name);
        patterns.is_empty() || patterns.iter().any(fits)
    };
    let seen = repo.list_refs(&prefix)?;
    let arrival = |(refname, tip): &(String, Oid)| {
        let name = refname.strip_prefix(&prefix)?;
        Some(Arrival { name: name.parse().ok().filter(|_| wanted(name))?, tip: *tip })
    };
    Ok(seen.iter().filter_map(arrival).collect())
}

/// Merges a fetched trace into the local trace of the same name, or creates it. If both have new items, the published ones come
/// first.
pub(crate) fn pull(
    trace: &Trace<'_>,
    remote: &str,
    arrival: &Arrival,
    settlement: &Settlement,
    fast_forward: FastForward,
) -> Result<Pulled, TraceError> {
    let (repo, name) = (trace.repo(), arrival.name.clone());
    let is_new = repo.find_ref(&name.refname())?.is_none();
    let subject = format!("merge {name} of {remote}");
    let options = Options { settlement: settlement.clone(), fast_forward, first: Side::Theirs, subject: &subject };
    let outcome = trace.merge(&Tip::read(repo, arrival.tip)?, &options)?;
    Ok(Pulled { is_new, outcome })
}
