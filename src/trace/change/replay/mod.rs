//! Replaying changes on a trace: items of another trace, the opposite of an earlier commit, or all commits on a new base.
//!
//! Each step is a three-way merge into the newest commit; the operations differ in the trees that are the base and theirs. The
//! trace moves once, to the last commit. An open conflict changes nothing.

pub(crate) mod pick;
pub(crate) mod rebase;
pub(crate) mod revert;

use super::merge::three_way::Conflict;
use super::pending::{Made, PendingChange};
use crate::trace::{Tip, TraceError};

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The trace contains all changes already.
    Nothing,
    /// The commits that were made, oldest first.
    Done(Vec<Made>),
    /// Nothing was changed: a person must decide these conflicts.
    Conflicts(Vec<Conflict>),
}

/// Ends a replay: drops its commits if there are conflicts.
fn finish(change: &mut PendingChange<'_>, verb: &str, conflicts: Vec<Conflict>) -> Outcome {
    if !conflicts.is_empty() {
        change.abandon();
        return Outcome::Conflicts(conflicts);
    }
    match change.made.as_slice() {
        [] => return Outcome::Nothing,
        [only] => change.log(format!("{verb}: {}", only.subject)),
        several => change.log(format!("{verb}: {} commits", several.len())),
    }
    Outcome::Done(change.made.clone())
}

/// The newest commit of a change: the tip, until a commit is made.
fn newest(change: &PendingChange<'_>) -> Result<Tip, TraceError> {
    match change.made.last() {
        Some(made) => Tip::read(change.repo(), made.commit),
        None => change.require_tip().cloned(),
    }
}
