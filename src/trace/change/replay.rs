//! Replaying changes on a trace: items of another trace, the opposite of an earlier commit, or all commits on a new base.
//!
//! Each step is a three-way merge into the newest commit; the operations differ in the trees that are the base and theirs. The
//! trace moves once, to the last commit. An open conflict changes nothing.

use crate::git::{Ident, Oid, Repo, TreeStore as _};
use crate::tokens::Counter;
use crate::trace::change::merge::three_way::{Conflict, Placement, Sides};
use crate::trace::change::merge::{Settlement, common_tree};
use crate::trace::change::pending::{Made, PendingChange};
use crate::trace::model::item_file;
use crate::trace::model::trailers::{Trailers, preview};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::foreign::refuse_state;
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::store::total::{Reading, read, read_item};
use crate::trace::{ItemId, Op, Tip, Trace, TraceError};

#[derive(Debug)]
pub(crate) enum Outcome {
    Nothing,
    Done(Vec<Made>),
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

impl Trace<'_> {
    /// Adds live items of `source` at the end, in this order, with their ids and content. An item that is here already gets the
    /// changes that the other trace made to it.
    pub(crate) fn pick(
        &self,
        source: &Tip,
        items: &[ItemId],
        settlement: &Settlement,
        reason: Option<&str>,
    ) -> Result<Outcome, TraceError> {
        let (repo, name) = (self.repo(), self.name());
        let _purges = require_no_purge(repo)?;
        let theirs = tree::list(repo, source.commit.tree)?;
        let find = |id: ItemId| {
            let slot = theirs.iter().find(|slot| slot.id == id);
            slot.ok_or_else(|| TraceError::UnknownItem { spec: id.to_string(), trace: name.clone() })
        };
        let slots = items.iter().map(|id| find(*id)).collect::<Result<Vec<_>, _>>()?;
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            refuse_state(repo, source.commit.oid, Some(tip.commit.oid))?;
            let base = common_tree(repo, name, tip.commit.oid, source.commit.oid, None)?;
            let base = base.map_or(Ok(Vec::new()), |tree| tree::list(repo, tree))?;
            let ours = change.slots()?;
            let (mut conflicts, mut is_apart) = (Vec::new(), false);
            for slot in &slots {
                let ours = ours.iter().find(|here| here.id == slot.id);
                // An item that was deleted here is requested again.
                let before = base.iter().find(|before| before.id == slot.id && ours.is_some());
                let picked = match before {
                    Some(before) => Change::Changed(before.clone(), (*slot).clone()),
                    None => Change::Added((*slot).clone()),
                };
                let sides = Sides::of_change(picked, ours.cloned(), is_apart);
                is_apart |= sides.adds_reasoning();
                let onto = newest(change)?;
                let decide = &mut settlement.between(repo, &tip, source);
                let merged = change.three_way(&onto, &sides, Placement::AtEnd, decide)?;
                if merged.conflicts.is_empty() && !merged.is_unchanged() {
                    let from = Some(source.commit.oid.to_string());
                    let trailers = Trailers { from, ..change.trailers(Op::Pick, Some(slot.id), reason)? };
                    change.commit_merged(&merged, &preview(&read_item(repo, slot)?), trailers, None)?;
                }
                conflicts.extend(merged.conflicts);
            }
            Ok(finish(change, "pick", conflicts))
        })?;
        Ok(outcome)
    }
}

impl Trace<'_> {
    /// Reverts commits in this order, each by a separate commit: added items are deleted, deleted items are restored, and edited
    /// items have their earlier content. Later edits of the same item merge by line, or conflict; ours is the trace as it is.
    ///
    /// `verb` names the operation in subjects and in the reflog.
    pub(crate) fn revert(
        &self,
        commits: &[Oid],
        settlement: &Settlement,
        verb: &str,
        placement: Placement,
        reason: Option<&str>,
    ) -> Result<Outcome, TraceError> {
        let repo = self.repo();
        let _purges = require_no_purge(repo)?;
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            let mut previous = None;
            for commit in commits {
                let undone = Tip::read(repo, *commit)?;
                let before = match undone.commit.parents.as_slice() {
                    [] => repo.write_tree(&mut [])?,
                    [parent] => repo.read_commit(*parent)?.tree,
                    _ => return Err(TraceError::Merge { commit: *commit }),
                };
                let onto = newest(change)?;
                let base = Some(undone.commit.tree);
                let mut sides = Sides::compare_next(previous, repo, base, [&onto, &undone], before)?;
                for changed in &mut sides.theirs {
                    renew(repo, changed, change.counter)?;
                }
                let item = match sides.theirs.as_slice() {
                    [only] => Some(only.entry().id),
                    _ => None,
                };
                let decide = &mut settlement.between(repo, &tip, &undone);
                let merged = change.three_way(&onto, &sides, placement, decide)?;
                previous = Some(sides);
                if !merged.conflicts.is_empty() {
                    return Ok(finish(change, verb, merged.conflicts));
                }
                if merged.is_unchanged() {
                    continue;
                }
                let op = match (&*merged.added, &*merged.edited, &*merged.removed) {
                    ([], [], _) => Op::Delete,
                    ([], _, []) => Op::Edit,
                    _ => Op::Restore,
                };
                let trailers = Trailers { from: Some(commit.to_string()), ..change.trailers(op, item, reason)? };
                let subject = format!("{verb}: {}", undone.commit.subject());
                change.commit_merged(&merged, &subject, trailers, None)?;
            }
            Ok(finish(change, verb, Vec::new()))
        })?;
        Ok(outcome)
    }
}

