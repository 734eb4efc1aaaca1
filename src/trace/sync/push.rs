//! Pushing traces and the priorities of their items.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::address::{Target, forget_other_address, leave_out_fetched, targets};
use super::lines::{PushedLines, push_lines, push_to_all, wait};
use super::purged::{fetched_tombstones, forget_purged_lines};
use super::work_tree::refuse_current;
use super::{MANY, find_all, items_of, matches, tracking_ref};
use crate::base::escape::shell_word;
use crate::git::{GitError, Oid, Outgoing, PushFate, PushedRef, RefUpdate, Repo};
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::store::line_history::LineHistory;
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Tombstones, note_purges, require_no_purge};
use crate::trace::{Tip, TraceError, TraceName};

/// The maximum number of attempts if other pushes interfere.
const TRIES: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub remote: &'a str,
    pub traces: &'a [TraceName],
    /// The globs that name these traces, and no other one; empty if they were named one by one.
    pub globs: &'a [String],
    /// Forward crumbs that the user named, by their full names.
    pub others: &'a [String],
    /// Histories that the user named.
    pub histories: &'a [LineHistory<'a>],
    /// Whether to replace a trace on the remote that ours does not contain, if it has not moved since the last fetch.
    pub force: bool,
}

#[derive(Debug)]
pub(crate) struct Delivery {
    /// The result of each ref in git's order. The record is among them only if it was rejected.
    pub refs: Vec<PushedRef>,
    pub priorities: usize,
    /// An address that cannot be reached, or what failed after the traces were pushed: their priorities, or keeping the remote's state.
    pub failed: Option<TraceError>,
}

impl Delivery {
    pub(crate) fn is_complete(&self) -> bool {
        self.refs.iter().all(PushedRef::is_accepted)
    }

    /// Adds the result for the lines of a history. Returns the number of files, and whether all were accepted.
    fn add(&mut self, pushed: Result<PushedLines, TraceError>, history: &LineHistory<'_>) -> (usize, bool) {
        match pushed {
            Ok(PushedLines { files, rejected }) => {
                let is_accepted = rejected.is_none();
                self.refs.extend(rejected);
                (files, is_accepted)
            }
            Err(error) => {
                self.failed.get_or_insert(not_shared(error, history));
                (0, false)
            }
        }
    }
}

