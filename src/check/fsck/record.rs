//! The priority record: its files are in the right places, and their lines are readable and ordered by time.

use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::{Entry, Mode, Oid, RefListing};
use crate::trace::store::priority::{HISTORY, InForce, RECORD, Setting, item_of};
use crate::trace::store::tombstone::Tombstones;
use crate::trace::{ItemId, Tip, TraceError};

pub(crate) struct RecordFile {
    /// `None` if its path names no item.
    pub(crate) item: Option<ItemId>,
    path: String,
}

/// The lines of an item's file, parsed and verbatim; an error holds a line that cannot be parsed.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Result<(Setting, String), String>> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Setting::parse(line).map(|read| (read, line.to_owned())).ok_or_else(|| line.to_owned())).collect()
}

impl Inspection<'_> {
    pub(crate) fn record(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        let Some((_, tip)) = listing.refs.iter().find(|(refname, _)| refname == RECORD) else { return Ok(()) };
        let line = Line::of_ref(RECORD);
        let first = self.problems.len();
        let Some(commit) = self.read_commit(&line, *tip, None)? else {
            self.is_record_partial = true;
            return self.offer_way_back(&line, *tip, first);
        };
        self.record_files(&line, &commit, |inspection, file, bytes| inspection.record_file(*tip, file, bytes));
        self.ancestors(&line, commit)
    }

    fn record_file(&mut self, tip: Oid, file: &RecordFile, bytes: &[u8]) {
        let Some(item) = file.item else {
            let message = format!("`{}` is not the file of an item", file.path);
            self.problems.push(Problem::warning("record-stray", RECORD, message).commit(tip));
            return;
        };
        let text = String::from_utf8_lossy(bytes);
        for written in text.lines() {
            let find = |tombstones: &Tombstones| Some(tombstones.of_setting(Some(item), written)?.to_string());
            self.note_purged(&Line::of_ref(RECORD), tip, find);
        }
        let mut settings = Vec::new();
        let lines = lines(bytes);
        let all_read = !lines.is_empty() && lines.iter().all(Result::is_ok);
        for (index, line) in lines.into_iter().enumerate() {
            if let Ok(setting) = line {
                settings.push(setting);
                continue;
            }
            let line = index + 1;
            let message =
                format!("line {line} cannot be read, and neither can the item's priority; history keeps the line");
            let problem = Problem::error("record-line", RECORD, message).commit(tip).item(Some(item));
            self.problems.push(problem.repair(Repair::Record));
        }
        settings.sort_by(|(one, line), (other, other_line)| (one.at, line).cmp(&(other.at, other_line)));
        let settings = settings.into_iter().map(|(setting, _)| setting).collect();
        if let Some(in_force) = InForce::of(settings) {
            self.levels.insert(item, in_force.setting.level);
        } else {
            let message = "its file has no readable line";
            self.problems.push(Problem::warning("record-empty", RECORD, message).commit(tip).item(Some(item)));
        }
        if all_read && HISTORY.format.normalized(bytes).as_bytes() != bytes {
            let message = "its lines are not in order, or one occurs twice";
            let problem = Problem::warning("record-order", RECORD, message).commit(tip).item(Some(item));
            self.problems.push(problem.repair(Repair::Record));
        }
    }

    pub(crate) fn record_files(
        &mut self,
        line: &Line,
        tip: &Tip,
        mut visit: impl FnMut(&mut Self, &RecordFile, &[u8]),
    ) {
        let oid = tip.commit.oid;
        for folder in self.record_folder(line, oid, tip.commit.tree) {
            let folder_name = String::from_utf8_lossy(&folder.name).into_owned();
            if folder.mode() != Mode::Folder {
                visit(self, &RecordFile { item: None, path: folder_name }, &[]);
                continue;
            }
            for entry in self.record_folder(line, oid, folder.oid) {
                let name = String::from_utf8_lossy(&entry.name).into_owned();
                let is_file = entry.mode() == Mode::File;
                let path = format!("{folder_name}/{name}");
                let item = item_of(&path).filter(|_| is_file);
                let bytes = if is_file { self.file(line, oid, item, entry.oid) } else { None };
                if bytes.is_none() && item.is_some() {
                    self.is_record_partial |= line.refname == RECORD;
                } else {
                    let file = RecordFile { item, path };
                    visit(self, &file, &bytes.unwrap_or_default());
                }
            }
        }
    }

    fn record_folder(&mut self, line: &Line, tip: Oid, tree: Oid) -> Vec<Entry> {
        self.find_folder(line, tip, tree).unwrap_or_else(|| {
            self.is_record_partial |= line.refname == RECORD;
            Vec::new()
        })
    }
}
