//! Archiving: a remote keeps traces instead of this repository, which keeps a line for each ([`archived`]).
//!
//! Traces are pushed, and the refs of the remote are listed. Only what is there with the same tip is removed here: first the line is
//! written, then the ref is deleted, at the tip that the remote has, together with the remote-tracking refs and the backup refs of its
//! history. Backup refs of states that the remote does not have stay. The refs of the remote are listed once more: if a trace is gone there,
//! too, the remote was this repository, and all refs are set again.
//!
//! The operation log does not have it, because an undo could not bring back objects that `git gc` removed. [`bring_back`] does.

use std::collections::{HashMap, HashSet};

use super::push::{Request, push};
use super::unnamed::forget;
use super::{Arrival, Arrivals, MANY, arrivals, fetch, fetched_tombstones, pull, refuse_fetched, tracking_ref};
use crate::git::{BACKUP_REFS, LogLine, Oid, Operation, PushedRef, Repo};
use crate::trace::change::merge::{FastForward, Settlement};
use crate::trace::model::name::REMOTES;
use crate::trace::store::archived::{self, Archived};
use crate::trace::store::session::{bind, continued_by};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::Tombstones;
use crate::trace::{Trace, TraceError, TraceName};

/// A ref that shows whether the remote is this repository.
const PROBE: &str = "refs/trace-archiving/probe";

/// How many traces are deleted by one call of git.
const BATCH: usize = 1000;

#[derive(Debug)]
pub(crate) struct Archival {
    pub archived: Vec<Archived>,
    /// Traces that stay, and the reasons.
    pub kept: Vec<(TraceName, String)>,
    /// What failed after the traces were pushed. Priorities that were not pushed stay here.
    pub failed: Option<TraceError>,
}

/// Pushes traces to their remote, and removes those here that the remote has with the same tip.
pub(crate) fn archive(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    wanted: Vec<Archived>,
) -> Result<Archival, TraceError> {
    if repo.lends_to(remote)? {
        return Err(TraceError::ArchiveHere { remote: remote.to_owned() });
    }
    let names: Vec<TraceName> = wanted.iter().map(|one| one.name.clone()).collect();
    let request = Request { remote, traces: &names, globs: &[], others: &[], histories: &[], force: false };
    let delivery = push(repo, signature, &request)?;
    let rejected: HashMap<&str, &PushedRef> = delivery
        .refs
        .iter()
        .filter(|pushed| !pushed.is_accepted())
        .map(|pushed| (pushed.refname.as_str(), pushed))
        .collect();
    let patterns: Vec<String> =
        if names.len() < MANY { names.iter().map(TraceName::refname).collect() } else { Vec::new() };
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let there = listed(repo, remote, &patterns, wanted.first())?;
    let is_held = |one: &Archived| there.get(&one.name.refname()) == Some(&one.tip);
    let (held, others): (Vec<Archived>, Vec<Archived>) = wanted.into_iter().partition(is_held);
    let why = |one: Archived| {
        let rejected = rejected.get(one.name.refname().as_str()).map(|pushed| pushed.summary.clone());
        (one.name, rejected.unwrap_or_else(|| "the remote does not list its newest commit".to_owned()))
    };
    let mut kept: Vec<(TraceName, String)> = others.into_iter().map(why).collect();
    archived::add(repo, &held)?;
    let (moved, deleted) = delete(repo, &held)?;
    archived::remove(repo, &moved)?;
    if let Err(error) = check_kept(repo, remote, &patterns, held.iter().filter(|one| !moved.contains(&one.name))) {
        let mut lost = deleted;
        lost.retain(|(refname, _)| repo.find_ref(refname).is_ok_and(|oid| oid.is_none()));
        repo.set_tags(&lost)?;
        archived::remove(repo, &names)?;
        return Err(error);
    }
    rebind(repo, signature, held.iter().filter(|one| !moved.contains(&one.name)))?;
    let (moved, archived) = held.into_iter().partition::<Vec<_>, _>(|one| moved.contains(&one.name));
    kept.extend(moved.into_iter().map(|one| (one.name, "it was changed meanwhile".to_owned())));
    Ok(Archival { archived, kept, failed: delivery.failed })
}

/// Fails if the remote does not have traces any more that were deleted here: it may be this repository, and hide the probe.
fn check_kept<'a>(
    repo: &Repo,
    remote: &str,
    patterns: &[&str],
    deleted: impl Iterator<Item = &'a Archived>,
) -> Result<(), TraceError> {
    let mut deleted = deleted.peekable();
    if deleted.peek().is_none() {
        return Ok(());
    }
    let there: HashSet<String> = repo.list_remote(remote, patterns)?.into_iter().map(|(refname, _)| refname).collect();
    let is_kept = deleted.all(|one| there.contains(&one.name.refname()));
    if is_kept { Ok(()) } else { Err(TraceError::ArchiveHere { remote: remote.to_owned() }) }
}

