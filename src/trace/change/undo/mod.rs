//! Undoing operations of the operation log, and redoing them.
//!
//! Each ref goes back from the value that the operation gave it to the value that it had before. If it has another value now,
//! nothing moves. Clones share the priority record: lines that a pull or an import brought are taken out, and others are opposed.
//!
//! An undo is an operation that reverses another one, and so is a redo, which reverses an undo. A reversed operation is out of
//! effect, so the newest operation in effect is the next to undo or, if it is an undo, to redo. If an undo fails or is
//! killed, the operation that it reversed in part stays in effect, so that another undo completes it. The heads of worktrees other
//! than that of the operation do not count: they may stay.

mod effects;
mod elsewhere;
mod priority;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter;

use serde_json::{Value, json};

use effects::Effects;
use priority::{Priorities, RecordMove, Source};

use crate::git::{
    GitError, LogLine, Oid, Operation, RefLock, RefMove, RefUpdate, Repo, TreeStore as _, is_of_purges, short_oid,
};
use crate::trace::model::level::Level;
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTE_RECORDS, REMOTES, TRACES};
use crate::trace::model::tree;
use crate::trace::store::priority::{RECORD, restore_under, set_under};
use crate::trace::store::session::SESSIONS;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{note_purges, require_no_purge};
use crate::trace::store::{archived, head};
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// The namespaces whose refs go back. The others hold histories of lines, or belong to files that an undo does not restore.
const MOVABLE: [&str; 4] = [TRACES, FORWARD_CRUMBS, TRACKING[0], TRACKING[1]];

/// Remote-tracking refs. If a later command moved one, it stays there.
const TRACKING: [&str; 2] = [REMOTES, REMOTE_RECORDS];

/// A ref, a head, or a priority that a reversal changed.
#[derive(Debug)]
pub(crate) enum Reversed {
    Ref { refname: String, to: Option<Oid> },
    Head { refname: String, to: Option<String> },
    Priority { item: ItemId, level: Level },
}

/// The operations that changed something, newest first.
#[derive(Debug)]
pub(crate) struct History {
    operations: Vec<Operation>,
    /// The operation that reversed another one.
    reversed: HashMap<String, String>,
    /// Undos, and redos whose undo the log does not have.
    undos: HashSet<String>,
}

impl History {
    pub(crate) fn read(repo: &Repo) -> Result<Self, TraceError> {
        note_purges(repo)?;
        let mut operations = repo.operations()?;
        let mut moved_later = HashSet::new();
        for operation in &mut operations {
            for made in operation.refs.iter_mut().rev() {
                // The process died between the move and its second line if no later move starts from elsewhere.
                if moved_later.insert(made.refname.clone()) && !made.done {
                    made.done = made.old != made.new && value(repo, &made.refname)? == made.new;
                }
            }
            // Tombstones stay: an undo must not let purged content come back.
            operation.refs.retain(|made| made.done && !is_of_purges(&made.refname));
        }
        // The traces of an archiving are not among its moves: the remote has them, and `switch` brings them back.
        operations.retain(|operation| !operation.refs.is_empty() && operation.command != "archive");
        let (mut reversed, mut undos) = (HashMap::new(), HashSet::new());
        for operation in operations.iter().rev() {
            let known = operation.reverses.iter().any(|id| undos.contains(id));
            if !operation.reverses.is_empty() && !known && operation.command != "redo" {
                undos.insert(operation.id.clone());
            }
            let original = operation.reverses.first().and_then(|id| operations.iter().find(|other| other.id == *id));
            let worktree = &original.unwrap_or(operation).worktree;
            let counted = operation.refs.iter().filter(|made| is_counted(&made.refname, worktree)).count();
            let is_complete = operation.moves.is_none_or(|moves| counted >= moves);
            let moves = |id: &String| {
                let original = operations.iter().find(|original| original.id == *id);
                let refnames = original.map(|original| original.refs.iter().map(|made| &made.refname));
                // The record may have another move to come.
                let is_moved =
                    |name: &String| name != RECORD && operation.refs.iter().any(|made| made.refname == *name);
                refnames.is_some_and(|mut all| all.all(is_moved))
            };
            let done = operation.reverses.iter().filter(|id| is_complete || moves(id));
            reversed.extend(done.map(|id| (id.clone(), operation.id.clone())));
        }
        Ok(Self { operations, reversed, undos })
    }

