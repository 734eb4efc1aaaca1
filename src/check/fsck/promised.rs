//! Partial clones: what a remote promised to give is not here, need not be, and is not fetched for a check, as with `git fsck`.

use std::collections::HashSet;

use super::Inspection;
use crate::git::{Oid, RefListing};
use crate::trace::TraceError;

impl Inspection<'_> {
    /// Takes back the faults of objects that a remote promised; how many objects that are.
    pub(crate) fn take_back_promised(&mut self, listing: &RefListing) -> Result<usize, TraceError> {
        let missing: HashSet<Oid> = self.faults.iter().filter_map(|fault| fault.missing).collect();
        if missing.is_empty() || !self.is_partial {
            return Ok(0);
        }
        // Refs of other things than commits lead to nothing that was looked for.
        let tips = listing.refs.iter().map(|(_, tip)| *tip).filter(|tip| self.repo.read_commit(*tip).is_ok());
        let lost = self.repo.lost(&missing, tips)?;
        self.faults.retain(|fault| fault.missing.is_none_or(|oid| lost.contains(&oid)));
        Ok(missing.len() - lost.len())
    }
}
