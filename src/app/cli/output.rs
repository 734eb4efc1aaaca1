//! Files that a command is told to write.

use std::fs;
use std::io;
use std::path::Path;

use crate::base::error::{Context as _, Result};
use crate::base::replace::{Access, put, real_path};

/// Writes a file whole: whoever looks there sees what was, or all of it. What is no file, such as a pipe or a terminal, is
/// written to as it stands, and so is a file in a folder that may not be written.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = || {
        // As it was named: links below /proc lead to pipes by no path.
        match fs::metadata(path) {
            Ok(there) if !there.is_file() => return fs::write(path, bytes),
            Ok(there) if there.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
            _ => {}
        }
        let real = real_path(path)?;
        // A folder that is not there is most often a mistake.
        fs::metadata(real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
        match put(&real, Access::Usual, bytes) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => fs::write(&real, bytes),
            done => done,
        }
    };
    written().with_context(|| format!("cannot write `{}`", path.display()))
}
