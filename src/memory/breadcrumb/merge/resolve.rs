//! Resolving a file that already contains conflict markers, in place.

use std::fs;
use std::path::Path;

use super::{MergeNote, merge};
use crate::base::merge::conflict::{self, MarkerError};
use crate::base::merge::{Markers, MergeInput, Merged};
use crate::base::replace::{Access, FileError, update};
use crate::base::worktree_path::check_outside_git;
use crate::memory::breadcrumb::StoreError;
use crate::memory::breadcrumb::store::write::STEM;

/// Resolves the conflicts in a text as the merge would have.
///
/// Without `base`, the markers tell the base. In a style that does not show it, what only one side has is kept.
pub(crate) fn resolve(
    text: &[u8],
    base: Option<&[u8]>,
    min_marker_size: usize,
) -> Result<Merged<'static, MergeNote>, MarkerError> {
    let versions = conflict::versions(text, min_marker_size)?;
    let base = base.unwrap_or(&versions.base);
    Ok(merge(MergeInput { base, ours: &versions.ours, theirs: &versions.theirs }).into_owned())
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resolved {
    pub conflict_count: usize,
    pub notes: Vec<MergeNote>,
    pub is_changed: bool,
}

/// The versions of a file that git keeps in the index while a merge is in progress.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stages {
    pub base: Option<Vec<u8>>,
    pub ours: Option<Vec<u8>>,
    pub theirs: Option<Vec<u8>>,
    /// Whether git stores the file through a filter. It leaves our version of such a file, without markers.
    pub is_filtered: bool,
}

/// Resolves the conflicts in a file, and writes it if that changes it. After an error the file is unchanged.
///
/// `stages` is `None` if no merge is in progress. If the markers in the file cannot be parsed, the stages are merged again.
pub(crate) fn resolve_file(path: &Path, stages: Option<&Stages>, markers: &Markers) -> Result<Resolved, StoreError> {
    fs::metadata(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    check_outside_git(path).map_err(|source| FileError::Write { path: path.to_owned(), source })?;
    // Git stores no base for a file that both sides added.
    let base = stages.map(|stages| stages.base.as_deref().unwrap_or_default());
    let ours_and_theirs = match stages {
        Some(Stages { ours: Some(ours), theirs: Some(theirs), .. }) => Some((ours, theirs)),
        _ => None,
    };
    update(path, STEM, Access::Usual, |seen| {
        let again = || {
            let (ours, theirs) = ours_and_theirs?;
            Some(merge(MergeInput { base: base.unwrap_or_default(), ours, theirs }).into_owned())
        };
        // The user may have chosen ours of another file.
        let is_filtered = stages.is_some_and(|stages| stages.is_filtered);
        let is_ours = is_filtered && ours_and_theirs.is_some_and(|(ours, _)| *ours == seen.text);
        let merged = match again().filter(|_| is_ours) {
            Some(merged) => merged,
            None => resolve(&seen.text, base, markers.size).or_else(|source| match again() {
                Some(mut merged) => {
                    merged.notes.insert(0, MergeNote::MergedAgain { reason: source });
                    Ok(merged)
                }
                None => Err(StoreError::Markers { path: path.to_owned(), source }),
            })?,
        };
        let resolved = merged.to_bytes(markers);
        let (conflict_count, is_changed) = (merged.conflict_count(), resolved != seen.text);
        Ok((is_changed.then(|| vec![resolved.into()]), Resolved { conflict_count, notes: merged.notes, is_changed }))
    })
}
