//! Reading files and streams into memory, up to a limit: a cloned link to `/dev/zero` must not fill the memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::worktree_path::check_regular;

const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_opened(&File::open(path)?)
}

/// Reads a regular file of any size. A link in a clone may lead to another one, which may have no end.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    check_regular(path)?;
    std::fs::read(path)
}

/// Reads a regular file, if it exists.
pub(crate) fn read_if_exists(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match check_regular(path).and_then(|()| read_file(path)) {
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Reads an open file from its current position.
pub(crate) fn read_opened(file: &File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    if len > MAX_BYTES {
        return Err(too_large());
    }
    // One more byte, so that the end is found without growing the buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    read_onto(&mut bytes, file)?;
    Ok(bytes)
}

pub(crate) fn read_all(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_onto(&mut bytes, reader)?;
    Ok(bytes)
}

fn read_onto(bytes: &mut Vec<u8>, reader: impl Read) -> io::Result<()> {
    let read = reader.take(MAX_BYTES + 1).read_to_end(bytes)?;
    if read as u64 > MAX_BYTES { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, "it is larger than 256 MiB, the most that is read at once")
}