/// Makes an earlier text of an item its newest revision.
fn renew(repo: &Repo, change: &mut Change, counter: Counter) -> Result<(), TraceError> {
    let Change::Changed(undone, earlier) = change else { return Ok(()) };
    if undone.blob == earlier.blob {
        return Ok(());
    }
    let last = read(repo, undone)?.item.revision;
    if let Reading { mut item, damage: None } = read(repo, earlier)? {
        item.revision = last.saturating_add(1);
        item.keep_token_count(counter);
        earlier.blob = repo.write_blob(&item_file::render(&item))?;
    }
    Ok(())
}

impl Trace<'_> {
    /// Replays the commits that `onto` lacks on top of it, oldest first. Merges are left out, since what they added is replayed
    /// itself. Items keep their ids, commits their authors; new items follow those of `onto`. The old tip is backed up.
    pub(crate) fn rebase(&self, onto: &Tip, settlement: &Settlement) -> Result<Outcome, TraceError> {
        let repo = self.repo();
        let _purges = require_no_purge(repo)?;
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            let own = repo.commits_beyond(tip.commit.oid, Some(onto.commit.oid))?;
            if own.is_empty() && tip.commit.oid == onto.commit.oid {
                return Ok(Outcome::Nothing);
            }
            refuse_state(repo, onto.commit.oid, Some(tip.commit.oid))?;
            change.continue_on(onto)?;
            let mut in_line = true;
            let mut previous = None;
            for commit in &own {
                let replayed = Tip::read(repo, *commit)?;
                let parents = &replayed.commit.parents;
                in_line &= parents.first().copied() == change.last() && parents.len() == 1;
                if in_line {
                    change.restart_on(replayed)?;
                } else if parents.len() <= 1 {
                    let conflicts = replay(change, &replayed, settlement, &mut previous)?;
                    if !conflicts.is_empty() {
                        change.abandon();
                        return Ok(Outcome::Conflicts(conflicts));
                    }
                }
            }
            let Some(to) = change.last().filter(|to| *to != tip.commit.oid) else { return Ok(Outcome::Nothing) };
            change.move_to(to, format!("rebase: onto {}", onto.commit.oid));
            Ok(Outcome::Done(change.made.clone()))
        })?;
        Ok(outcome)
    }
}

/// Replays one commit, after those that `previous` compared; returns the conflicts that a person must decide.
fn replay(
    change: &mut PendingChange<'_>,
    replayed: &Tip,
    settlement: &Settlement,
    previous: &mut Option<Sides>,
) -> Result<Vec<Conflict>, TraceError> {
    let repo = change.repo();
    let parent = replayed.commit.parents.first().map(|parent| repo.read_commit(*parent)).transpose()?;
    let onto = newest(change)?;
    let base = parent.map(|parent| parent.tree);
    let mut sides = Sides::compare_next(previous.take(), repo, base, [&onto, replayed], replayed.commit.tree)?;
    let decide = &mut settlement.between(repo, &onto, replayed);
    let merged = change.three_way(&onto, &sides, Placement::AtEnd, decide)?;
    sides.note(&merged);
    *previous = Some(sides);
    if merged.conflicts.is_empty() && !merged.is_unchanged() {
        let author = Ident::of(&replayed.commit.author, replayed.commit.author_time);
        let own = if replayed.is_ours() { replayed.trailers.clone() } else { Trailers::default() };
        let from = own.from.or_else(|| Some(replayed.commit.oid.to_string()));
        let trailers = Trailers { from, time: None, ..own };
        change.commit_merged(&merged, replayed.commit.subject(), trailers, Some(&author))?;
    }
    Ok(merged.conflicts)
}