/// The refs of a remote. Fails if it is this repository, which a remote that is reached over a network can be, too: it then lists a
/// ref that is set only meanwhile.
fn listed(
    repo: &Repo,
    remote: &str,
    patterns: &[&str],
    wanted: Option<&Archived>,
) -> Result<HashMap<String, Oid>, TraceError> {
    let Some(Archived { tip, .. }) = wanted else { return Ok(HashMap::new()) };
    let probe = [(PROBE.to_owned(), *tip)];
    let patterns: Vec<&str> =
        if patterns.is_empty() { Vec::new() } else { patterns.iter().copied().chain([PROBE]).collect() };
    let _lock = repo.lock(PROBE)?;
    repo.set_tags(&probe)?;
    let there = repo.list_remote(remote, &patterns);
    repo.delete_refs_at(&probe)?;
    let there: HashMap<String, Oid> = there?.into_iter().collect();
    if there.contains_key(PROBE) { Err(TraceError::ArchiveHere { remote: remote.to_owned() }) } else { Ok(there) }
}

/// Deletes traces that have these tips, with what else keeps their objects. Returns those that have other tips, and the refs that were
/// deleted.
#[expect(clippy::type_complexity, reason = "two lists, one of pairs")]
fn delete(repo: &Repo, held: &[Archived]) -> Result<(Vec<TraceName>, Vec<(String, Oid)>), TraceError> {
    let operations = repo.operations()?;
    let listed: HashMap<String, Oid> =
        repo.list_refs(REMOTES)?.into_iter().chain(repo.list_refs(BACKUP_REFS)?).collect();
    let remotes: HashSet<String> = repo.remotes()?;
    let backups = backups(repo, &operations, held);
    let refs_of = |one: &Archived| {
        let mut refs = vec![(one.name.refname(), one.tip)];
        let tracking = remotes.iter().map(|remote| tracking_ref(remote, one.name.as_str()));
        let backups = backups.get(&one.name).into_iter().flatten().map(|oid| format!("{BACKUP_REFS}{oid}"));
        for refname in tracking.chain(backups) {
            // Another remote may have more.
            if let Some(oid) = listed.get(&refname)
                && (*oid == one.tip || repo.is_ancestor(*oid, one.tip)?)
            {
                refs.push((refname, *oid));
            }
        }
        Ok::<_, TraceError>(refs)
    };
    let (mut moved, mut deleted) = (Vec::new(), Vec::new());
    for batch in held.chunks(BATCH) {
        let each = batch.iter().map(refs_of).collect::<Result<Vec<_>, _>>()?;
        let mut refs = each.concat();
        // Two traces may share a backup.
        refs.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        refs.dedup();
        if repo.delete_refs_at(&refs).is_ok() {
            deleted.extend(refs);
            continue;
        }
        // All or none: a trace that another process changed stops no other.
        for (one, mut refs) in batch.iter().zip(each) {
            // The call that failed may have deleted some.
            if repo.find_ref(&one.name.refname())?.is_none_or(|oid| oid == one.tip) {
                let exists = |refname: &str| repo.find_ref(refname).is_ok_and(|oid| oid.is_some());
                refs.retain(|(refname, _)| exists(refname));
                repo.delete_refs_at(&refs)?;
                deleted.extend(refs);
            } else {
                moved.push(one.name.clone());
            }
        }
    }
    Ok((moved, deleted))
}

fn rebind<'a>(
    repo: &Repo,
    signature: &Signature,
    mut archived: impl Iterator<Item = &'a Archived>,
) -> Result<(), TraceError> {
    let log = LogLine { who: &signature.committer, why: "archive" };
    archived.try_for_each(|one| one.sessions.iter().try_for_each(|session| bind(repo, session, session, log)))
}

/// The earlier values of traces in the operation log that are not those of other refs.
fn backups(repo: &Repo, operations: &[Operation], held: &[Archived]) -> HashMap<TraceName, HashSet<Oid>> {
    let names: HashMap<String, &TraceName> = held.iter().map(|one| (one.name.refname(), &one.name)).collect();
    let mut found: HashMap<TraceName, HashSet<Oid>> = HashMap::new();
    let mut others: HashSet<Oid> = HashSet::new();
    for moved in operations.iter().flat_map(|operation| &operation.refs) {
        let values = [&moved.old, &moved.new].into_iter().flatten();
        let oids = values.filter_map(|value| Oid::parse(value, repo.object_format()));
        match names.get(&moved.refname) {
            Some(name) => found.entry((*name).clone()).or_default().extend(oids),
            None if moved.refname.starts_with(REMOTES) => {}
            None => others.extend(oids),
        }
    }
    for oids in found.values_mut() {
        oids.retain(|oid| !others.contains(oid));
    }
    found
}

