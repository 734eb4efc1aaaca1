//! Replaying changes from elsewhere on a trace: items of another trace, the opposite of an earlier commit, or all commits of
//! the trace on a new base.
//!
//! Each is a three-way merge of what one commit did into the tip; they differ in the tree that is the base and the one that
//! is theirs. The trace moves once, to the last commit; an open conflict changes nothing.

pub(crate) mod pick;
pub(crate) mod rebase;
pub(crate) mod revert;

use super::merge::three_way::Conflict;
use super::pending::{Made, PendingChange};
use crate::trace::error::TraceError;
use crate::trace::store::tip::Tip;

/// The result of a replay.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The trace has all of it already.
    Nothing,
    /// These commits were made, oldest first, and the trace moved to the last.
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
