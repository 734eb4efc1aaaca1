//! What two commits of a trace come from.

use super::three_way::{Placement, Sides, Verdict, three_way};
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::name::TraceName;
use crate::trace::store::tip::Tip;

/// How many crossed merges on top of each other are followed; below that, one of the common ancestors speaks for all.
const DEPTH: usize = 32;

/// The tree that two commits come from; `None` where they have nothing in common.
///
/// After merges that crossed there are several common ancestors; they are merged themselves, as `git merge` does it, with
/// what they disagree on left as it was before.
pub(crate) fn common_tree(repo: &Repo, name: &TraceName, one: Oid, two: Oid) -> Result<Option<Oid>, TraceError> {
    common_tree_at(repo, name, one, two, DEPTH)
}

fn common_tree_at(repo: &Repo, name: &TraceName, one: Oid, two: Oid, depth: usize) -> Result<Option<Oid>, TraceError> {
    let mut bases = repo.merge_bases(one, two)?;
    // libgit2 lists them in the order it met them, which hangs on which side was named first.
    bases.sort_unstable();
    let Some((&first, rest)) = bases.split_first() else { return Ok(None) };
    let mut tip = Tip::read(repo, first)?;
    if depth == 0 {
        return Ok(Some(tip.commit.tree));
    }
    for other in rest {
        let other = Tip::read(repo, *other)?;
        let below = common_tree_at(repo, name, first, other.commit.oid, depth - 1)?;
        let plain = !tip.is_ours() || !other.is_ours();
        let sides = Sides::compare(repo, below, tip.commit.tree, other.commit.tree, plain)?;
        let mut as_before = |_: &_| Ok(Verdict::Base);
        let encoding = Encoding::default();
        tip.commit.tree = three_way(repo, name, encoding, &tip, &sides, Placement::AtEnd, &mut as_before)?.tree;
    }
    Ok(Some(tip.commit.tree))
}
