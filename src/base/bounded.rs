//! Reading files and streams whole, up to a bound: a link to `/dev/zero` that came with a clone must not eat all memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes that are read of anything that is held in memory whole.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a file.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_opened(&File::open(path)?)
}

/// Reads an open file from where it stands.
pub(crate) fn read_opened(file: &File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    if len > MAX_BYTES {
        return Err(too_large());
    }
    // A byte more, so that the end is met without a larger buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    read_onto(&mut bytes, file)?;
    Ok(bytes)
}

/// Reads all there is to read.
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
