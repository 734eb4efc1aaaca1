//! Archives of crumb files: their refs, their layout, and that no object is missing.

use super::problem::Problem;
use super::{Inspection, Line};
use crate::git::{Mode, Oid, RefListing};
use crate::memory::crumb::archive::{ARCHIVES, failure_paths, is_refname};
use crate::trace::TraceError;

impl Inspection<'_> {
    pub(crate) fn archives(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        for (refname, tip) in listing.refs.iter().filter(|(refname, _)| refname.starts_with(ARCHIVES)) {
            let line = Line::of_ref(refname);
            if !is_refname(refname) {
                let message = "no identity has this archive, so `git trace crumb expand` does not find it";
                self.problems.push(Problem::warning("archive-name", refname, message).commit(*tip));
            }
            let Some(commit) = self.read_commit(&line, *tip, None)? else { continue };
            self.archive_tree(&line, *tip, commit.commit.tree);
            self.ancestors(&line, commit)?;
        }
        Ok(())
    }

    fn archive_tree(&mut self, line: &Line, tip: Oid, tree: Oid) {
        // Trees with their paths and depths.
        let mut folders = vec![(tree, String::new(), 0)];
        while let Some((oid, above, depth)) = folders.pop() {
            for entry in self.folder(line, tip, oid) {
                let name = String::from_utf8_lossy(&entry.name).into_owned();
                let path = format!("{above}{name}");
                let is_hex =
                    |len: usize| name.len() == len && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                let fits = match depth {
                    0 => entry.mode() == Mode::Folder && matches!(name.as_str(), "lines" | "failures"),
                    1 => entry.mode() == Mode::Folder && is_hex(2),
                    _ => entry.mode() == Mode::File && is_hex(14),
                };
                if !fits {
                    let message = format!("`{path}` is not a file of an archive");
                    self.problems.push(Problem::warning("archive-stray", &line.label, message).commit(tip));
                } else if depth < 2 {
                    folders.push((entry.oid, path + "/", depth + 1));
                } else if let Some(bytes) = self.file(line, tip, None, entry.oid) {
                    self.archive_file(line, tip, &path, &bytes);
                }
            }
        }
    }

    /// A file has at least one line, and failures are stored under the digest of their name.
    fn archive_file(&mut self, line: &Line, tip: Oid, path: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        for written in text.lines() {
            self.note_purged(line, tip, |tombstones| Some(tombstones.of_line(written)?.to_string()));
        }
        let cause = if text.trim().is_empty() {
            "it is empty"
        } else if path.starts_with("failures/") && !failure_paths(&text).any(|found| found == path) {
            "it contains no failure with this digest"
        } else {
            return;
        };
        let problem = Problem::error("archive-file", &line.label, format!("`{path}`: {cause}")).commit(tip);
        self.problems.push(problem.remedy("an earlier commit of this ref may have an intact file"));
    }
}
