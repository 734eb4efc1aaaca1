//! Archives of crumb files, whose files are named by digests of lines.

use std::collections::BTreeMap;

use super::Rewriter;
use crate::check::purge::world::Layout;
use crate::git::{Entry, Mode, Oid, TreeStore as _};
use crate::trace::TraceError;

impl Rewriter<'_> {
    /// A line that changes has another digest, so its file has another name.
    pub(super) fn archive_tree(&mut self, root: Oid) -> Result<Oid, TraceError> {
        let key = (Layout::Archive, Vec::new(), root);
        if let Some(known) = self.trees.get(&key) {
            return Ok(*known);
        }
        let mut tops = self.repo.read_tree(root)?;
        for top in tops.iter_mut().filter(|entry| entry.mode() == Mode::Folder) {
            let new = self.archive_folder(top.oid)?;
            self.trees.insert((Layout::Archive, top.name.clone(), top.oid), new);
            top.oid = new;
        }
        let new = self.objects.tree(&mut tops)?;
        self.trees.insert(key, new);
        Ok(new)
    }

    /// The folder `lines` or `failures`: `3f/9a1c2e7b10d4e5`.
    fn archive_folder(&mut self, folder: Oid) -> Result<Oid, TraceError> {
        let mut middles: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Entry>> = BTreeMap::new();
        let mut entries = Vec::new();
        for middle in self.repo.read_tree(folder)? {
            if middle.mode() != Mode::Folder {
                entries.push(middle);
                continue;
            }
            self.archive_trees.0.insert(middle.oid);
            for file in self.repo.read_tree(middle.oid)? {
                let digits = String::from_utf8_lossy(&[&*middle.name, &*file.name].concat()).into_owned();
                let oid = if file.mode() == Mode::File { self.file(&file, Layout::Archive, b"")? } else { file.oid };
                let (first, name) = match self.lines.get(&digits) {
                    Some(new) => (new.as_bytes()[..2].to_vec(), new.as_bytes()[2..].to_vec()),
                    None => (middle.name.clone(), file.name.clone()),
                };
                let mut changed = file;
                (changed.oid, changed.name) = (oid, name.clone());
                middles.entry(first).or_default().insert(name, changed);
            }
        }
        for (name, files) in middles {
            let oid = self.objects.tree(&mut files.into_values().collect::<Vec<_>>())?;
            self.archive_trees.1.insert(oid);
            entries.push(Entry::folder(name, oid));
        }
        Ok(self.objects.tree(&mut entries)?)
    }
}
