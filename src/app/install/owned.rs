//! Files that are ours completely: manual pages and scripts for shells.
//!
//! The last line is a comment with a digest of the lines above it. If the digest is right, nobody changed the file, and it may
//! be replaced and removed. Any other file is left alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Action, InstallError, Mode, Step, digest, of_user, put_file, read_file};
use crate::base::replace::canonical_path;
use crate::base::worktree_path::check_outside_git;

const MARK: &str = "written by git-trace ";

pub(crate) struct OwnedFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) comment: &'static str,
}

impl OwnedFile {
    /// Writes the file, unless there is someone else's. Repeating it changes nothing.
    pub(crate) fn install(&self, mode: Mode) -> Result<Step, InstallError> {
        check(&self.path)?;
        let new = sealed(&self.text, self.comment);
        let old = read_file(&self.path)?;
        let action = match &old {
            Some(old) if old == new.as_bytes() => Action::Kept,
            Some(old) if !is_ours(old) => Action::LeftAlone,
            Some(_) => Action::Updated,
            None => Action::Added,
        };
        if matches!(action, Action::Updated | Action::Added) {
            put_file(&self.path, old.as_deref(), Some(new.as_bytes()), mode)?;
        }
        Ok(Step::on(action, &self.path))
    }
}

/// The folder of the user's data may be in a clone, such as one of settings.
fn check(path: &Path) -> Result<(), InstallError> {
    check_outside_git(path).map_err(|source| InstallError::Write { path: path.to_owned(), source })
}

/// Fails if links of a clone lead from a folder that the user named to other places, or any links into a git directory.
pub(crate) fn check_in(folder: &Path, path: &Path) -> Result<(), InstallError> {
    check(path)?;
    // Links on the way to the folder are the user's choice.
    let below = path.strip_prefix(folder).unwrap_or(path);
    canonical_path(folder).map_or(Ok(()), |real| of_user(real.join(below)).map(drop))
}

/// Removes a file of ours; `None` if there is no file.
pub(crate) fn uninstall(path: &Path, mode: Mode) -> Result<Option<Step>, InstallError> {
    check(path)?;
    let Some(old) = read_file(path)? else { return Ok(None) };
    if !is_ours(&old) {
        return Ok(Some(Step::on(Action::LeftAlone, path)));
    }
    put_file(path, Some(&old), None, mode)?;
    Ok(Some(Step::on(Action::Removed, path)))
}

/// The files of a folder whose names `is_named` accepts, sorted; none if there is no such folder.
pub(crate) fn list(folder: &Path, is_named: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, InstallError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| InstallError::Write { path: folder.to_owned(), source })?;
    let named = entries.iter().filter(|entry| entry.file_name().to_str().is_some_and(&is_named));
    let mut found: Vec<_> = named.map(fs::DirEntry::path).collect();
    found.sort();
    Ok(found)
}

pub(crate) fn sealed(text: &str, comment: &str) -> String {
    format!("{text}{comment} {MARK}{}\n", digest(text.as_bytes(), 16))
}

pub(crate) fn is_ours(file: &[u8]) -> bool {
    let Some(lines) = file.strip_suffix(b"\n") else { return false };
    let start = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    let (text, last) = lines.split_at(start);
    let Ok(last) = std::str::from_utf8(last) else { return false };
    last.split_once(MARK).is_some_and(|(_, written)| written == digest(text, 16))
}
