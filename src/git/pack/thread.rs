//! The thread that compresses objects and writes them to the pack's file.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use flate2::{Compression, Crc};
use git2::{ObjectFormat, ObjectType};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::delta::{self, low_byte};
use super::index::Index;
use super::keep::{KeptPack, Temporary};
use crate::git::deflate::Deflater;
use crate::git::error::GitError;
use crate::git::fsync::{Component, Fsync};
use crate::git::oid::Oid;
use crate::git::permissions::Permissions;

/// Longest chain of deltas. Each link slows down reading; `git gc` uses 50.
const DEPTH: u8 = 10;

/// Compression level. `git gc` keeps the compressed objects. Text is a tenth smaller than at level 1, and this thread waits anyway.
const LEVEL: u32 = 3;

/// Number of trees that are tried as delta bases: a commit writes three trees, of the same folders as the previous one.
const TREES: usize = 4;

const HEADER: u64 = 12;

/// Object type of a delta whose base is given by its offset.
const OFFSET_DELTA: u8 = 6;

/// A message to the thread. If the sender is dropped without [`Sent::End`], the pack is abandoned.
pub(super) enum Sent {
    Object { oid: Oid, kind: ObjectType, bytes: Vec<u8> },
    End,
}

pub(super) struct Packed {
    pack: NamedTempFile,
    index: NamedTempFile,
    folder: PathBuf,
    checksum: String,
}

struct Tree {
    bytes: Vec<u8>,
    offset: u64,
    depth: u8,
}

struct Pack {
    file: BufWriter<NamedTempFile>,
    format: ObjectFormat,
    index: Index,
    offset: u64,
    trees: VecDeque<Tree>,
    buffer: Vec<u8>,
    deflater: Deflater,
}

pub(super) fn spawn(
    folder: &Path,
    format: ObjectFormat,
    fsync: Fsync,
    receiver: Receiver<Sent>,
) -> Result<JoinHandle<Result<Option<Packed>, GitError>>, GitError> {
    let place = folder.to_owned();
    let failed = move |source| GitError::io("write a pack in", &place, source);
    let mut pack = Pack::start(folder, format).map_err(&failed)?;
    let run = {
        let (folder, failed) = (folder.to_owned(), failed.clone());
        move || match pack.take(&receiver) {
            Ok(true) => pack.complete(folder, fsync).map(Some).map_err(failed),
            Ok(false) => Ok(None),
            Err(source) => Err(failed(source)),
        }
    };
    std::thread::Builder::new().name("pack".to_owned()).spawn(run).map_err(failed)
}

/// The thread has ended unexpectedly, which should not happen.
pub(super) fn lost() -> GitError {
    GitError::io("write a pack in", "objects/pack", io::ErrorKind::BrokenPipe.into())
}

