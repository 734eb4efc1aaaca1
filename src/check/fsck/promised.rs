//! Partial clones: as in `git fsck`, objects that a promisor remote has may be missing and are not fetched.

use std::collections::HashSet;

use super::Inspection;
use crate::git::{Oid, RefListing};
use crate::trace::TraceError;

impl Inspection<'_> {
    /// Removes the problems about promised objects, and returns the number of these objects.
    pub(crate) fn take_back_promised(&mut self, listing: &RefListing) -> Result<usize, TraceError> {
        let missing: HashSet<Oid> = self.problems.iter().filter_map(|problem| problem.missing).collect();
        if missing.is_empty() || !self.is_partial {
            return Ok(0);
        }
        // Refs that do not point to commits lead to none of these objects.
        let tips = listing.refs.iter().map(|(_, tip)| *tip).filter(|tip| self.repo.read_commit(*tip).is_ok());
        let lost = self.repo.lost(&missing, tips)?;
        self.problems.retain(|problem| problem.missing.is_none_or(|oid| lost.contains(&oid)));
        Ok(missing.len() - lost.len())
    }
}
