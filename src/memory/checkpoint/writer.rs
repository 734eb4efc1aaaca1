//! Writing checkpoints: one writer of a working tree at a time, and each file is put in its place whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use super::error::CheckpointError;
use super::folder::Folder;
use crate::base::replace::{self, Access, Lock, Stem, real_path, remove_leftovers};

/// What the files beside a checkpoint are called while one is written.
const STEM: Stem = Stem(".checkpoint");

/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for the right to change checkpoints, and removes what writers left behind that were killed. `None`, and nothing to be
/// changed, where there is no folder of checkpoints.
///
/// # Errors
///
/// [`CheckpointError::Busy`], [`CheckpointError::Io`].
pub(crate) fn lock(folder: &Folder) -> Result<Option<Lock>, CheckpointError> {
    let top = folder.top();
    match Lock::take(&top, STEM, PATIENCE) {
        Ok(Some(lock)) => {
            tidy(&top);
            Ok(Some(lock))
        }
        Ok(None) => Err(CheckpointError::Busy { path: folder.shown(&top) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CheckpointError::io("lock", top, source)),
    }
}

/// Removes left-over files of the folder and those below it, but for other repositories and worktrees, which have writers of
/// their own; what cannot be read or removed does no harm.
fn tidy(folder: &Path) {
    remove_leftovers(folder, STEM);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git";
        if is_folder && path.join(".git").symlink_metadata().is_err() {
            tidy(&path);
        }
    }
}

/// Puts a text in the place of a file at once, if that still holds `before`; without a `before` there must be no file.
///
/// The caller holds the [`lock`].
///
/// # Errors
///
/// [`CheckpointError::Changed`] where it holds something else, [`CheckpointError::Exists`], [`CheckpointError::Io`].
pub(crate) fn replace(path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), CheckpointError> {
    let failed = |source| CheckpointError::io("write", path, source);
    let refused = || match before {
        Some(_) => CheckpointError::Changed { path: path.to_owned() },
        None => CheckpointError::Exists { path: path.display().to_string() },
    };
    let real = real_path(path).map_err(failed)?;
    fs::create_dir_all(real.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    let seen = replace::read(&real).map_err(failed)?;
    if before != seen.version.as_ref().map(|_| &*seen.text) {
        return Err(refused());
    }
    let write = |out: &mut io::BufWriter<&mut fs::File>| out.write_all(after);
    let is_done = replace::replace(&real, STEM, seen.version.as_ref(), Access::Usual, write).map_err(failed)?;
    if is_done { Ok(()) } else { Err(refused()) }
}
