//! Where a transcript's bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Is called with the number of bytes of the file that were read.
pub(crate) type ProgressFn<'w> = &'w dyn Fn(u64);

/// A transcript's bytes.
pub(crate) enum Input<'w> {
    /// A file, in which an import can continue where the last one ended.
    File(File, ProgressFn<'w>),
    /// A stream, which can be read once.
    Stream(Box<dyn Read + 'w>),
}

/// [`Read`] and [`Seek`] in one trait object.
pub(crate) trait Seekable: Read + Seek {}

impl<T: Read + Seek> Seekable for T {}

/// A file that reports how far it was read.
pub(super) struct TrackedFile<'w> {
    file: File,
    position: u64,
    progress: ProgressFn<'w>,
}

impl<'w> TrackedFile<'w> {
    /// Starts at the beginning of the file.
    pub(super) fn new(file: &File, progress: ProgressFn<'w>) -> io::Result<Self> {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(Self { file, position: 0, progress })
    }
}

impl Read for TrackedFile<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(into)?;
        self.position += length as u64;
        (self.progress)(self.position);
        Ok(length)
    }
}

impl Seek for TrackedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}
