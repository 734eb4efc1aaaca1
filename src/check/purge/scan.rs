//! Reading every object of the repository once, to find those that contain what is purged.

use std::collections::{BTreeSet, HashMap, HashSet};

use memchr::memmem;

use super::content::Target;
use super::rewrite::{decoded, says_more, without_ids};
use super::{Lines, Names, Tie};
use crate::base::bounded;
use crate::base::worktree_path::resolve;
use crate::git::{ObjectKind, Oid, Repo, Tree};
use crate::memory::crumb::archive::digests_of;
use crate::trace::model::item_file;
use crate::trace::model::tree::parse_name;
use crate::trace::store::tombstone;
use crate::trace::{ItemId, TraceError};

#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) hits: HashMap<Oid, ObjectKind>,
    /// Commits with a hit in their author or committer only.
    pub(super) authors: usize,
    pub(super) lines: Lines,
    pub(super) commits: Vec<Oid>,
    /// Annotated tags, each with its target.
    pub(super) tags: HashMap<Oid, Oid>,
    /// The objects of tombstones, which a purge does not change: others have the same lines.
    pub(super) tombstones: HashSet<Oid>,
    /// Earlier purges with a hit in their reason.
    pub(super) reasons: usize,
    /// Objects of tombstones with a hit elsewhere: in the name of who purged, or in what a remote has added.
    pub(super) in_tombstones: usize,
    /// Reasons with a hit, and those that commits of tombstones repeat.
    reason_texts: HashSet<String>,
    /// The items with each text that ties items together and has a hit.
    tied: HashMap<(Tie, String), BTreeSet<ItemId>>,
    subjects: Vec<String>,
}

/// Whether a tree names a file by the text. The names that git-trace gives are digits and types.
fn is_in_names(repo: &Repo, target: &Target, bytes: &[u8]) -> bool {
    let is_digest = |name: &[u8]| matches!(name.len(), 2 | 14) && name.iter().all(u8::is_ascii_hexdigit);
    let is_in = |name: &[u8]| !is_digest(name) && parse_name(name).is_none() && target.needle.is_in(name);
    Tree::parse(bytes, repo.object_format()).is_none_or(|tree| tree.entries().any(|entry| is_in(entry.name)))
}

impl Scan {
    pub(super) fn of(repo: &Repo, target: &Target) -> Result<Self, TraceError> {
        let mut scan = Self { tombstones: tombstone::objects(repo)?, ..Self::default() };
        repo.for_each_object(|oid, kind, bytes| {
            let is_hit = match kind {
                ObjectKind::Blob => target.is_in_blob(bytes),
                ObjectKind::Commit => {
                    scan.commits.push(oid);
                    let end = memmem::find(bytes, b"\n\n").unwrap_or(bytes.len());
                    let message = decoded(&bytes[end..]);
                    let is_in = |text: &str| target.needle.is_in(text.as_bytes());
                    // Digits of ids may be those of the text.
                    let in_message = (is_in(&message) && is_in(&without_ids(&message)))
                        || says_more(repo, target, oid, message.trim_start());
                    scan.authors += usize::from(!in_message && target.needle.is_in(&bytes[..end]));
                    in_message
                }
                ObjectKind::Tree => is_in_names(repo, target, bytes),
                ObjectKind::Tag => {
                    let tagged =
                        bytes.strip_prefix(b"object ").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
                    let tagged = tagged.and_then(|oid| repo.find_oid(std::str::from_utf8(oid).ok()?));
                    scan.tags.extend(tagged.map(|tagged| (oid, tagged)));
                    target.needle.is_in(bytes)
                }
            };
            if scan.tombstones.contains(&oid) {
                if is_hit {
                    scan.add_tombstone(target, kind, bytes);
                }
            } else if is_hit {
                scan.hits.insert(oid, kind);
                if kind == ObjectKind::Blob {
                    scan.add_lines(target, bytes);
                    scan.add_ties(target, bytes);
                }
            }
            Ok::<_, TraceError>(())
        })?;
        scan.add_crumb_files(repo, target)?;
        let is_other = |subject: &&String| !scan.reason_texts.contains(*subject);
        scan.in_tombstones += scan.subjects.iter().filter(is_other).count();
        Ok(scan)
    }

    fn add_ties(&mut self, target: &Target, bytes: &[u8]) {
        let Ok(mut item) = item_file::parse(bytes) else { return };
        for tie in Tie::ALL {
            let text = tie.of(&mut item.fields).filter(|text| target.needle.is_in(text.as_bytes()));
            if let Some(text) = text {
                self.tied.entry((tie, text.clone())).or_default().insert(item.id);
            }
        }
    }

    /// The first item with each text that ties items together and has a hit. Clones have added other ones later, if at all.
    pub(super) fn names(&self, repo: &Repo) -> Result<Names, TraceError> {
        let mut places: HashMap<ItemId, u32> = HashMap::new();
        if !self.tied.is_empty() {
            repo.for_each_object(|_, kind, bytes| {
                let tree = (kind == ObjectKind::Tree).then(|| Tree::parse(bytes, repo.object_format())).flatten();
                for (seq, _, id) in tree.iter().flat_map(Tree::entries).filter_map(|entry| parse_name(entry.name)) {
                    let place = places.entry(id).or_insert(seq);
                    *place = seq.min(*place);
                }
                Ok::<_, TraceError>(())
            })?;
        }
        let first = |ids: &BTreeSet<ItemId>| ids.iter().copied().min_by_key(|id| places.get(id).unwrap_or(&u32::MAX));
        Ok(self.tied.iter().filter_map(|(tie, ids)| Some((tie.clone(), first(ids)?))).collect())
    }

    /// Digests and ids are no text.
    fn add_tombstone(&mut self, target: &Target, kind: ObjectKind, bytes: &[u8]) {
        let is_in = |text: &str| target.needle.is_in(text.as_bytes());
        match kind {
            ObjectKind::Blob => {
                let reasons = tombstone::reasons_of(bytes).unwrap_or_default();
                let hits: Vec<String> = reasons.into_iter().filter(|reason| is_in(reason)).collect();
                self.reasons += usize::from(!hits.is_empty());
                self.reason_texts.extend(hits);
                self.in_tombstones += usize::from(tombstone::other_texts(bytes).iter().any(|text| is_in(text)));
            }
            ObjectKind::Commit => {
                let end = memmem::find(bytes, b"\n\n").map_or(bytes.len(), |end| end + 2);
                let message = decoded(&bytes[end..]);
                self.subjects.push(message.strip_prefix("purge: ").unwrap_or(&message).trim_end().to_owned());
            }
            ObjectKind::Tree | ObjectKind::Tag => {}
        }
    }

    /// A compressed crumb file that is not committed yet has lines whose digests name files of an archive.
    fn add_crumb_files(&mut self, repo: &Repo, target: &Target) -> Result<(), TraceError> {
        for (root, files) in repo.worktree_files(&mut Vec::new())? {
            for file in files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "crumb")) {
                // The report names unreadable files.
                if let Ok(path) = resolve(&root, &file)
                    && let Ok(bytes) = bounded::read_file(&path)
                {
                    self.add_lines(target, &bytes);
                }
            }
        }
        Ok(())
    }

    /// Any blob with a hit may be a file of an archive.
    fn add_lines(&mut self, target: &Target, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for line in text.lines() {
            if let Some(changed) = target.archived(line.as_bytes()) {
                let changed = String::from_utf8_lossy(&changed);
                self.lines.extend(digests_of(line).zip(digests_of(&changed)));
            }
        }
    }
}