/// Pushes traces, then the priority record's lines of the items of accepted traces, and the tombstones of purges of these items.
///
/// A trace that has new commits on the remote is rejected, as in git: pull it first. That stops no other trace.
pub(crate) fn push(repo: &Repo, signature: &Signature, request: &Request<'_>) -> Result<Delivery, TraceError> {
    let Request { remote, traces, globs, others, histories, force } = *request;
    forget_other_address(repo, remote)?;
    note_purges(repo)?;
    let mut outgoing = Vec::new();
    let (tips, seen) = (find_all(repo, TRACES, traces)?, find_all(repo, &tracking_ref(remote, ""), traces)?);
    for (name, (tip, seen)) in traces.iter().zip(tips.into_iter().zip(seen)) {
        let tip = tip.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
        if seen != Some(tip) {
            Tip::read(repo, tip)?;
        }
        outgoing.push(OutgoingTrace { name, tip, seen });
    }
    let mut others = others.to_vec();
    let mut refused = refuse_purged(repo, remote, &mut outgoing, &mut others)?;
    let tips: Vec<_> = outgoing.iter().map(|trace| (trace.name, trace.tip)).collect();
    let current = refuse_current(repo, remote, &tips)?;
    outgoing.retain(|trace| current.iter().all(|answer| answer.refname != trace.name.refname()));
    refused.extend(current);
    // Push the tips that were read, not the refs: another process may append to a trace meanwhile.
    let mut waiting: BTreeMap<String, Outgoing> =
        outgoing.iter().map(|trace| (trace.name.refname(), trace.to_push(force))).collect();
    waiting.extend(others.iter().map(|refname| (refname.clone(), Outgoing::plain(format!("{refname}:{refname}")))));
    // Git compares each refspec with each ref, except those with a star.
    let by_glob = if force || globs.is_empty() || outgoing.len() < MANY || outgoing.len() < traces.len() {
        None
    } else {
        of_globs(repo, globs, traces.len())?
    };
    let mut delivery = Delivery { refs: refused, priorities: 0, failed: None };
    let targets = targets(repo, remote)?.into_iter().map(|target| Address { target, accepted: BTreeSet::new() });
    let mut addresses: Vec<Address> = targets.collect();
    let (mut unreached, mut failed) = (Vec::new(), None);
    for attempt in 1..=TRIES {
        if waiting.is_empty() {
            break;
        }
        let refspecs = match &by_glob {
            Some(globs) if attempt == 1 => {
                let others = others.iter().filter_map(|refname| waiting.get(refname).cloned());
                globs.iter().cloned().chain(others).collect()
            }
            _ => waiting.values().cloned().collect::<Vec<_>>(),
        };
        let Attempt { mut answers, unreached: lost, failed: error } =
            push_to_each(repo, remote, &mut addresses, &refspecs)?;
        unreached.extend(lost);
        let error = error.or_else(|| (!unreached.is_empty()).then(no_answer));
        // A rejection is no failure of git.
        failed = failed.or(error.filter(|_| !unreached.is_empty() || answers.iter().all(PushedRef::is_accepted)));
        let is_all = addresses.is_empty() && delivery.refs.is_empty();
        if let Some(error) = failed.take_if(|_| is_all) {
            return Err(error.into());
        }
        if addresses.is_empty() {
            break;
        }
        if attempt == 1 && answers.iter().any(|pushed| pushed.fate == PushFate::Contended) {
            refuse_nested(&repo.list_remote(remote, &[])?, &mut answers);
        }
        let contended = answers.iter().filter(|pushed| pushed.fate == PushFate::Contended && attempt < TRIES);
        let contended: BTreeSet<String> = contended.map(|pushed| pushed.refname.clone()).collect();
        // Another address may have taken it.
        for pushed in answers.into_iter().filter(|pushed| !contended.contains(&pushed.refname)) {
            waiting.remove(&pushed.refname);
            delivery.refs.push(pushed);
        }
        if !waiting.is_empty() {
            wait(attempt);
        }
    }
    for history in histories {
        match push_history(repo, signature, &addresses, history) {
            // The refs that were pushed before are reported, too.
            Err(error) if !delivery.refs.is_empty() => {
                delivery.refs.push(answer(history, PushFate::Refused, &error.to_string()));
            }
            pushed => delivery.refs.push(pushed?),
        }
    }
    let pushed = push_to_all(&addresses, |address| push_priorities(repo, signature, address, &outgoing));
    let (priorities, is_shared) = delivery.add(pushed, &priority::HISTORY);
    delivery.priorities = priorities;
    let is_complete = delivery.is_complete();
    let pushed = push_to_all(&addresses, |address| {
        let mut tips: Vec<Oid> = address.accepted(&outgoing).map(|trace| trace.tip).collect();
        for refname in others.iter().filter(|refname| address.accepted.contains(*refname)) {
            tips.extend(repo.find_ref(refname)?);
        }
        push_tombstones(repo, signature, &address.target, &tips, is_complete)
    });
    delivery.add(pushed, &tombstone::HISTORY);
    let is_accepted = |address: &Address, trace: &OutgoingTrace<'_>| address.accepted.contains(&trace.name.refname());
    outgoing.retain(|trace| !addresses.is_empty() && addresses.iter().all(|address| is_accepted(address, trace)));
    // Afterwards: if this process dies before, or the remote did not take the priorities, the next push still knows what it did not have.
    let is_seen = is_shared && unreached.iter().all(|target: &Target| !target.is_fetched);
    let kept = if is_seen { keep_seen(repo, signature, remote, &outgoing) } else { Ok(()) };
    // Of two addresses that git shows alike, one may not have answered.
    let addresses: Vec<String> = unreached.iter().map(Target::address).collect();
    let unreached = failed.map(|error| {
        if addresses.is_empty() { error.into() } else { TraceError::NotReached { addresses, source: Box::new(error) } }
    });
    delivery.failed = delivery.failed.or(unreached).or(kept.err());
    forget_purged_lines(repo, remote)?;
    leave_out_fetched(repo, remote, &mut delivery.refs)?;
    Ok(delivery)
}

/// An address that was reached.
struct Address {
    target: Target,
    /// The refs that it took, or has already.
    accepted: BTreeSet<String>,
}

impl Address {
    fn accepted<'t>(&self, traces: &'t [OutgoingTrace<'t>]) -> impl Iterator<Item = &'t OutgoingTrace<'t>> {
        traces.iter().filter(|trace| self.accepted.contains(&trace.name.refname()))
    }
}

/// The results of a push to several addresses.
struct Attempt {
    answers: Vec<PushedRef>,
    /// The addresses without an answer.
    unreached: Vec<Target>,
    /// The first error.
    failed: Option<GitError>,
}

