//! Reverting: the opposite of an earlier commit.

use super::{Chain, Outcome};
use crate::git::{Oid, Repo, TreeStore as _};
use crate::tokens::Encoding;
use crate::trace::change::merge::Settlement;
use crate::trace::change::merge::three_way::{Placement, Sides, three_way};
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, Trailers};
use crate::trace::model::tree::Change;
use crate::trace::store::advance::advance;
use crate::trace::store::tip::Tip;
use crate::trace::store::total::read;
use crate::trace::store::write::Signature;

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
    /// Why.
    pub reason: Option<&'a str>,
}

/// Takes back what commits did, each by a commit of its own: what came in goes out, what went out comes back, what was
/// edited is as before. Later edits of the same item merge by line, or clash.
///
/// # Errors
///
/// [`TraceError::Merge`] for a commit with two parents, which does not say whose doing is meant; those of [`three_way`].
/// Nothing was changed then.
pub(crate) fn revert(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    encoding: Encoding,
    request: &Request<'_>,
) -> Result<Outcome, TraceError> {
    let (_, outcome) = advance(repo, name, &signature.committer, |tip| {
        let tip = tip.ok_or_else(|| TraceError::NoSuchTrace { name: name.clone() })?;
        let mut chain = Chain::new(repo, signature, encoding, tip.clone());
        for commit in request.commits {
            let undone = Tip::read(repo, *commit)?;
            let before = match undone.commit.parents.as_slice() {
                [] => repo.write_tree(&mut [])?,
                [parent] => repo.read_commit(*parent)?.tree,
                _ => return Err(TraceError::Merge { commit: *commit }),
            };
            let plain = !undone.is_ours() || !chain.tip.is_ours();
            let base = Some(undone.commit.tree);
            let mut sides = Sides::compare(repo, base, chain.tip.commit.tree, before, plain)?;
            for change in &mut sides.theirs {
                renew(repo, change, encoding)?;
            }
            let item = match sides.theirs.as_slice() {
                [only] => Some(only.entry().id),
                _ => None,
            };
            let mut decide = |conflict: &_| request.settlement.settle(repo, conflict, tip, &undone);
            let merged = three_way(repo, name, encoding, &chain.tip, &sides, request.placement, &mut decide)?;
            if !merged.conflicts.is_empty() {
                return Ok((None, Outcome::Conflicts(merged.conflicts)));
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
            chain.add(
                &merged,
                trailers,
                &signature.author,
                &format!("{}: {}", request.verb, undone.commit.subject()),
            )?;
        }
        Ok(chain.finish(request.verb))
    })?;
    Ok(outcome)
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
