//! Where a transcript's bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Is told how many bytes of the file were read.
pub(crate) type Watch<'w> = &'w dyn Fn(u64);

/// Where a transcript's bytes come from.
pub(crate) enum Input<'w> {
    /// A file, which can be read on from where the last import ended.
    File(File, Watch<'w>),
    /// Something that gives its bytes once.
    Stream(Box<dyn Read + 'w>),
}

/// What can be read from any place.
pub(crate) trait Seekable: Read + Seek {}

impl<T: Read + Seek> Seekable for T {}

/// A file whose reading is watched.
pub(super) struct Watched<'w> {
    file: File,
    at: u64,
    watch: Watch<'w>,
}

impl<'w> Watched<'w> {
    /// The file from its start.
    pub(super) fn new(file: &File, watch: Watch<'w>) -> io::Result<Self> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self { file, at: 0, watch })
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(into)?;
        self.at += length as u64;
        (self.watch)(self.at);
        Ok(length)
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}
