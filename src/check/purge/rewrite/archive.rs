//! Archives of crumb files, whose files are named by digests of lines.

use std::collections::BTreeMap;

use super::{Rewriter, Role};
use crate::git::{Entry, Mode, Oid, TreeStore as _};
use crate::trace::TraceError;

/// The folders of lines, as `lines/3f/9a1c2e7b10d4e5`.
pub(super) const FOLDERS: [&[u8]; 2] = [b"lines", b"failures"];

impl Rewriter<'_> {
    /// A line that changes has another digest, so its file has another name.
    pub(super) fn archive_folder(&mut self, folder: &Entry) -> Result<Oid, TraceError> {
        let key = (folder.name.clone(), folder.oid);
        if let Some(known) = self.trees.get(&key) {
            return Ok(*known);
        }
        let mut middles: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Entry>> = BTreeMap::new();
        let mut entries = Vec::new();
        for mut middle in self.repo.read_tree(folder.oid)? {
            if middle.mode() == Mode::File {
                middle.oid = self.file(middle.oid, Role::of(b"/", &middle.name))?;
            }
            if middle.mode() != Mode::Folder {
                entries.push(middle);
                continue;
            }
            self.archive_trees.0.insert(middle.oid);
            for file in self.repo.read_tree(middle.oid)? {
                let digits = String::from_utf8_lossy(&[&*middle.name, &*file.name].concat()).into_owned();
                let oid = match file.mode() {
                    Mode::File => self.file(file.oid, Role::Archive)?,
                    Mode::Folder => self.tree(file.oid, b"/")?,
                    Mode::Other => file.oid,
                };
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
        let new = self.objects.tree(&mut entries)?;
        self.trees.insert(key, new);
        self.seen.insert(folder.oid);
        Ok(new)
    }
}