/// Pushes to all addresses, and takes those without an answer out. Git itself stops at an address that cannot be reached. Calls for single
/// addresses do not, but give a hook other names of the remote.
fn push_to_each(
    repo: &Repo,
    remote: &str,
    addresses: &mut Vec<Address>,
    refspecs: &[Outgoing],
) -> Result<Attempt, TraceError> {
    let is_joint = repo.may_run_hook("pre-push")?;
    let (mut answers, mut failed) = if is_joint { repo.push(remote, refspecs)? } else { (Vec::new(), None) };
    let mut unreached = Vec::new();
    for mut address in std::mem::take(addresses) {
        let own = if is_joint {
            answers.iter().filter(|pushed| address.target.is_answered_by(pushed)).cloned().collect()
        } else {
            let (mut own, error) = repo.push(address.target.push(), refspecs)?;
            address.target.name_pushed(&mut own);
            answers.extend(own.iter().cloned());
            failed = failed.or(error);
            own
        };
        if own.is_empty() {
            unreached.push(address.target);
            continue;
        }
        let (accepted, rejected): (Vec<_>, Vec<_>) = own.into_iter().partition(PushedRef::is_accepted);
        // Two addresses may be shown alike.
        let accepted = accepted.into_iter().filter(|one| rejected.iter().all(|other| other.refname != one.refname));
        address.accepted.extend(accepted.map(|pushed| pushed.refname));
        addresses.push(address);
    }
    Ok(Attempt { answers, unreached, failed })
}

fn no_answer() -> GitError {
    GitError::Command { command: "push".to_owned(), stderr: "it names no result for an address".to_owned() }
}

/// Pushes all lines of a history.
fn push_history(
    repo: &Repo,
    signature: &Signature,
    addresses: &[Address],
    history: &LineHistory<'_>,
) -> Result<PushedRef, TraceError> {
    let pushed = push_to_all(addresses, |address| push_lines(repo, signature, &address.target, history, |_| Ok(true)))?;
    let PushedLines { files, rejected } = pushed;
    let (fate, summary) = if files > 0 { (PushFate::Moved, "new lines") } else { (PushFate::UpToDate, "up to date") };
    Ok(rejected.unwrap_or_else(|| answer(history, fate, summary)))
}

fn answer(history: &LineHistory<'_>, fate: PushFate, summary: &str) -> PushedRef {
    PushedRef::new(history.refname, fate, summary)
}

/// Pushes the priorities of the items of traces that an address accepted.
fn push_priorities(
    repo: &Repo,
    signature: &Signature,
    address: &Address,
    outgoing: &[OutgoingTrace<'_>],
) -> Result<PushedLines, TraceError> {
    let mut items = None;
    push_lines(repo, signature, &address.target, &priority::HISTORY, |path| {
        let items = match &mut items {
            Some(items) => items,
            none => {
                // What another address had is not known.
                let seen = |trace: &OutgoingTrace<'_>| trace.seen.filter(|_| address.target.is_fetched);
                let traces = address.accepted(outgoing);
                none.insert(items_of(repo, traces.map(|trace| (trace.tip, seen(trace))))?)
            }
        };
        Ok(priority::item_of(path).is_some_and(|item| items.contains(&item)))
    })
}

/// The traces were pushed, so the command did not fail.
fn not_shared(error: TraceError, history: &LineHistory<'_>) -> TraceError {
    match error {
        TraceError::Unsigned { .. } | TraceError::SignedOtherwise { .. } => error,
        _ => TraceError::NotShared { noun: history.noun, source: Box::new(error) },
    }
}

/// Pushes the tombstones of purges of items in the history of `tips`. Those that name no item go with a complete push.
fn push_tombstones(
    repo: &Repo,
    signature: &Signature,
    target: &Target,
    tips: &[Oid],
    is_complete: bool,
) -> Result<PushedLines, TraceError> {
    // Items that were deleted long ago may be purged, too.
    let mut items = None;
    push_lines(repo, signature, target, &tombstone::HISTORY, |purge| {
        let items = match &mut items {
            Some(items) => items,
            none => none.insert(items_of(repo, tips.iter().map(|tip| (*tip, None)))?),
        };
        Ok(tombstone::names_any(repo, purge, items)?.unwrap_or(is_complete))
    })
}

/// The refspecs of globs; `None` if these name other refs than `count` traces. If a trace moves before git reads its ref, git pushes
/// what was appended, too, and the next push sends the priorities of that.
fn of_globs(repo: &Repo, globs: &[String], count: usize) -> Result<Option<Vec<Outgoing>>, TraceError> {
    let names: Vec<&str> = globs.iter().map(|glob| glob.strip_prefix(TRACES).unwrap_or(glob)).collect();
    let refs = repo.list_refs(TRACES)?;
    let is_named = |refname: &str| {
        let name = refname.strip_prefix(TRACES).unwrap_or(refname);
        names.iter().any(|glob| matches(glob, name))
    };
    let is_exact = refs.iter().filter(|(refname, _)| is_named(refname)).count() == count
        && repo.list_symbolic_refs(TRACES)?.is_empty();
    let refspec = |name: &&str| Outgoing::plain(format!("{TRACES}{name}:{TRACES}{name}"));
    Ok(is_exact.then(|| names.iter().map(refspec).collect()))
}

/// Takes out what has purged content that the remote does not have. The remote's tombstones count too, as last fetched.
fn refuse_purged(
    repo: &Repo,
    remote: &str,
    traces: &mut Vec<OutgoingTrace<'_>>,
    others: &mut Vec<String>,
) -> Result<Vec<PushedRef>, TraceError> {
    let theirs = fetched_tombstones(repo, remote)?;
    let Some(tombstones) = Tombstones::with_fetched(repo, theirs)? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    let mut is_refused = |refname: String, tip: Oid, seen: Option<Oid>| {
        let found = tombstones.in_history(repo, tip, seen)?;
        if let Some((oid, purge)) = found.first() {
            let slots = tree::list(repo, repo.read_commit(tip)?.tree)?;
            let of_file = slots.into_iter().find(|slot| slot.blob == *oid).map(|slot| slot.id);
            let item = of_file.or_else(|| Tip::read(repo, *oid).ok()?.item());
            let name = TraceName::of_ref(&refname).map(shell_word);
            let remedy = name.zip(item).map(|(name, item)| {
                format!("; if `git trace pull` leaves it, `git trace --trace {name} purge {item}` takes it out")
            });
            let summary = format!("[rejected] (it contains what was {purge}{})", remedy.unwrap_or_default());
            refused.push(PushedRef::new(refname, PushFate::Refused, summary));
        }
        Ok::<_, TraceError>(!found.is_empty())
    };
    for trace in std::mem::take(traces) {
        if !is_refused(trace.name.refname(), trace.tip, trace.seen)? {
            traces.push(trace);
        }
    }
    for refname in std::mem::take(others) {
        let is_kept = match repo.find_ref(&refname)? {
            Some(tip) => !is_refused(refname.clone(), tip, None)?,
            None => true,
        };
        if is_kept {
            others.push(refname);
        }
    }
    Ok(refused)
}

/// Git reports a ref that cannot exist beside another one like a ref that is locked. Only the latter is worth another attempt.
fn refuse_nested(there: &[(String, Oid)], answers: &mut [PushedRef]) {
    let is_below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    for pushed in answers.iter_mut().filter(|pushed| pushed.fate == PushFate::Contended) {
        let name = pushed.refname.as_str();
        if let Some((other, _)) = there.iter().find(|(other, _)| is_below(other, name) || is_below(name, other)) {
            pushed.fate = PushFate::Refused;
            pushed.summary = format!("[rejected] (the remote has `{other}`, and a name cannot also be a folder)");
        }
    }
}

/// A trace that is pushed.
struct OutgoingTrace<'a> {
    name: &'a TraceName,
    tip: Oid,
    /// The remote's tip as last fetched.
    seen: Option<Oid>,
}

