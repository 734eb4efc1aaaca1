//! Expanding a summary: the items that it replaced return.

use crate::base::merge::Side;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::merge::{Settlement, Strategy};
use crate::trace::change::replay::Outcome;
use crate::trace::model::tree;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{ItemId, Op, Tip, Trace, TraceError};

impl Trace<'_> {
    /// Replaces a summary by the items that it replaced, with the same bytes and positions. Items that are live already do not
    /// change. If the summary has another position than in the commit that made it, as in a trace that it was merged into, the
    /// items are added at the end.
    ///
    /// Walks history back to that commit.
    pub(crate) fn expand(&self, summary: ItemId, reason: Option<&str>) -> Result<Outcome, TraceError> {
        let (repo, tip) = (self.repo(), self.tip()?);
        let made_it = |tip: &Tip| tip.trailers.op == Some(Op::Compress) && tip.item() == Some(summary);
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
        self.revert(&[compression.commit.oid], &settlement, "expand", placement, reason)
    }
}
