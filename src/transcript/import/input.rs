//! Where a transcript's bytes come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::transcript::agents::FilePart;

/// Is called with the number of bytes of the file that were read.
pub(crate) type ProgressFn<'w> = &'w dyn Fn(u64);

pub(crate) enum Input<'w> {
    /// A transcript, in which an import can continue where the last one ended.
    File(&'w TranscriptFile, ProgressFn<'w>),
    Stream(Box<dyn Read + 'w>),
}

/// The bytes of a transcript: those of one file, or of several, one after another. The last one may grow.
pub(crate) struct TranscriptFile(Vec<OpenPart>);

struct OpenPart {
    file: File,
    start: u64,
    end: u64,
}

impl TranscriptFile {
    pub(crate) fn open(parts: &[FilePart]) -> io::Result<Self> {
        let mut open: Vec<OpenPart> = Vec::with_capacity(parts.len());
        for (number, FilePart { path, length }) in parts.iter().enumerate() {
            let file = File::open(path)?;
            let start = open.last().map_or(0, |part| part.end);
            let end = match length {
                Some(length) => start + length,
                None if number + 1 == parts.len() => u64::MAX,
                None => start + file.metadata()?.len(),
            };
            open.push(OpenPart { file, start, end });
        }
        Ok(Self(open))
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let Some(OpenPart { file, start, end }) = self.0.iter().find(|part| position < part.end) else { return Ok(0) };
        let mut file = file;
        file.seek(SeekFrom::Start(position - start))?;
        file.take(end - position).read(into)
    }
}

impl From<File> for TranscriptFile {
    fn from(file: File) -> Self {
        Self(vec![OpenPart { file, start: 0, end: u64::MAX }])
    }
}

/// A transcript that reports how far its last file was read.
pub(super) struct TrackedFile<'w> {
    file: &'w TranscriptFile,
    position: u64,
    progress: ProgressFn<'w>,
}

impl<'w> TrackedFile<'w> {
    pub(super) fn new(file: &'w TranscriptFile, progress: ProgressFn<'w>) -> Self {
        Self { file, position: 0, progress }
    }
}

impl Read for TrackedFile<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(self.position, into)?;
        self.position += length as u64;
        (self.progress)(self.position.saturating_sub(self.file.0.last().map_or(0, |part| part.start)));
        Ok(length)
    }
}

impl Seek for TrackedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(position) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        self.position = position;
        Ok(position)
    }
}