impl OutgoingTrace<'_> {
    fn to_push(&self, force: bool) -> Outgoing {
        let refname = self.name.refname();
        let seen = self.seen.map(|oid| oid.to_string()).unwrap_or_default();
        let lease = force.then(|| format!("--force-with-lease={refname}:{seen}"));
        Outgoing { refspec: format!("{}:{refname}", self.tip), lease }
    }
}

/// Updates the remote-tracking refs of traces that moved.
fn keep_seen(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    outgoing: &[OutgoingTrace<'_>],
) -> Result<(), TraceError> {
    let moved = outgoing.iter().filter(|trace| trace.seen != Some(trace.tip));
    let mut moved: Vec<_> = moved.map(|trace| (tracking_ref(remote, trace.name.as_str()), trace.tip)).collect();
    if moved.is_empty() {
        return Ok(());
    }
    let _lock = repo.lock(&tracking_ref(remote, ""))?;
    // A purge may have replaced what was pushed.
    let _purges = require_no_purge(repo)?;
    let stored: HashSet<Oid> =
        repo.existing(&moved.iter().map(|(_, tip)| *tip).collect())?.into_iter().map(|(oid, _)| oid).collect();
    let is_whole = moved.iter().all(|(_, tip)| stored.contains(tip));
    moved.retain(|(_, tip)| stored.contains(tip));
    if moved.len() < MANY {
        moved.iter().try_for_each(|(refname, tip)| see(repo, signature, refname, *tip))?;
    } else {
        repo.set_tags(&moved)?;
    }
    if is_whole { Ok(()) } else { Err(TraceError::PurgedMeanwhile) }
}

/// Updates a remote-tracking ref.
pub(super) fn see(repo: &Repo, signature: &Signature, refname: &str, oid: Oid) -> Result<(), TraceError> {
    let lock = repo.lock(refname)?;
    repo.update_ref(&lock, &signature.committer, |seen| {
        Ok(if seen == Some(oid) {
            RefUpdate::Keep(())
        } else {
            RefUpdate::Move { to: oid, log: "push".to_owned(), value: () }
        })
    })
}
