//! Archives of crumb files, whose files are named by digests of lines.

use std::collections::BTreeMap;

use super::{Rewriter, Role};
use crate::git::{Entry, Mode, Oid, TreeStore as _};
use crate::memory::crumb::archive as crumb_archive;
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
            self.seen.insert(middle.oid);
            for file in self.repo.read_tree(middle.oid)? {
                let digits = String::from_utf8_lossy(&[&*middle.name, &*file.name].concat()).into_owned();
                let oid = match file.mode() {
                    Mode::File => self.file(file.oid, Role::Archive)?,
                    Mode::Folder => self.tree(file.oid, b"/")?,
                    Mode::Other if file.is_link() => self.file(file.oid, Role::Link)?,
                    Mode::Other => file.oid,
                };
                let (first, name) = match self.lines.get(&digits) {
                    Some(new) => (new.as_bytes()[..2].to_vec(), new.as_bytes()[2..].to_vec()),
                    None => (middle.name.clone(), file.name.clone()),
                };
                let mut changed = file;
                (changed.oid, changed.name) = (oid, name.clone());
                let files = middles.entry(first).or_default();
                // Lines that differed only in what was purged are one line now.
                match files.get(&name).filter(|other| other.mode() == Mode::File) {
                    Some(_) if changed.mode() != Mode::File => continue,
                    Some(other) if other.oid != oid => changed.oid = self.united(other.oid, oid)?,
                    _ => {}
                }
                files.insert(name, changed);
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

    /// A file with the lines of both, in the order of an archive.
    fn united(&mut self, one: Oid, other: Oid) -> Result<Oid, TraceError> {
        let text = |oid| self.archive_files.get(&oid).map_or_else(|| self.repo.read_blob(oid), |text| Ok(text.clone()));
        let (one, other) = (text(one)?, text(other)?);
        let united = crumb_archive::history("").format.union_of_lines(&one, &other);
        let united = united.map_or(one, String::into_bytes);
        let oid = self.objects.blob(&united)?;
        self.archive_files.insert(oid, united);
        Ok(oid)
    }
}
