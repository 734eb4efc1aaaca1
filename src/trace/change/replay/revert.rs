//! Reverting: the opposite of an earlier commit.

use super::{Outcome, finish, newest};
use crate::git::{Oid, Repo, TreeStore as _};
use crate::tokens::Encoding;
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Placement, Sides};
use crate::trace::model::file;
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree::Change;
use crate::trace::store::total::{Reading, read};
use crate::trace::{Op, Tip, Trace, TraceError};

impl Trace<'_> {
    /// Reverts commits in this order, each by a commit of its own: added items are deleted, deleted items are restored, and edited
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
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            for commit in commits {
                let undone = Tip::read(repo, *commit)?;
                let before = match undone.commit.parents.as_slice() {
                    [] => repo.write_tree(&mut [])?,
                    [parent] => repo.read_commit(*parent)?.tree,
                    _ => return Err(TraceError::Merge { commit: *commit }),
                };
                let onto = newest(change)?;
                let mut sides = Sides::compare(repo, Some(undone.commit.tree), [&onto, &undone], before)?;
                for changed in &mut sides.theirs {
                    renew(repo, changed, change.encoding)?;
                }
                let item = match sides.theirs.as_slice() {
                    [only] => Some(only.entry().id),
                    _ => None,
                };
                let decide = &mut settlement.between(repo, &tip, &undone);
                let merged = change.three_way(&onto, &sides, placement, decide)?;
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
fn renew(repo: &Repo, change: &mut Change, encoding: Encoding) -> Result<(), TraceError> {
    let Change::Changed(undone, earlier) = change else { return Ok(()) };
    if undone.blob == earlier.blob {
        return Ok(());
    }
    let last = read(repo, undone)?.item.revision;
    if let Reading { mut item, damage: None } = read(repo, earlier)? {
        item.revision = last.saturating_add(1);
        item.keep_token_count(encoding);
        earlier.blob = repo.write_blob(&file::render(&item))?;
    }
    Ok(())
}
