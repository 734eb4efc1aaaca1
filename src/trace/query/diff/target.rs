//! The states to compare, as named by the user.

use crate::git::{Oid, Repo};
use crate::trace::store::resolve::{self, State, find_tip, state};
use crate::trace::{ItemId, Tip, TraceError, TraceName};

#[derive(Debug)]
pub(crate) enum Target {
    /// Two states; `None` is the state before a trace's first commit.
    States(Box<(Option<State>, State)>),
    Item(ItemId),
}

/// Resolves the user's arguments in the trace `current`: none (the changes of its last commit), one state (from there to now),
/// `A..B` (an absent side is now), `A...B` (from the merge base), two states, or one item.
pub(crate) fn target(repo: &Repo, current: &TraceName, words: &[String]) -> Result<Target, TraceError> {
    let named = |spec: &str| match spec {
        "" => State::of_trace(repo, current),
        spec => state(repo, current, spec),
    };
    match words {
        [] => {
            let after = State::of_trace(repo, current)?;
            let before = after.tip.commit.parents.first().map(|oid| earlier(repo, *oid)).transpose()?;
            Ok(states(before, after))
        }
        [a, b, ..] => Ok(states(Some(named(a)?), named(b)?)),
        [one] => {
            if let Some((a, b)) = one.split_once("...") {
                let (a, b) = (named(a)?, named(b)?);
                let bases = repo.merge_bases(a.tip.commit.oid, b.tip.commit.oid)?;
                let base = bases.first().map(|oid| earlier(repo, *oid)).transpose()?;
                return Ok(states(base, b));
            }
            if let Some((a, b)) = one.split_once("..") {
                return Ok(states(Some(named(a)?), named(b)?));
            }
            if find_tip(repo, one)?.is_none()
                && let Some(tip) = Tip::find(repo, current)?
                && let Some(item) = resolve::item_by_name(repo, current, &tip, one)?
            {
                return Ok(Target::Item(item));
            }
            Ok(states(Some(named(one)?), State::of_trace(repo, current)?))
        }
    }
}

fn states(before: Option<State>, after: State) -> Target {
    Target::States(Box::new((before, after)))
}

fn earlier(repo: &Repo, commit: Oid) -> Result<State, TraceError> {
    Ok(State::after(Tip::read(repo, commit)?))
}
