//! Tree objects, as values: entries in git's order, read from and written to their bytes.

use git2::{ObjectFormat, Oid};

use super::error::GitError;

/// What a tree entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A file, executable or not.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, a submodule or anything else; carried along, never read.
    Other,
}

/// One entry of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The mode as git has it; written in octal digits.
    bits: u32,
    /// The name; any bytes but NUL and `/`.
    pub name: Vec<u8>,
    /// What it points at.
    pub oid: Oid,
}

impl Entry {
    /// A plain file.
    #[must_use]
    pub fn file(name: impl Into<Vec<u8>>, oid: Oid) -> Self {
        Self { bits: 0o100_644, name: name.into(), oid }
    }

    /// A folder.
    #[must_use]
    pub fn folder(name: impl Into<Vec<u8>>, oid: Oid) -> Self {
        Self { bits: 0o40_000, name: name.into(), oid }
    }

    /// What this entry is.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self.bits & 0o170_000 {
            0o40_000 => Mode::Folder,
            0o100_000 => Mode::File,
            _ => Mode::Other,
        }
    }

    /// The bytes git sorts by: a folder's name counts as if it ended in `/`.
    fn sort_key(&self) -> impl Iterator<Item = u8> + '_ {
        let end = (self.mode() == Mode::Folder).then_some(b'/');
        self.name.iter().copied().chain(end)
    }
}

/// Where trees are written to: the object database, or nowhere when only their oids are wanted.
pub trait TreeStore {
    /// Reads the entries of a tree.
    ///
    /// # Errors
    ///
    /// [`GitError::MissingObject`] and its kin.
    fn read_tree(&self, oid: Oid) -> Result<Vec<Entry>, GitError>;

    /// Writes a tree and returns its oid.
    ///
    /// # Errors
    ///
    /// If the object cannot be written.
    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError>;
}

/// Reads a tree object's bytes; `None` if they are not a tree's.
#[must_use]
pub fn parse_tree(bytes: &[u8], format: ObjectFormat) -> Option<Vec<Entry>> {
    let oid_len = raw_len(format);
    let mut entries = Vec::with_capacity(bytes.len() / (oid_len + 30) + 1);
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = memchr::memchr(b' ', rest)?;
        let nul = memchr::memchr(0, rest)?;
        let name = rest.get(space + 1..nul)?;
        let raw = rest.get(nul + 1..nul + 1 + oid_len)?;
        entries.push(Entry {
            bits: u32::from_str_radix(std::str::from_utf8(&rest[..space]).ok()?, 8).ok()?,
            name: name.to_vec(),
            oid: Oid::from_bytes(raw).ok()?,
        });
        rest = &rest[nul + 1 + oid_len..];
    }
    Some(entries)
}

/// The bytes of the tree object that holds `entries`, which are put in git's order.
#[must_use]
pub fn render_tree(entries: &mut [Entry]) -> Vec<u8> {
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

/// How many bytes an oid has in a tree.
fn raw_len(format: ObjectFormat) -> usize {
    match format {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    }
}