    /// The operations of this worktree that can be undone, or, with `undos`, redone. What hooks did is left out. With a trace, only
    /// operations that changed it or the priority of one of its items.
    pub(crate) fn in_effect(
        &self,
        repo: &Repo,
        undos: bool,
        trace: Option<&TraceName>,
    ) -> Result<Vec<&Operation>, TraceError> {
        let worktree = repo.worktree_name();
        // A damaged tip can be undone, too.
        let tip = trace.and_then(|name| Tip::find(repo, name).ok().flatten());
        let slots = tip.and_then(|tip| tree::list(repo, tip.commit.tree).ok()).unwrap_or_default();
        let items = slots.into_iter().map(|slot| slot.id).collect();
        let (mut found, mut effects) = (Vec::new(), Effects::default());
        for operation in &self.operations {
            let is_ours = operation.worktree == worktree && operation.command.split(' ').next() != Some("hook");
            let is_asked = self.undos.contains(&operation.id) == undos && !self.reversed.contains_key(&operation.id);
            if is_ours && is_asked && effects.has(repo, self, operation) {
                let touches = trace.map_or(Ok(true), |name| touches(repo, operation, name, &items))?;
                found.extend(touches.then_some(operation));
            }
        }
        Ok(found)
    }

    /// Whether an operation was not undone, or redone since.
    fn has_effect(&self, id: &str) -> bool {
        let chain = iter::successors(Some(id), |id| self.reversed.get(*id).map(String::as_str));
        chain.count() % 2 == 1
    }

    /// The newest of the operations `in_effect`, as many as `number`. An export is not counted: it changes no item, and its file
    /// stays. It is reversed with an older operation if it moved the same ref. `None` if there are too few operations.
    pub(crate) fn newest<'h>(in_effect: &[&'h Operation], number: usize) -> Option<Vec<&'h Operation>> {
        let counted = in_effect.iter().filter(|operation| !is_export(operation));
        let counted: Vec<&Operation> = counted.take(number).copied().collect();
        let last = counted.last().filter(|_| counted.len() == number)?;
        let moves = |operation: &Operation, refname: &str| operation.refs.iter().any(|made| made.refname == refname);
        let is_on_top = |export: &Operation| {
            let mut traces = export.refs.iter().filter(|made| made.refname.starts_with(TRACES));
            traces.any(|made| counted.iter().any(|operation| moves(operation, &made.refname)))
        };
        let until_last = in_effect.iter().take_while(|operation| operation.id != last.id).copied();
        let chosen = until_last.filter(|operation| !is_export(operation) || is_on_top(operation));
        Some(chosen.chain([*last]).collect())
    }

    /// The operations that an undo or a redo is about: those that are reversed at the end of the chain, or itself.
    pub(crate) fn originals<'h>(&'h self, operation: &'h Operation) -> Vec<&'h Operation> {
        let mut found = Vec::new();
        for id in &operation.reverses {
            let earlier = self.operations.iter().find(|earlier| earlier.id == *id);
            found.extend(earlier.into_iter().flat_map(|earlier| self.originals(earlier)));
        }
        if found.is_empty() { vec![operation] } else { found }
    }

    /// The operation whose id starts with `spec`.
    pub(crate) fn find(&self, spec: &str) -> Result<&Operation, TraceError> {
        let mut found = self.operations.iter().filter(|operation| operation.id.starts_with(spec));
        match (found.next(), found.next()) {
            (Some(operation), None) if spec.len() >= 4 => match self.reversed.get(&operation.id) {
                Some(by) => Err(TraceError::OperationReversed { operation: operation.id.clone(), by: by.clone() }),
                None => Ok(operation),
            },
            (Some(_), Some(_)) if spec.len() >= 4 => Err(TraceError::AmbiguousOperation { spec: spec.to_owned() }),
            _ => Err(TraceError::NoSuchOperation { spec: spec.to_owned() }),
        }
    }
}

/// Whether a command wrote a trace as a session of an agent.
pub(crate) fn is_export(operation: &Operation) -> bool {
    matches!(operation.command.as_str(), "export" | "resume")
}

