//! Pushing traces and the priorities of their items.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{PushedLines, push_lines, wait};
use super::{items_of, tracking_ref};
use crate::git::{Oid, PushFate, PushedRef, RefUpdate, Repo};
use crate::trace::store::line_history::LineHistory;
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Tombstones};
use crate::trace::{Tip, TraceError, TraceName};

/// The maximum number of attempts if other pushes interfere.
const TRIES: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub remote: &'a str,
    pub traces: &'a [TraceName],
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
    /// The reason why no priorities were pushed, if there were any to push.
    pub record: Option<TraceError>,
}

impl Delivery {
    pub(crate) fn is_complete(&self) -> bool {
        self.refs.iter().all(PushedRef::is_accepted)
    }
}

/// Pushes traces, then the priority record's lines of the items of accepted traces, and the tombstones of purges of these items.
///
/// A trace that has new commits on the remote is rejected, as in git: pull it first. That stops no other trace.
pub(crate) fn push(repo: &Repo, signature: &Signature, request: &Request<'_>) -> Result<Delivery, TraceError> {
    let Request { remote, traces, others, histories, force } = *request;
    let mut outgoing = Vec::new();
    for name in traces {
        let seen = repo.find_ref(&tracking_ref(remote, name.as_str()))?;
        outgoing.push(Outgoing { name, tip: Tip::of_trace(repo, name)?, seen });
    }
    let mut others = others.to_vec();
    let refused = refuse_purged(repo, &mut outgoing, &mut others)?;
    let leases = outgoing.iter().filter(|_| force).map(Outgoing::lease);
    let options: Vec<String> = leases.collect();
    // Push the tips that were read, not the refs: another process may append to a trace meanwhile.
    let mut waiting: BTreeMap<String, String> =
        outgoing.iter().map(|trace| (trace.name.refname(), trace.tip.commit.oid.to_string())).collect();
    waiting.extend(others.iter().map(|refname| (refname.clone(), refname.clone())));
    let mut delivery = Delivery { refs: refused, priorities: 0, record: None };
    for attempt in 1..=TRIES {
        if waiting.is_empty() {
            break;
        }
        let refspecs: Vec<String> = waiting.iter().map(|(refname, from)| format!("{from}:{refname}")).collect();
        let mut answers = repo.push(remote, &refspecs, &options)?;
        if attempt == 1 && answers.iter().any(|pushed| pushed.fate == PushFate::Contended) {
            refuse_nested(&repo.list_remote(remote)?, &mut answers);
        }
        for pushed in answers {
            if pushed.fate != PushFate::Contended || attempt == TRIES {
                waiting.remove(&pushed.refname);
                delivery.refs.push(pushed);
            }
        }
        if !waiting.is_empty() {
            wait(attempt);
        }
    }
    for history in histories {
        let PushedLines { files, rejected } = push_lines(repo, signature, remote, history, |_| Ok(true))?;
        let (fate, summary) =
            if files > 0 { (PushFate::Moved, "new lines") } else { (PushFate::UpToDate, "up to date") };
        let pushed = PushedRef { refname: history.refname.to_owned(), fate, summary: summary.to_owned() };
        delivery.refs.push(rejected.unwrap_or(pushed));
    }
    let accepted: BTreeSet<&str> =
        delivery.refs.iter().filter(|pushed| pushed.is_accepted()).map(|pushed| pushed.refname.as_str()).collect();
    outgoing.retain(|trace| accepted.contains(trace.name.refname().as_str()));
    let accepted_others: Vec<String> = others.into_iter().filter(|name| accepted.contains(name.as_str())).collect();
    let mut items = None;
    let pushed = push_lines(repo, signature, remote, &priority::HISTORY, |path| {
        let items = match &mut items {
            Some(items) => items,
            none => none.insert(items_of(repo, outgoing.iter().map(|trace| (trace.tip.commit.oid, trace.seen)))?),
        };
        Ok(priority::item_of(path).is_some_and(|item| items.contains(&item)))
    });
    delivery.record = match pushed {
        Ok(pushed) => {
            delivery.priorities = pushed.files;
            delivery.refs.extend(pushed.rejected);
            None
        }
        Err(error @ TraceError::Unsigned { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    if delivery.record.is_none() {
        let is_complete = delivery.is_complete();
        let mut tips: Vec<Oid> = outgoing.iter().map(|trace| trace.tip.commit.oid).collect();
        for refname in accepted_others {
            tips.extend(repo.find_ref(&refname)?);
        }
        // Items that were deleted long ago may be purged, too.
        let mut items = None;
        let pushed = push_lines(repo, signature, remote, &tombstone::HISTORY, |purge| {
            let items = match &mut items {
                Some(items) => items,
                none => none.insert(items_of(repo, tips.iter().map(|tip| (*tip, None)))?),
            };
            Ok(tombstone::names_any(repo, purge, items)?.unwrap_or(is_complete))
        })?;
        delivery.refs.extend(pushed.rejected);
    }
    // Afterwards: if this process dies before, the next push still knows what the remote did not have.
    for trace in &outgoing {
        see(repo, signature, &tracking_ref(remote, trace.name.as_str()), trace.tip.commit.oid)?;
    }
    Ok(delivery)
}

/// Takes out what has purged content that the remote does not have. Only plain git brings such content here.
fn refuse_purged(
    repo: &Repo,
    traces: &mut Vec<Outgoing<'_>>,
    others: &mut Vec<String>,
) -> Result<Vec<PushedRef>, TraceError> {
    let Some(tombstones) = Tombstones::find(repo)? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    let mut is_refused = |refname: String, tip: Oid, seen: Option<Oid>| {
        let purge = tombstones.in_history(repo, tip, seen)?.first().map(|(_, purge)| purge.to_string());
        let is_refused = purge.is_some();
        let summary = |purge| format!("[rejected] (it contains what was {purge})");
        refused.extend(purge.map(summary).map(|summary| PushedRef { refname, fate: PushFate::Refused, summary }));
        Ok::<_, TraceError>(is_refused)
    };
    for trace in std::mem::take(traces) {
        if !is_refused(trace.name.refname(), trace.tip.commit.oid, trace.seen)? {
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
struct Outgoing<'a> {
    name: &'a TraceName,
    tip: Tip,
    /// The remote's tip as last fetched.
    seen: Option<Oid>,
}

impl Outgoing<'_> {
    fn lease(&self) -> String {
        let seen = self.seen.map(|oid| oid.to_string());
        format!("--force-with-lease={}:{}", self.name.refname(), seen.unwrap_or_default())
    }
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
