//! Rebasing: the commits that another trace lacks are replayed on its tip.

use std::collections::HashMap;

use super::{Outcome, newest};
use crate::git::{Ident, LogLine};
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Conflict, Placement, Sides};
use crate::trace::change::pending::PendingChange;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::backup::back_up;
use crate::trace::{ItemId, Tip, Trace, TraceError};

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
            let mut positions = HashMap::new();
            for commit in &own {
                let replayed = Tip::read(repo, *commit)?;
                let parents = &replayed.commit.parents;
                in_line &= parents.first().copied() == change.last() && parents.len() == 1;
                if in_line {
                    change.restart_on(replayed)?;
                } else if parents.len() <= 1 {
                    let conflicts = replay(change, &replayed, settlement, &mut positions)?;
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
            Ok(Outcome::Done(change.made.clone()))
        })?;
        Ok(outcome)
    }
}

/// Replays one commit; returns the conflicts that a person must decide.
fn replay(
    change: &mut PendingChange<'_>,
    replayed: &Tip,
    settlement: &Settlement,
    positions: &mut HashMap<ItemId, u32>,
) -> Result<Vec<Conflict>, TraceError> {
    let repo = change.repo();
    let parent = replayed.commit.parents.first().map(|parent| repo.read_commit(*parent)).transpose()?;
    let onto = newest(change)?;
    let mut sides = Sides::compare(repo, parent.map(|parent| parent.tree), [&onto, replayed], replayed.commit.tree)?;
    sides.positions = std::mem::take(positions);
    let decide = &mut settlement.between(repo, &onto, replayed);
    let merged = change.three_way(&onto, &sides, Placement::AtEnd, decide)?;
    *positions = sides.positions;
    positions.extend(merged.removed.iter().map(|slot| (slot.id, slot.seq)));
    if merged.conflicts.is_empty() && !merged.is_unchanged() {
        let author = Ident::of(&replayed.commit.author, replayed.commit.author_time);
        let own = if replayed.is_ours() { replayed.trailers.clone() } else { Trailers::default() };
        let from = own.from.or_else(|| Some(replayed.commit.oid.to_string()));
        let trailers = Trailers { from, time: None, ..own };
        change.commit_merged(&merged, replayed.commit.subject(), trailers, Some(&author))?;
    }
    Ok(merged.conflicts)
}