/// Forgets the archived traces of a remote that were fetched: the remote keeps them.
pub(crate) fn forget_archived(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    let archived = archived::all(repo)?.into_iter().filter(|one| one.remote == remote);
    let refnames: HashSet<String> = archived.map(|one| tracking_ref(remote, one.name.as_str())).collect();
    let mut refs = if refnames.is_empty() { Vec::new() } else { repo.list_refs(&tracking_ref(remote, ""))? };
    refs.retain(|(refname, _)| refnames.contains(refname));
    forget(repo, &refs)
}

/// Fetches the archived trace that has this name or continues the session with this default trace, with the traces of its sub-agents,
/// if none is here, as they were archived: only a pull takes over what others did since. Returns what it fetched.
pub(crate) fn bring_back_if_archived(
    repo: &Repo,
    signature: &Signature,
    name: &TraceName,
) -> Result<Option<Archived>, TraceError> {
    if repo.find_ref(&continued_by(repo, name)?.refname())?.is_some() {
        return Ok(None);
    }
    let Some(found) = archived::find(repo, name)? else { return Ok(None) };
    bring_back(repo, signature, &found)?;
    let tip = found.newest_tip(repo, fetched_tombstones(repo, &found.remote)?)?;
    Ok(Some(Archived { tip, ..found }))
}

fn bring_back(repo: &Repo, signature: &Signature, wanted: &Archived) -> Result<(), TraceError> {
    let remote = &wanted.remote;
    if !repo.has_remote(remote)? {
        return Err(TraceError::LostRemote { name: wanted.name.clone(), remote: remote.clone() });
    }
    let is_wanted = |one: &Archived| one.name == wanted.name || one.name.is_sub_agent_of(&wanted.name);
    let all = archived::all(repo)?.into_iter().filter(|one| one.remote == *remote && is_wanted(one));
    let mut all: Vec<Archived> = all.collect();
    // The trace itself comes last: until it is there, the next attempt fetches the rest, too.
    all.sort_by_key(|one| one.name == wanted.name);
    let names: Vec<String> = all.iter().map(|one| one.name.to_string()).collect();
    fetch(repo, remote, &names, &["--quiet"])?;
    let refused = refuse_fetched(repo, remote)?;
    let Arrivals { traces, .. } = arrivals(repo, remote, &names)?;
    let tombstones = fetched_tombstones(repo, remote)?;
    for one in &all {
        let tip = one.newest_tip(repo, tombstones)?;
        let arrival = traces.iter().find(|arrival| arrival.name == one.name);
        let has_it = match arrival {
            Some(arrival) => repo.read_commit(tip).is_ok() && repo.is_ancestor(tip, arrival.tip)?,
            None => false,
        };
        if !has_it {
            let (name, remote) = (one.name.clone(), remote.clone());
            return Err(match refused.iter().find(|(refused, _)| *refused == one.name.as_str()) {
                Some((_, purge)) => TraceError::PurgedThere { name, remote, purge: purge.clone() },
                None => TraceError::NotHeld { name, remote },
            });
        }
        let log = LogLine { who: &signature.committer, why: "archive: bring back" };
        if tip != one.tip {
            // Only the remote may know what it replaced.
            let known = Tombstones::with_fetched(repo, tombstones)?.unwrap_or_default();
            if let Some(purge) = known.of_object(one.tip) {
                repo.env().notice(&format!("warning: `{}` is not as it was archived: {}", one.name, purge));
            }
            // A trace with the name of an archived one must start with its commits.
            archived::add(repo, &[Archived { tip, title: None, ..one.clone() }])?;
        }
        // Before the trace, because its line does not count while it exists.
        one.sessions.iter().try_for_each(|session| bind(repo, session, &one.name, log))?;
        let trace = Trace::new(repo, one.name.clone(), signature.clone());
        let archived = Arrival { name: one.name.clone(), tip };
        let from = (remote.as_str(), &archived);
        pull(&trace, from, &HashSet::new(), &Settlement::default(), FastForward::Only, None)?;
    }
    // The lines stay, for an undo.
    Ok(())
}
