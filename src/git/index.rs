//! Git's index: its files, and the trees that git knows of them.
//!
//! Format: `gitformat-index(5)`, versions 2 to 4. As in git's own commands, the checksum is not verified.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::ops::Range;
use std::path::Path;

use git2::ObjectFormat;

use super::oid::Oid;
use super::tree::raw_len;

/// Reads one file at a time, in the order of their paths: keeping thousands of them in memory takes longer than reading them twice.
///
/// Each function returns `None` if the index cannot be read or is malformed.
#[derive(Debug)]
pub(crate) struct Index {
    from: File,
    /// Bytes read from it, beginning with the next file or before it.
    window: Vec<u8>,
    /// Where the next file begins.
    at: usize,
    version: u32,
    oid_len: usize,
    /// How many files follow `file`.
    left: u32,
    file: Option<IndexFile>,
}

#[derive(Default, Debug)]
pub(crate) struct IndexFile {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u32,
    raw_oid: Vec<u8>,
    /// `git add --intent-to-add` stages a name only, which is not committed.
    pub(crate) is_intended: bool,
}

/// A folder, as far as git knows its tree.
#[derive(Default, Debug)]
pub(crate) struct CachedTree {
    /// `None` if git does not know it: a file in it may have changed.
    pub(crate) oid: Option<Oid>,
    /// The number of files in it and in its folders, if git knows the tree.
    files: u32,
    /// By name.
    pub(crate) folders: Vec<(Vec<u8>, CachedTree)>,
}

const HEADER_LEN: usize = 12;
const STAT_LEN: usize = 40;
const MODE_AT: usize = 24;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
/// The length of the name, or this if it is longer.
const NAME_LEN: u16 = 0x0fff;
const INTENT_TO_ADD: u16 = 0x2000;
const WINDOW_LEN: usize = 4 * MAX_FILE_LEN;
const MAX_FILE_LEN: usize = MAX_PATH_LEN + 128;
/// A path is shorter on every system.
const MAX_PATH_LEN: usize = 4096;
const MAX_DEPTH: usize = MAX_PATH_LEN / 2;

impl Index {
    /// The first file is next, after the trees. `None` also if the index is sparse or split.
    pub(crate) fn open(path: &Path, format: ObjectFormat) -> Option<(Self, CachedTree)> {
        let (from, window) = (File::open(path).ok()?, Vec::with_capacity(WINDOW_LEN + MAX_FILE_LEN));
        let mut index = Self { from, window, at: 0, version: 0, oid_len: raw_len(format), left: 0, file: None };
        index.rewind()?;
        for _ in 0..index.left {
            index.at += index.next_file()?.end;
        }
        let trees = index.read_trees()?;
        index.rewind()?;
        index.advance()?;
        Some((index, trees))
    }

    fn rewind(&mut self) -> Option<()> {
        self.from.rewind().ok()?;
        (self.at, self.file) = (0, Some(IndexFile::default()));
        self.window.clear();
        self.fill(HEADER_LEN)?;
        let header = self.window.get(..HEADER_LEN)?;
        self.version = number(header, 4).filter(|version| header.starts_with(b"DIRC") && (2..=4).contains(version))?;
        self.left = number(header, 8)?;
        self.at = HEADER_LEN;
        Some(())
    }

    /// Reads on if fewer than `len` bytes of the window are left.
    fn fill(&mut self, len: usize) -> Option<()> {
        if self.window.len() - self.at < len {
            self.window.drain(..self.at);
            self.at = 0;
            (&self.from).take(WINDOW_LEN as u64).read_to_end(&mut self.window).ok()?;
        }
        Some(())
    }

    /// Finds the next file in the window. Fails at one with a conflict.
    fn next_file(&mut self) -> Option<Place> {
        self.fill(MAX_FILE_LEN)?;
        let bytes = &self.window[self.at..];
        let flags_at = STAT_LEN + self.oid_len;
        let flags = short(bytes, flags_at).filter(|flags| flags & STAGE == 0)?;
        let is_extended = flags & EXTENDED != 0;
        let is_intended = is_extended && short(bytes, flags_at + 2)? & INTENT_TO_ADD != 0;
        let mut name_at = flags_at + if is_extended { 4 } else { 2 };
        let mut removed = None;
        if self.version == 4 {
            let (value, len) = offset(bytes.get(name_at..)?)?;
            removed = Some(value);
            name_at += len;
        }
        let len = usize::from(flags & NAME_LEN);
        let len = if removed.is_none() && bytes.get(name_at + len) == Some(&0) {
            len
        } else {
            memchr::memchr(0, bytes.get(name_at..)?)?
        };
        let name = name_at..name_at + len;
        let end = if removed.is_some() { name.end + 1 } else { (name.end + 1).next_multiple_of(8) };
        (end <= bytes.len()).then_some(Place { is_intended, removed, name, end })
    }