impl Pack {
    fn start(folder: &Path, format: ObjectFormat) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::with_capacity(1 << 16, Temporary::Pack.create(folder)?);
        // The number of objects is written at the end.
        file.write_all(b"PACK\0\0\0\x02\0\0\0\0")?;
        let (trees, deflater) = (VecDeque::with_capacity(TREES), Deflater::new(Compression::new(LEVEL)));
        Ok(Self { file, format, index: Index::default(), offset: HEADER, trees, buffer: Vec::new(), deflater })
    }

    fn take(&mut self, receiver: &Receiver<Sent>) -> io::Result<bool> {
        for sent in receiver {
            match sent {
                Sent::Object { oid, kind, bytes } => self.add(oid, kind, bytes)?,
                Sent::End => return Ok(true),
            }
        }
        Ok(false)
    }

    fn add(&mut self, oid: Oid, kind: ObjectType, bytes: Vec<u8>) -> io::Result<()> {
        if self.index.holds(oid.as_bytes()) {
            return Ok(());
        }
        let offset = self.offset;
        let deltas = self.trees.iter().filter(|tree| kind == ObjectType::Tree && tree.depth < DEPTH);
        let deltas = deltas.filter_map(|tree| Some((tree, delta::between(&tree.bytes, &bytes)?)));
        let best = deltas.min_by_key(|(_, delta)| delta.len());
        let depth = best.as_ref().map_or(0, |(tree, _)| tree.depth + 1);

        self.buffer.clear();
        if let Some((tree, delta)) = &best {
            push_header(&mut self.buffer, OFFSET_DELTA, delta.len());
            push_distance(&mut self.buffer, offset - tree.offset);
            self.deflater.compress(&[delta], &mut self.buffer)?;
        } else {
            push_header(&mut self.buffer, kind_number(kind), bytes.len());
            self.deflater.compress(&[&bytes], &mut self.buffer)?;
        }
        self.file.write_all(&self.buffer)?;
        self.offset += self.buffer.len() as u64;
        let mut crc = Crc::new();
        crc.update(&self.buffer);
        self.index.add(oid.as_bytes(), crc.sum(), offset);
        if kind == ObjectType::Tree {
            self.trees.truncate(TREES - 1);
            self.trees.push_front(Tree { bytes, offset, depth });
        }
        Ok(())
    }

    fn complete(self, folder: PathBuf, fsync: Fsync) -> io::Result<Packed> {
        let objects = u32::try_from(self.index.len()).map_err(io::Error::other)?;
        let mut pack = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        pack.seek(SeekFrom::Start(8))?;
        pack.write_all(&objects.to_be_bytes())?;
        pack.rewind()?;
        let checksum = checksum(self.format, pack.as_file_mut())?;
        pack.write_all(&checksum)?;
        fsync.sync(Component::Pack, pack.as_file())?;

        let mut index = BufWriter::new(Temporary::Index.create(&folder)?);
        self.index.write(&mut index, &checksum)?;
        let mut index = index.into_inner().map_err(io::IntoInnerError::into_error)?;
        index.rewind()?;
        let own = self::checksum(self.format, index.as_file_mut())?;
        index.write_all(&own)?;
        fsync.sync(Component::PackMetadata, index.as_file())?;
        // It has the length of an oid.
        let checksum = git2::Oid::from_bytes(&checksum).map_err(io::Error::other)?.to_string();
        Ok(Packed { pack, index, folder, checksum })
    }
}

impl Packed {
    /// Renames both files, the index last: git ignores a pack without an index. A keep file is there before them.
    pub(super) fn take_place(self, permissions: Permissions) -> Result<Option<KeptPack>, GitError> {
        let path = |extension| self.folder.join(format!("pack-{}.{extension}", self.checksum));
        let (pack, index, keep) = (path("pack"), path("idx"), path("keep"));
        let kept = KeptPack::create(keep.clone()).map_err(|source| GitError::io("write", keep, source))?;
        if index.exists() {
            // A pack of the same objects exists.
            return Ok(kept);
        }
        for file in [self.pack.path(), self.index.path()] {
            permissions.adjust(file).map_err(|source| GitError::io("write", file, source))?;
        }
        let failed = |path: &Path, error: tempfile::PersistError| GitError::io("write", path, error.error);
        self.pack.persist(&pack).map_err(|error| failed(&pack, error))?;
        if let Err(error) = self.index.persist(&index) {
            let _ = fs::remove_file(&pack);
            return Err(failed(&index, error));
        }
        Ok(kept)
    }
}

fn kind_number(kind: ObjectType) -> u8 {
    match kind {
        ObjectType::Commit => 1,
        ObjectType::Tree => 2,
        _ => 3,
    }
}

/// The header of an object: its type with the lowest four bits of its length, then seven bits per byte.
fn push_header(buffer: &mut Vec<u8>, kind: u8, length: usize) {
    let mut byte = kind << 4 | low_byte(length & 0x0f);
    let mut rest = length >> 4;
    while rest > 0 {
        buffer.push(byte | 0x80);
        byte = low_byte(rest & 0x7f);
        rest >>= 7;
    }
    buffer.push(byte);
}

/// The distance to the base: seven bits per byte, the highest first; each further byte adds one.
fn push_distance(buffer: &mut Vec<u8>, mut distance: u64) {
    let mut bytes = vec![distance.to_le_bytes()[0] & 0x7f];
    distance >>= 7;
    while distance > 0 {
        distance -= 1;
        bytes.push(distance.to_le_bytes()[0] & 0x7f | 0x80);
        distance >>= 7;
    }
    buffer.extend(bytes.iter().rev());
}

fn checksum(format: ObjectFormat, file: &mut File) -> io::Result<Vec<u8>> {
    match format {
        ObjectFormat::Sha1 => digest::<Sha1>(file),
        ObjectFormat::Sha256 => digest::<Sha256>(file),
    }
}

fn digest<D: Digest>(file: &mut File) -> io::Result<Vec<u8>> {
    let mut digest = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().to_vec()),
            length => digest.update(&buffer[..length]),
        }
    }
}
