//! Where a transcript's bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};

/// Is called with the number of bytes of the file that were read.
pub(crate) type ProgressFn<'w> = &'w dyn Fn(u64);

pub(crate) enum Input<'w> {
    /// A file, in which an import can continue where the last one ended.
    File(&'w File, ProgressFn<'w>),
    Stream(Box<dyn Read + 'w>),
}

/// A file that reports how far it was read.
pub(super) struct TrackedFile<'w> {
    file: &'w File,
    position: u64,
    progress: ProgressFn<'w>,
}

impl<'w> TrackedFile<'w> {
    pub(super) fn at(position: u64, mut file: &'w File, progress: ProgressFn<'w>) -> io::Result<Box<Self>> {
        file.seek(SeekFrom::Start(position))?;
        Ok(Box::new(Self { file, position, progress }))
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
