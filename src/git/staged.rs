//! The files that differ between `HEAD` and the index, read in this process.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use super::index::{CachedTree, Index, IndexFile};
use super::oid::Oid;
use super::open::Repo;
use super::tree::{EntryRef, Mode, Tree, TreeStore as _};

pub(crate) struct StagedFile {
    pub(crate) path: Vec<u8>,
    /// As in a tree: `100644`, `120000`.
    pub(crate) mode: String,
    pub(crate) oid: Oid,
}

impl Repo {
    /// The files that differ between `HEAD` and the index, without deleted ones, ordered by path. Reads the trees of changed folders
    /// only. `None` if git must be asked: the index is sparse or split, has conflicts, or cannot be read.
    pub(crate) fn staged_files(&self) -> Option<Vec<StagedFile>> {
        let path = self.env.os("GIT_INDEX_FILE").filter(|_| self.place.is_none()).map(PathBuf::from);
        let path = path.unwrap_or_else(|| self.git_dir().join("index"));
        let index = Index::parse(&fs::read(path).ok()?, self.object_format())?;
        let tree = match self.find_ref("HEAD").ok()? {
            Some(head) => Some(self.read_commit(head).ok()?.tree),
            None => None,
        };
        let mut staged = Vec::new();
        self.compare(&index, &index.files, 0, Some(&index.root), tree, &mut staged)?;
        Some(staged)
    }

    /// Adds the `files` that differ from the files of `tree`. They are in one folder, whose name takes the first `prefix` bytes of
    /// their paths.
    fn compare(
        &self,
        index: &Index,
        mut files: &[IndexFile],
        prefix: usize,
        cached: Option<&CachedTree>,
        tree: Option<Oid>,
        staged: &mut Vec<StagedFile>,
    ) -> Option<()> {
        if tree.is_some() && cached.and_then(|cached| cached.oid) == tree {
            return Some(());
        }
        let tree = tree.map(|oid| self.tree(oid)).transpose().ok()?;
        let committed: HashMap<_, _> = tree.iter().flat_map(Tree::entries).map(|entry| (entry.name, entry)).collect();
        let folders: HashMap<&[u8], _> =
            cached.into_iter().flat_map(|cached| &cached.folders).map(|(name, tree)| (&**name, tree)).collect();
        while let Some(file) = files.first() {
            let path = index.path(file);
            let name = &path[prefix..];
            let Some(len) = memchr::memchr(b'/', name) else {
                let is_same = |entry: &EntryRef<'_>| entry.bits == file.mode && entry.oid() == file.oid;
                if !file.is_intended && !committed.get(name).is_some_and(is_same) {
                    staged.push(StagedFile { path: path.to_vec(), mode: format!("{:o}", file.mode), oid: file.oid });
                }
                files = &files[1..];
                continue;
            };
            let folder = &path[..=prefix + len];
            let inside;
            (inside, files) = files.split_at(files.partition_point(|file| index.path(file).starts_with(folder)));
            let committed = committed.get(&name[..len]).filter(|entry| entry.mode() == Mode::Folder);
            let tree = committed.map(EntryRef::oid);
            self.compare(index, inside, folder.len(), folders.get(&name[..len]).copied(), tree, staged)?;
        }
        Some(())
    }
}
