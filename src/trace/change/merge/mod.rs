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

use super::pending::{Made, PendingChange};
use crate::base::merge::Side;
use crate::base::string_enum::string_enum;
use crate::git::{Ident, Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::trailers::{Op, Trailers};
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;
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
    pub settlement: Settlement,
    /// Whether the trace may simply move on.
    pub fast_forward: FastForward,
    /// Whose items come first behind the shared ones. Published items stay where they are if theirs do.
    pub first: Side,
    pub subject: &'a str,
}

/// What a merge came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    UpToDate,
    FastForward(Oid),
    Merged(Oid, Merged),
    /// Nothing was changed: these are for a person to decide.
    Conflicts(Vec<Conflict>),
    /// Nothing was changed: the trace has commits of its own, and only moving on was allowed.
    Diverged,
}

impl Trace<'_> {
    /// Merges `theirs` into the trace; a trace that has no commit yet becomes theirs.
    pub(crate) fn merge(&self, theirs: &Tip, options: &Options<'_>) -> Result<Outcome, TraceError> {
        let repo = self.repo();
        let log = || format!("{}: {}", Op::Merge, options.subject);
        let target = theirs.commit.oid;
        let (_, outcome) = self.change(|change| {
            let Some(ours) = change.tip().cloned() else {
                change.move_to(target, log());
                return Ok::<_, TraceError>(Outcome::FastForward(target));
            };
            let bases = repo.merge_bases(ours.commit.oid, target)?;
            if bases.contains(&target) {
                return Ok(Outcome::UpToDate);
            }
            if options.fast_forward != FastForward::Never && bases.contains(&ours.commit.oid) {
                change.move_to(target, log());
                return Ok(Outcome::FastForward(target));
            }
            if options.fast_forward == FastForward::Only {
                return Ok(Outcome::Diverged);
            }
            let swapped = options.first == Side::Theirs;
            let seen = |conflict: &Conflict| if swapped { conflict.across() } else { conflict.clone() };
            let mut decide = |conflict: &Conflict| {
                let verdict = options.settlement.settle(repo, &seen(conflict), &ours, theirs)?;
                Ok(match verdict {
                    Verdict::Take(side) if swapped => Verdict::Take(side.other()),
                    _ => verdict,
                })
            };
            let (first, second) = if swapped { (theirs, &ours) } else { (&ours, theirs) };
            let mut merged = join(change, (first, second), options.subject, &mut decide)?;
            merged.conflicts = merged.conflicts.iter().map(seen).collect();
            Ok(match change.last().filter(|_| merged.conflicts.is_empty()) {
                Some(commit) => Outcome::Merged(commit, merged),
                None => Outcome::Conflicts(merged.conflicts),
            })
        })?;
        Ok(outcome)
    }
}

/// Commits the merge of two tips, with the first one's items before the second one's; commits nothing if a conflict is left
/// open.
pub(crate) fn join(
    change: &mut PendingChange<'_>,
    (first, second): (&Tip, &Tip),
    subject: &str,
    decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
) -> Result<Merged, TraceError> {
    let (repo, name) = (change.repo(), change.trace.name());
    let base = common_tree(repo, name, first.commit.oid, second.commit.oid)?;
    let plain = !first.is_ours() || !second.is_ours();
    let sides = Sides::compare(repo, base, first.commit.tree, second.commit.tree, plain)?;
    let merged = three_way(repo, name, change.encoding, first, &sides, Placement::AtEnd, decide)?;
    if merged.conflicts.is_empty() {
        change.restart_on(first.clone())?;
        change.add_parent(second.commit.oid);
        change.last_time = Some(first.time().max(second.time()));
        let code = repo.find_ref("HEAD")?.map(|oid| oid.to_string());
        let trailers = Trailers { op: Some(Op::Merge), code, ..Trailers::default() };
        change.commit_merged(&merged, subject, trailers, None)?;
    }
    Ok(merged)
}

impl PendingChange<'_> {
    /// Commits the result of a three-way merge into the newest commit.
    pub(crate) fn commit_merged(
        &mut self,
        merged: &Merged,
        subject: &str,
        trailers: Trailers,
        author: Option<&Ident>,
    ) -> Result<(), TraceError> {
        self.put_tree(merged.tree)?;
        self.count(merged.cost_in, merged.cost_out);
        self.next_seq = merged.next_seq;
        self.commit(subject, trailers, author)?;
        self.made.extend(self.last().map(|commit| Made { commit, subject: subject.to_owned() }));
        Ok(())
    }
}
