//! States that are not from this trace, on which it is to continue: none is taken over that was purged, or that is to be signed and is
//! not.

use super::commit::has_required_signature;
use super::tombstone::Tombstones;
use crate::git::{Oid, Repo, short_oid};
use crate::trace::TraceError;
use crate::trace::model::name::TRACES;

/// Refuses a state whose history has something purged that the history of `known` does not have, and one that only a remote has
/// without a required signature. `known` may be damaged.
pub(crate) fn refuse_state(repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
    let known = known.filter(|known| repo.read_commit(*known).is_ok());
    if known == Some(tip) {
        return Ok(());
    }
    let what = || format!("commit {}", short_oid(tip));
    if let Some(tombstones) = Tombstones::find(repo)? {
        tombstones.refuse(repo, &what(), tip, known)?;
    }
    require_signed_if_foreign(repo, what, tip)
}

/// Refuses a commit that a remote has and no local trace, if `trace.requireSigned` is set and git accepts no signature of it or of a
/// later commit of the remote.
pub(crate) fn require_signed_if_foreign(
    repo: &Repo,
    what: impl FnOnce() -> String,
    oid: Oid,
) -> Result<(), TraceError> {
    if has_required_signature(repo, oid)? {
        return Ok(());
    }
    for (_, tip) in repo.list_refs(TRACES)? {
        // `fsck` reports damaged tips.
        if repo.is_ancestor(oid, tip).unwrap_or(false) {
            return Ok(());
        }
    }
    let mut is_foreign = false;
    for (_, tip) in repo.list_refs("refs/trace-remotes/")? {
        if repo.is_ancestor(oid, tip).unwrap_or(false) {
            if has_required_signature(repo, tip)? {
                return Ok(());
            }
            is_foreign = true;
        }
    }
    if is_foreign { Err(TraceError::Unsigned { what: what(), oid }) } else { Ok(()) }
}
