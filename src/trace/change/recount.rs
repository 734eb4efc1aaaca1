//! Compares the trailers of somebody else's commit with its tree before they count here.

use std::collections::HashMap;

use crate::git::{Oid, Repo, short_oid};
use crate::tokens::Counter;
use crate::trace::change::pending::PendingChange;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::model::tree::{self, CAPACITY};
use crate::trace::store::total;
use crate::trace::{ItemEntry, Tip, TraceError};

/// A provider also counts what a trace does not contain, such as definitions of tools, and with another tokenizer. Its report may
/// be this many times our own count, and this many tokens more.
const REPORTED_MAX: (u64, u64) = (4, 100_000);

/// How many items may have one file, as after several files were emptied by hand.
const SHARED_MAX: usize = 8;

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

/// The next position and the number of `slots`, the items of a commit, if it leaves few positions to later items although it has few.
/// A trace would soon be full.
pub(crate) fn wastes_positions(
    repo: &Repo,
    tip: &Tip,
    slots: &[ItemEntry],
) -> Result<Option<(u32, usize)>, TraceError> {
    let next = tip.next_seq(repo)?.max(slots.last().map_or(0, |slot| slot.seq + 1));
    Ok((next > CAPACITY / 2 && slots.len() < CAPACITY as usize / 4).then_some((next, slots.len())))
}

/// Refuses a commit that leaves few positions to later items although it has few items, or that has one file for many items:
/// each file contains the id of its item, so this could only make a small fetch a large context.
pub(crate) fn require_sound(repo: &Repo, tip: &Tip) -> Result<(), TraceError> {
    let oid = tip.commit.oid;
    let slots = tree::list(repo, tip.commit.tree)?;
    if let Some((next, items)) = wastes_positions(repo, tip, &slots)? {
        return Err(TraceError::FewPositions { oid, next, items });
    }
    let mut counts: HashMap<Oid, usize> = HashMap::new();
    for slot in slots {
        *counts.entry(slot.blob).or_default() += 1;
    }
    match counts.into_iter().filter(|(_, items)| *items > SHARED_MAX).max() {
        Some((blob, items)) => Err(TraceError::SharedFile { oid, blob, items }),
        None => Ok(()),
    }
}

impl PendingChange<'_> {
    /// Continues on a commit that may be somebody else's. Returns whether its totals were wrong, so that those of the next commit
    /// differ.
    pub(crate) fn continue_on(&mut self, tip: &Tip) -> Result<bool, TraceError> {
        self.restart_on(tip.clone())?;
        let Some((total, counted)) = true_total(self.repo(), tip, self.counter)? else { return Ok(false) };
        self.total.replace(total, counted);
        let commit = short_oid(tip.commit.oid);
        self.repo().env().notice(&format!("warning: the totals in commit {commit} were wrong, and were counted again"));
        Ok(true)
    }
}
