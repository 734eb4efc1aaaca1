//! The merge base of two commits of a trace.

use super::three_way::{Placement, Sides, Verdict, three_way};
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::{Tip, TraceError, TraceName};

/// The maximum depth of criss-cross merges. Below it, the first common ancestor is the base.
const DEPTH: usize = 32;

/// The tree of the merge base of two commits; `None` if they have no common ancestor.
///
/// Several common ancestors are merged themselves, as in `git merge`. Items that conflict there stay as they were before.
pub(crate) fn common_tree(repo: &Repo, name: &TraceName, one: Oid, two: Oid) -> Result<Option<Oid>, TraceError> {
    common_tree_at(repo, name, one, two, DEPTH)
}

fn common_tree_at(repo: &Repo, name: &TraceName, one: Oid, two: Oid, depth: usize) -> Result<Option<Oid>, TraceError> {
    let mut bases = repo.merge_bases(one, two)?;
    // The order in which libgit2 lists them depends on the order of the arguments.
    bases.sort_unstable();
    let Some((&first, rest)) = bases.split_first() else { return Ok(None) };
    let mut tip = Tip::read(repo, first)?;
    if depth == 0 {
        return Ok(Some(tip.commit.tree));
    }
    for other in rest {
        let other = Tip::read(repo, *other)?;
        let below = common_tree_at(repo, name, first, other.commit.oid, depth - 1)?;
        let sides = Sides::compare(repo, below, [&tip, &other], other.commit.tree)?;
        let mut as_before = |_: &_| Ok(Verdict::Base);
        let encoding = Encoding::default();
        tip.commit.tree = three_way(repo, name, encoding, &tip, &sides, Placement::AtEnd, &mut as_before)?.tree;
    }
    Ok(Some(tip.commit.tree))
}
