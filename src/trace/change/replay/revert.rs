//! Reverting: the opposite of an earlier commit.

use super::{Outcome, finish, newest};
use crate::git::{Oid, Repo, TreeStore as _};
use crate::tokens::Encoding;
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Placement, Sides, three_way};
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::trailers::{Op, Trailers};
use crate::trace::model::tree::Change;
use crate::trace::store::tip::Tip;
use crate::trace::store::total::read;
use crate::trace::store::trace::Trace;

/// What is reverted, and how.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    /// The commits, in the order in which they are taken back.
    pub commits: &'a [Oid],
    /// Who settles conflicts; ours is the trace as it is, theirs as it was before the commit.
    pub settlement: &'a Settlement,
    /// What this is called in subjects and in the reflog.
    pub verb: &'a str,
    /// Where items are put that come back.
    pub placement: Placement,
    pub reason: Option<&'a str>,
}

impl Trace<'_> {
    /// Reverts commits, each by a commit of its own: added items are deleted, deleted items are restored, and edited items
    /// have their earlier content. Later edits of the same item merge by line, or conflict.
    pub(crate) fn revert(&self, request: &Request<'_>) -> Result<Outcome, TraceError> {
        let (repo, name) = (self.repo(), self.name());
        let (_, outcome) = self.change(|change| {
            let tip = change.require_tip()?.clone();
            for commit in request.commits {
                let undone = Tip::read(repo, *commit)?;
                let before = match undone.commit.parents.as_slice() {
                    [] => repo.write_tree(&mut [])?,
                    [parent] => repo.read_commit(*parent)?.tree,
                    _ => return Err(TraceError::Merge { commit: *commit }),
                };
                let onto = newest(change)?;
                let plain = !undone.is_ours() || !onto.is_ours();
                let base = Some(undone.commit.tree);
                let mut sides = Sides::compare(repo, base, onto.commit.tree, before, plain)?;
                for changed in &mut sides.theirs {
                    renew(repo, changed, change.encoding)?;
                }
                let item = match sides.theirs.as_slice() {
                    [only] => Some(only.entry().id),
                    _ => None,
                };
                let mut decide = |conflict: &_| request.settlement.settle(repo, conflict, &tip, &undone);
                let merged = three_way(repo, name, change.encoding, &onto, &sides, request.placement, &mut decide)?;
                if !merged.conflicts.is_empty() {
                    return Ok(finish(change, request.verb, merged.conflicts));
                }
                if merged.is_unchanged() {
                    continue;
                }
                let op = match (&*merged.added, &*merged.edited, &*merged.removed) {
                    ([], [], _) => Op::Delete,
                    ([], _, []) => Op::Edit,
                    _ => Op::Restore,
                };
                let trailers = Trailers {
                    op: Some(op),
                    item,
                    code: repo.find_ref("HEAD")?.map(|oid| oid.to_string()),
                    from: Some(commit.to_string()),
                    reason: request.reason.map(str::to_owned),
                    ..Trailers::default()
                };
                let subject = format!("{}: {}", request.verb, undone.commit.subject());
                change.commit_merged(&merged, &subject, trailers, None)?;
            }
            Ok(finish(change, request.verb, Vec::new()))
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
    let (last, reading) = (read(repo, undone)?.item.revision, read(repo, earlier)?);
    if reading.damage.is_none() {
        let mut item = reading.item;
        item.revision = last.saturating_add(1);
        item.keep_token_count(encoding);
        earlier.blob = repo.write_blob(&file::render(&item))?;
    }
    Ok(())
}
