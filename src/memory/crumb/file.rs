//! Writing a crumb file: each change reads the file under the lock of its folder, and puts a whole new one in its place.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::base::bounded;
use crate::base::replace::{Access, Lock, Seen, Stem, real_path, replace};
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, is_conflict_marker};

/// What the files beside it are called while one is written.
const STEM: Stem = Stem(".git-trace-crumb");

/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a change is made anew because a program without our lock changed the file meanwhile.
const MAX_ATTEMPTS: usize = 10;

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CrumbError> {
    bounded::read_file(path).map_err(|source| CrumbError::Read { path: path.to_owned(), source })
}

/// Changes a file that is there; gives what `change` answers. A change that changes nothing writes nothing.
///
/// `change` may be asked again, after somebody without our lock changed the file.
pub(crate) fn edit<T>(
    path: &Path,
    mut change: impl FnMut(&mut CrumbFile<'_>) -> Result<T, CrumbError>,
) -> Result<T, CrumbError> {
    write(path, |seen| {
        if seen.stamp.is_none() {
            return Err(CrumbError::NoSuchFile { path: path.to_owned() });
        }
        let mut crumb = CrumbFile::parse(&seen.text)?;
        check_editable(&crumb)?;
        let answer = change(&mut crumb)?;
        Ok((crumb.print(), answer))
    })
}

/// Creates a file that is not there yet.
pub(crate) fn create(path: &Path, text: &[u8]) -> Result<(), CrumbError> {
    write(path, |seen| match seen.stamp {
        Some(_) => Err(CrumbError::Exists { path: path.to_owned() }),
        None => Ok((text.to_vec(), ())),
    })
}

/// Whether a file may be added to.
pub(crate) fn check_editable(crumb: &CrumbFile<'_>) -> Result<(), CrumbError> {
    if crumb.header().is_none() {
        return Err(CrumbError::NoHeader);
    }
    match crumb.lines.iter().position(|line| is_conflict_marker(&line.text)) {
        Some(index) => Err(CrumbError::Conflict { line: index + 1 }),
        None => Ok(()),
    }
}

fn write<T>(path: &Path, mut change: impl FnMut(&Seen) -> Result<(Vec<u8>, T), CrumbError>) -> Result<T, CrumbError> {
    let write_error = |source| CrumbError::Write { path: path.to_owned(), source };
    let real = real_path(path).map_err(write_error)?;
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = Lock::take(folder, STEM, PATIENCE).map_err(write_error)?;
    let _lock = lock.ok_or_else(|| CrumbError::Busy { path: path.to_owned() })?;
    for _ in 0..MAX_ATTEMPTS {
        let seen =
            crate::base::replace::read(&real).map_err(|source| CrumbError::Read { path: path.to_owned(), source })?;
        let (text, answer) = change(&seen)?;
        if seen.stamp.is_some() && text == seen.text {
            return Ok(answer);
        }
        if seen.is_read_only {
            return Err(CrumbError::ReadOnly { path: path.to_owned() });
        }
        let is_done = replace(&real, STEM, seen.stamp.as_ref(), Access::Usual, |out| io::Write::write_all(out, &text));
        if is_done.map_err(write_error)? {
            return Ok(answer);
        }
    }
    Err(CrumbError::Changing { path: path.to_owned() })
}
