//! Expanding a summary: the items that it replaced return.

use crate::base::merge::Side;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::merge::{Settlement, Strategy};
use crate::trace::change::replay::{Outcome, revert};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::trailers::Op;
use crate::trace::model::tree;
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;
use crate::trace::store::walk::{Parents, Walk};

impl Trace<'_> {
    /// Replaces a summary by the items that it stands for, byte for byte and at their positions; an item that is live already
    /// stays as it is. If the summary has another position than the one it was made at, as in a trace that it was merged
    /// into, the items are added at the end.
    ///
    /// Walks history back to the commit that compressed them.
    pub(crate) fn expand(&self, summary: ItemId, reason: Option<&str>) -> Result<Outcome, TraceError> {
        let (repo, tip) = (self.repo(), self.tip()?);
        let made_it =
            |tip: &Tip| tip.is_ours() && tip.trailers.op == Some(Op::Compress) && tip.trailers.item == Some(summary);
        let mut history = Walk::new(repo, tip.clone(), Parents::All);
        let compression = history.find(|earlier| earlier.as_ref().map_or(true, made_it)).transpose()?;
        let not_found = || TraceError::NotASummary { item: summary, trace: self.name().clone() };
        let compression = compression.ok_or_else(not_found)?;
        let seq_in = |tip: &Tip| -> Result<Option<u32>, TraceError> {
            Ok(tree::list(repo, tip.commit.tree)?.iter().find(|slot| slot.id == summary).map(|slot| slot.seq))
        };
        let stayed = seq_in(&tip)?.is_none_or(|seq| seq_in(&compression).is_ok_and(|then| then == Some(seq)));
        let placement = if stayed { Placement::WhereTheyStood } else { Placement::AtEnd };
        // An edit of the summary is dropped with it; items that are live again stay as they are.
        let settlement = Settlement { strategy: Some(Strategy::Ours), by_item: [(summary, Side::Theirs)].into() };
        let commits = [compression.commit.oid];
        self.revert(&revert::Request { commits: &commits, settlement: &settlement, verb: "expand", placement, reason })
    }
}