fn touches(repo: &Repo, operation: &Operation, name: &TraceName, items: &HashSet<ItemId>) -> Result<bool, TraceError> {
    for made in &operation.refs {
        if made.refname == name.refname() {
            return Ok(true);
        }
        if made.refname == RECORD
            && let (old, Some(new)) = ends(repo, operation, made)?
        {
            match priority::changed(repo, old, new) {
                Ok(changed) if !changed.iter().any(|item| items.contains(item)) => {}
                // It may be about any item. An undo names the operation.
                Err(TraceError::Git(source)) if source.is_damage() => return Ok(true),
                changed => return changed.map(|_| true),
            }
        }
    }
    Ok(false)
}

fn is_tracking(refname: &str) -> bool {
    TRACKING.iter().any(|prefix| refname.starts_with(prefix))
}

/// The values of a move that are oids.
fn ends(repo: &Repo, operation: &Operation, made: &RefMove) -> Result<(Option<Oid>, Option<Oid>), TraceError> {
    let parse = |value: &Option<String>| {
        let oid = value.as_deref().map(|text| Oid::parse(text, repo.object_format()));
        let damaged = || TraceError::DamagedOperation { operation: operation.id.clone() };
        oid.map(|oid| oid.ok_or_else(damaged)).transpose()
    };
    Ok((parse(&made.old)?, parse(&made.new)?))
}

/// Whether the reversal of an operation in a worktree is complete only with this move.
fn is_counted(refname: &str, worktree: &str) -> bool {
    refname.starts_with("refs/") || refname.rsplit_once('/').is_some_and(|(other, _)| other == worktree)
}

/// Whether a ref is symbolic: the heads of worktrees, and the refs of sessions.
fn is_symbolic(refname: &str) -> bool {
    !refname.starts_with("refs/") || refname.starts_with(SESSIONS)
}

/// The oid of a ref, or the target of a symbolic ref.
fn value(repo: &Repo, refname: &str) -> Result<Option<String>, TraceError> {
    if !is_symbolic(refname) {
        return Ok(repo.find_ref(refname)?.map(|oid| oid.to_string()));
    }
    // An unreadable one is the concern of that worktree, and of `fsck`.
    Ok(repo.find_symbolic_ref(refname).ok().flatten())
}

/// The changes that a reversal will make. The locks keep their old values in place.
#[derive(Default)]
struct Plan {
    refs: Vec<(RefLock, Option<Oid>, Option<Oid>)>,
    heads: Vec<(String, Option<String>, Option<String>)>,
    record: Option<RefLock>,
    priorities: Priorities,
    /// The tips that all traces will have, first those that move, then that of the current trace.
    tips: Vec<Oid>,
}

impl Plan {
    fn tips(&self, repo: &Repo) -> Result<Vec<Oid>, TraceError> {
        let moved = |refname: &str| self.refs.iter().any(|(lock, ..)| lock.refname() == refname);
        let current = head::current(repo).ok().map(|name| name.refname());
        let mut others = repo.list_refs(TRACES)?;
        others.retain(|(refname, _)| !moved(refname));
        others.sort_by_key(|(refname, _)| Some(refname) != current.as_ref());
        let moved = self.refs.iter().filter(|(lock, ..)| lock.refname().starts_with(TRACES));
        Ok(moved.filter_map(|(.., to)| *to).chain(others.into_iter().map(|(_, tip)| tip)).collect())
    }
}

