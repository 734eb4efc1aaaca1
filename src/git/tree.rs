//! Tree objects as values, with their entries in git's order.

use std::ops::Range;
use std::sync::Arc;

use git2::ObjectFormat;

use super::error::GitError;
use super::oid::Oid;
use super::pack::common_start;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mode {
    File,
    Folder,
    /// A symbolic link, a submodule, or anything else; kept, never read.
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    bits: u32,
    /// Any bytes but NUL and `/`.
    pub(crate) name: Vec<u8>,
    pub(crate) oid: Oid,
}

impl Entry {
    pub(crate) fn file(name: impl Into<Vec<u8>>, oid: Oid) -> Self {
        Self { bits: 0o100_644, name: name.into(), oid }
    }

    pub(crate) fn folder(name: impl Into<Vec<u8>>, oid: Oid) -> Self {
        Self { bits: 0o40_000, name: name.into(), oid }
    }

    pub(crate) fn mode(&self) -> Mode {
        mode(self.bits)
    }

    pub(crate) fn is_link(&self) -> bool {
        self.bits & 0o170_000 == 0o120_000
    }

    fn sort_key(&self) -> impl Iterator<Item = u8> + '_ {
        sort_key(&self.name, self.mode())
    }
}

/// The bytes git sorts by: a folder's name counts as if it ended in `/`.
fn sort_key(name: &[u8], mode: Mode) -> impl Iterator<Item = u8> + '_ {
    name.iter().copied().chain((mode == Mode::Folder).then_some(b'/'))
}

fn mode(bits: u32) -> Mode {
    match bits & 0o170_000 {
        0o40_000 => Mode::Folder,
        0o100_000 => Mode::File,
        _ => Mode::Other,
    }
}

/// A tree as its bytes, so that reading a few of thousands of entries creates no values for the others. Cloning is cheap.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    raw: Arc<Raw>,
    oid_len: usize,
}

#[derive(Debug)]
struct Raw {
    bytes: Box<[u8]>,
    /// Where each entry starts, and where the last one ends.
    bounds: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryRef<'t> {
    /// As in the index: `100644`, `120000`.
    pub(super) bits: u32,
    pub(crate) name: &'t [u8],
    raw_oid: &'t [u8],
}

impl EntryRef<'_> {
    pub(crate) fn mode(&self) -> Mode {
        mode(self.bits)
    }

    pub(super) fn sort_key(&self) -> impl Iterator<Item = u8> + '_ {
        sort_key(self.name, self.mode())
    }

    pub(crate) fn oid(&self) -> Oid {
        Oid(git2::Oid::from_bytes(self.raw_oid).unwrap_or(git2::Oid::ZERO_SHA1))
    }

    pub(crate) fn to_entry(self) -> Entry {
        Entry { bits: self.bits, name: self.name.to_vec(), oid: self.oid() }
    }
}

impl Tree {
    pub(crate) fn parse(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        let oid_len = raw_len(format);
        let (mut bounds, mut end) = (vec![0], 0);
        while end < bytes.len() {
            end += split_entry(&bytes[end..], oid_len)?.1;
            bounds.push(end);
        }
        Some(Self { raw: Arc::new(Raw { bytes: bytes.into(), bounds }), oid_len })
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = EntryRef<'_>> {
        self.entries_at(0..self.raw.bounds.len() - 1)
    }

    fn entries_at(&self, places: Range<usize>) -> impl Iterator<Item = EntryRef<'_>> {
        places.filter_map(|place| Some(split_entry(self.raw_entry(place), self.oid_len)?.0))
    }

    fn raw_entry(&self, place: usize) -> &[u8] {
        &self.raw.bytes[self.raw.bounds[place]..self.raw.bounds[place + 1]]
    }

    /// The entries of both trees between their common prefix and their common suffix.
    pub(crate) fn between_common_ends<'t>(&'t self, other: &'t Self) -> [Vec<EntryRef<'t>>; 2] {
        let same = common_start(&self.raw.bytes, &other.raw.bytes);
        // Bounds up to there are the same in both.
        let start = self.raw.bounds.partition_point(|bound| *bound <= same) - 1;
        let [mut end, mut other_end] = [self, other].map(|tree| tree.raw.bounds.len() - 1);
        while end.min(other_end) > start && self.raw_entry(end - 1) == other.raw_entry(other_end - 1) {
            (end, other_end) = (end - 1, other_end - 1);
        }
        [self.entries_at(start..end).collect(), other.entries_at(start..other_end).collect()]
    }
}

/// The first entry and its length; `None` if it is malformed.
fn split_entry(bytes: &[u8], oid_len: usize) -> Option<(EntryRef<'_>, usize)> {
    let digits = bytes.iter().take(MODE_DIGITS + 1).position(|byte| *byte == b' ').filter(|digits| *digits > 0)?;
    let bits = bytes[..digits].iter().try_fold(0, |bits, byte| {
        let digit = u32::from(byte.checked_sub(b'0')?);
        (digit < 8).then_some(bits << 3 | digit)
    })?;
    let name_end = digits + 1 + memchr::memchr(0, &bytes[digits + 1..])?;
    let end = name_end + 1 + oid_len;
    let raw_oid = bytes.get(name_end + 1..end)?;
    Some((EntryRef { bits, name: &bytes[digits + 1..name_end], raw_oid }, end))
}

/// A mode has at most six digits; old programs wrote a leading zero.
const MODE_DIGITS: usize = 7;

/// Reads and writes trees: the object database, a pack, or nothing if only oids are needed.
pub(crate) trait TreeStore {
    fn tree(&self, oid: Oid) -> Result<Tree, GitError>;

    /// The entries as values that can be changed.
    fn read_tree(&self, oid: Oid) -> Result<Vec<Entry>, GitError> {
        Ok(self.tree(oid)?.entries().map(EntryRef::to_entry).collect())
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError>;
}

/// Sorts `entries` in git's order and renders the tree object.
pub(crate) fn render_tree(entries: &mut [Entry]) -> Vec<u8> {
    if !entries.is_sorted_by(|a, b| a.sort_key().le(b.sort_key())) {
        entries.sort_by(|a, b| a.sort_key().cmp(b.sort_key()));
    }
    let mut bytes = Vec::with_capacity(entries.len() * 72);
    for entry in entries {
        match entry.bits {
            0o100_644 => bytes.extend_from_slice(b"100644 "),
            0o40_000 => bytes.extend_from_slice(b"40000 "),
            bits => bytes.extend_from_slice(format!("{bits:o} ").as_bytes()),
        }
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.oid.as_bytes());
    }
    bytes
}

pub(super) fn raw_len(format: ObjectFormat) -> usize {
    match format {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    }
}
