//! Reading and writing the file on disk. Each change reads it under the lock of its folder, and replaces it atomically.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::error::CrumbError;
use super::grammar::document::{CrumbFile, is_conflict_marker};
use crate::base::bounded;
use crate::base::replace::{self, Access, FileSnapshot, Lock, Stem, real_path};

/// The name of lock and temporary files.
const STEM: Stem = Stem(".git-trace-crumb");

/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a change is repeated because a program that does not take our lock changed the file.
const MAX_ATTEMPTS: usize = 10;

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CrumbError> {
    bounded::read_file(path).map_err(|source| CrumbError::Read { path: path.to_owned(), source })
}

/// Changes an existing file; returns the result of `change`. A change without effect writes nothing.
///
/// `change` is called again if another program changed the file.
pub(crate) fn edit<T>(
    path: &Path,
    mut change: impl FnMut(&mut CrumbFile<'_>) -> Result<T, CrumbError>,
) -> Result<T, CrumbError> {
    write(path, |seen| {
        if seen.version.is_none() {
            return Err(CrumbError::NoSuchFile { path: path.to_owned() });
        }
        let mut crumb = CrumbFile::parse(&seen.text)?;
        check_editable(&crumb)?;
        let result = change(&mut crumb)?;
        Ok((crumb.print(), result))
    })
}

/// Creates a file; fails if it exists.
pub(crate) fn create(path: &Path, text: &[u8]) -> Result<(), CrumbError> {
    write(path, |seen| match seen.version {
        Some(_) => Err(CrumbError::Exists { path: path.to_owned() }),
        None => Ok((text.to_vec(), ())),
    })
}

/// Fails if the file has no header, or contains a conflict.
pub(crate) fn check_editable(crumb: &CrumbFile<'_>) -> Result<(), CrumbError> {
    if crumb.header().is_none() {
        return Err(CrumbError::NoHeader);
    }
    match crumb.lines.iter().position(|line| is_conflict_marker(&line.text)) {
        Some(index) => Err(CrumbError::Conflict { line: index + 1 }),
        None => Ok(()),
    }
}

fn write<T>(
    path: &Path,
    mut change: impl FnMut(&FileSnapshot) -> Result<(Vec<u8>, T), CrumbError>,
) -> Result<T, CrumbError> {
    let write_error = |source| CrumbError::Write { path: path.to_owned(), source };
    let real = real_path(path).map_err(write_error)?;
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = Lock::take(folder, STEM, PATIENCE).map_err(write_error)?;
    let _lock = lock.ok_or_else(|| CrumbError::Busy { path: path.to_owned() })?;
    for _ in 0..MAX_ATTEMPTS {
        let seen = replace::read(&real).map_err(|source| CrumbError::Read { path: path.to_owned(), source })?;
        let (text, result) = change(&seen)?;
        if seen.version.is_some() && text == seen.text {
            return Ok(result);
        }
        if seen.is_read_only {
            return Err(CrumbError::ReadOnly { path: path.to_owned() });
        }
        let version = seen.version.as_ref();
        let is_replaced = replace::replace(&real, STEM, version, Access::Usual, |out| io::Write::write_all(out, &text));
        if is_replaced.map_err(write_error)? {
            return Ok(result);
        }
    }
    Err(CrumbError::Changing { path: path.to_owned() })
}
