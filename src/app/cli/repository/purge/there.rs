//! The refs of a remote, at each of its addresses.

use std::collections::HashSet;

use crate::app::cli::{Context, Result};
use crate::git::{Oid, PushFate, PushedRef};
use crate::trace::sync::{Target, replace_purged};

/// How often a purge of a remote is tried while others push there.
const TRIES: u32 = 5;

/// Replaces the refs of each address. `first` is the result of fetching from the first one. `again` fetches from the others and
/// purges what they have, and does so again if somebody pushes at the same time. `found` are objects that a purge has found and not
/// replaced. An address that fails stops no other.
pub(super) fn replace(
    context: &Context,
    targets: &[Target],
    first: Result<()>,
    mut found: HashSet<Oid>,
    mut again: impl FnMut(&Target, &mut HashSet<Oid>) -> Result<()>,
) -> Result<Vec<PushedRef>> {
    let (mut all, mut failed, mut first) = (Vec::new(), None, Some(first));
    for target in targets {
        let fetched = first.take().unwrap_or_else(|| again(target, &mut found));
        let done = fetched.and_then(|()| replace_at(context, target, &mut all, &mut found, &mut again));
        failed = failed.or(done.err());
    }
    failed.map_or(Ok(all), Err)
}

fn replace_at(
    context: &Context,
    target: &Target,
    all: &mut Vec<PushedRef>,
    found: &mut HashSet<Oid>,
    again: &mut impl FnMut(&Target, &mut HashSet<Oid>) -> Result<()>,
) -> Result<()> {
    for attempt in 1..=TRIES {
        let mut is_late = false;
        for mut pushed in replace_purged(context.repo()?, &context.signature()?, target, found)? {
            if matches!(pushed.fate, PushFate::Behind | PushFate::Contended) {
                if attempt < TRIES {
                    is_late = true;
                    continue;
                }
                pushed.summary += "; others keep pushing, so repeat this command";
            }
            // It was named at the last attempt.
            if !all.contains(&pushed) {
                report(context, target, &pushed);
                all.push(pushed);
            }
        }
        if !is_late {
            break;
        }
        again(target, found)?;
    }
    Ok(())
}

pub(super) fn report(context: &Context, target: &Target, pushed: &PushedRef) {
    let there = pushed.address.as_ref().unwrap_or(&target.remote);
    let line = format!("{} → {there}: {}", pushed.refname, pushed.summary);
    context.ui.note(if pushed.is_accepted() { line } else { format!("error: {line}") });
}
