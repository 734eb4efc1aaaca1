//! Merging traces by item.
//!
//! The merged list contains the common items, then those that only ours has, then those that only theirs has. An item that one
//! side edited or removed is edited or removed. If both sides edited it, its headers and lines are merged. A conflict remains if
//! that fails, or if one side edited what the other one removed. A merge with an open conflict changes nothing.
//!
//! - [`mod@three_way`] merges two trees. Picking, reverting, and rebasing use it too.
//! - The cost depends on the differences between both sides and their merge base, and on the walk to there.

mod item;
pub(crate) mod json;
mod recordings;
pub(crate) mod three_way;

use std::collections::HashMap;

use three_way::{Conflict, Merged, Placement, Sides, Verdict, three_way};

use crate::base::merge::Side;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::tokens::Counter;
use crate::trace::change::pending::PendingChange;
use crate::trace::model::trailers::Vacant;
use crate::trace::model::tree;
use crate::trace::store::foreign::require_sound;
use crate::trace::store::tombstone::{Tombstones, require_no_purge};
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemEntry, ItemId, Op, Tip, Trace, TraceError, TraceName};

string_enum! {
    /// Which version wins a conflict that the user did not decide.
    Strategy {
        Ours = "ours",
        Theirs = "theirs",
        /// The version that was changed last.
        Newest = "newest",
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Settlement {
    /// For all items except those in `by_item`; `None` leaves conflicts open.
    pub strategy: Option<Strategy>,
    pub by_item: HashMap<ItemId, Choice>,
}

/// How the user decided a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Side(Side),
    /// This text, with the headers of ours, or of theirs if ours is gone.
    Text(Vec<u8>),
}

impl Settlement {
    fn settle(&self, repo: &Repo, conflict: &Conflict, ours: &Tip, theirs: &Tip) -> Result<Verdict, TraceError> {
        match self.by_item.get(&conflict.item) {
            Some(Choice::Side(side)) => return Ok(Verdict::Take(*side)),
            Some(Choice::Text(text)) => return item::with_text(repo, conflict, text).map(Verdict::Text),
            None => {}
        }
        match self.strategy {
            None => Ok(Verdict::Open),
            Some(Strategy::Ours) => Ok(Verdict::Take(Side::Ours)),
            Some(Strategy::Theirs) => Ok(Verdict::Take(Side::Theirs)),
            Some(Strategy::Newest) => newest(repo, conflict, ours, theirs),
        }
    }

    pub(crate) fn between(
        &self,
        repo: &Repo,
        ours: &Tip,
        theirs: &Tip,
    ) -> impl FnMut(&Conflict) -> Result<Verdict, TraceError> {
        |conflict| self.settle(repo, conflict, ours, theirs)
    }
}

/// Whether a trace without commits since the merge base moves to the other tip without a merge commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FastForward {
    #[default]
    Allowed,
    Only,
    Never,
}

/// How a kind of traces keeps its own order, and the headers that depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrange {
    /// Puts the items of a merge in order, which gets the tree of the merge base.
    pub merged: fn(&Repo, &TraceName, Option<Oid>, &mut Merged) -> Result<(), TraceError>,
    /// Corrects the headers in the second tree, to which a trace with the first one moves.
    pub moved: fn(&Repo, Option<Oid>, Oid) -> Result<Oid, TraceError>,
}

#[derive(Clone, Debug)]
pub(crate) struct Options<'a> {
    pub settlement: Settlement,
    pub fast_forward: FastForward,
    /// The side whose new items come first. With theirs, published items keep their positions.
    pub first: Side,
    /// Replaces the order that `first` gives.
    pub arrange: Option<Arrange>,
    pub subject: &'a str,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    UpToDate,
    FastForward(Oid),
    Merged(Oid, Merged),
    Conflicts(Vec<Conflict>),
    /// Nothing was changed: the trace has commits that the other lacks, and only a fast-forward was allowed.
    Diverged,
}

