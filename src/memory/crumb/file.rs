//! Reading and writing the file on disk. Each change reads it under the lock of its folder, and replaces it atomically.

use std::path::Path;

use super::error::CrumbError;
use super::grammar::document::{CrumbFile, is_conflict_marker};
use crate::base::bounded;
use crate::base::replace::{Access, FileError, Stem, update};
use crate::base::worktree_path::{check_outside_git, check_regular_or_open};

const STEM: Stem = Stem(".git-trace-crumb");

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    check_regular_or_open(path)
        .and_then(|()| bounded::read_file(path))
        .map_err(|source| FileError::Read { path: path.to_owned(), source })
}

/// Changes an existing file; returns the result of `change`, which may be called again. A change without effect writes nothing.
pub(crate) fn edit<T>(
    path: &Path,
    mut change: impl FnMut(&mut CrumbFile<'_>) -> Result<T, CrumbError>,
) -> Result<T, CrumbError> {
    check_link(path)?;
    update(path, STEM, Access::Usual, |seen| {
        if seen.version.is_none() {
            return Err(CrumbError::NoSuchFile { path: path.to_owned() });
        }
        let mut crumb = CrumbFile::parse(&seen.text)?;
        check_editable(&crumb)?;
        let result = change(&mut crumb)?;
        Ok((Some(vec![crumb.print().into()]), result))
    })
}

pub(crate) fn create(path: &Path, text: &[u8]) -> Result<(), CrumbError> {
    check_link(path)?;
    update(path, STEM, Access::Usual, |seen| match seen.version {
        Some(_) => Err(CrumbError::Exists { path: path.to_owned() }),
        None => Ok((Some(vec![text.to_vec().into()]), ())),
    })
}

fn check_link(path: &Path) -> Result<(), FileError> {
    check_outside_git(path).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// Fails if the file has no header, or contains a conflict.
pub(crate) fn check_editable(crumb: &CrumbFile<'_>) -> Result<(), CrumbError> {
    match crumb.lines.iter().position(|line| is_conflict_marker(&line.text)) {
        Some(index) => Err(CrumbError::Conflict { line: index + 1 }),
        None if crumb.header().is_none() => Err(CrumbError::NoHeader),
        None => Ok(()),
    }
}
