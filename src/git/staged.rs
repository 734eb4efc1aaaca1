//! The files that differ between `HEAD` and the index, read in this process.

use std::collections::HashMap;
use std::path::PathBuf;

use super::index::{CachedTree, Index};
use super::oid::Oid;
use super::open::Repo;
use super::tree::{EntryRef, Tree, TreeStore as _};

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
        let named = self.env.os("GIT_INDEX_FILE").filter(|_| self.place.is_none()).map(PathBuf::from);
        // Git works at the root, whatever folder it is started in.
        let at_root = |path: PathBuf| self.worktree().unwrap_or_default().join(path);
        let path = named.map_or_else(|| self.git_dir().join("index"), at_root);
        let (mut index, trees) = Index::open(&path, self.object_format())?;
        let tree = match self.find_ref("HEAD").ok()? {
            Some(head) => Some(self.read_commit(head).ok()?.tree),
            None => None,
        };
        let mut staged = Vec::new();
        self.compare(&mut index, b"", Some(&trees), tree, &mut staged)?;
        Some(staged)
    }

    /// Adds the next files of `index` that are in `folder` and differ from the files of `tree`. The folder's name ends with a slash,
    /// and is empty for the root.
    fn compare(
        &self,
        index: &mut Index,
        folder: &[u8],
        cached: Option<&CachedTree>,
        tree: Option<Oid>,
        staged: &mut Vec<StagedFile>,
    ) -> Option<()> {
        if let Some(cached) = cached.filter(|cached| tree.is_some() && cached.oid == tree) {
            return index.skip(cached, folder);
        }
        let tree = tree.map(|oid| self.tree(oid)).transpose().ok()?;
        let mut committed = tree.iter().flat_map(Tree::entries).peekable();
        let folders: HashMap<&[u8], _> =
            cached.into_iter().flat_map(|cached| &cached.folders).map(|(name, tree)| (&**name, tree)).collect();
        while let Some(file) = index.file().filter(|file| file.path.starts_with(folder)) {
            let name = &file.path[folder.len()..];
            // A tree has the order of the index, in which a folder's name ends with a slash.
            let end = memchr::memchr(b'/', name);
            let key = &name[..end.map_or(name.len(), |end| end + 1)];
            while committed.next_if(|entry| entry.sort_key().lt(key.iter().copied())).is_some() {}
            let entry = committed.next_if(|entry| entry.sort_key().eq(key.iter().copied()));
            let Some(end) = end else {
                if !file.is_intended
                    && !entry.is_some_and(|entry| entry.bits == file.mode && Some(entry.oid()) == file.oid())
                {
                    staged.push(StagedFile {
                        path: file.path.clone(),
                        mode: format!("{:o}", file.mode),
                        oid: file.oid()?,
                    });
                }
                index.advance()?;
                continue;
            };
            let inside = [folder, key].concat();
            let cached = folders.get(&key[..end]).copied();
            self.compare(index, &inside, cached, entry.as_ref().map(EntryRef::oid), staged)?;
        }
        Some(())
    }
}
