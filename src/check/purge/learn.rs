//! The matches of a pattern in this repository: where other commands cut a match off, only parts of it are left.

use std::collections::HashSet;

use super::content::Target;
use crate::git::Repo;
use crate::trace::TraceError;

/// The bytes of matches that are kept. More different matches are not of a secret.
const MOST: usize = 1024 * 1024;

/// Reads every object. Costs nothing without a pattern.
pub(super) fn matches(repo: &Repo, target: &Target) -> Result<(), TraceError> {
    let (mut matched, mut left) = (HashSet::new(), MOST);
    if target.needle.matches(b"").is_none() {
        return Ok(());
    }
    repo.for_each_object(|_, _, bytes| {
        for found in target.needle.matches(bytes).into_iter().flatten() {
            if found.len() <= left && !matched.contains(found) {
                left -= found.len();
                matched.insert(found.to_owned());
            }
        }
        Ok::<_, TraceError>(())
    })?;
    target.needle.learn(matched);
    Ok(())
}