impl Trace<'_> {
    /// Merges `theirs` into the trace. A trace without a commit moves to `theirs`.
    pub(crate) fn merge(&self, theirs: &Tip, options: &Options<'_>) -> Result<Outcome, TraceError> {
        let repo = self.repo();
        let log = || format!("{}: {}", Op::Merge, options.subject);
        let target = theirs.commit.oid;
        let _purges = require_no_purge(repo)?;
        if let Some(tombstones) = Tombstones::find(repo)? {
            tombstones.refuse_either(repo, self.name(), repo.find_ref(&self.name().refname())?, target)?;
        }
        let (_, outcome) = self.change(|change| {
            let Some(ours) = change.tip().cloned() else {
                return forward(change, theirs, options, log());
            };
            let bases = repo.merge_bases(ours.commit.oid, target)?;
            if bases.contains(&target) {
                return Ok(Outcome::UpToDate);
            }
            if options.fast_forward != FastForward::Never && bases.contains(&ours.commit.oid) {
                return forward(change, theirs, options, log());
            }
            require_sound(repo, theirs, Some(ours.commit.oid))?;
            if options.fast_forward == FastForward::Only {
                return Ok(Outcome::Diverged);
            }
            let is_swapped = options.first == Side::Theirs;
            let as_named = |conflict: &Conflict| if is_swapped { conflict.swapped() } else { conflict.clone() };
            let mut decide = |conflict: &Conflict| {
                let verdict = options.settlement.settle(repo, &as_named(conflict), &ours, theirs)?;
                Ok(match verdict {
                    Verdict::Take(side) if is_swapped => Verdict::Take(side.other()),
                    _ => verdict,
                })
            };
            let (first, second) = if is_swapped { (theirs, &ours) } else { (&ours, theirs) };
            let base = common_tree(repo, change.trace.name(), first.commit.oid, second.commit.oid, options.arrange)?;
            let sides = [first, second];
            let mut merged = join(change, base, sides, options.subject, options.arrange, &mut decide)?;
            merged.conflicts = merged.conflicts.iter().map(as_named).collect();
            Ok(match change.last().filter(|_| merged.conflicts.is_empty()) {
                Some(commit) => Outcome::Merged(commit, merged),
                None => Outcome::Conflicts(merged.conflicts),
            })
        })?;
        Ok(outcome)
    }
}

/// Moves the trace to `theirs`. Wrong totals and headers of it are corrected by commits, after which the trace can no longer follow the
/// other one: not if that is required.
fn forward(
    change: &mut PendingChange<'_>,
    theirs: &Tip,
    options: &Options<'_>,
    log: String,
) -> Result<Outcome, TraceError> {
    let (repo, mode) = (change.repo(), options.fast_forward);
    let ours = change.tip().map(|ours| (ours.commit.oid, ours.commit.tree));
    require_sound(repo, theirs, ours.map(|(commit, _)| commit))?;
    if mode != FastForward::Only {
        change.correct(theirs)?;
        if let Some(Arrange { moved, .. }) = options.arrange {
            change.correct_tree(moved(repo, ours.map(|(_, tree)| tree), theirs.commit.tree)?)?;
        }
    }
    let to = change.last().filter(|_| mode != FastForward::Only).unwrap_or(theirs.commit.oid);
    change.move_to(to, log);
    Ok(Outcome::FastForward(to))
}

/// Commits the merge of two tips, whose changes are those since the tree `base`, with the new items of `first` before those of `second`.
/// Commits nothing if a conflict is open.
pub(crate) fn join(
    change: &mut PendingChange<'_>,
    base: Option<Oid>,
    [first, second]: [&Tip; 2],
    subject: &str,
    arrange: Option<Arrange>,
    decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
) -> Result<Merged, TraceError> {
    let repo = change.repo();
    let mut sides = Sides::compare(repo, base, [first, second], second.commit.tree)?;
    sides.follow_sessions(repo, [first, second])?;
    let (mut merged, vacant) = match continued(change, first, second, &sides)? {
        Some((merged, vacant)) => (merged, Some(vacant)),
        None => (change.three_way(first, &sides, Placement::AtEnd, decide)?, None),
    };
    if merged.conflicts.is_empty() {
        if let Some(Arrange { merged: arrange, moved }) = arrange {
            arrange(repo, change.trace.name(), base, &mut merged)?;
            // The base may be a commit of the remote that was corrected here.
            merged.tree = moved(repo, change.tip().map(|ours| ours.commit.tree), merged.tree)?;
        }
        change.continue_on(first)?;
        change.add_parent(second.commit.oid);
        change.vacant = vacant.unwrap_or(change.vacant);
        change.last_time = Some(first.time().max(second.time()));
        let trailers = change.trailers(Op::Merge, None, None)?;
        change.commit_merged(&merged, subject, trailers, None)?;
    }
    Ok(merged)
}

/// The merge if its items are those of `second` in their order, as if `second` had continued `first`, and the positions that are empty in it: where
/// imports left those of `second`, signed reasoning holds as it did there.
fn continued(
    change: &PendingChange<'_>,
    first: &Tip,
    second: &Tip,
    sides: &Sides,
) -> Result<Option<(Merged, Vacant)>, TraceError> {
    let repo = change.repo();
    if !sides.moves_reasoning() {
        return Ok(None);
    }
    let slots = tree::list(repo, second.commit.tree)?;
    if second.vacant_until(&slots) < u32::MAX {
        return Ok(None);
    }
    let sides = sides.clone().without_gap();
    let merged = change.three_way(first, &sides, Placement::AtEnd, &mut |_| Ok(Verdict::Open))?;
    let files = |slots: &[ItemEntry]| slots.iter().map(|slot| (slot.id, slot.blob)).collect::<Vec<_>>();
    let result = tree::list(repo, merged.tree)?;
    if !merged.conflicts.is_empty() || files(&result) != files(&slots) {
        return Ok(None);
    }
    let count = merged.next_seq.saturating_sub(u32::try_from(result.len()).unwrap_or(u32::MAX));
    Ok(Some((Merged { refilled: Vec::new(), ..merged }, Vacant { count, before: None })))
}

