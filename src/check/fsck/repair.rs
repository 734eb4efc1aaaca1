//! Repairs of data that can be derived from other data, under the locks that every writer takes. History is never rewritten.

use std::collections::BTreeSet;
use std::fmt;

use super::problem::{Problem, Repair};
use crate::git::{GitError, LogEntry, LogLine, Mode, Oid, RefUpdate, Repo, TreeStore as _, short_oid};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::item::TokenCache;
use crate::trace::model::item_file;
use crate::trace::model::trailers::{Basis, Total, Trailers};
use crate::trace::model::tree::{self, TreeEditor};
use crate::trace::store::line_history::{self, NewState};
use crate::trace::store::priority::{HISTORY, RECORD, Record, Request, item_of, set_under, tags};
use crate::trace::store::session;
use crate::trace::store::signature::Signature;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::trace::Trace;
use crate::trace::{TraceError, TraceName};

#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) repair: Repair,
    /// The objects or moves that it found or lost, if the repair does not say so.
    pub(crate) done: Result<Option<String>, TraceError>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock(refname) => write!(f, "remove the stale lock of {refname}"),
            Self::Ref(refname) => write!(f, "point {refname} to the newest complete state in its reflog"),
            Self::Reflog(refname) => write!(f, "log the last move of {refname}"),
            Self::Backup(refname) | Self::Session(refname) => write!(f, "delete {refname}"),
            Self::Copy(oid) => write!(f, "move the damaged file of object {oid} to trace/damaged"),
            Self::Record => write!(f, "sort the record of priorities"),
            Self::Tag(item, _) => write!(f, "set the tag of item {item}"),
            Self::RecordTag(level, item, _) => write!(f, "record {} for item {item}, as its tag says", level.0),
            Self::Totals(name) => write!(f, "correct the token counts of {name} in a new commit"),
        }
    }
}

/// Makes each repair that the problems name, once. A repair that is no longer needed changes nothing.
pub(crate) fn repair(repo: &Repo, signature: &Signature, problems: &[Problem]) -> Vec<Repaired> {
    let wanted: BTreeSet<Repair> = problems.iter().filter_map(|problem| problem.repair.clone()).collect();
    wanted.into_iter().map(|repair| Repaired { done: one(repo, signature, &repair), repair }).collect()
}

fn one(repo: &Repo, signature: &Signature, repair: &Repair) -> Result<Option<String>, TraceError> {
    let done = match repair {
        Repair::Lock(refname) => {
            let is_removed = repo.remove_stale_ref_lock(refname)?;
            if is_removed { Ok(()) } else { Err(GitError::locked_file(refname).into()) }
        }
        Repair::Ref(refname) => return go_back(repo, signature, refname),
        Repair::Reflog(refname) => {
            let _lock = repo.lock(refname)?;
            Ok(repo.complete_reflog(refname, &signature.committer)?)
        }
        Repair::Session(refname) if session::is_dangling(repo, refname)? => {
            let line = LogLine { who: &signature.committer, why: "fsck: it names no trace" };
            Ok(repo.delete_symbolic_ref(refname, line)?)
        }
        Repair::Session(_) => Ok(()),
        Repair::Backup(refname) => return drop_backup(repo, signature, refname),
        Repair::Copy(oid) => Ok(repo.set_aside(*oid).map(drop)?),
        Repair::Record => record(repo, signature),
        Repair::Tag(item, introduced) => {
            let _lock = repo.lock(RECORD)?;
            let in_force = Record::open(repo)?.history(repo, *item)?.pop();
            tags::point(repo, in_force.map(|setting| (*item, setting.level, *introduced)))
        }
        Repair::RecordTag(level, item, introduced) => {
            let lock = repo.lock(RECORD)?;
            if !Record::open(repo)?.history(repo, *item)?.is_empty() {
                return Ok(None);
            }
            let request = Request::now(*item, level.0, signature.at, *introduced);
            let reason = Some("fsck: as its tag says".to_owned());
            set_under(&lock, repo, signature, &[Request { reason, ..request }])
        }
        Repair::Totals(name) => totals(repo, signature, name),
    };
    done.map(|()| None)
}

/// The index of the newest move in a reflog to a state whose objects can be read.
///
/// Only the state counts, not the history before it: one old damaged commit must not discard everything since.
pub(crate) fn newest_complete(repo: &Repo, log: &[LogEntry]) -> Option<usize> {
    log.iter().rposition(|entry| is_complete(repo, entry.new))
}

/// Whether the objects of a state can be read.
pub(crate) fn is_complete(repo: &Repo, oid: Oid) -> bool {
    repo.without_fetching(|| read_state(repo, oid)).is_ok()
}

/// Reads a commit, its folders, and its files. A partial clone may lack all but the commit.
fn read_state(repo: &Repo, oid: Oid) -> Result<(), GitError> {
    let mut trees = vec![repo.read_commit(oid)?.tree];
    while let Some(tree) = trees.pop().filter(|_| !repo.is_partial().unwrap_or(false)) {
        for entry in repo.read_tree(tree)? {
            match entry.mode() {
                Mode::Folder => trees.push(entry.oid),
                Mode::File => drop(repo.read_blob(entry.oid)?),
                Mode::Other => {}
            }
        }
    }
    Ok(())
}

