//! Merging traces, item by item.
//!
//! The list of the merged trace is what both have, then what only ours has, then what only theirs has, each item once. What
//! one side edited or took out is edited or out; what both edited is merged by lines; only where that clashes, or one side
//! edited what the other took out, is there a conflict. A merge with an open conflict changes nothing.
//!
//! - [`mod@three_way`] is the merge of two trees, which picking, reverting and rebasing are made of too.
//! - Costs what differs between the two and what they come from, and the walk to there.

mod base;
mod item;
pub(crate) mod json;
mod newest;
pub(crate) mod three_way;

use std::collections::HashMap;

use crate::base::merge::Side;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::git::{NewCommit, Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, Trailers};
use crate::trace::store::advance::{Advance, advance};
use crate::trace::store::sign;
use crate::trace::store::tip::Tip;
use crate::trace::store::write::Signature;
pub(crate) use base::common_tree;
use three_way::{Conflict, Merged, Placement, Sides, Verdict, three_way};

string_enum! {
    /// How conflicts are settled that nobody decided one by one.
    Strategy {
        /// Our version is taken.
        Ours = "ours",
        /// Their version is taken.
        Theirs = "theirs",
        /// The version that was changed last is taken.
        Newest = "newest",
    }
}

/// Who settles conflicts, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settlement {
    /// For all items not named below; `None` leaves conflicts open.
    pub strategy: Option<Strategy>,
    /// The side whose version of an item is taken.
    pub by_item: HashMap<ItemId, Side>,
}

impl Settlement {
    /// What becomes of a conflict between two tips.
    ///
    /// # Errors
    ///
    /// Those of reading objects.
    pub(crate) fn settle(
        &self,
        repo: &Repo,
        conflict: &Conflict,
        ours: &Tip,
        theirs: &Tip,
    ) -> Result<Verdict, TraceError> {
        if let Some(side) = self.by_item.get(&conflict.item) {
            return Ok(Verdict::Take(*side));
        }
        match self.strategy {
            None => Ok(Verdict::Open),
            Some(Strategy::Ours) => Ok(Verdict::Take(Side::Ours)),
            Some(Strategy::Theirs) => Ok(Verdict::Take(Side::Theirs)),
            Some(Strategy::Newest) => newest::newest(repo, conflict, ours, theirs),
        }
    }
}

/// Whether a trace may simply move on to the other's tip, where it has nothing of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FastForward {
    /// It does.
    #[default]
    Allowed,
    /// It does, and nothing else will do.
    Only,
    /// It does not: there is a commit in any case.
    Never,
}

/// How a merge is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Options<'a> {
    /// Who settles conflicts.
    pub settlement: Settlement,
    /// Whether the trace may simply move on.
    pub fast_forward: FastForward,
    /// Whose items come first behind the shared ones. Published items stay where they are if theirs do.
    pub first: Side,
    /// The commit's first line.
    pub subject: &'a str,
}

/// What a merge came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Theirs is in our history already.
    UpToDate,
    /// The trace moved on to theirs.
    FastForward(Oid),
    /// A commit with both as parents.
    Merged(Oid, Merged),
    /// Nothing was changed: these are for a person to decide.
    Conflicts(Vec<Conflict>),
    /// Nothing was changed: the trace has commits of its own, and only moving on was allowed.
    Diverged,
}

/// Merges `theirs` into a trace; a trace that has no commit yet becomes theirs.
///
/// # Errors
///
/// Those of reading and writing objects and of moving the ref; nothing was changed then.
pub(crate) fn merge(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    theirs: &Tip,
    options: &Options<'_>,
) -> Result<Outcome, TraceError> {
    let to = |oid| Advance { to: oid, log: format!("{}: {}", Op::Merge, options.subject) };
    let target = theirs.commit.oid;
    let (_, outcome) = advance(repo, name, &signature.committer, |ours| {
        let Some(ours) = ours else {
            return Ok((Some(to(target)), Outcome::FastForward(target)));
        };
        let bases = repo.merge_bases(ours.commit.oid, target)?;
        if bases.contains(&target) {
            return Ok((None, Outcome::UpToDate));
        }
        if options.fast_forward != FastForward::Never && bases.contains(&ours.commit.oid) {
            return Ok((Some(to(target)), Outcome::FastForward(target)));
        }
        if options.fast_forward == FastForward::Only {
            return Ok((None, Outcome::Diverged));
        }
        let (first, second) = match options.first {
            Side::Ours => (ours, theirs),
            Side::Theirs => (theirs, ours),
        };
        let mut decide = |conflict: &Conflict| {
            let seen = match options.first {
                Side::Ours => conflict.clone(),
                Side::Theirs => conflict.across(),
            };
            let verdict = options.settlement.settle(repo, &seen, ours, theirs)?;
            Ok(match (options.first, verdict) {
                (Side::Theirs, Verdict::Take(side)) => Verdict::Take(side.other()),
                _ => verdict,
            })
        };
        let (commit, mut merged) =
            join(repo, name, signature, encoding, (first, second), options.subject, &mut decide)?;
        if options.first == Side::Theirs {
            merged.conflicts = merged.conflicts.iter().map(Conflict::across).collect();
        }
        match commit {
            Some(commit) => Ok((Some(to(commit)), Outcome::Merged(commit, merged))),
            None => Ok((None, Outcome::Conflicts(merged.conflicts))),
        }
    })?;
    Ok(outcome)
}

/// Writes the commit that joins two tips, with the first one's items before the second one's; `None` where a conflict is
/// left open.
pub(crate) fn join(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    (first, second): (&Tip, &Tip),
    subject: &str,
    decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
) -> Result<(Option<Oid>, Merged), TraceError> {
    let base = common_tree(repo, name, first.commit.oid, second.commit.oid)?;
    let plain = !first.is_ours() || !second.is_ours();
    let sides = Sides::compare(repo, base, first.commit.tree, second.commit.tree, plain)?;
    let merged = three_way(repo, name, encoding, first, &sides, Placement::AtEnd, decide)?;
    if !merged.conflicts.is_empty() {
        return Ok((None, merged));
    }
    let latest: Time = first.time().max(second.time());
    let trailers = Trailers {
        op: Some(Op::Merge),
        time: Some(signature.at.after(Some(latest))),
        tree: Some(merged.tree.to_string()),
        total: Some(merged.total(first.total(repo, encoding)?)),
        next: Some(merged.next_seq),
        code: repo.find_ref("HEAD")?.map(|oid| oid.to_string()),
        ..Trailers::default()
    };
    let message = trailers.render(subject);
    let parents = [first.commit.oid, second.commit.oid];
    let (author, committer) = (&signature.author, &signature.committer);
    let commit = NewCommit { tree: merged.tree, parents: &parents, author, committer, message: &message };
    Ok((Some(sign::write_commit(repo, &commit)?), merged))
}
