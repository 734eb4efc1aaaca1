//! Fetching traces and merging them into local ones.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::address::forget_other_address;
use super::lines::{self, fetched_lines, fetched_ref, find_fetched};
use super::purged::{
    Fetched, complete_removal, fetched_tombstones, list_fetched, list_prefetched, note_purged, refuse_purged,
};
use super::unnamed::{Skipped, drop_skipped, forget_other_records, skip_unnamable};
use super::work_tree::unshared;
use super::{is_private, items_of, matches, tracking_ref};
use crate::base::merge::Side;
use crate::git::{Destination, GitError, Oid, Repo};
use crate::trace::change::merge::{Arrange, FastForward, Options, Outcome, Settlement};
use crate::trace::model::name::{AgentName, FORWARD_CRUMBS, RECORDS, TRACES};
use crate::trace::model::tree;
use crate::trace::store::archived;
use crate::trace::store::commit::{require_signed_trace, requires_signatures};
use crate::trace::store::foreign::require_files;
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Tombstones};
use crate::trace::{ItemId, Tip, Trace, TraceError, TraceName};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub name: TraceName,
    pub tip: Oid,
}

#[derive(Debug)]
pub(crate) struct Pulled {
    /// The local tip before; `None` if the trace is new.
    pub before: Option<Oid>,
    pub outcome: Outcome,
}

impl Pulled {
    /// Whether the local trace contains the remote's now.
    pub(crate) fn is_complete(&self) -> bool {
        !matches!(self.outcome, Outcome::Conflicts(_) | Outcome::Diverged)
    }
}

/// Fetches the traces that match names or globs (none: all), and all histories of lines. Changes nothing else. The caller refuses what
/// must not be accepted: [`refuse_fetched`]. Returns the names of traces that cannot be fetched, and the reasons.
pub(crate) fn fetch<'a>(
    repo: &Repo,
    from: impl Into<Destination<'a>>,
    patterns: &[String],
    options: &[&str],
) -> Result<Vec<(String, String)>, TraceError> {
    let from = from.into();
    let remote = from.remote;
    let mut before = list_fetched(repo, remote)?;
    forget_other_address(repo, from)?;
    let mut skipped = Vec::new();
    let fetched = fetch_all(repo, from, (patterns, options), &before, &mut skipped);
    if fetched.is_ok() {
        let prefetched = list_prefetched(repo, remote)?;
        if !prefetched.is_empty() {
            repo.delete_refs(prefetched.iter().map(|one| &*one.refname))?;
            before.extend(prefetched);
        }
    }
    let checked = note_purged(repo, remote, before).and_then(|()| forget_other_records(repo, remote));
    if fetched.is_err() {
        // Some refs may have been fetched, and the caller ends with this error.
        let _ = refuse_purged(repo, remote).and_then(|_| complete_removal(repo));
    }
    let dropped = drop_skipped(repo, remote, skipped);
    fetched?;
    checked?;
    let mut dropped = dropped?;
    dropped.extend(unshared(repo, from, patterns)?);
    Ok(dropped)
}

fn fetch_all(
    repo: &Repo,
    from: Destination<'_>,
    (patterns, options): (&[String], &[&str]),
    before: &[Fetched],
    skipped: &mut Vec<Skipped>,
) -> Result<(), TraceError> {
    let remote = from.remote;
    let mut refspecs = vec![lines::refspec(remote)];
    let all = ["*".to_owned()];
    for pattern in if patterns.is_empty() { &all[..] } else { patterns } {
        if is_private(pattern) {
            refspecs.push(format!("+{pattern}:{}", fetched_ref(remote, pattern)));
        } else {
            let name = pattern.strip_prefix(TRACES).unwrap_or(pattern);
            refspecs.push(format!("+{TRACES}{name}:{}", tracking_ref(remote, name)));
        }
    }
    let archived = archived_elsewhere(repo, remote, patterns)?;
    refspecs.extend(archived.iter().map(|name| format!("^{}", name.refname())));
    match repo.fetch(from, &refspecs, options) {
        Err(GitError::NotStored) => {
            let there = repo.list_remote(from, &[])?;
            skipped.extend(nested(&there));
            refspecs.extend(skipped.iter().map(|one| format!("^{TRACES}{}", one.name)));
            match repo.fetch(from, &refspecs, options) {
                Err(GitError::NotStored) => {
                    skipped.extend(skip_unnamable(repo, remote)?);
                    let archived: HashSet<_> = archived.iter().map(TraceName::refname).collect();
                    let is_wanted =
                        |refname: &str| !archived.contains(refname) && is_wanted(patterns, &refname[TRACES.len()..]);
                    let missing = not_stored(repo, (remote, &there), before, is_wanted, skipped)?;
                    skipped.extend(missing);
                    if skipped.is_empty() {
                        return Err(GitError::NotStored.into());
                    }
                }
                fetched => fetched?,
            }
        }
        fetched => fetched?,
    }
    skipped.extend(skip_unnamable(repo, remote)?);
    // Git refuses a name that the remote does not have, but no glob.
    let prefix = tracking_ref(remote, "");
    let there =
        if patterns.iter().any(|pattern| pattern.contains('*')) { repo.list_refs(&prefix)? } else { Vec::new() };
    for pattern in patterns.iter().filter(|pattern| pattern.contains('*')) {
        let wanted = pattern.strip_prefix(TRACES).unwrap_or(pattern);
        let fetched = there.iter().filter_map(|(refname, _)| refname.strip_prefix(&prefix));
        if !fetched.chain(archived.iter().map(TraceName::as_str)).any(|name| matches(wanted, name)) {
            return Err(TraceError::NoRemoteMatch { remote: remote.to_owned(), pattern: pattern.clone() });
        }
    }
    Ok(())
}

