//! Whether operations left something to reverse.

use std::collections::{HashMap, HashSet};

use super::priority::{self, Source};
use super::{History, MOVABLE, ends, is_tracking, value};
use crate::git::{Oid, Operation, RefMove, Repo};
use crate::trace::store::priority::RECORD;
use crate::trace::{ItemId, TraceError};

/// What decides it, while operations are looked at from the newest one to older ones.
#[derive(Default)]
pub(super) struct Effects<'o> {
    /// The refs of later operations, which are reversed first.
    later: HashSet<&'o str>,
    /// The current traces of worktrees, as far as they were read.
    heads: HashMap<&'o str, Option<String>>,
    /// The refs that an undo moves, once they were listed.
    refs: Option<HashMap<String, Oid>>,
}

impl<'o> Effects<'o> {
    /// Whether something is left to reverse. Nothing is if all that it made, deleted, or chose is back already, or if a pull or an import
    /// brought only disputes that other lines followed.
    pub(super) fn has(&mut self, repo: &Repo, history: &History, operation: &'o Operation) -> bool {
        let is_left = operation.refs.iter().any(|made| {
            if made.refname == RECORD {
                return is_left(repo, history, operation, made);
            }
            let refname = made.refname.as_str();
            if is_tracking(refname) {
                self.is_at(repo, refname, made.new.as_deref()) != Some(false)
            } else {
                // If a ref is back after such a move, an undo of an earlier one would make this one count again.
                let is_move = refname.starts_with("refs/") && made.old.is_some() && made.new.is_some();
                is_move || self.later.contains(refname) || self.is_at(repo, refname, made.old.as_deref()) != Some(true)
            }
        });
        if is_left {
            self.later.extend(operation.refs.iter().map(|made| made.refname.as_str()));
        }
        is_left
    }

    /// Whether a ref has a value; `None` if an undo does not move it, or if it cannot be read. Git lists the refs of a reftable in a
    /// process.
    fn is_at(&mut self, repo: &Repo, refname: &'o str, wanted: Option<&str>) -> Option<bool> {
        if !refname.starts_with("refs/") {
            let read = || value(repo, refname).ok().flatten();
            return Some(self.heads.entry(refname).or_insert_with(read).as_deref() == wanted);
        }
        if !MOVABLE.iter().any(|prefix| refname.starts_with(prefix)) {
            return None;
        }
        if self.refs.is_none() {
            let listed: Result<Vec<_>, _> = MOVABLE.iter().map(|prefix| repo.list_refs(prefix)).collect();
            self.refs = Some(listed.ok()?.into_iter().flatten().collect());
        }
        Some(self.refs.as_ref()?.get(refname).map(Oid::to_string).as_deref() == wanted)
    }
}

/// The items whose priorities were set by the newest `until` operations of the history, as far as these stay in effect beside a reversal
/// of `operations`. Each item has the place of the newest one, counted from 0.
pub(super) fn set_since(
    repo: &Repo,
    history: &History,
    operations: &[&Operation],
    until: usize,
) -> Result<HashMap<ItemId, usize>, TraceError> {
    let mut set = HashMap::new();
    // A redo takes along what it redid.
    let originals = operations.iter().flat_map(|operation| history.originals(operation));
    let reversed: HashSet<&str> = originals.chain(operations.iter().copied()).map(|one| &*one.id).collect();
    for (place, operation) in history.operations.iter().enumerate().take(until) {
        // A redone operation is in effect since it was done first.
        let is_reversal = !operation.reverses.is_empty();
        if is_reversal || !history.has_effect(&operation.id) || reversed.contains(&*operation.id) {
            continue;
        }
        for made in operation.refs.iter().filter(|made| made.refname == RECORD) {
            if let (old, Some(new)) = ends(repo, operation, made)?
                && is_left(repo, history, operation, made)
            {
                for item in priority::changed(repo, old, new)? {
                    set.entry(item).or_insert(place);
                }
            }
        }
    }
    Ok(set)
}

fn is_left(repo: &Repo, history: &History, operation: &Operation, made: &RefMove) -> bool {
    let Ok((old, Some(new))) = ends(repo, operation, made) else { return true };
    let source = Source::of(repo, history, operation, new);
    source.and_then(|source| priority::is_left(repo, (old, new, source))).unwrap_or(true)
}
