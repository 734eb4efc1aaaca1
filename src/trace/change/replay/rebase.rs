//! Rebasing: the commits that a trace made since it left another one are replayed on that one's tip.

use std::collections::HashMap;

use super::{Outcome, newest};
use crate::git::{Ident, LogLine};
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Conflict, Placement, Sides, three_way};
use crate::trace::change::pending::PendingChange;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::backup::back_up;
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;

impl Trace<'_> {
    /// Replays the commits that `onto` lacks on top of it, oldest first. Merges are left out, since what they added is replayed
    /// itself. Items keep their ids, commits their authors; new items follow those of `onto`. The old tip is backed up.
    pub(crate) fn rebase(&self, onto: &Tip, settlement: &Settlement) -> Result<Outcome, TraceError> {
        let repo = self.repo();
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            let own = repo.commits_beyond(tip.commit.oid, Some(onto.commit.oid))?;
            if own.is_empty() && tip.commit.oid == onto.commit.oid {
                return Ok(Outcome::Nothing);
            }
            change.restart_on(onto.clone())?;
            let mut in_line = true;
            // An item that is deleted and restored while it is replayed returns to its position.
            let mut places = HashMap::new();
            for commit in &own {
                let replayed = Tip::read(repo, *commit)?;
                let parents = &replayed.commit.parents;
                in_line &= parents.first().copied() == change.last() && parents.len() == 1;
                if in_line {
                    change.restart_on(replayed)?;
                } else if parents.len() <= 1 {
                    let conflicts = replay(change, &replayed, settlement, &mut places)?;
                    if !conflicts.is_empty() {
                        change.abandon();
                        return Ok(Outcome::Conflicts(conflicts));
                    }
                }
            }
            let Some(to) = change.last().filter(|to| *to != tip.commit.oid) else { return Ok(Outcome::Nothing) };
            let log = format!("rebase: onto {}", onto.commit.oid);
            let who = &change.signature.committer;
            back_up(repo, self.name(), tip.commit.oid, LogLine { who, why: &log })?;
            change.move_to(to, log);
            Ok::<_, TraceError>(Outcome::Done(change.made.clone()))
        })?;
        Ok(outcome)
    }
}

/// Replays one commit; returns the conflicts that a person must decide.
fn replay(
    change: &mut PendingChange<'_>,
    replayed: &Tip,
    settlement: &Settlement,
    places: &mut HashMap<ItemId, u32>,
) -> Result<Vec<Conflict>, TraceError> {
    let repo = change.repo();
    let parent = replayed.commit.parents.first().map(|parent| repo.read_commit(*parent)).transpose()?;
    let onto = newest(change)?;
    let plain = !replayed.is_ours() || !onto.is_ours();
    let base = parent.map(|parent| parent.tree);
    let mut sides = Sides::compare(repo, base, onto.commit.tree, replayed.commit.tree, plain)?;
    sides.places = std::mem::take(places);
    let mut decide = |conflict: &_| settlement.settle(repo, conflict, &onto, replayed);
    let name = change.trace.name();
    let merged = three_way(repo, name, change.encoding, &onto, &sides, Placement::AtEnd, &mut decide)?;
    *places = sides.places;
    places.extend(merged.removed.iter().map(|slot| (slot.id, slot.seq)));
    if merged.conflicts.is_empty() && !merged.is_unchanged() {
        let author = Ident::of(&replayed.commit.author, replayed.commit.author_time);
        let own = if replayed.is_ours() { replayed.trailers.clone() } else { Trailers::default() };
        let from = own.from.or_else(|| Some(replayed.commit.oid.to_string()));
        let trailers = Trailers { from, time: None, ..own };
        change.commit_merged(&merged, replayed.commit.subject(), trailers, Some(&author))?;
    }
    Ok(merged.conflicts)
}
