//! Another line of context, as it is named to be merged.

use anyhow::{Result, bail};

use crate::git::Repo;
use crate::trace::{Tip, TraceName};

/// The tip of another line of context: a trace, what was last seen of a remote's, or a commit of one.
///
/// # Errors
///
/// If `spec` names none of them.
pub fn other_tip(repo: &Repo, name: &TraceName, spec: &str) -> Result<Tip> {
    if let Ok(other) = spec.parse::<TraceName>() {
        if let Some(tip) = Tip::find(repo, &other)? {
            return Ok(tip);
        }
        if let Some(oid) = repo.find_ref(&format!("refs/trace-remotes/{other}"))? {
            return Ok(Tip::read(repo, oid)?);
        }
    }
    match repo.find_commit(spec)? {
        Some(commit) => Ok(Tip::read(repo, commit)?),
        None => {
            bail!("`{spec}` is neither a trace nor a commit of one, so trace `{name}` has nothing to take")
        }
    }
}
