//! The record of priorities: files where they should be, lines that can be read, in order of time.

use super::fault::{Fault, Repair};
use super::{Inspection, Line};
use crate::git::{GitError, Mode, Oid, RefListing, TreeStore as _};
use crate::trace::store::priority::{RECORD, Setting};
use crate::trace::{ItemId, Time, Tip, TraceError};

/// A file of the record.
pub(crate) struct RecordFile {
    /// The item it is of; `None` where its path names none.
    pub(crate) item: Option<ItemId>,
    /// Its path.
    path: String,
}

/// The lines of an item's file, each as it was read, or as it stands where it cannot be.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Result<(Setting, String), String>> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Setting::parse(line).map(|read| (read, line.to_owned())).ok_or_else(|| line.to_owned())).collect()
}

/// An item's file as it should be: the lines that can be read, each once, in order of time.
pub(crate) fn mended(bytes: &[u8]) -> String {
    let mut lines: Vec<(Time, String)> =
        lines(bytes).into_iter().flatten().map(|(setting, line)| (setting.at, line)).collect();
    lines.sort();
    lines.dedup();
    lines.into_iter().flat_map(|(_, line)| [line, "\n".to_owned()]).collect()
}

impl Inspection<'_> {
    /// Checks the record, and takes down the level of each item that has one.
    pub(crate) fn record(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        let Some((_, tip)) = listing.refs.iter().find(|(refname, _)| refname == RECORD) else { return Ok(()) };
        let line = Line::of_ref(RECORD);
        let Some(commit) = self.read_commit(&line, *tip, None)? else {
            self.record_in_part = true;
            return Ok(());
        };
        self.record_files(&line, &commit, |inspection, file, bytes| inspection.record_file(*tip, file, bytes));
        self.ancestors(&line, commit)
    }

    fn record_file(&mut self, tip: Oid, file: &RecordFile, bytes: &[u8]) {
        let Some(item) = file.item else {
            let message = format!("`{}` is the file of no item", file.path);
            self.faults.push(Fault::warning("record-stray", RECORD, message).commit(tip));
            return;
        };
        let mut last = None;
        let lines = lines(bytes);
        let all_read = !lines.is_empty() && lines.iter().all(Result::is_ok);
        for (index, line) in lines.into_iter().enumerate() {
            if let Ok((setting, _)) = line {
                last = last.max(Some((setting.at, setting.render(), setting.level)));
                continue;
            }
            let message = format!(
                "line {} cannot be read, which stops whoever reads this item's priority; taken out, the record's \
                 history keeps it",
                index + 1
            );
            let fault = Fault::error("record-line", RECORD, message).commit(tip).item(Some(item));
            self.faults.push(fault.repair(Repair::Record));
        }
        if let Some((_, _, level)) = last {
            self.levels.insert(item, level);
        } else {
            let message = "its file has no line that can be read";
            self.faults.push(Fault::warning("record-empty", RECORD, message).commit(tip).item(Some(item)));
        }
        if all_read && mended(bytes).as_bytes() != bytes {
            let message = "its lines are not in order of time, or one stands twice";
            let fault = Fault::warning("record-order", RECORD, message).commit(tip).item(Some(item));
            self.faults.push(fault.repair(Repair::Record));
        }
    }

    /// Visits the files of a record with their bytes, one at a time; what cannot be read becomes a fault.
    pub(crate) fn record_files(
        &mut self,
        line: &Line,
        tip: &Tip,
        mut visit: impl FnMut(&mut Self, &RecordFile, &[u8]),
    ) {
        let oid = tip.commit.oid;
        let folders = self.trees.read_tree(tip.commit.tree);
        let folders = folders.map_err(|error| self.record_folder_fault(line, oid, &error)).unwrap_or_default();
        for folder in folders {
            let folder_name = String::from_utf8_lossy(&folder.name).into_owned();
            if folder.mode() != Mode::Folder {
                visit(self, &RecordFile { item: None, path: folder_name }, &[]);
                continue;
            }
            let entries = self.trees.read_tree(folder.oid);
            let entries = entries.map_err(|error| self.record_folder_fault(line, oid, &error)).unwrap_or_default();
            for entry in entries {
                let name = String::from_utf8_lossy(&entry.name).into_owned();
                let digits = format!("{folder_name}{name}");
                let is_file = entry.mode() == Mode::File && folder_name.len() == 2;
                let item = digits.parse::<ItemId>().ok().filter(|_| is_file);
                let bytes = if entry.mode() == Mode::File { self.file(line, oid, item, entry.oid) } else { None };
                match (bytes, item) {
                    (None, Some(_)) => self.record_in_part |= line.refname == RECORD,
                    (bytes, item) => {
                        let path = format!("{folder_name}/{name}");
                        visit(self, &RecordFile { item, path }, &bytes.unwrap_or_default());
                    }
                }
            }
        }
    }

    fn record_folder_fault(&mut self, line: &Line, tip: Oid, error: &GitError) {
        self.record_in_part |= line.refname == RECORD;
        self.tree_fault(line, tip, error);
    }

    /// A file's bytes; `None`, and a fault once, where it cannot be read.
    pub(crate) fn file(&mut self, line: &Line, commit: Oid, item: Option<ItemId>, blob: Oid) -> Option<Vec<u8>> {
        match self.repo.read_blob(blob) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                if self.told.insert(blob) {
                    let fault = Fault::object(&line.label, "file", blob, &error);
                    self.faults.push(fault.commit(commit).item(item));
                }
                None
            }
        }
    }
}
