//! Putting back what a summary stands for.

use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::change::merge::three_way::Placement;
use crate::trace::change::merge::{Settlement, Strategy};
use crate::trace::change::replay::{Outcome, revert};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::Op;
use crate::trace::model::tree;
use crate::trace::store::tip::Tip;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::store::write::Signature;

/// Replaces a summary by the items it stands for, byte for byte and where they stood; an item that is back already stays as
/// it is. Where the summary has come to stand elsewhere, as in a trace it was merged into, they come at the end.
///
/// Walks history back to the commit that compressed them.
///
/// # Errors
///
/// [`TraceError::NotASummary`] if this trace's history knows of no compression that brought the item in; those of
/// [`crate::trace::change::merge::three_way::three_way`].
pub(crate) fn expand(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    summary: ItemId,
    reason: Option<&str>,
) -> Result<Outcome, TraceError> {
    let tip = Tip::of_trace(repo, name)?;
    let made_it =
        |tip: &Tip| tip.is_ours() && tip.trailers.op == Some(Op::Compress) && tip.trailers.item == Some(summary);
    let mut history = Walk::new(repo, tip.clone(), Parents::All);
    let compression = history.find(|earlier| earlier.as_ref().map_or(true, made_it)).transpose()?;
    let compression = compression.ok_or_else(|| TraceError::NotASummary { item: summary, trace: name.clone() })?;
    let seq_in = |tip: &Tip| -> Result<Option<u32>, TraceError> {
        Ok(tree::list(repo, tip.commit.tree)?.iter().find(|slot| slot.id == summary).map(|slot| slot.seq))
    };
    let stayed = seq_in(&tip)?.is_none_or(|seq| seq_in(&compression).is_ok_and(|then| then == Some(seq)));
    let placement = if stayed { Placement::WhereTheyStood } else { Placement::AtEnd };
    // What the summary has come to say meanwhile goes with it; what has come back meanwhile stays as it is.
    let settlement =
        Settlement { strategy: Some(Strategy::Ours), by_item: [(summary, crate::base::merge::Side::Theirs)].into() };
    let commits = [compression.commit.oid];
    let request = revert::Request { commits: &commits, settlement: &settlement, verb: "expand", placement, reason };
    revert::revert(repo, name, signature, encoding, &request)
}