/// Reverses operations, given newest first, as one operation. `verb` is the word for it in reflogs.
///
/// Fails before anything moves, with [`TraceError::MovedSince`] or [`TraceError::SetSince`], if a ref or a priority has changed since.
pub(crate) fn reverse(
    repo: &Repo,
    signature: &Signature,
    history: &History,
    operations: &[&Operation],
    verb: &str,
) -> Result<Vec<Reversed>, TraceError> {
    let _purges = require_no_purge(repo)?;
    let Plan { refs, heads, record, priorities, tips } = plan(repo, signature, history, operations)?;
    let commands: Vec<&str> = operations.iter().map(|operation| operation.command.as_str()).collect();
    let why = format!("{verb}: {}", commands.join(", "));
    let (who, mut done) = (&signature.committer, Vec::new());
    let worktree = operations.first().map_or_else(|| repo.worktree_name(), |first| first.worktree.clone());
    let heads_counted = heads.iter().filter(|(head, ..)| is_counted(head, &worktree)).count();
    let of_record = usize::from(!priorities.restored.is_empty()) + usize::from(!priorities.opposing.is_empty());
    let moves = refs.len() + heads_counted + of_record;
    repo.reverses(operations.iter().map(|operation| operation.id.clone()).collect(), moves);
    for (lock, from, to) in &refs {
        let Some(to) = *to else { continue };
        repo.update_ref(lock, who, |seen| {
            if seen != *from {
                return Err(GitError::RefMoved { refname: lock.refname().to_owned() });
            }
            Ok(RefUpdate::Move { to, log: why.clone(), value: () })
        })?;
        done.push(Reversed::Ref { refname: lock.refname().to_owned(), to: Some(to) });
    }
    // As in a rename, heads move while both refs exist.
    let (mut failures, mut stays) = (Vec::new(), None);
    for (refname, from, to) in heads {
        let log = LogLine { who, why: &why };
        match repo.restore_symbolic_ref(&refname, (to.as_deref(), from.as_deref()), log) {
            // That worktree has another trace by now.
            Err(GitError::RefMoved { .. }) if !is_counted(&refname, &worktree) => {}
            Err(source) if !is_counted(&refname, &worktree) => {
                stays = stays.or(from.as_deref().and_then(TraceName::of_ref));
                failures.push((repo.git_dir_of(&refname), source));
            }
            moved => {
                moved?;
                done.push(Reversed::Head { refname, to });
            }
        }
    }
    for (lock, from, to) in &refs {
        if let (Some(from), None) = (from, to) {
            repo.delete_ref_at(lock.refname(), *from, who)?;
            done.push(Reversed::Ref { refname: lock.refname().to_owned(), to: None });
        }
    }
    if let Some(lock) = record {
        let Priorities { opposing, restored, levels } = priorities;
        if !restored.is_empty() {
            restore_under(&lock, repo, signature, &restored, &tips)?;
        }
        if !opposing.is_empty() {
            set_under(&lock, repo, signature, &opposing)?;
        }
        done.extend(levels.into_iter().map(|(item, level)| Reversed::Priority { item, level }));
    }
    head::refuse_failures(&stays.unwrap_or_else(TraceName::default_name), failures)?;
    Ok(done)
}

fn plan(repo: &Repo, signature: &Signature, history: &History, operations: &[&Operation]) -> Result<Plan, TraceError> {
    let mut plan = Plan::default();
    let mut records = Vec::new();
    // In the order of names, so that two processes cannot wait for each other.
    let mut net: BTreeMap<&str, (&Operation, &Option<String>, &Option<String>)> = BTreeMap::new();
    for (operation, made) in
        operations.iter().rev().flat_map(|operation| operation.refs.iter().map(|made| (*operation, made)))
    {
        let refname = made.refname.as_str();
        if refname == RECORD {
            if let (old, Some(new)) = ends(repo, operation, made)? {
                let source = Source::of(repo, history, operation, new)
                    .map_err(|error| damaged_state(error, operation, RECORD))?;
                let place = history.operations.iter().position(|other| other.id == operation.id);
                let place = place.unwrap_or(history.operations.len());
                records.push(RecordMove { old, new, source, place });
            }
        } else if !is_symbolic(refname) && !MOVABLE.iter().any(|prefix| refname.starts_with(prefix)) {
            let (id, command, refname) = (operation.id.clone(), operation.command.clone(), refname.to_owned());
            return Err(TraceError::Irreversible { operation: id, command, refname });
        } else {
            let first = net.get(refname).copied();
            if let Some((earlier, ..)) = first.filter(|(.., new)| **new != made.old && !is_tracking(refname)) {
                return Err(moved_since(repo, earlier, made, None)?);
            }
            net.insert(refname, (operation, first.map_or(&made.old, |(_, old, _)| old), &made.new));
        }
    }
    for (refname, (operation, old, new)) in net.into_iter().filter(|(_, (_, old, new))| old != new) {
        let made = RefMove { refname: refname.to_owned(), old: old.clone(), new: new.clone(), done: true };
        if is_symbolic(refname) {
            // A worktree that has another trace by now keeps it.
            if repo.has_worktree_of(refname) && value(repo, refname)? == made.new {
                plan.heads.push((made.refname, made.new, made.old));
            }
            continue;
        }
        let lock = repo.lock(refname)?;
        let (old, new) = ends(repo, operation, &made)?;
        let seen = repo.find_ref(refname)?;
        let is_archived = |name: TraceName| Ok::<_, TraceError>(archived::find(repo, &name)?.is_some());
        if seen.is_none() && TraceName::of_ref(refname).map_or(Ok(false), is_archived)? {
            return Err(moved_since(repo, operation, &made, seen)?);
        }
        if seen == old || (seen != new && is_tracking(refname)) {
            continue;
        }
        if seen != new {
            return Err(moved_since(repo, operation, &made, seen)?);
        }
        if let Some(old) = old {
            read_state(repo, old).map_err(|source| damaged_state(source.into(), operation, refname))?;
        }
        plan.refs.push((lock, new, old));
    }
    elsewhere::refuse_to_delete(repo, &plan)?;
    elsewhere::refuse_lost(repo, &plan, operations)?;
    if !records.is_empty() {
        plan.record = Some(repo.lock(RECORD)?);
        plan.tips = plan.tips(repo)?;
        let of_traces = plan.refs.iter().filter(|(lock, ..)| lock.refname().starts_with(TRACES));
        let had: Vec<Oid> = of_traces.filter_map(|(_, from, _)| *from).collect();
        plan.priorities = priority::reversing(repo, signature, (history, operations), &records, [&had, &plan.tips])
            .map_err(|error| damaged_state(error, operations[0], RECORD))?;
    }
    if let ([], [], true, Some(operation)) =
        (plan.refs.as_slice(), plan.heads.as_slice(), plan.priorities.is_empty(), operations.first())
    {
        return Err(TraceError::NothingLeft { operation: operation.id.clone(), command: operation.command.clone() });
    }
    Ok(plan)
}

