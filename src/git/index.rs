//! Git's index: its files, and the trees that git knows of them.
//!
//! Format: `gitformat-index(5)`, versions 2 to 4. As in git's own commands, the checksum is not verified.

use std::ops::Range;

use git2::ObjectFormat;

use super::oid::Oid;
use super::tree::raw_len;

#[derive(Debug)]
pub(crate) struct Index {
    /// Ordered by path.
    pub(crate) files: Vec<IndexFile>,
    /// All paths, one after the other.
    paths: Vec<u8>,
    pub(crate) root: CachedTree,
}

#[derive(Debug)]
pub(crate) struct IndexFile {
    path: Range<usize>,
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
    /// `git add --intent-to-add` stages a name only, which is not committed.
    pub(crate) is_intended: bool,
}

/// A folder, as far as git knows its tree.
#[derive(Default, Debug)]
pub(crate) struct CachedTree {
    /// `None` if git does not know it: a file in it may have changed.
    pub(crate) oid: Option<Oid>,
    /// By name.
    pub(crate) folders: Vec<(Vec<u8>, CachedTree)>,
}

const HEADER_LEN: usize = 12;
const STAT_LEN: usize = 40;
const MODE_AT: usize = 24;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const INTENT_TO_ADD: u16 = 0x2000;
/// A path is shorter on every system.
const MAX_DEPTH: usize = 2048;

impl Index {
    /// `None` if the index is malformed, sparse, or split, or has conflicts.
    pub(crate) fn parse(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        let oid_len = raw_len(format);
        let bytes = &bytes[..bytes.len().checked_sub(oid_len)?];
        let version = number(bytes, 4).filter(|version| bytes.starts_with(b"DIRC") && (2..=4).contains(version))?;
        let mut index = Self { files: Vec::new(), paths: Vec::new(), root: CachedTree::default() };
        let mut at = HEADER_LEN;
        for _ in 0..number(bytes, 8)? {
            at = index.read_file(bytes, at, version, oid_len)?;
        }
        while let Some(size) = number(bytes, at + 4) {
            let data = bytes.get(at + 8..)?.get(..size as usize)?;
            match &bytes[at..at + 4] {
                b"TREE" => index.root = CachedTree::read(&mut &*data, oid_len, MAX_DEPTH)?.1,
                // Sparse and split indexes, and whatever a reader must know.
                name if !name[0].is_ascii_uppercase() => return None,
                _ => {}
            }
            at += 8 + data.len();
        }
        (at == bytes.len()).then_some(index)
    }

    /// Reads the file at `at` and returns where the next one is.
    fn read_file(&mut self, bytes: &[u8], at: usize, version: u32, oid_len: usize) -> Option<usize> {
        let flags_at = at + STAT_LEN + oid_len;
        let flags = short(bytes, flags_at).filter(|flags| flags & STAGE == 0)?;
        let is_extended = flags & EXTENDED != 0;
        let is_intended = is_extended && short(bytes, flags_at + 2)? & INTENT_TO_ADD != 0;
        let mut name_at = flags_at + if is_extended { 4 } else { 2 };
        let start = self.paths.len();
        if version == 4 {
            let (removed, len) = offset(bytes.get(name_at..)?)?;
            let last = self.files.last().map_or(0..0, |file| file.path.clone());
            self.paths.extend_from_within(last.start..last.end.checked_sub(removed).filter(|end| *end >= last.start)?);
            name_at += len;
        }
        let name = bytes.get(name_at..)?;
        let name = &name[..memchr::memchr(0, name)?];
        self.paths.extend_from_slice(name);
        let end = name_at + name.len() + 1;
        let oid = Oid::from_raw(&bytes[at + STAT_LEN..flags_at])?;
        self.files.push(IndexFile {
            path: start..self.paths.len(),
            mode: number(bytes, at + MODE_AT)?,
            oid,
            is_intended,
        });
        Some(if version == 4 { end } else { at + (end - at).next_multiple_of(8) })
    }

    pub(crate) fn path(&self, file: &IndexFile) -> &[u8] {
        &self.paths[file.path.clone()]
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
