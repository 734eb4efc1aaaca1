//! Tombstones: they are readable, and nothing that they name is live.

use super::problem::Problem;
use super::{Inspection, Line};
use crate::git::{BACKUP_REFS, Mode, Oid, RefListing};
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::store::priority::tags;
use crate::trace::store::tombstone::{HISTORY, Tombstones, find_damage};
use crate::trace::{Tip, TraceError};

/// The purged objects and lines that a ref leads to.
pub(crate) struct Purged {
    commit: Oid,
    purge: String,
    count: usize,
}

impl Inspection<'_> {
    pub(crate) fn tombstones(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        let Some((_, tip)) = listing.refs.iter().find(|(refname, _)| refname == HISTORY.refname) else { return Ok(()) };
        let line = Line::of_ref(HISTORY.refname);
        let Some(commit) = self.read_commit(&line, *tip, None)? else { return Ok(()) };
        for entry in self.folder(&line, *tip, commit.commit.tree) {
            let name = String::from_utf8_lossy(&entry.name).into_owned();
            if entry.mode() != Mode::File || !(HISTORY.format.is_path)(&name) {
                let message = format!("`{name}` is not the file of a purge");
                self.problems.push(Problem::warning("tombstone-stray", HISTORY.refname, message).commit(*tip));
            } else if let Some(bytes) = self.file(&line, *tip, None, entry.oid)
                && let Some(damage) = find_damage(&String::from_utf8_lossy(&bytes))
            {
                let message = format!("`{name}`: {damage}, so purged content may come back");
                let remedy = "`git log refs/trace-purged` lists earlier states; return to one with `git update-ref`";
                self.problems.push(Problem::error("tombstone", HISTORY.refname, message).commit(*tip).remedy(remedy));
            }
        }
        self.ancestors(&line, commit)
    }

    /// Notes the purged objects and contents that a commit has brought; its files were read before. A backup keeps them until the
    /// operation log forgets it.
    pub(crate) fn note_purged_objects(&mut self, line: &Line, commit: &Tip, blobs: impl Iterator<Item = Oid>) {
        if line.refname.starts_with(BACKUP_REFS) || self.blobs.tombstones.is_none() {
            return;
        }
        let oid = commit.commit.oid;
        for object in blobs.chain([oid]) {
            let of_content = self.blobs.purge_of(object);
            let find = |tombstones: &Tombstones| tombstones.of_object(object).map(ToString::to_string).or(of_content);
            self.note_purged(line, oid, find);
        }
    }

    pub(crate) fn note_purged(&mut self, line: &Line, commit: Oid, find: impl FnOnce(&Tombstones) -> Option<String>) {
        if let Some(purge) = self.blobs.tombstones.as_ref().and_then(find) {
            let noted = self.purged.entry(line.label.clone()).or_insert(Purged { commit, purge, count: 0 });
            noted.count += 1;
        }
    }

    /// Notes what is purged in commits to which a tag leads, but no trace. Backups, which may have the same commits, are read later.
    pub(crate) fn purged_in_tags(&mut self, listing: &RefListing) -> Result<(), TraceError> {
        let Some(tombstones) = &self.blobs.tombstones else { return Ok(()) };
        for (refname, target) in &listing.refs {
            if tags::parse(&self.prefix, refname).is_none() || self.commits.contains(target) {
                continue;
            }
            match tombstones.in_history(self.repo, *target, None) {
                Ok(found) => {
                    if let Some((_, purge)) = found.first() {
                        let noted = Purged { commit: *target, purge: purge.to_string(), count: found.len() };
                        self.purged.insert(refname.clone(), noted);
                    }
                }
                // Another check reports this, if it is a problem.
                Err(TraceError::Git(error)) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) fn purged(&mut self) {
        for (place, Purged { commit, purge, count }) in std::mem::take(&mut self.purged) {
            let message = format!("it contains what was {purge}; purged objects and lines: {count}");
            let pull = if place.starts_with(FORWARD_CRUMBS) { "forward pull" } else { "pull" };
            let remedy =
                format!("`git trace {pull}` applies the purges of others; `git trace purge` removes content again");
            self.problems.push(Problem::error("purged", place, message).commit(commit).remedy(remedy));
        }
    }
}
