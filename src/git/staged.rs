//! The files that differ between `HEAD` and the index, read in this process.

use std::path::PathBuf;

use git2::{Delta, DiffOptions, IndexEntryExtendedFlag, IndexEntryFlag};

use super::oid::Oid;
use super::open::Repo;

/// The largest index that is read here, in bytes. Git skips the trees of unchanged folders, and libgit2 reads every tree and hashes
/// the index: for more than a few thousand files, that takes longer than starting git.
const MAX_INDEX: u64 = 256 * 1024;

pub(crate) struct StagedFile {
    pub(crate) path: Vec<u8>,
    /// As in a tree: `100644`, `120000`.
    pub(crate) mode: String,
    pub(crate) oid: Oid,
}

impl Repo {
    /// The files that differ between `HEAD` and the index, without deleted ones, ordered by path. `None` if git must be asked: the index
    /// is large, sparse, or split, has conflicts or files that `update-index --assume-unchanged` marked, or cannot be read by libgit2.
    pub(crate) fn staged_files(&self) -> Option<Vec<StagedFile>> {
        let index = self.env.os("GIT_INDEX_FILE").filter(|_| self.place.is_none()).map(PathBuf::from);
        let index = index.unwrap_or_else(|| self.git_dir().join("index"));
        if index.metadata().ok()?.len() > MAX_INDEX {
            return None;
        }
        let index = self.inner.index().ok().filter(|index| !index.has_conflicts())?;
        // libgit2 leaves these out, and git commits them.
        if index.iter().any(|entry| IndexEntryFlag::from_bits_truncate(entry.flags).is_valid()) {
            return None;
        }
        let tree = match self.find_ref("HEAD").ok()? {
            Some(head) => Some(self.inner.find_tree(self.read_commit(head).ok()?.tree.0).ok()?),
            None => None,
        };
        let mut options = DiffOptions::new();
        let diff = self.inner.diff_tree_to_index(tree.as_ref(), Some(&index), Some(&mut options)).ok()?;
        let mut files = Vec::new();
        for delta in diff.deltas().filter(|delta| delta.status() != Delta::Deleted) {
            let file = delta.new_file();
            let entry = index.get_path(file.path()?, 0)?;
            // `git add --intent-to-add` stages a name only, which is not committed.
            if !IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_intent_to_add() {
                files.push(StagedFile { path: entry.path, mode: format!("{:o}", entry.mode), oid: Oid(entry.id) });
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Some(files)
    }
}