/// Moves a ref that is missing or damaged to the newest complete state in its reflog. Returns what was lost. The old tip of a
/// trace is backed up.
fn go_back(repo: &Repo, signature: &Signature, refname: &str) -> Result<Option<String>, TraceError> {
    let lock = repo.lock(refname)?;
    let log = repo.read_reflog(refname)?;
    let Some(newest) = newest_complete(repo, &log) else { return Ok(None) };
    let to = log[newest].new;
    let tip = repo.find_ref(refname).ok().flatten();
    if tip.is_some_and(|tip| repo.read_commit(tip).and_then(|commit| tree::list(repo, commit.tree)).is_ok()) {
        return Ok(None);
    }
    let line = LogLine { who: &signature.committer, why: "fsck: back to the newest complete state" };
    let mut note = format!("now at {}", short_oid(to));
    let lost: Vec<&str> = log[newest + 1..].iter().map(|entry| entry.why.as_str()).collect();
    if !lost.is_empty() {
        note.extend(["; lost: ", &lost.join(", ")]);
    }
    let bad = tip.or_else(|| log.last().map(|last| last.new)).filter(|bad| *bad != to);
    if let Some(bad) = bad.filter(|_| TraceName::of_ref(refname).is_some()) {
        if let Some(kept) = repo.back_up(bad)? {
            note.extend(["; ", &bad.to_string(), " is kept as ", &kept]);
        } else {
            note.extend(["; ", &bad.to_string(), " cannot be read; if it has a file, that is in trace/damaged now"]);
        }
    }
    match tip {
        Some(_) => repo.update_ref(&lock, line.who, |old| {
            if old != tip {
                return Err(GitError::RefMoved { refname: refname.to_owned() });
            }
            Ok(RefUpdate::Move { to, log: line.why.to_owned(), value: () })
        })?,
        None => repo.repair_ref(refname, to, line)?,
    }
    Ok(Some(note))
}

/// Deletes a backup ref whose commit cannot be read. Git neither fetches nor collects garbage while there is one.
fn drop_backup(repo: &Repo, signature: &Signature, refname: &str) -> Result<Option<String>, TraceError> {
    let _lock = repo.lock(refname)?;
    let Some(tip) = repo.find_ref(refname)?.filter(|tip| repo.read_commit(*tip).is_err()) else { return Ok(None) };
    repo.delete_ref_at(refname, tip, &signature.committer)?;
    repo.set_aside(tip)?;
    Ok(Some(format!("it was at {tip}, which cannot be read")))
}

fn record(repo: &Repo, signature: &Signature) -> Result<(), TraceError> {
    line_history::change(repo, signature, &repo.lock(RECORD)?, |record| {
        let Some(before) = record.map(|record| record.tree) else { return Ok((None, ())) };
        let tree = normalized_tree(repo, before)?;
        let message = "fsck: put the lines in order\n".to_owned();
        Ok(((tree != before).then_some(NewState { tree, merged: None, message }), ()))
    })
}

fn normalized_tree(repo: &Repo, tree: Oid) -> Result<Oid, TraceError> {
    let mut editor = TreeEditor::new(repo, Some(tree))?;
    for folder in repo.read_tree(tree)?.into_iter().filter(|entry| entry.mode() == Mode::Folder) {
        for entry in repo.read_tree(folder.oid)?.into_iter().filter(|entry| entry.mode() == Mode::File) {
            let [above, name] = [&folder.name, &entry.name].map(|name| String::from_utf8_lossy(name));
            let path = format!("{above}/{name}");
            if item_of(&path).is_none() {
                continue;
            }
            let bytes = repo.read_blob(entry.oid)?;
            let lines = HISTORY.format.normalized(&bytes);
            if lines.is_empty() {
                editor.remove(repo, &path)?;
            } else if lines.as_bytes() != bytes {
                editor.put(repo, &path, repo.write_blob(lines.as_bytes())?)?;
            }
        }
    }
    Ok(editor.write(repo)?)
}

/// Commits true trailers and true token counts of the items. Nothing else changes.
fn totals(repo: &Repo, signature: &Signature, name: &TraceName) -> Result<(), TraceError> {
    let trace = Trace::new(repo, name.clone(), signature.clone());
    trace.change(|change| {
        let Some(tip) = change.tip().cloned() else { return Ok(()) };
        let said = tip.trailers.total.filter(|_| tip.is_ours());
        let counter = match said.map(|total| total.basis) {
            Some(Basis::Counted(id)) => Counter::find(id),
            _ => None,
        };
        let counter = counter.unwrap_or(change.counter);
        let slots = change.slots()?;
        let (mut counted, mut grown, mut is_wrong) = (PER_REPLY, 0, false);
        for slot in &slots {
            let Reading { mut item, damage } = Reading::of(slot, &repo.read_blob(slot.blob)?);
            let before = item_cost(&item, counter);
            let kept = item.tokens.filter(|kept| damage.is_none() && item.has_valid_cache(kept.counter));
            if let Some(kept) = kept
                && let Some(counter) = Counter::find(kept.counter)
            {
                let count = counter.count(&item.body);
                if count != kept.count {
                    item.tokens = Some(TokenCache { count, ..kept });
                    change.put_file(&slot.path, repo.write_blob(&item_file::render(&item))?)?;
                    is_wrong = true;
                }
            }
            let after = item_cost(&item, counter);
            counted += after;
            grown += after.cast_signed() - before.cast_signed();
        }
        let total = match said {
            Some(Total { tokens, basis: Basis::Reported }) => {
                Total { tokens: tokens.saturating_add_signed(grown), basis: Basis::Reported }
            }
            _ => Total { tokens: counted, basis: Basis::Counted(counter.id()) },
        };
        let next = slots.last().map_or(0, |slot| slot.seq + 1);
        let next = tip.trailers.next.filter(|_| tip.is_ours()).map_or(next, |said| said.max(next));
        if is_wrong || said != Some(total) || tip.trailers.next != Some(next) {
            change.total.replace(total, counted);
            change.next_seq = next;
            change.commit("fsck: count anew", Trailers::default(), None)?;
        }
        Ok::<_, TraceError>(())
    })?;
    Ok(())
}