impl PendingChange<'_> {
    /// Merges the changes of `sides` into `onto`, without a commit.
    pub(crate) fn three_way(
        &self,
        onto: &Tip,
        sides: &Sides,
        placement: Placement,
        decide: &mut dyn FnMut(&Conflict) -> Result<Verdict, TraceError>,
    ) -> Result<Merged, TraceError> {
        three_way(self.repo(), self.trace.name(), self.counter, onto, sides, placement, decide)
    }
}

/// How many pairs of commits get a merge base for one merge. After these, the first common ancestor is the base.
const MAX_BASES: usize = 128;

/// The tree of the merge base of two commits; `None` if they have no common ancestor.
///
/// Several common ancestors are merged themselves, as in `git merge`, and arranged. Items that conflict there stay as they were before.
pub(crate) fn common_tree(
    repo: &Repo,
    name: &TraceName,
    one: Oid,
    two: Oid,
    arrange: Option<Arrange>,
) -> Result<Option<Oid>, TraceError> {
    Bases { repo, name, arrange, known: HashMap::new() }.tree(one, two)
}

/// Merge bases and their own merge bases. In a mesh of clones, each is needed many times.
struct Bases<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    arrange: Option<Arrange>,
    /// The trees of pairs of commits.
    known: HashMap<(Oid, Oid), Option<Oid>>,
}

impl Bases<'_> {
    fn tree(&mut self, one: Oid, two: Oid) -> Result<Option<Oid>, TraceError> {
        let (repo, pair) = (self.repo, (one.min(two), one.max(two)));
        if let Some(known) = self.known.get(&pair) {
            return Ok(*known);
        }
        let mut bases = repo.merge_bases(one, two)?;
        // The order in which libgit2 lists them depends on the order of the arguments.
        bases.sort_unstable();
        let mut bases = bases.into_iter().map(|oid| Tip::read(repo, oid));
        let Some(mut tip) = bases.next().transpose()? else { return Ok(None) };
        let first = tip.commit.oid;
        self.known.insert(pair, Some(tip.commit.tree));
        for other in bases {
            if self.known.len() > MAX_BASES {
                break;
            }
            let other = other?;
            let below = self.tree(first, other.commit.oid)?;
            let sides = Sides::compare(repo, below, [&tip, &other], other.commit.tree)?;
            let mut as_before = |_: &_| Ok(Verdict::Base);
            let counter = Counter::default();
            let mut merged = three_way(repo, self.name, counter, &tip, &sides, Placement::AtEnd, &mut as_before)?;
            if let Some(Arrange { merged: arrange, .. }) = self.arrange {
                arrange(repo, self.name, below, &mut merged)?;
            }
            tip.commit.tree = merged.tree;
        }
        self.known.insert(pair, Some(tip.commit.tree));
        Ok(Some(tip.commit.tree))
    }
}

/// Takes the side that changed the item later. If the times are equal, takes the greater oid, so that the result does not depend on
/// who merges. Walks back from both tips to these changes.
fn newest(repo: &Repo, conflict: &Conflict, ours: &Tip, theirs: &Tip) -> Result<Verdict, TraceError> {
    let rank = |tip, slot: &Option<ItemEntry>| -> Result<_, TraceError> {
        Ok((changed_at(repo, tip, conflict.item)?, slot.as_ref().map(|slot| slot.blob)))
    };
    let side = if rank(theirs, &conflict.theirs)? > rank(ours, &conflict.ours)? { Side::Theirs } else { Side::Ours };
    Ok(Verdict::Take(side))
}

/// The time of an item's last change in the history of `tip`. A merge changed an item that no parent has in that form.
fn changed_at(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Time>, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        let mut changed = changes_of(repo, &earlier)?.iter().any(|change| change.entry().id == item);
        for parent in earlier.commit.parents.iter().skip(1) {
            let changes = tree::changes(repo, Some(repo.read_commit(*parent)?.tree), earlier.commit.tree)?;
            changed &= changes.iter().any(|change| change.entry().id == item);
        }
        if changed {
            return Ok(Some(earlier.time()));
        }
    }
    Ok(None)
}
