//! Lightweight tags that show priorities to git itself.
//!
//! Derived from the record, which is what reading uses. Each points straight at the commit that brought its item in, so
//! git keeps that commit, decorates logs with it and finds it.

use super::level::Level;
use super::set::Request;
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::id::ItemId;
use crate::trace::message::Op;
use crate::trace::tip::Tip;
use crate::trace::tree::Change;
use crate::trace::walk::{Parents, Walk, changes_of};

/// Where the tags are, unless `trace.tagPrefix` says otherwise: outside `refs/tags/`, which a plain clone would follow.
const DEFAULT_PREFIX: &str = "refs/trace-tags/";

/// The tag of an item at a level.
fn refname(prefix: &str, level: &str, item: ItemId) -> String {
    format!("{}/{level}/{item}", prefix.trim_end_matches('/'))
}

/// Sets the tags of new levels, then drops those of the old ones.
pub(super) fn follow(repo: &Repo, requests: &[Request]) -> Result<(), TraceError> {
    let configured = repo.config()?.text("trace.tagPrefix")?;
    let prefix = configured.as_deref().unwrap_or(DEFAULT_PREFIX);
    let mut old = Vec::new();
    for request in requests {
        repo.set_tag(&refname(prefix, request.level.as_str(), request.item), request.introduced)?;
        let others = Level::WORDS.iter().filter(|word| **word != request.level.as_str());
        old.extend(others.map(|word| refname(prefix, word, request.item)));
    }
    Ok(repo.delete_refs(old.iter().map(String::as_str))?)
}

/// Finds the commit that brought an item in; `None` if history has none that did.
///
/// Walks history, which no other everyday operation does.
///
/// # Errors
///
/// [`crate::git::GitError::MissingObject`] and its kin.
pub fn introduction(repo: &Repo, tip: &Tip, item: ItemId) -> Result<Option<Oid>, TraceError> {
    let mut earliest = None;
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        let came_in = if earlier.is_ours() && earlier.trailers.item.is_some() {
            if earlier.trailers.item != Some(item) {
                continue;
            }
            match earlier.trailers.op {
                Some(Op::Append | Op::Import | Op::Compress) => return Ok(Some(earlier.commit.oid)),
                Some(Op::Edit | Op::Delete | Op::Restore) => false,
                _ => true,
            }
        } else {
            changes_of(repo, &earlier)?.iter().any(|change| matches!(change, Change::Added(slot) if slot.id == item))
        };
        if came_in {
            earliest = Some(earlier.commit.oid);
        }
    }
    Ok(earliest)
}
