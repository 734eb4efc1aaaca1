//! Pushing traces and the priorities of their items.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use super::{SHARED_RECORD, record_ref, record_refspec, tracking_ref};
use crate::git::{Oid, PushFate, PushedRef, RefUpdate, Repo};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::priority::Record;
use crate::trace::store::priority::union::union;
use crate::trace::store::signature::Signature;
use crate::trace::store::walk::changes_of;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// The maximum number of attempts if other pushes interfere.
const TRIES: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub remote: &'a str,
    pub traces: &'a [TraceName],
    /// Private refs that the user named, by their full names.
    pub others: &'a [String],
    /// Whether to replace a trace on the remote that ours does not contain, if it has not moved since the last fetch.
    pub force: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Delivery {
    /// The result of each ref in git's order, without the record.
    pub refs: Vec<PushedRef>,
    pub priorities: usize,
}

impl Delivery {
    pub(crate) fn is_complete(&self) -> bool {
        self.refs.iter().all(|pushed| matches!(pushed.fate, PushFate::Moved | PushFate::UpToDate))
    }
}

/// Pushes traces and the priority record's lines of their items.
///
/// The pushed record is based on the remote's record, so it is rebuilt and pushed again if another push was faster. A trace that
/// has new commits on the remote is rejected, as in git: pull it first.
pub(crate) fn push(repo: &Repo, signature: &Signature, request: &Request<'_>) -> Result<Delivery, TraceError> {
    let Request { remote, traces, others, force } = *request;
    let items = items_of(repo, remote, traces)?;
    let mut waiting: Vec<String> = traces.iter().map(TraceName::refname).chain(others.iter().cloned()).collect();
    let mut delivery = Delivery { refs: Vec::new(), priorities: 0 };
    let mut options = Vec::new();
    if force {
        for name in traces {
            let seen = repo.find_ref(&tracking_ref(remote, name.as_str()))?.map(|oid| oid.to_string());
            options.push(format!("--force-with-lease={}:{}", name.refname(), seen.unwrap_or_default()));
        }
    }
    for attempt in 0..TRIES {
        let record = record_for(repo, signature, remote, &items)?;
        let mut refspecs: Vec<String> = waiting.iter().map(|refname| format!("{refname}:{refname}")).collect();
        refspecs.extend(record.as_ref().map(|(commit, _)| format!("{commit}:{SHARED_RECORD}")));
        if refspecs.is_empty() {
            break;
        }
        let mut again = false;
        for pushed in repo.push(remote, &refspecs, &options)? {
            let is_record = pushed.refname == SHARED_RECORD;
            match pushed.fate {
                PushFate::Moved | PushFate::UpToDate if is_record => {
                    if let Some((commit, count)) = record {
                        delivery.priorities = count;
                        see(repo, signature, &record_ref(remote), commit)?;
                    }
                }
                PushFate::Behind | PushFate::Contended if is_record => again = true,
                PushFate::Contended if attempt + 1 < TRIES => again = true,
                _ if is_record => delivery.refs.push(pushed),
                fate => {
                    waiting.retain(|refname| *refname != pushed.refname);
                    if let (PushFate::Moved | PushFate::UpToDate, Some(name)) =
                        (fate, TraceName::of_ref(&pushed.refname))
                        && let Some(oid) = repo.find_ref(&pushed.refname)?
                    {
                        see(repo, signature, &tracking_ref(remote, name.as_str()), oid)?;
                    }
                    delivery.refs.push(pushed);
                }
            }
        }
        if !again {
            break;
        }
        // Wait for different times, so that two processes do not collide again.
        thread::sleep(Duration::from_millis(u64::from(attempt * 7 + std::process::id() % 13)));
        repo.fetch(remote, &[record_refspec(remote)], &["--quiet"])?;
    }
    Ok(delivery)
}

/// Updates a remote-tracking ref.
fn see(repo: &Repo, signature: &Signature, refname: &str, oid: Oid) -> Result<(), TraceError> {
    let lock = repo.lock(refname)?;
    repo.update_ref(&lock, &signature.committer, |seen| {
        Ok(if seen == Some(oid) {
            RefUpdate::Keep(())
        } else {
            RefUpdate::Move { to: oid, log: "push".to_owned(), value: () }
        })
    })
}

/// The record to push, and the number of items with new lines: the remote's record as last fetched, plus our lines of these
/// items.
fn record_for(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    items: &BTreeSet<ItemId>,
) -> Result<Option<(Oid, usize)>, TraceError> {
    let Some(ours) = Record::open(repo)?.commit else { return Ok(None) };
    let theirs = repo.find_ref(&record_ref(remote))?.map(|oid| repo.read_commit(oid)).transpose()?;
    let union = union(repo, theirs.as_ref().map(|commit| commit.tree), ours.tree, Some(items))?;
    if union.items.is_empty() {
        return Ok(None);
    }
    let message = format!("share the priorities of {} items\n", union.items.len());
    let builder = CommitBuilder::new(signature, union.tree, theirs.iter().map(|commit| commit.oid));
    Ok(Some((builder.write_plain(repo, &message)?, union.items.len())))
}

/// The items of traces: live items, and items that were removed in commits that the remote does not have.
fn items_of(repo: &Repo, remote: &str, traces: &[TraceName]) -> Result<BTreeSet<ItemId>, TraceError> {
    let mut items = BTreeSet::new();
    for name in traces {
        let tip = Tip::of_trace(repo, name)?;
        items.extend(tree::list(repo, tip.commit.tree)?.into_iter().map(|slot| slot.id));
        let seen = repo.find_ref(&tracking_ref(remote, name.as_str()))?;
        for oid in repo.commits_beyond(tip.commit.oid, seen)? {
            let commit = Tip::read(repo, oid)?;
            if let Some(item) = commit.item() {
                items.insert(item);
                continue;
            }
            let removed = changes_of(repo, &commit)?.into_iter().filter(|change| matches!(change, Change::Removed(_)));
            items.extend(removed.map(|change| change.entry().id));
        }
    }
    Ok(items)
}