/// Whether patterns (none: all) match the name of a trace.
fn is_wanted(patterns: &[String], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|glob| matches(glob.strip_prefix(TRACES).unwrap_or(glob), name))
}

/// The traces of a remote whose names are below those of others.
fn nested(there: &[(String, Oid)]) -> Vec<Skipped> {
    let traces = there.iter().filter_map(|(refname, tip)| Some((refname.strip_prefix(TRACES)?, *tip)));
    let traces: BTreeMap<&str, Oid> = traces.collect();
    let above = |name: &str| {
        let mut ends = name.match_indices('/').map(|(end, _)| &name[..end]);
        ends.find(|above| traces.contains_key(above)).map(str::to_owned)
    };
    let reason = |above: String| format!("the remote also has `{above}`, and a name cannot also be a folder");
    let skipped = traces
        .iter()
        .filter_map(|(name, tip)| Some(Skipped { name: (*name).to_owned(), reason: reason(above(name)?), tip: *tip }));
    skipped.collect()
}

/// The refs of a remote that git did not store because of their names, without those that are `skipped` already. Fails if git did not store
/// a new state of another one, which is still as `before`.
fn not_stored(
    repo: &Repo,
    (remote, there): (&str, &[(String, Oid)]),
    before: &[Fetched],
    is_wanted: impl Fn(&str) -> bool,
    skipped: &[Skipped],
) -> Result<Vec<Skipped>, TraceError> {
    let mut missing = Vec::new();
    for (refname, tip) in there {
        let (name, fetched) = match (refname.strip_prefix(TRACES), refname.strip_prefix(RECORDS)) {
            (Some(name), _) if is_wanted(refname) => (name, tracking_ref(remote, name)),
            (_, Some(shared)) if shared.starts_with('p') => (&**refname, fetched_ref(remote, shared)),
            _ => continue,
        };
        // No file can have a very long name.
        match repo.find_ref(&fetched).unwrap_or_default() {
            Some(found) if found != *tip && before.iter().any(|one| one.is(&fetched, found)) => {
                return Err(GitError::NotStored.into());
            }
            None if !Skipped::is_in(skipped, name) => missing.push(Skipped::not_stored(name, *tip)),
            _ => {}
        }
    }
    Ok(missing)
}

/// The pattern that names all traces, also archived ones.
pub(crate) const EVERYTHING: &str = "refs/traces/*";

/// The archived traces of a remote that no pattern names in full: these stay there.
fn archived_elsewhere(repo: &Repo, remote: &str, patterns: &[String]) -> Result<Vec<TraceName>, TraceError> {
    let names = |name: &TraceName| patterns.iter().any(|one| one.strip_prefix(TRACES).unwrap_or(one) == name.as_str());
    // Git accepts no exception from refspecs without a glob.
    let has_glob = patterns.is_empty() || patterns.iter().any(|pattern| pattern.contains('*'));
    if !has_glob || patterns.iter().any(|pattern| pattern == EVERYTHING) {
        return Ok(Vec::new());
    }
    let archived = archived::all(repo)?.into_iter().filter(|one| one.remote == remote).map(|one| one.name);
    Ok(archived.filter(|name| !names(name)).collect())
}