    /// The next file, if one is left.
    pub(crate) fn file(&self) -> Option<&IndexFile> {
        self.file.as_ref()
    }

    pub(crate) fn advance(&mut self) -> Option<()> {
        let Some(left) = self.left.checked_sub(1) else {
            self.file = None;
            return Some(());
        };
        self.left = left;
        let Place { is_intended, removed, name, end } = self.next_file()?;
        let bytes = &self.window[self.at..];
        let file = self.file.as_mut()?;
        file.path.truncate(removed.map_or(Some(0), |removed| file.path.len().checked_sub(removed))?);
        file.path.extend_from_slice(&bytes[name]);
        file.raw_oid.clear();
        file.raw_oid.extend_from_slice(&bytes[STAT_LEN..STAT_LEN + self.oid_len]);
        (file.mode, file.is_intended) = (number(bytes, MODE_AT)?, is_intended);
        self.at += end;
        (file.path.len() <= MAX_PATH_LEN).then_some(())
    }

    /// Skips the files of a folder whose tree git knows. Its first file is next.
    pub(crate) fn skip(&mut self, tree: &CachedTree, folder: &[u8]) -> Option<()> {
        // The paths of version 4 are built one from the other.
        for _ in 1..if self.version < 4 { tree.files } else { 0 } {
            let Place { name, end, .. } = self.next_file()?;
            if !self.window[self.at..][name].starts_with(folder) {
                return None;
            }
            (self.left, self.at) = (self.left.checked_sub(1)?, self.at + end);
        }
        while self.file().is_some_and(|file| file.path.starts_with(folder)) {
            self.advance()?;
        }
        Some(())
    }

    /// Reads what follows the files.
    fn read_trees(&mut self) -> Option<CachedTree> {
        self.from.read_to_end(&mut self.window).ok()?;
        let bytes = &self.window[self.at..];
        let mut extensions = &bytes[..bytes.len().checked_sub(self.oid_len)?];
        let mut trees = CachedTree::default();
        while !extensions.is_empty() {
            let head = extensions.split_off(..8)?;
            let mut data = extensions.split_off(..number(head, 4)? as usize)?;
            match &head[..4] {
                b"TREE" => trees = CachedTree::read(&mut data, self.oid_len, MAX_DEPTH)?.1,
                // Sparse and split indexes, and whatever a reader must know.
                name if !name[0].is_ascii_uppercase() => return None,
                _ => {}
            }
        }
        Some(trees)
    }
}

/// Where a file is, from the place where it begins.
struct Place {
    is_intended: bool,
    /// How many bytes of the path before do not belong to this one; only in version 4, where the name holds what follows the others.
    removed: Option<usize>,
    name: Range<usize>,
    end: usize,
}

impl IndexFile {
    pub(crate) fn oid(&self) -> Option<Oid> {
        Oid::from_raw(&self.raw_oid)
    }
}

impl CachedTree {
    /// Reads a tree and those in it, and returns it with its name.
    fn read(data: &mut &[u8], oid_len: usize, depth: usize) -> Option<(Vec<u8>, Self)> {
        let name = take_until(data, 0)?.to_vec();
        let counts = std::str::from_utf8(take_until(data, b'\n')?).ok()?;
        let (files, folders) = counts.split_once(' ')?;
        let mut tree = Self::default();
        if !files.starts_with('-') {
            tree.files = files.parse().ok()?;
            tree.oid = Some(Oid::from_raw(data.split_off(..oid_len)?)?);
        }
        for _ in 0..folders.parse::<u32>().ok()? {
            tree.folders.push(Self::read(data, oid_len, depth.checked_sub(1)?)?);
        }
        Some((name, tree))
    }
}

/// Takes what is before the first `end`, and removes both.
fn take_until<'b>(bytes: &mut &'b [u8], end: u8) -> Option<&'b [u8]> {
    let taken = bytes.split_off(..memchr::memchr(end, bytes)?)?;
    bytes.split_off_first()?;
    Some(taken)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// A number as in the offsets of packs, with its length in bytes.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}
