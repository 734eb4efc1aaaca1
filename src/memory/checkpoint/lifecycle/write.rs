//! Writing checkpoint files: one writer per work tree, and each file is replaced atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::replace::{self, Access, FileError, Lock, Stem, remove_leftovers};
use crate::base::worktree_path::resolve;
use crate::git::Git;
use crate::memory::checkpoint::error::{CheckpointError, write_error};
use crate::memory::checkpoint::folder::{Folder, is_repository};

const STEM: Stem = Stem(".checkpoint");

/// Locks the checkpoints, and removes temporary files of killed writers. Returns `None` if the folder does not exist. Fails if a sparse
/// checkout leaves out a checkpoint or a list, which a change must know.
pub(crate) fn lock(folder: &Folder) -> Result<Option<Lock>, CheckpointError> {
    let path = folder.top();
    Git::in_folder(&folder.root).check_checked_out(&path)?;
    let real = folder.real_path(&path).map_err(write_error(&path))?;
    match Lock::take(&real, STEM) {
        Ok(Some(lock)) => {
            tidy(&real);
            Ok(Some(lock))
        }
        Ok(None) => Err(FileError::Busy { path }.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(write_error(&path)(source)),
    }
}

/// As [`lock`]. Creates the folder if it does not exist.
pub(crate) fn lock_new(folder: &Folder) -> Result<Option<Lock>, CheckpointError> {
    let held = lock(folder)?;
    if held.is_some() {
        return Ok(held);
    }
    let top = folder.top();
    resolve(&folder.root, &top).and_then(fs::create_dir_all).map_err(write_error(&top))?;
    lock(folder)
}

/// Removes temporary files recursively, except in other repositories and worktrees, whose writers hold other locks. Failures
/// are ignored.
fn tidy(folder: &Path) {
    remove_leftovers(folder, STEM);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git";
        if is_folder && !is_repository(&path) {
            tidy(&path);
        }
    }
}

/// As [`Folder::real_path`]. Also fails if a sparse checkout leaves out the file that a link leads to.
pub(super) fn real_path(folder: &Folder, path: &Path) -> Result<PathBuf, CheckpointError> {
    let real = folder.real_path(path).map_err(write_error(path))?;
    // The lock covers all files of the folder that are not behind a link.
    if !real.exists() && (path.is_symlink() || !path.starts_with(folder.top())) {
        Git::in_folder(&folder.root).check_checked_out(path)?;
    }
    Ok(real)
}

/// Replaces a file that still contains `before`; without `before` there must be no file. The caller holds the [`lock`].
pub(crate) fn write(folder: &Folder, path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), CheckpointError> {
    let refused = || match before {
        Some(_) => FileError::Changing { path: path.to_owned() }.into(),
        None => CheckpointError::Exists { path: path.display().to_string() },
    };
    let real = real_path(folder, path)?;
    fs::create_dir_all(real.parent().unwrap_or(Path::new("."))).map_err(write_error(path))?;
    let seen = replace::read(&real).map_err(write_error(path))?;
    if before != seen.version.as_ref().map(|_| &*seen.text) {
        return Err(refused());
    }
    let is_done =
        replace::replace(&real, STEM, seen.version.as_ref(), Access::Usual, after).map_err(write_error(path))?;
    if is_done { Ok(()) } else { Err(refused()) }
}

/// Removes a file that still contains `before`. The caller holds the [`lock`].
pub(crate) fn remove(folder: &Folder, path: &Path, before: &[u8]) -> Result<(), CheckpointError> {
    let real = folder.real_path(path).map_err(write_error(path))?;
    let seen = replace::read(&real).map_err(write_error(path))?;
    if seen.version.is_some() && seen.text != before {
        return Err(FileError::Changing { path: path.to_owned() }.into());
    }
    fs::remove_file(path).map_err(|source| CheckpointError::Remove { path: folder.shown(path), source })
}