/// Removes fetched refs that contain something purged. Returns their names and those of refs that are no commits, with the reasons.
pub(crate) fn refuse_fetched(repo: &Repo, remote: &str) -> Result<Vec<(String, String)>, TraceError> {
    let mut skipped = refuse_purged(repo, remote)?;
    skipped.extend(lines::unreadable(repo, remote)?);
    Ok(skipped)
}

/// The refs of a remote as last fetched.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// By name.
    pub traces: Vec<Arrival>,
    /// Names of refs that are not traces, and the reasons.
    pub bad: Vec<(String, String)>,
}

/// The traces of a remote as last fetched that match names or globs (none: all).
pub(crate) fn arrivals(repo: &Repo, remote: &str, patterns: &[String]) -> Result<Arrivals, TraceError> {
    let prefix = tracking_ref(remote, "");
    let wanted: Vec<&str> = patterns.iter().map(|pattern| pattern.strip_prefix(TRACES).unwrap_or(pattern)).collect();
    let listed = if wanted.is_empty() || wanted.iter().any(|name| name.contains('*')) {
        repo.list_refs(&prefix)?
    } else {
        let refnames: BTreeSet<String> = wanted.iter().map(|name| tracking_ref(remote, name)).collect();
        let find = |refname: String| Ok(repo.find_ref(&refname)?.map(|tip| (refname, tip)));
        refnames.into_iter().filter_map(|refname| find(refname).transpose()).collect::<Result<_, TraceError>>()?
    };
    let archived = archived_elsewhere(repo, remote, patterns)?;
    let is_there = |name: &str| archived.iter().any(|archived| archived.as_str() == name);
    let is_wanted =
        |name: &str| (wanted.is_empty() || wanted.iter().any(|glob| matches(glob, name))) && !is_there(name);
    let mut arrivals = Arrivals::default();
    // With tombstones, each file of a trace is searched before a merge checks it.
    let is_searched = repo.find_ref(tombstone::HISTORY.refname)?.is_some()
        || find_fetched(repo, remote, tombstone::HISTORY.shared)?.is_some();
    for (refname, tip) in listed {
        let Some(name) = refname.strip_prefix(&prefix).filter(|name| is_wanted(name)) else { continue };
        let cause = match (TraceName::of_ref(&format!("{TRACES}{name}")), repo.read_commit(tip)) {
            (Some(name), Ok(_)) => {
                let known = if is_searched { repo.find_ref(&name.refname())? } else { None };
                let known = known.filter(|known| repo.read_commit(*known).is_ok());
                match if is_searched { require_files(repo, tip, known) } else { Ok(()) } {
                    Err(error) => error.to_string(),
                    Ok(()) => {
                        arrivals.traces.push(Arrival { name, tip });
                        continue;
                    }
                }
            }
            (None, _) => "a trace cannot have this name".to_owned(),
            (_, Err(error)) => error.to_string(),
        };
        arrivals.bad.push((name.to_owned(), cause));
    }
    Ok(arrivals)
}

/// The forward crumbs of a remote as last fetched.
pub(crate) fn arrived_crumbs(repo: &Repo, remote: &str) -> Result<Vec<Arrival>, TraceError> {
    let (folder, mut arrived) = (fetched_ref(remote, FORWARD_CRUMBS), Vec::new());
    for (refname, tip) in repo.list_refs(&folder)? {
        let agent =
            refname.strip_prefix(&folder).and_then(|name| AgentName::of_ref(&format!("{FORWARD_CRUMBS}{name}")));
        let Some(name) = agent.map(|agent| TraceName::of_agent(&agent)) else { continue };
        let known = repo.find_ref(&name.refname())?.filter(|known| repo.read_commit(*known).is_ok());
        // A merge refuses others, and says why.
        if repo.read_commit(tip).is_ok() && require_files(repo, tip, known).is_ok() {
            arrived.push(Arrival { name, tip });
        }
    }
    Ok(arrived)
}

/// A private ref of a remote as last fetched.
pub(crate) fn fetched_private(repo: &Repo, remote: &str, refname: &str) -> Result<Option<Oid>, TraceError> {
    find_fetched(repo, remote, refname)
}

