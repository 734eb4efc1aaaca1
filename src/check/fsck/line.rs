//! The history of a line: what each commit changed, and whether its trailers tell of that.

use super::blobs::Look;
use super::fault::{Fault, as_git};
use super::{Inspection, Line};
use crate::git::{GitError, Oid};
use crate::trace::model::trailers::Op;
use crate::trace::model::tree::{self, Change, ItemEntry};
use crate::trace::store::priority::tags::BroughtIn;
use crate::trace::{ItemId, Tip, TraceError};

impl Inspection<'_> {
    /// Reads the history behind a tip, each commit with its first parent, as far as it was not read before.
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

    /// Reads the commits behind one whose trees are no trace's: that they are all there.
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

    /// Reads a commit, which is the parent of `child`.
    pub(crate) fn read_commit(&mut self, line: &Line, oid: Oid, child: Option<Oid>) -> Result<Option<Tip>, TraceError> {
        match Tip::read(self.repo, oid).map_err(as_git) {
            Ok(tip) => Ok(Some(tip)),
            Err(error) => {
                let error = error?;
                if self.told.insert(oid) {
                    let fault = Fault::object(&line.label, "commit", oid, &error);
                    self.faults.push(match child {
                        Some(child) => {
                            Fault { message: format!("its parent, {}", fault.message), ..fault }.commit(child)
                        }
                        None => fault,
                    });
                }
                Ok(None)
            }
        }
    }

    /// Checks what a commit changed against its first parent.
    fn commit(&mut self, line: &Line, commit: &Tip, parent: Option<&Tip>) {
        let oid = commit.commit.oid;
        let before = parent.map(|parent| parent.commit.tree);
        let changes = match tree::changes(&self.trees, before, commit.commit.tree) {
            Ok(changes) => changes,
            Err(error) => {
                self.tree_fault(line, oid, &error);
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
        let mut told = Vec::new();
        if let Some(message) = untrue_op(commit, &changes) {
            told.push(Fault::warning("op", &line.label, message).item(commit.trailers.item));
        }
        if let (Some(at), Some(parent)) = (commit.trailers.time, parent)
            && parent.is_ours()
            && at <= parent.time()
        {
            let message = format!("Trace-Time {at} is not later than {} of its parent", parent.time());
            told.push(Fault::warning("time", &line.label, message));
        }
        for (item, before, after) in revisions {
            if commit.trailers.op == Some(Op::Edit)
                && let (Some(before), Some(after)) = (before, after)
                && after <= before
            {
                let message = format!("an edit made revision {after} of revision {before}");
                told.push(Fault::warning("revision", &line.label, message).item(Some(item)));
            }
        }
        let remedy = "history stays as it is; what readers take from it is the tree";
        self.faults.extend(told.into_iter().map(|fault| fault.commit(oid).remedy(remedy)));
    }

    /// The revision that an item's file says; `None`, and a fault once, where it cannot be read.
    fn revision(&mut self, line: &Line, commit: Oid, slot: &ItemEntry) -> Option<u32> {
        let look = Look { cost: None, types: None };
        match self.blobs.fact(self.repo, slot, look) {
            Ok(fact) => fact.filter(|fact| fact.damage.is_none()).map(|fact| fact.revision),
            Err(error) => {
                self.blob_fault(line, commit, slot, &error);
                None
            }
        }
    }

    pub(crate) fn blob_fault(&mut self, line: &Line, commit: Oid, slot: &ItemEntry, error: &GitError) {
        if self.told.insert(slot.blob) {
            let fault = Fault::object(&line.label, "its file", slot.blob, error);
            self.faults.push(fault.commit(commit).item(Some(slot.id)));
        }
    }

    /// A tree that could not be read, which is the one that was asked for last.
    pub(crate) fn tree_fault(&mut self, line: &Line, commit: Oid, error: &GitError) {
        let Some(oid) = self.trees.failed() else { return };
        if self.told.insert(oid) {
            self.faults.push(Fault::object(&line.label, "folder", oid, error).commit(commit));
        }
    }

    /// Takes down which items of the record this commit brought in.
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

/// What a commit's trailers say of its change that is not so.
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
