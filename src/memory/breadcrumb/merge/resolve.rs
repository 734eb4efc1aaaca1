//! Resolving a file that already contains conflict markers, in place.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::{MergeNote, merge};
use crate::base::bounded;
use crate::base::error::Diagnostic;
use crate::base::merge::conflict::{self, MarkerError};
use crate::base::merge::{Markers, MergeInput, Merged};
use crate::base::replace::{Access, FileVersion, Lock, real_path, replace};
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

/// The result of [`resolve_file`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resolved {
    /// The number of conflicts that are still in the file.
    pub conflict_count: usize,
    pub notes: Vec<MergeNote>,
    pub is_changed: bool,
}

#[derive(Debug, Error)]
pub(crate) enum ResolveError {
    #[error("cannot resolve `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot resolve `{}`", path.display())]
    Markers { path: PathBuf, source: MarkerError },
    #[error("cannot resolve `{}`: another process is writing to it", path.display())]
    Busy { path: PathBuf },
}

impl Diagnostic for ResolveError {}

/// Resolves the conflicts in a file, and writes it if that changes it. After an error the file is unchanged.
pub(crate) fn resolve_file(
    path: &Path,
    base: Option<&[u8]>,
    markers: &Markers,
    patience: Duration,
) -> Result<Resolved, ResolveError> {
    let failed = |source| ResolveError::Io { path: path.to_owned(), source };
    let busy = || ResolveError::Busy { path: path.to_owned() };
    let real = real_path(path).map_err(failed)?;
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _lock = Lock::take(folder, STEM, patience).map_err(failed)?.ok_or_else(busy)?;
    let file = File::open(&real).map_err(failed)?;
    let stamp = FileVersion::of(&file.metadata().map_err(failed)?);
    let text = bounded::read_opened(&file).map_err(failed)?;
    let merged =
        resolve(&text, base, markers.size).map_err(|source| ResolveError::Markers { path: path.to_owned(), source })?;
    let conflict_count = merged.conflict_count();
    let resolved = merged.to_bytes(markers);
    let is_changed = resolved != text;
    if is_changed {
        if fs::metadata(&real).map_err(failed)?.permissions().readonly() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let is_replaced = replace(&real, STEM, Some(&stamp), Access::Usual, |out| io::Write::write_all(out, &resolved));
        if !is_replaced.map_err(failed)? {
            return Err(busy());
        }
    }
    Ok(Resolved { conflict_count, notes: merged.notes, is_changed })
}