/// Refuses a trace that is to be joined with another state, if only one of them has something that a remote has purged, as last fetched:
/// a pull takes it out.
pub(crate) fn refuse_unapplied(repo: &Repo, name: &TraceName, theirs: Oid) -> Result<(), TraceError> {
    let ours = repo.find_ref(&name.refname())?;
    if let Some(own) = Tombstones::find(repo)? {
        own.refuse_either(repo, name, ours, theirs)?;
    }
    for remote in repo.remotes()? {
        if let Some(from) = fetched_tombstones(repo, &remote)?
            && let Some(tombstones) = Tombstones::with_fetched(repo, Some(from))?
        {
            tombstones.refuse_either(repo, name, ours, theirs).map_err(|error| match error {
                TraceError::Purged { what, purge, .. } => TraceError::Purged { what, purge, remote: Some(remote) },
                other => other,
            })?;
        }
    }
    Ok(())
}

/// Merges a fetched trace into the local trace of the same name, or creates it. If both have new items, the published ones come
/// first. `accepted` are commits that need no signature: this repository wrote them in place of signed ones.
pub(crate) fn pull(
    trace: &Trace<'_>,
    (remote, arrival): (&str, &Arrival),
    accepted: &HashSet<Oid>,
    settlement: &Settlement,
    fast_forward: FastForward,
    arrange: Option<Arrange>,
) -> Result<Pulled, TraceError> {
    let (repo, name) = (trace.repo(), arrival.name.clone());
    let before = repo.find_ref(&name.refname())?;
    let is_new = !before.map_or(Ok(false), |before| repo.is_ancestor(arrival.tip, before))?;
    if is_new {
        if !accepted.contains(&arrival.tip) {
            require_signed_trace(repo, || format!("`{remote}/{name}`"), arrival.tip)?;
        }
        // A signature does not name the trace, so a remote could give this name to any other signed one.
        if let Some(before) = before
            && requires_signatures(repo)?
            && repo.merge_bases(before, arrival.tip)?.is_empty()
        {
            return Err(TraceError::Unrelated { remote: remote.to_owned(), name });
        }
    }
    let subject = format!("merge {name} of {remote}");
    let options =
        Options { settlement: settlement.clone(), fast_forward, first: Side::Theirs, arrange, subject: &subject };
    let outcome = trace.merge(&Tip::read(repo, arrival.tip)?, &options)?;
    Ok(Pulled { before, outcome })
}

/// The items of a trace that no remote had: neither at the `known` remote-tracking refs, which are those before the fetch, nor when both
/// sides had the same commits. Of forward crumbs, all that were added.
pub(crate) fn local_items(
    repo: &Repo,
    known: &[(String, Oid)],
    arrival: &Arrival,
    pulled: &Pulled,
) -> Result<HashSet<ItemId>, TraceError> {
    let (Some(before), Outcome::Merged(_, merged)) = (pulled.before, &pulled.outcome) else {
        return Ok(HashSet::new());
    };
    let mut items: HashSet<ItemId> = merged.added.iter().copied().collect();
    if is_private(&arrival.name.refname()) {
        return Ok(items);
    }
    let ending = format!("/{}", arrival.name);
    let known = known.iter().filter(|(refname, _)| refname.ends_with(&ending)).map(|(_, tip)| *tip);
    for state in known.chain(repo.merge_bases(before, arrival.tip)?) {
        // `fsck` reports damaged tips.
        if let Ok(state) = repo.read_commit(state) {
            tree::list(repo, state.tree)?.iter().for_each(|entry| _ = items.remove(&entry.id));
        }
    }
    Ok(items)
}

/// Merges the fetched record's lines of the items of traces that were merged, each with its local tip before, but not of those that
/// other local tips, `left`, have as well. Returns the number of items with new lines. `accepted` is as for [`pull`].
pub(crate) fn pull_priorities(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    merged: &[(Arrival, Option<Oid>)],
    left: &[Oid],
    accepted: &HashSet<Oid>,
) -> Result<usize, TraceError> {
    let Some(record) = fetched_lines(repo, remote, &priority::HISTORY)? else { return Ok(0) };
    let mut items = None;
    let is_wanted = |item: ItemId| {
        let items = match &mut items {
            Some(items) => items,
            none => {
                // `fsck` reports damaged ones.
                let left = left.iter().filter_map(|tip| items_of(repo, [(*tip, Some(*tip))]).ok());
                let left: BTreeSet<ItemId> = left.flatten().collect();
                let merged = items_of(repo, merged.iter().map(|(arrival, before)| (arrival.tip, *before)))?;
                none.insert(&merged - &left)
            }
        };
        Ok(items.contains(&item))
    };
    let tips: Vec<Oid> = merged.iter().map(|(arrival, _)| arrival.tip).collect();
    priority::absorb(repo, signature, (record, accepted), &tips, is_wanted)
}
