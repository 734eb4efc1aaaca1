//! History: what each commit changed, and whether its trailers say so.

use super::blobs::Wanted;
use super::problem::{Problem, as_git};
use super::{Inspection, Line};
use crate::git::{GitError, Oid};
use crate::trace::model::trailers::Op;
use crate::trace::model::tree::{self, Change, ItemEntry};
use crate::trace::store::priority::tags::BroughtIn;
use crate::trace::{ItemId, Tip, TraceError};

impl Inspection<'_> {
    /// Reads the history of a tip, each commit with its first parent, up to commits that were read before.
    pub(crate) fn history(&mut self, line: &Line, tip: Oid) -> Result<(), TraceError> {
        let mut starts = vec![(tip, None)];
        while let Some((start, child)) = starts.pop() {
            if !self.commits.insert(start) {
                continue;
            }
            let Some(mut commit) = self.read_commit(line, start, child)? else { continue };
            loop {
                (self.watch)(self.commits.len());
                let oid = commit.commit.oid;
                let ends_here = self.shallow.contains(&oid);
                let parents: &[Oid] = if ends_here { &[] } else { &commit.commit.parents };
                starts.extend(parents.iter().skip(1).map(|parent| (*parent, Some(oid))));
                let parent = match parents.first() {
                    Some(parent) => match self.read_commit(line, *parent, Some(oid))? {
                        Some(parent) => Some(parent),
                        None => break,
                    },
                    None => None,
                };
                if !ends_here {
                    self.commit(line, &commit, parent.as_ref());
                }
                match parent {
                    Some(parent) if self.commits.insert(parent.commit.oid) => commit = parent,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Checks that the history of a commit is complete. The trees are not those of a trace.
    pub(crate) fn ancestors(&mut self, line: &Line, tip: Tip) -> Result<(), TraceError> {
        let mut waiting = vec![tip];
        while let Some(commit) = waiting.pop() {
            let oid = commit.commit.oid;
            if !self.commits.insert(oid) || self.shallow.contains(&oid) {
                continue;
            }
            (self.watch)(self.commits.len());
            for parent in &commit.commit.parents {
                waiting.extend(self.read_commit(line, *parent, Some(oid))?);
            }
        }
        Ok(())
    }

    pub(crate) fn read_commit(&mut self, line: &Line, oid: Oid, child: Option<Oid>) -> Result<Option<Tip>, TraceError> {
        match Tip::read(self.repo, oid).map_err(as_git) {
            Ok(tip) => Ok(Some(tip)),
            Err(error) => {
                let error = error?;
                if self.reported.insert(oid) {
                    let problem = Problem::object(&line.label, "commit", oid, &error);
                    self.problems.push(match child {
                        Some(child) => {
                            Problem { message: format!("its parent, {}", problem.message), ..problem }.commit(child)
                        }
                        None => problem,
                    });
                }
                Ok(None)
            }
        }
    }

    /// Checks what a commit changed compared with its first parent.
    fn commit(&mut self, line: &Line, commit: &Tip, parent: Option<&Tip>) {
        let oid = commit.commit.oid;
        let before = parent.map(|parent| parent.commit.tree);
        let changes = match tree::changes(&self.trees, before, commit.commit.tree) {
            Ok(changes) => changes,
            Err(error) => {
                self.tree_problem(line, oid, &error);
                self.introduced(commit, &[]);
                return;
            }
        };
        let mut revisions = Vec::new();
        for change in &changes {
            let slot = match change {
                Change::Added(slot) | Change::Changed(_, slot) => slot,
                Change::Removed(_) => continue,
            };
            let after = self.revision(line, oid, slot);
            if let Change::Changed(before, after_slot) = change
                && before.blob != after_slot.blob
            {
                revisions.push((slot.id, self.revision(line, oid, before), after));
            }
        }
        self.introduced(commit, &changes);
        if !commit.is_ours() {
            return;
        }
        let mut reported = Vec::new();
        if let Some(message) = untrue_op(commit, &changes) {
            reported.push(Problem::warning("op", &line.label, message).item(commit.trailers.item));
        }
        if let (Some(at), Some(parent)) = (commit.trailers.time, parent)
            && parent.is_ours()
            && at <= parent.time()
        {
            let message = format!("Trace-Time {at} is not later than {} of its parent", parent.time());
            reported.push(Problem::warning("time", &line.label, message));
        }
        for (item, before, after) in revisions {
            if commit.trailers.op == Some(Op::Edit)
                && let (Some(before), Some(after)) = (before, after)
                && after <= before
            {
                let message = format!("an edit made revision {after} of revision {before}");
                reported.push(Problem::warning("revision", &line.label, message).item(Some(item)));
            }
        }
        let remedy = "history stays as it is; what readers take from it is the tree";
        self.problems.extend(reported.into_iter().map(|problem| problem.commit(oid).remedy(remedy)));
    }

    /// The revision in an item's file; `None` if it cannot be read, which is reported once.
    fn revision(&mut self, line: &Line, commit: Oid, slot: &ItemEntry) -> Option<u32> {
        let wanted = Wanted { cost: None, types: None };
        match self.blobs.facts(self.repo, slot, wanted) {
            Ok(facts) => facts.filter(|facts| facts.damage.is_none()).map(|facts| facts.revision),
            Err(error) => {
                self.blob_problem(line, commit, slot, &error);
                None
            }
        }
    }

    pub(crate) fn blob_problem(&mut self, line: &Line, commit: Oid, slot: &ItemEntry, error: &GitError) {
        if self.reported.insert(slot.blob) {
            let problem = Problem::object(&line.label, "its file", slot.blob, error);
            self.problems.push(problem.commit(commit).item(Some(slot.id)));
        }
    }

    /// Reports the tree that was read last and failed.
    pub(crate) fn tree_problem(&mut self, line: &Line, commit: Oid, error: &GitError) {
        let Some(oid) = self.trees.failed() else { return };
        if self.reported.insert(oid) {
            self.problems.push(Problem::object(&line.label, "folder", oid, error).commit(commit));
        }
    }

    /// Notes which items of the record this commit introduced.
    fn introduced(&mut self, commit: &Tip, changes: &[Change]) {
        let items: Vec<ItemId> = match BroughtIn::by(commit) {
            BroughtIn::Item(item) => vec![item],
            BroughtIn::Nothing => Vec::new(),
            BroughtIn::WhatWasAdded => BroughtIn::added(changes).collect(),
        };
        for item in items {
            if self.levels.contains_key(&item) {
                self.introductions.entry(item).or_default().push(commit.commit.oid);
            }
        }
    }
}

/// What is wrong with `Trace-Op`, if anything.
fn untrue_op(commit: &Tip, changes: &[Change]) -> Option<String> {
    let op = commit.trailers.op?;
    let item = match (commit.trailers.item, op) {
        (Some(item), _) => item,
        (None, Op::Merge | Op::Pick | Op::Restore | Op::Delete) => return None,
        (None, _) => return Some(format!("Trace-Op is `{op}`, and no Trace-Item says of which item")),
    };
    let change = changes.iter().find(|change| change.entry().id == item);
    let only = changes.len() == 1;
    let is_so = match (op, change) {
        (Op::Append, Some(Change::Added(_)))
        | (Op::Delete, Some(Change::Removed(_)))
        | (Op::Edit, Some(Change::Changed(..))) => only,
        (Op::Restore | Op::Import, Some(Change::Added(_) | Change::Changed(..)))
        | (Op::Compress, Some(Change::Added(_)))
        | (Op::Pick | Op::Merge, _) => true,
        _ => false,
    };
    let was = changes.iter().map(|change| {
        let word = match change {
            Change::Added(_) => "added",
            Change::Removed(_) => "removed",
            Change::Changed(..) => "changed",
        };
        format!("{word} {}", change.entry().id)
    });
    let was = match changes.len() {
        0 => "changed nothing".to_owned(),
        count @ 4.. => format!("changed {count} items"),
        _ => was.collect::<Vec<_>>().join(", "),
    };
    (!is_so).then(|| format!("Trace-Op is `{op}` of {item}, and the commit {was}"))
}
