//! Compares the trailers of somebody else's commit with its tree before they count here.

use crate::git::{Oid, Repo, short_oid};
use crate::tokens::Counter;
use crate::trace::change::pending::PendingChange;
use crate::trace::model::trailers::{Basis, Total, Trailers};
use crate::trace::store::total;
use crate::trace::{Tip, Trace, TraceError};

/// A provider also counts what a trace does not contain, such as definitions of tools, and with another tokenizer. Its report may
/// be this many times our own count, and this many tokens more.
const REPORTED_MAX: (u64, u64) = (4, 100_000);

/// The total of a tip's tree and our own count, if its trailers say otherwise. Reads every item.
fn true_total(repo: &Repo, tip: &Tip, counter: Counter) -> Result<Option<(Total, u64)>, TraceError> {
    let said = tip.said_count(repo, counter)?;
    let reported = tip.trailers.total.filter(|total| tip.is_ours() && total.basis == Basis::Reported);
    // Without either, readers count. A partial clone would have to fetch every item.
    if (said.is_none() && reported.is_none()) || repo.is_partial()? {
        return Ok(None);
    }
    let counted = total::recount(repo, tip.commit.tree, counter)?;
    let (factor, more) = REPORTED_MAX;
    let believed = reported.filter(|total| total.tokens <= counted.saturating_mul(factor).saturating_add(more));
    let is_true = said.is_none_or(|said| said == counted) && believed == reported;
    let total = believed.unwrap_or(Total { tokens: counted, basis: Basis::Counted(counter.id()) });
    Ok((!is_true).then_some((total, counted)))
}

impl PendingChange<'_> {
    /// Continues on a commit that may be somebody else's. Returns whether its totals were wrong, so that those of the next commit
    /// differ.
    pub(super) fn continue_on(&mut self, tip: &Tip) -> Result<bool, TraceError> {
        self.restart_on(tip.clone())?;
        let Some((total, counted)) = true_total(self.repo(), tip, self.counter)? else { return Ok(false) };
        self.total.replace(total, counted);
        let commit = short_oid(tip.commit.oid);
        self.repo().env().notice(&format!("warning: the totals in commit {commit} were wrong, and were counted again"));
        Ok(true)
    }
    /// As [`Self::continue_on`], with a commit if the totals were wrong.
    pub(super) fn correct(&mut self, tip: &Tip) -> Result<(), TraceError> {
        if self.continue_on(tip)? {
            self.lift_budget();
            self.commit("correct the totals", Trailers::default(), None)?;
        }
        Ok(())
    }

    /// Commits the tree `corrected` on somebody else's commit, unless that has it.
    pub(super) fn correct_tree(&mut self, corrected: Oid) -> Result<(), TraceError> {
        if self.tip().is_some_and(|tip| tip.commit.tree == corrected) {
            return Ok(());
        }
        self.set_tree(corrected)?;
        self.lift_budget();
        self.commit("correct the headers", Trailers::default(), None)
    }
}

impl Trace<'_> {
    /// Corrects the totals of the tip, which was `tip` and may be somebody else's. Returns the tip. A damaged item stops no command.
    pub(super) fn correct_totals(&self, tip: Oid) -> Result<Oid, TraceError> {
        let corrected = self.change(|change| {
            let tip = change.require_tip()?.clone();
            change.correct(&tip)?;
            Ok::<_, TraceError>(change.last().unwrap_or(tip.commit.oid))
        });
        match corrected {
            Err(TraceError::Git(error)) if error.is_damage() => Ok(tip),
            corrected => corrected.map(|(_, oid)| oid),
        }
    }
}