/// Whether an undo can go back to a commit: the commit and the list of its items can be read.
pub(crate) fn can_return_to(repo: &Repo, oid: Oid) -> bool {
    read_state(repo, oid).is_ok()
}

/// An error that names the operation, and thereby leads to older ones, if an object of a state is missing or damaged.
fn damaged_state(error: TraceError, operation: &Operation, refname: &str) -> TraceError {
    match error {
        TraceError::Git(source) if source.is_damage() => {
            let (operation, command) = (operation.id.clone(), operation.command.clone());
            TraceError::DamagedState { operation, command, refname: refname.to_owned(), source: Box::new(source) }
        }
        error => error,
    }
}

fn read_state(repo: &Repo, oid: Oid) -> Result<(), GitError> {
    repo.tree(repo.read_commit(oid)?.tree).map(drop)
}

fn moved_since(
    repo: &Repo,
    operation: &Operation,
    made: &RefMove,
    seen: Option<Oid>,
) -> Result<TraceError, TraceError> {
    if let (None, Some(name)) = (seen, TraceName::of_ref(&made.refname))
        && let Some(archived) = archived::find(repo, &name)?
    {
        return Ok(archived.into());
    }
    let mut revert = None;
    if let Some(seen) = seen.filter(|_| TraceName::of_ref(&made.refname).is_some())
        && let (old, Some(new)) = ends(repo, operation, made)?
        && repo.read_commit(new)?.parents.first() == old.as_ref()
        && old.is_some()
        && repo.is_ancestor(new, seen)?
    {
        revert = Some(short_oid(new));
    }
    let (operation, command) = (operation.id.clone(), operation.command.clone());
    Ok(TraceError::MovedSince { operation, command, refname: made.refname.clone(), revert })
}

pub(crate) fn to_json(originals: &[&Operation], reversed: &[Reversed]) -> Value {
    let operations: Vec<Value> = originals
        .iter()
        .map(|operation| json!({ "op": operation.id, "command": operation.command, "time": operation.time }))
        .collect();
    let changes = reversed.iter().map(|change| match change {
        Reversed::Ref { refname, to } => json!({ "ref": refname, "to": to.map(|oid| oid.to_string()) }),
        Reversed::Head { refname, to } => json!({ "ref": refname, "to": to }),
        Reversed::Priority { item, level } => json!({ "item": item.to_string(), "priority": level.as_str() }),
    });
    json!({ "operations": operations, "changes": changes.collect::<Vec<Value>>() })
}
