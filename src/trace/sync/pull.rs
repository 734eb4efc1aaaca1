//! Fetching traces, and bringing them into the local ones.

use super::{is_private, matches, record_ref, record_refspec, tracking_ref};
use crate::base::merge::Side;
use crate::git::{Oid, Repo};
use crate::trace::change::merge::{FastForward, Options, Outcome, Settlement};
use crate::trace::error::TraceError;
use crate::trace::model::name::{TRACES, TraceName};
use crate::trace::store::priority::union::absorb;
use crate::trace::store::signature::Signature;
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;

/// A trace as a remote has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    /// Its name.
    pub name: TraceName,
    /// Its tip there, as it was last seen.
    pub tip: Oid,
}

/// A trace that was pulled.
#[derive(Debug)]
pub(crate) struct Pulled {
    /// Its name.
    pub name: TraceName,
    /// Whether it was not here before.
    pub is_new: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// Fetches the traces that names or globs mean (none: all) and the record of priorities, whose lines are taken in; returns of
/// how many items there were new ones. Local traces stay as they are.
///
/// # Errors
///
/// [`crate::git::GitError::Command`] if git cannot, for instance where the remote has no trace of a name.
pub(crate) fn fetch(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    patterns: &[String],
    options: &[&str],
) -> Result<usize, TraceError> {
    let mut refspecs = vec![record_refspec(remote)];
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
    let Some(record) = repo.find_ref(&record_ref(remote))? else { return Ok(0) };
    let mut tips: Vec<Oid> = arrivals(repo, remote, patterns)?.into_iter().map(|arrival| arrival.tip).collect();
    tips.extend(repo.list_refs(TRACES)?.into_iter().map(|(_, oid)| oid));
    absorb(repo, signature, record, &tips)
}

/// The traces that the last fetch saw of a remote, as far as names or globs mean them (none: all), by name.
///
/// # Errors
///
/// Those of listing refs.
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

/// Brings a trace that was fetched into the local one of its name, which it becomes where there is none. Where both went on,
/// the published items come first.
///
/// # Errors
///
/// Those of [`merge`].
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
    Ok(Pulled { name, is_new, outcome })
}
