//! Listing, creating, renaming, and deleting traces. None of these copies an object.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::git::{Ident, LogLine, Oid, RefUpdate, Repo};
use crate::trace::model::name::{REMOTES, TRACES};
use crate::trace::model::trailers::Total;
use crate::trace::model::tree;
use crate::trace::store::foreign::refuse_state;
use crate::trace::store::priority::Record;
use crate::trace::store::total::read_item;
use crate::trace::store::trace_index::ListedTrace;
use crate::trace::store::{archived, head, session, settings};
use crate::trace::{Tip, Trace, TraceError, TraceName, View};

/// How many of a trace's newest items are read to find out whether it records a session.
const SEARCHED: usize = 100;

/// How many traces are deleted by one call of git.
const BATCH: usize = 1000;

#[derive(Debug)]
pub(crate) struct Listed {
    pub name: TraceName,
    pub tip: Oid,
    /// An error if the tip or one of its items is damaged.
    pub content: Result<(View, Total), TraceError>,
    /// The git folders of the worktrees in which it was chosen as the current trace.
    pub worktrees: Vec<PathBuf>,
}

/// Reads traces for a list, damaged ones too: the tip and the item list of each, and the items that are left out.
pub(crate) fn list(
    repo: &Repo,
    traces: Vec<ListedTrace>,
) -> Result<impl Iterator<Item = Result<Listed, TraceError>> + '_, TraceError> {
    let heads = head::of_worktrees(repo)?;
    let record = Record::open(repo);
    Ok(traces.into_iter().map(move |ListedTrace { name, tip: oid, .. }| {
        let view = Tip::read(repo, oid).and_then(|tip| match &record {
            Ok(record) => View::with_record(repo, record, tip.clone(), tree::list(repo, tip.commit.tree)?, None),
            Err(_) => View::at(repo, tip, None),
        });
        let counter = settings::counter(repo, Some(&name))?;
        let content = view.and_then(|view| {
            let total = view.listed_total(repo, counter)?;
            Ok((view, total))
        });
        let content = match content {
            Err(TraceError::Git(error)) if !error.is_damage() => return Err(error.into()),
            content => content,
        };
        let holders = heads.iter().filter(|(_, chosen)| chosen.as_ref() == Some(&name));
        let worktrees = holders.map(|(git_dir, _)| git_dir.clone()).collect();
        Ok(Listed { name, tip: oid, content, worktrees })
    }))
}

impl Trace<'_> {
    /// Creates the trace at a commit that may be somebody else's; `from` is the user's name for that commit. Returns the tip.
    pub(crate) fn start_at(&self, start: Oid, from: &str) -> Result<Oid, TraceError> {
        let is_tip = is_tip(self.repo(), start)?;
        create(self.repo(), self.name(), &self.signature()?.committer, start, from)?;
        if is_tip { Ok(start) } else { self.correct_totals(start) }
    }

    /// Moves the trace to a commit that may be somebody else's. Returns the previous tip, which may be damaged, and the new one;
    /// `None` if that was the commit.
    pub(crate) fn reset(&self, to: Oid, spec: &str) -> Result<Option<(Oid, Oid)>, TraceError> {
        let is_tip = is_tip(self.repo(), to)?;
        let before = self.update_from(&*self.signature()?, |tip| {
            let tip = tip.ok_or_else(|| self.missing())?;
            refuse_state(self.repo(), to, Some(tip))?;
            Ok::<_, TraceError>(if tip == to {
                RefUpdate::Keep(None)
            } else {
                RefUpdate::Move { to, log: format!("reset: to {spec}"), value: Some(tip) }
            })
        })?;
        let Some(before) = before else { return Ok(None) };
        Ok(Some((before, if is_tip { to } else { self.correct_totals(to)? })))
    }
}

/// Whether a trace is at a commit. Its totals were compared when it came there.
fn is_tip(repo: &Repo, oid: Oid) -> Result<bool, TraceError> {
    // Usually it is that of the current trace, which costs the same beside any number of others.
    let current = head::current(repo).ok().and_then(|name| repo.find_ref(&name.refname()).ok().flatten());
    Ok(current == Some(oid) || repo.list_refs(TRACES)?.iter().any(|(_, tip)| *tip == oid))
}

/// Creates a trace at a commit; `from` is the user's name for that commit.
pub(crate) fn create(repo: &Repo, name: &TraceName, who: &Ident, start: Oid, from: &str) -> Result<(), TraceError> {
    // A purge may have run meanwhile.
    let lock = repo.lock(&name.refname())?;
    // The current trace may be unreadable.
    let known = head::current(repo).ok().and_then(|current| repo.find_ref(&current.refname()).ok().flatten());
    refuse_state(repo, start, known)?;
    archived::refuse_name(repo, name, Some(start))?;
    repo.update_ref(&lock, who, |existing| match existing {
        Some(_) => Err(TraceError::TraceExists { name: name.clone() }),
        None => Ok(RefUpdate::Move { to: start, log: format!("branch: from {from}"), value: () }),
    })
}

/// Renames a trace and its reflog, and the current trace of each worktree where it is that. The trace always has a name.
pub(crate) fn rename(repo: &Repo, old: &TraceName, new: &TraceName, who: &Ident) -> Result<(), TraceError> {
    if old == new {
        return tip_oid(repo, old).map(drop);
    }
    let (from, to) = (old.refname(), new.refname());
    // Lock in the order of names, so that two processes cannot wait for each other.
    let (first, second) = if from < to { (&from, &to) } else { (&to, &from) };
    let _locks = (repo.lock(first)?, repo.lock(second)?);
    let tip = tip_oid(repo, old)?;
    if repo.find_ref(&to)?.is_some() {
        return Err(TraceError::TraceExists { name: new.clone() });
    }
    archived::refuse_name(repo, new, Some(tip))?;
    let log = LogLine { who, why: &format!("rename: {old} to {new}") };
    let own = names_its_session(repo, old, tip);
    let mut failures = Vec::new();
    repo.rename_ref(&from, &to, tip, log, || {
        session::rename(repo, (old, new), own, log)?;
        failures = head::rename(repo, old, new, log)?;
        Ok::<_, TraceError>(())
    })?;
    archived::forget(repo, old)?;
    head::refuse_failures(old, failures)
}

