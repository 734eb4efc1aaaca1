//! Reading every object of the repository once, to find those that contain what is purged.

use std::collections::HashMap;

use memchr::memmem;

use super::Lines;
use super::content::Target;
use crate::git::{ObjectKind, Oid, Repo};
use crate::memory::crumb::archive::digests_of;
use crate::trace::TraceError;

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) hits: HashMap<Oid, ObjectKind>,
    /// Commits with a hit in their author or committer only.
    pub(super) authors: usize,
    pub(super) lines: Lines,
    pub(super) commits: Vec<Oid>,
}

impl Scan {
    pub(super) fn of(repo: &Repo, target: &Target) -> Result<Self, TraceError> {
        let mut scan = Self::default();
        repo.for_each_object(|oid, kind, bytes| {
            let is_hit = match kind {
                ObjectKind::Blob => target.is_in_blob(bytes),
                ObjectKind::Commit => {
                    scan.commits.push(oid);
                    let end = memmem::find(bytes, b"\n\n").unwrap_or(bytes.len());
                    let in_message = target.needle.is_in(&bytes[end..]) || target.is_commit_of_purged(&bytes[end..]);
                    scan.authors += usize::from(!in_message && target.needle.is_in(&bytes[..end]));
                    in_message
                }
                ObjectKind::Tree | ObjectKind::Tag => target.needle.is_in(bytes),
            };
            if is_hit {
                scan.hits.insert(oid, kind);
                if kind == ObjectKind::Blob {
                    scan.add_lines(target, bytes);
                }
            }
            Ok::<_, TraceError>(())
        })?;
        Ok(scan)
    }

    /// Any blob with a hit may be a file of an archive.
    fn add_lines(&mut self, target: &Target, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for line in text.lines() {
            if let Some(changed) = target.needle.replace_text(line, &target.marker) {
                self.lines.extend(digests_of(line).zip(digests_of(&changed)));
            }
        }
    }
}
