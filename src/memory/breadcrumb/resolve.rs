//! Resolving a file that is full of conflict markers, in its place.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::merge::{Note, resolve_with_base};
use super::writer::STEM;
use crate::base::bounded;
use crate::base::error::Diagnostic;
use crate::base::merge::Markers;
use crate::base::merge::conflict::MarkerError;
use crate::base::replace::{Access, Lock, Stamp, real_path, replace};

/// What resolving came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resolved {
    /// How many conflicts are left to a person; they stand in the file.
    pub conflict_count: usize,
    /// What the text does not show.
    pub notes: Vec<Note>,
    /// Whether the file was written.
    pub is_changed: bool,
}

/// Why a file was not resolved.
#[derive(Debug, Error)]
pub(crate) enum ResolveError {
    /// It could not be read or written.
    #[error("cannot resolve `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its conflicts cannot be told apart.
    #[error("cannot resolve `{}`", path.display())]
    Markers {
        /// The file.
        path: PathBuf,
        /// What stands where.
        source: MarkerError,
    },
    /// Somebody else writes there.
    #[error("cannot resolve `{}`: another process is writing there", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl Diagnostic for ResolveError {}

/// Resolves the conflicts in the file at `path` as the merge would have, and writes it where that changes it.
///
/// `base` is the version that both sides come from, where it is known better than the markers show it.
///
/// # Errors
///
/// [`ResolveError`]; the file is as it was then.
pub(crate) fn resolve_file(
    path: &Path,
    base: Option<&[u8]>,
    markers: &Markers,
    patience: Duration,
) -> Result<Resolved, ResolveError> {
    let failed = |source| ResolveError::Io { path: path.to_owned(), source };
    let real = real_path(path).map_err(failed)?;
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _lock = Lock::take(folder, STEM, patience)
        .map_err(failed)?
        .ok_or_else(|| ResolveError::Busy { path: path.to_owned() })?;
    let file = File::open(&real).map_err(failed)?;
    let stamp = Stamp::of(&file.metadata().map_err(failed)?);
    let text = bounded::read_opened(&file).map_err(failed)?;
    let merged = resolve_with_base(&text, base, markers.size)
        .map_err(|source| ResolveError::Markers { path: path.to_owned(), source })?;
    let conflict_count = merged.conflict_count();
    let resolved = merged.to_bytes(markers);
    let is_changed = resolved != text;
    if is_changed {
        if fs::metadata(&real).map_err(failed)?.permissions().readonly() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
        let is_done = replace(&real, STEM, Some(&stamp), Access::Usual, |out| io::Write::write_all(out, &resolved));
        if !is_done.map_err(failed)? {
            return Err(ResolveError::Busy { path: path.to_owned() });
        }
    }
    Ok(Resolved { conflict_count, notes: merged.notes, is_changed })
}
