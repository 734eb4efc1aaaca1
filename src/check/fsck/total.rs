//! Totals and next positions: the trailers of a tip match its tree.

use super::blobs::Depth;
use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::Tip;
use crate::trace::model::trailers::{Basis, Counted, Total};
use crate::trace::model::tree;
use crate::trace::store::foreign::wastes_positions;
use crate::trace::store::total::{item_cost, read_item};

impl Inspection<'_> {
    /// Checks the trailers of a tip. Plain git may copy trailers of another tree, which are ignored.
    pub(crate) fn totals(&mut self, line: &Line, tip: &Tip) {
        let Some(name) = line.name.clone().filter(|_| tip.is_ours()) else { return };
        let Ok(entries) = tree::list(&self.trees, tip.commit.tree) else { return };
        let repair = Repair::Totals(name);
        let last = entries.last().map_or(0, |entry| entry.seq + 1);
        if let Some(next) = tip.trailers.next.filter(|next| *next < last) {
            let message = format!("Trace-Next is {next}, but position {} is taken", last - 1);
            let problem = Problem::error("next", &line.label, message).commit(tip.commit.oid);
            self.problems.push(problem.repair(repair.clone()));
        }
        if let Some((next, items)) = wastes_positions(tip, &entries) {
            let message = format!("the next position is #{next}, but there are only {items} items");
            let problem = Problem::warning("positions", &line.label, message).commit(tip.commit.oid);
            self.problems.push(problem.remedy("`git trace gc --renumber` closes the gaps"));
        }
        // A reported total cannot be counted again.
        let Some((said, counter)) = said(self.repo, tip) else { return };
        let mut counted = PER_REPLY;
        for entry in &entries {
            let facts = self.blobs.facts(self.repo, entry, Depth { cost: Some(counter), types: None });
            // An unreadable item was reported, and cannot be counted.
            let Some((cost, _)) = facts.ok().flatten().and_then(|facts| facts.cost) else { return };
            counted += cost;
        }
        // Version 0.1 reads this one.
        let total =
            tip.trailers.total.filter(|total| total.basis == Basis::Counted(counter.id())).map(|total| total.tokens);
        if counted != said || total.is_some_and(|total| total != said) {
            let (trailer, tokens) = total.map_or(("Trace-Counted", said), |total| ("Trace-Total", total));
            let since = self.wrong_since(tip, counter).filter(|since| *since != tip.commit.oid);
            let since = since.map(|since| format!(", since commit {since}")).unwrap_or_default();
            let message = format!("{trailer} is {tokens}, but its items have {counted} tokens{since}");
            let problem = Problem::error("total", &line.label, message).commit(tip.commit.oid);
            self.problems.push(problem.repair(repair));
        }
    }

    /// The newest commit whose total does not follow from that of its parent; `None` if something cannot be read, which was
    /// reported. Reads the items that changed since.
    fn wrong_since(&self, tip: &Tip, counter: Counter) -> Option<Oid> {
        let counted = |tip: &Tip| {
            let (tokens, _) = said(self.repo, tip).filter(|(_, theirs)| theirs.id() == counter.id())?;
            Some(i128::from(tokens))
        };
        let mut child = tip.clone();
        loop {
            let oid = child.commit.oid;
            let Some(parent) = child.commit.parents.first() else { return Some(oid) };
            let parent = Tip::read(self.repo, *parent).ok()?;
            let (Some(before), Some(after)) = (counted(&parent), counted(&child)) else { return Some(oid) };
            let mut grown = 0;
            for change in tree::changes(&self.trees, Some(parent.commit.tree), child.commit.tree).ok()? {
                let (removed, added) = change.sides();
                for (entry, sign) in removed.map(|entry| (entry, -1)).into_iter().chain(added.map(|entry| (entry, 1))) {
                    grown += sign * i128::from(item_cost(&read_item(self.repo, entry).ok()?, counter));
                }
            }
            if after - before != grown {
                return Some(oid);
            }
            child = parent;
        }
    }
}

/// Our own count according to the trailers, and its counter; `None` also if that counter is not here.
fn said(repo: &Repo, tip: &Tip) -> Option<(u64, Counter)> {
    let ((Some(Counted { counter, .. }), _) | (None, Some(Total { basis: Basis::Counted(counter), .. }))) =
        (tip.trailers.counted, tip.trailers.total)
    else {
        return None;
    };
    let counter = Counter::find(counter)?;
    Some((tip.said_count(repo, counter).ok().flatten()?, counter))
}