/// Whether a trace has the default name of a session that it records: its newest imported item is from that agent. A damaged tip
/// does not tell, so a name of that form counts.
fn names_its_session(repo: &Repo, name: &TraceName, tip: Oid) -> bool {
    let Some((agent, _)) = name.as_str().split_once('/') else { return false };
    let format_of_newest = || {
        let slots = tree::list(repo, Tip::read(repo, tip)?.commit.tree)?;
        for slot in slots.iter().rev().take(SEARCHED) {
            if let Some(source) = read_item(repo, slot)?.fields.source {
                return Ok::<_, TraceError>(Some(source.format().to_owned()));
            }
        }
        Ok(None)
    };
    format_of_newest().map_or(true, |format| format.as_deref() == Some(agent))
}

/// The tip of a trace, which may be damaged.
fn tip_oid(repo: &Repo, name: &TraceName) -> Result<Oid, TraceError> {
    Tip::note(repo, name)?.ok_or_else(|| Tip::missing(repo, name))
}

/// Whether to delete a trace with commits that no other trace has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unmerged {
    Refuse,
    Delete,
}

/// Deletes a trace and its reflog. Returns its tip, which is backed up.
pub(crate) fn delete(repo: &Repo, name: &TraceName, who: &Ident, unmerged: Unmerged) -> Result<Oid, TraceError> {
    let refname = name.refname();
    let _lock = repo.lock(&refname)?;
    let tip = tip_oid(repo, name)?;
    let current = head::current(repo)?;
    let mut holders = head::of_worktrees(repo)?;
    holders.insert(0, (repo.git_dir().to_path_buf(), Some(current.clone())));
    if let Some((git_dir, _)) = holders.into_iter().find(|(_, chosen)| chosen.as_ref() == Some(name)) {
        let git_dir = Some(git_dir).filter(|git_dir| git_dir != repo.git_dir());
        return Err(TraceError::IsCurrent { name: name.clone(), git_dir });
    }
    if unmerged == Unmerged::Refuse && !is_elsewhere(repo, name, tip, &current)? {
        return Err(TraceError::Unmerged { name: name.clone(), current });
    }
    session::unbind(repo, &[name], LogLine { who, why: &format!("delete: {name}") })?;
    repo.delete_ref_at(&refname, tip, who)?;
    archived::forget(repo, name)?;
    Ok(tip)
}

/// Deletes traces that have these tips, and their reflogs. Returns those that another process changed meanwhile, which stay.
pub(crate) fn delete_all<'n>(
    repo: &Repo,
    traces: &[(&'n TraceName, Oid)],
    who: &Ident,
) -> Result<Vec<&'n TraceName>, TraceError> {
    let names: Vec<&TraceName> = traces.iter().map(|(name, _)| *name).collect();
    session::unbind(repo, &names, LogLine { who, why: "delete" })?;
    let mut stay = Vec::new();
    for batch in traces.chunks(BATCH) {
        let refs: Vec<(String, Oid)> = batch.iter().map(|(name, tip)| (name.refname(), *tip)).collect();
        if repo.delete_all_at(&refs, who).is_ok() {
            continue;
        }
        // All or none: a trace that another process changed stops no other.
        for ((name, tip), (refname, _)) in batch.iter().zip(refs) {
            match repo.find_ref(&refname)? {
                Some(oid) if oid == *tip => repo.delete_ref_at(&refname, oid, who)?,
                Some(_) => stay.push(*name),
                None => {}
            }
        }
    }
    let deleted = names.into_iter().filter(|name| !stay.contains(name)).cloned().collect::<Vec<_>>();
    archived::remove(repo, &deleted)?;
    Ok(stay)
}

/// Whether the current trace, or a remote's trace of the same name, contains a commit.
fn is_elsewhere(repo: &Repo, name: &TraceName, tip: Oid, current: &TraceName) -> Result<bool, TraceError> {
    let is_merged = match repo.find_ref(&current.refname())? {
        Some(other) => repo.is_ancestor(tip, other)?,
        None => false,
    };
    Ok(is_merged || is_pushed(repo, name, tip)?)
}

/// Whether a remote's trace of the same name contains a commit, as far as it is known here.
fn is_pushed(repo: &Repo, name: &TraceName, tip: Oid) -> Result<bool, TraceError> {
    let suffix = format!("/{name}");
    for (refname, other) in repo.list_refs(REMOTES)? {
        if refname.ends_with(&suffix) && repo.is_ancestor(tip, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn to_json(trace: &Listed, is_current: bool) -> Value {
    let mut value = json!({
        "trace": trace.name.as_str(),
        "current": is_current,
        "elsewhere": !is_current && !trace.worktrees.is_empty(),
        "commit": trace.tip.to_string(),
    });
    match &trace.content {
        Ok((view, total)) => {
            value["items"] = view.slots.len().into();
            value["tokens"] = total.to_json();
            value.as_object_mut().into_iter().for_each(|value| value.extend(view.tip.to_json()));
        }
        Err(error) => value["error"] = error.to_string().into(),
    }
    value
}
