//! Totals and next positions: the trailers of a tip match its tree.

use super::blobs::Wanted;
use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::Oid;
use crate::tokens::Encoding;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::trailers::Basis;
use crate::trace::model::tree::{self, Change};
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::{Tip, TraceError};

impl Inspection<'_> {
    /// Checks the trailers of a tip. Plain git may copy trailers of another tree, which are ignored.
    pub(crate) fn totals(&mut self, line: &Line, tip: &Tip) -> Result<(), TraceError> {
        let Some(name) = line.name.clone().filter(|_| tip.is_ours()) else { return Ok(()) };
        let Ok(slots) = tree::list(&self.trees, tip.commit.tree) else { return Ok(()) };
        let repair = Repair::Totals(name);
        let last = slots.last().map_or(0, |slot| slot.seq + 1);
        if let Some(next) = tip.trailers.next.filter(|next| *next < last) {
            let message = format!("Trace-Next is {next}, and position {} is taken", last - 1);
            let problem = Problem::error("next", &line.label, message).commit(tip.commit.oid);
            self.problems.push(problem.repair(repair.clone()));
        }
        let Some(said) = tip.trailers.total else { return Ok(()) };
        // A reported total cannot be counted again.
        let Basis::Counted(encoding) = said.basis else { return Ok(()) };
        let mut counted = PER_REPLY;
        for slot in &slots {
            let facts = self.blobs.facts(self.repo, slot, Wanted { cost: Some(encoding), types: None });
            // What cannot be read was reported, and cannot be counted.
            let Some((cost, _)) = facts.ok().flatten().and_then(|facts| facts.cost) else { return Ok(()) };
            counted += cost;
        }
        if counted != said.tokens {
            let since = self.wrong_since(tip, encoding)?;
            let message = match since {
                Some(since) if since != tip.commit.oid => {
                    format!("Trace-Total is {}, and its items count for {counted}, since commit {since}", said.tokens)
                }
                _ => format!("Trace-Total is {}, and its items count for {counted}", said.tokens),
            };
            let problem = Problem::error("total", &line.label, message).commit(tip.commit.oid);
            self.problems.push(problem.repair(repair));
        }
        Ok(())
    }

    /// The newest commit whose total does not follow from that of its parent. Reads the items that changed since.
    fn wrong_since(&self, tip: &Tip, encoding: Encoding) -> Result<Option<Oid>, TraceError> {
        let counted = |tip: &Tip| {
            let total = tip.trailers.total.filter(|total| tip.is_ours() && total.basis == Basis::Counted(encoding));
            total.map(|total| i128::from(total.tokens))
        };
        let mut child = tip.clone();
        loop {
            let Some(parent) = child.commit.parents.first() else { return Ok(Some(child.commit.oid)) };
            // What cannot be read was reported.
            let Ok(parent) = Tip::read(self.repo, *parent) else { return Ok(None) };
            let (Some(before), Some(after)) = (counted(&parent), counted(&child)) else {
                return Ok(Some(child.commit.oid));
            };
            let Ok(changes) = tree::changes(&self.trees, Some(parent.commit.tree), child.commit.tree) else {
                return Ok(None);
            };
            let mut grown = 0;
            for change in changes {
                let (gone, come) = match change {
                    Change::Added(slot) => (None, Some(slot)),
                    Change::Removed(slot) => (Some(slot), None),
                    Change::Changed(before, after) => (Some(before), Some(after)),
                };
                for (slot, sign) in [(gone, -1), (come, 1)] {
                    let Some(slot) = slot else { continue };
                    let Ok(item) = read_item(self.repo, &slot) else { return Ok(None) };
                    grown += sign * i128::from(item_cost(&item, encoding));
                }
            }
            if after - before != grown {
                return Ok(Some(child.commit.oid));
            }
            child = parent;
        }
    }
}
