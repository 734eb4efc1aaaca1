//! Putting the files of a set-up in their places, each of them whole.

use std::fs;
use std::io;
use std::path::Path;

use crate::base::replace::{self, Access, real_path};

/// Puts a text in the place of the file, or removes it. A link is followed, so that it stays one.
pub(crate) fn put(path: &Path, text: Option<&[u8]>) -> io::Result<()> {
    let path = real_path(path)?;
    match text {
        Some(text) => replace::put(&path, Access::Usual, text),
        None => fs::remove_file(&path),
    }
}
