//! History: what each commit changed, and whether its trailers say so.

use std::collections::BTreeSet;

use super::blobs::Depth;
use super::problem::Problem;
use super::{Inspection, Line};
use crate::git::{BACKUP_REFS, Entry, GitError, Oid, TreeStore as _};
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
        let error = match Tip::read(self.repo, oid) {
            Ok(tip) => return Ok(Some(tip)),
            Err(TraceError::Git(error)) => error,
            Err(error) => return Err(error),
        };
        if self.reported.insert(oid) {
            let problem = Problem::object(&line.label, "commit", oid, &error);
            self.problems.push(match child {
                Some(child) => Problem { message: format!("its parent, {}", problem.message), ..problem }.commit(child),
                None => problem,
            });
        }
        Ok(None)
    }

    fn commit(&mut self, line: &Line, commit: &Tip, parent: Option<&Tip>) {
        let oid = commit.commit.oid;
        let before = parent.map(|parent| parent.commit.tree);
        let changes = match tree::changes(&self.trees, before, commit.commit.tree) {
            Ok(changes) => changes,
            Err(error) => {
                self.tree_problem(line, oid, &error);
                self.introduced(line, commit, &[]);
                return;
            }
        };
        let mut revisions = Vec::new();
        for change in &changes {
            let (before, Some(entry)) = change.sides() else { continue };
            let after = self.revision(line, oid, entry);
            if let Some(before) = before.filter(|before| before.blob != entry.blob) {
                revisions.push((entry.id, self.revision(line, oid, before), after));
            }
        }
        let blobs = changes.iter().filter_map(|change| change.sides().1).map(|entry| entry.blob);
        self.note_purged_objects(line, commit, blobs);
        self.introduced(line, commit, &changes);
        if !commit.is_ours() {
            return;
        }
        let mut problems = Vec::new();
        if let Some(message) = untrue_op(commit, &changes) {
            problems.push(Problem::warning("op", &line.label, message).item(commit.trailers.item));
        }
        if let (Some(at), Some(parent)) = (commit.trailers.time, parent)
            && parent.is_ours()
            && at <= parent.time()
        {
            let message = format!("Trace-Time {at} is not later than {} of its parent", parent.time());
            problems.push(Problem::warning("time", &line.label, message));
        }
        for (item, before, after) in revisions {
            if commit.trailers.op == Some(Op::Edit)
                && let (Some(before), Some(after)) = (before, after)
                && after <= before
            {
                let message = format!("an edit replaced revision {before} by revision {after}");
                problems.push(Problem::warning("revision", &line.label, message).item(Some(item)));
            }
        }
        let remedy = "no action is needed: history is not rewritten, and readers use the tree";
        self.problems.extend(problems.into_iter().map(|problem| problem.commit(oid).remedy(remedy)));
    }

    /// The revision in an item's file; `None` if it cannot be read, which is reported once.
    fn revision(&mut self, line: &Line, commit: Oid, entry: &ItemEntry) -> Option<u32> {
        match self.blobs.facts(self.repo, entry, Depth { cost: None, types: None }) {
            Ok(facts) => facts.filter(|facts| facts.damage.is_none()).map(|facts| facts.revision),
            Err(error) => {
                self.blob_problem(line, commit, entry, &error);
                None
            }
        }
    }

    pub(crate) fn blob_problem(&mut self, line: &Line, commit: Oid, entry: &ItemEntry, error: &GitError) {
        if self.reported.insert(entry.blob) {
            let problem = Problem::object(&line.label, "its file", entry.blob, error);
            self.problems.push(problem.commit(commit).item(Some(entry.id)));
        }
    }

    pub(crate) fn tree_problem(&mut self, line: &Line, commit: Oid, error: &GitError) {
        let Some(oid) = self.trees.failed.get() else { return };
        if self.reported.insert(oid) {
            self.problems.push(Problem::object(&line.label, "folder", oid, error).commit(commit));
        }
    }

    pub(crate) fn find_folder(&mut self, line: &Line, commit: Oid, tree: Oid) -> Option<Vec<Entry>> {
        let read = self.trees.read_tree(tree);
        read.map_err(|error| self.tree_problem(line, commit, &error)).ok()
    }

    pub(crate) fn folder(&mut self, line: &Line, commit: Oid, tree: Oid) -> Vec<Entry> {
        self.find_folder(line, commit, tree).unwrap_or_default()
    }

    pub(crate) fn file(&mut self, line: &Line, commit: Oid, item: Option<ItemId>, blob: Oid) -> Option<Vec<u8>> {
        let read = self.repo.read_blob(blob);
        read.map_err(|error| {
            if self.reported.insert(blob) {
                let problem = Problem::object(&line.label, "file", blob, &error);
                self.problems.push(problem.commit(commit).item(item));
            }
        })
        .ok()
    }

    fn introduced(&mut self, line: &Line, commit: &Tip, changes: &[Change]) {
        // No tag is needed there, and none may lead to what a purge removed elsewhere.
        if line.refname.starts_with(BACKUP_REFS) {
            return;
        }
        let items: Vec<ItemId> = match BroughtIn::by(commit) {
            BroughtIn::Item(item) => vec![item],
            BroughtIn::Nothing => Vec::new(),
            BroughtIn::WhatWasAdded => BroughtIn::added(changes).collect(),
        };
        for item in items.into_iter().filter(|item| self.levels.contains_key(item)) {
            self.introductions.entry(item).or_default().push(commit.commit.oid);
        }
    }
}

fn untrue_op(commit: &Tip, changes: &[Change]) -> Option<String> {
    let op = commit.trailers.op?;
    let item = match (commit.trailers.item, op) {
        (_, Op::Clean) => return untrue_clean(commit, changes),
        (Some(item), _) => item,
        (None, Op::Merge | Op::Pick | Op::Restore | Op::Delete | Op::Export) => return None,
        (None, _) => return Some(format!("Trace-Op is `{op}`, but there is no Trace-Item")),
    };
    let is_true = match (op, changes.iter().find(|change| change.entry().id == item)) {
        (Op::Append, Some(Change::Added(_)))
        | (Op::Delete, Some(Change::Removed(_)))
        | (Op::Edit, Some(Change::Changed(..))) => changes.len() == 1,
        (Op::Restore | Op::Import, Some(Change::Added(_) | Change::Changed(..)))
        | (Op::Compress, Some(Change::Added(_)))
        | (Op::Pick | Op::Merge, _) => true,
        _ => false,
    };
    if is_true {
        return None;
    }
    let done = match changes.len() {
        0 => "changed nothing".to_owned(),
        count @ 4.. => format!("changed {count} items"),
        _ => {
            let done = changes.iter().map(|change| {
                let word = match change {
                    Change::Added(_) => "added",
                    Change::Removed(_) => "removed",
                    Change::Changed(..) => "changed",
                };
                format!("{word} {}", change.entry().id)
            });
            done.collect::<Vec<_>>().join(", ")
        }
    };
    Some(format!("Trace-Op is `{op}` of {item}, but the commit {done}"))
}

fn untrue_clean(commit: &Tip, changes: &[Change]) -> Option<String> {
    let named: BTreeSet<ItemId> = commit.trailers.item.iter().chain(&commit.trailers.more_items).copied().collect();
    let changed: BTreeSet<ItemId> = changes.iter().map(|change| change.entry().id).collect();
    (named != changed).then(|| format!("Trace-Item names {} items, but the commit changed others", named.len()))
}
