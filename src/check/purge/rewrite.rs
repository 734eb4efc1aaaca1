//! Writing histories again without what is purged.
//!
//! The result depends only on the commits and on what is purged, so every clone makes the same commits. Author, committer, and
//! dates stay, and so do ids and positions of items. Files are recognized by their paths, because
//! a remote may give any name to any commit.

mod archive;
mod message;
mod removed;

pub(super) use message::{decoded, is_fixed, origin, says_more, without_ids};

use std::collections::{BTreeSet, HashMap, HashSet};

use super::content::Target;
use super::{Lines, Names};
use crate::git::{Entry, GitError, Mode, Objects, Oid, Repo, TreeStore as _};
use crate::tokens::{Counter, CounterId};
use crate::trace::model::item_file;
use crate::trace::model::tree::parse_name;
use crate::trace::store::tombstone::line_of;
use crate::trace::store::total::item_cost;
use crate::trace::sync::is_of_code as is_of_no_trace;
use crate::trace::{Draft, Fields, Item, ItemId, ItemType, TraceError};

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Role {
    /// `000002-tool_io-0be7719d3a2f61c8`, or anything else, which is searched as text.
    Item(Option<ItemId>),
    /// `3f/9a1c2e7b10d4e5`, the lines of a priority record for an item.
    Record(ItemId),
    /// `lines/3f/9a1c2e7b10d4e5`
    Archive,
    /// The target of a symbolic link, which only a remote may have put into a trace.
    Link,
}

impl Role {
    fn of(above: &[u8], name: &[u8]) -> Self {
        let digits = || String::from_utf8([above, name].concat()).ok();
        match parse_name(name) {
            Some((_, _, id)) => Self::Item(Some(id)),
            None if above.len() == 2 => {
                digits().and_then(|digits| digits.parse().ok()).map_or(Self::Item(None), Self::Record)
            }
            None => Self::Item(None),
        }
    }
}

/// The path of a folder in a folder, as far as it matters: only the first one has a name of two digits.
fn below(above: &[u8], name: &[u8]) -> Vec<u8> {
    if above.is_empty() && name.len() == 2 { name.to_vec() } else { b"/".to_vec() }
}

pub(super) struct Rewriter<'r> {
    repo: &'r Repo,
    target: &'r Target,
    objects: Objects<'r>,
    /// Blobs that contain something to purge. Other blobs are read only if they are a purged item's.
    hits: &'r HashSet<Oid>,
    /// The new digests of lines in archives.
    lines: &'r Lines,
    /// The commits that the code leads to. Those that belong to no trace stay.
    pub(super) held: HashSet<Oid>,
    pub(super) commits: HashMap<Oid, Oid>,
    /// Commits that messages name, but that git has removed a part of.
    lost: HashSet<Oid>,
    /// Messages that count in place of those of commits.
    pub(super) messages: HashMap<Oid, Vec<u8>>,
    pub(super) names: Names,
    /// Whether a signature of ours may take the place of any other one. Others may have put anything into what was only fetched, so there it
    /// takes the place of accepted ones alone.
    pub(super) vouches: bool,
    /// The revisions to which a purge that is known here was not applied.
    pub(super) unapplied: HashSet<Oid>,
    /// By the path that [`below`] gives, empty for the tree of a commit.
    trees: HashMap<(Vec<u8>, Oid), Oid>,
    blobs: HashMap<(Role, Oid), Oid>,
    /// The items that changed, before and after, by blob.
    items: HashMap<Oid, (Item, Item)>,
    changed_items: BTreeSet<ItemId>,
    /// The folders in archives, before and after.
    archive_trees: (HashSet<Oid>, HashSet<Oid>),
    /// The changed files of archives, by their new oids.
    archive_files: HashMap<Oid, Vec<u8>>,
    /// Files that stay, if items are purged.
    kept: HashSet<Oid>,
    /// The files of items that nothing is purged in.
    unchanged: HashSet<(ItemId, Oid)>,
    /// The trees and files that were met, whether or not they changed.
    seen: HashSet<Oid>,
    /// The lines of priority records and archives that changed, and reasons and subjects.
    changed_lines: BTreeSet<String>,
    /// The subjects of purged items that were replaced.
    forgotten_subjects: HashSet<String>,
    /// The commits that were followed as origins of others, and whether they, or those whose subjects they repeat, name or change a purged item.
    repetitions: HashMap<Oid, bool>,
    costs: HashMap<(CounterId, Oid), i64>,
    pub(super) counts: Counts,
}

/// How much was rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    /// Revisions of items.
    pub(crate) items: usize,
    pub(crate) messages: usize,
    pub(crate) record_files: usize,
    pub(crate) archive_files: usize,
    pub(crate) signatures: usize,
}

impl<'r> Rewriter<'r> {
    pub(super) fn new(
        repo: &'r Repo,
        target: &'r Target,
        objects: Objects<'r>,
        hits: &'r HashSet<Oid>,
        lines: &'r Lines,
    ) -> Self {
        Self {
            repo,
            target,
            objects,
            hits,
            lines,
            held: HashSet::new(),
            commits: HashMap::new(),
            lost: HashSet::new(),
            messages: HashMap::new(),
            names: Names::new(),
            vouches: true,
            unapplied: HashSet::new(),
            trees: HashMap::new(),
            blobs: HashMap::new(),
            items: HashMap::new(),
            changed_items: BTreeSet::new(),
            archive_trees: (HashSet::new(), HashSet::new()),
            archive_files: HashMap::new(),
            kept: HashSet::new(),
            unchanged: HashSet::new(),
            seen: HashSet::new(),
            changed_lines: BTreeSet::new(),
            forgotten_subjects: HashSet::new(),
            repetitions: HashMap::new(),
            costs: HashMap::new(),
            counts: Counts::default(),
        }
    }

    /// The new oid of a commit, which is the old one if nothing below it changes.
    pub(super) fn commit(&mut self, tip: Oid) -> Result<Oid, TraceError> {
        // A history may be long, so the waiting commits are kept here and not on the call stack, each with whether it is needed: of a
        // commit that a message names, git may have removed a part.
        let mut waiting = vec![(tip, true)];
        while let Some((oid, is_needed)) = waiting.last().copied() {
            if self.commits.contains_key(&oid) || (!is_needed && self.lost.contains(&oid)) {
                waiting.pop();
                continue;
            }
            // A remote may give the name of a trace to any commit.
            if self.held.contains(&oid) && is_of_code(self.repo, oid) {
                self.commits.insert(oid, oid);
                continue;
            }
            match self.commit_after_others(oid, is_needed) {
                Ok(first) => waiting.extend(first),
                Err(TraceError::Git(error)) if error.is_damage() && !is_needed => {
                    self.lost.insert(oid);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.commits[&tip])
    }

    /// Rewrites a commit, or returns those to rewrite before it, each with whether it is needed.
    fn commit_after_others(&mut self, oid: Oid, is_needed: bool) -> Result<Vec<(Oid, bool)>, TraceError> {
        let commit = self.repo.read_raw_commit(oid)?;
        if let Some(lost) = commit.parents.iter().find(|parent| !is_needed && self.lost.contains(parent)) {
            return Err(GitError::MissingObject { oid: *lost }.into());
        }
        let mut first: Vec<_> = commit.parents.iter().map(|parent| (*parent, is_needed)).collect();
        let origin = origin(self.repo, &commit)?.filter(|origin| !self.lost.contains(origin));
        first.extend(origin.map(|origin| (origin, false)));
        first.retain(|(before, _)| !self.commits.contains_key(before));
        if !first.is_empty() {
            return Ok(first);
        }
        let mut changed = commit.clone();
        changed.tree = self.tree(commit.tree, b"")?;
        for parent in &mut changed.parents {
            *parent = self.commits[&*parent];
        }
        let mut said = commit.clone();
        if let Some(message) = self.messages.remove(&oid) {
            said.message = message;
        }
        let message = decoded(&said.message).into_owned();
        let new_message = self.message(&said, &message)?;
        if new_message != message || said.message != commit.message {
            changed.set_message(new_message);
        }
        let new = if changed == commit {
            oid
        } else {
            self.counts.signatures += usize::from(commit.is_signed);
            changed.is_signed &= self.vouches || !self.objects.is_signing() || self.repo.has_valid_signature(oid)?;
            self.objects.commit(&changed)?
        };
        self.commits.insert(oid, new);
        Ok(first)
    }

    /// `above` is the path of the folder, as [`below`] gives it.
    fn tree(&mut self, oid: Oid, above: &[u8]) -> Result<Oid, TraceError> {
        let key = (above.to_vec(), oid);
        if let Some(known) = self.trees.get(&key) {
            return Ok(*known);
        }
        let before = self.repo.read_tree(oid)?;
        let mut entries = before.clone();
        for entry in &mut entries {
            entry.oid = match entry.mode() {
                Mode::Folder if above.is_empty() && archive::FOLDERS.contains(&&*entry.name) => {
                    self.archive_folder(entry)?
                }
                Mode::Folder => self.tree(entry.oid, &below(above, &entry.name))?,
                Mode::File => self.file(entry.oid, Role::of(above, &entry.name))?,
                Mode::Other if entry.is_link() => self.file(entry.oid, Role::Link)?,
                Mode::Other => entry.oid,
            };
        }
        let new = if entries == before { oid } else { self.objects.tree(&mut entries)? };
        self.trees.insert(key, new);
        self.seen.insert(oid);
        Ok(new)
    }

    fn file(&mut self, blob: Oid, role: Role) -> Result<Oid, TraceError> {
        let is_purged = match role {
            Role::Item(Some(id)) | Role::Record(id) => self.target.items.contains(&id),
            Role::Item(None) | Role::Archive | Role::Link => false,
        };
        if !is_purged && !self.hits.contains(&blob) {
            // The file of another item, which is purged, may be the same.
            if !self.target.items.is_empty() {
                self.kept.insert(blob);
            }
            if let Role::Item(Some(id)) = role {
                self.unchanged.insert((id, blob));
            }
            return Ok(blob);
        }
        let key = (role, blob);
        if let Some(known) = self.blobs.get(&key) {
            return Ok(*known);
        }
        let bytes = self.repo.read_blob(blob)?;
        let changed = match (&self.target.known, role) {
            (Some(known), _) => known.get(&blob).cloned(),
            (None, Role::Item(id)) => self.target.item_file(id, &bytes, &self.names),
            (None, Role::Record(id)) => self.target.record_file(id, &bytes),
            (None, Role::Archive) => self.target.archived(&bytes),
            (None, Role::Link) => Some(self.target.marker.clone().into_bytes()).filter(|marker| *marker != bytes),
        };
        let new = match changed {
            None => {
                self.unchanged.extend(if let Role::Item(Some(id)) = role { Some((id, blob)) } else { None });
                blob
            }
            Some(changed) => {
                *match role {
                    Role::Item(_) | Role::Link => &mut self.counts.items,
                    Role::Record(_) => &mut self.counts.record_files,
                    Role::Archive => &mut self.counts.archive_files,
                } += 1;
                match role {
                    Role::Item(Some(id)) => {
                        let (before, after) = (read_item(id, &bytes), read_item(id, &changed));
                        self.changed_items.insert(id);
                        let source =
                            before.fields.source.as_ref().filter(|_| before.fields.source != after.fields.source);
                        self.changed_lines.extend(source.map(ToString::to_string));
                        self.items.insert(blob, (before, after));
                    }
                    Role::Item(None) | Role::Link => {}
                    Role::Record(_) | Role::Archive => {
                        if role == Role::Archive {
                            self.archive_files.insert(self.objects.blob(&changed)?, changed.clone());
                        }
                        let item = if let Role::Record(item) = role { Some(item) } else { None };
                        let after = String::from_utf8_lossy(&changed).into_owned();
                        let before = String::from_utf8_lossy(&bytes).into_owned();
                        let kept: HashSet<&str> = after.lines().collect();
                        for line in before.lines().filter(|line| !kept.contains(line)) {
                            self.changed_lines.insert(line.to_owned());
                            let setting: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
                            if let Some((item, reason)) = item.zip(setting["reason"].as_str()) {
                                self.forget_words(reason);
                                self.changed_lines.insert(line_of(item, reason));
                            }
                        }
                    }
                }
                self.objects.blob(&changed)?
            }
        };
        self.blobs.insert(key, new);
        self.seen.insert(blob);
        Ok(new)
    }

    /// By how much the total of a folder of items changes.
    fn cost_difference(&mut self, tree: Oid, above: &[u8], counter: Counter) -> Result<i64, TraceError> {
        if self.trees.get(&(above.to_vec(), tree)).is_none_or(|new| *new == tree) {
            return Ok(0);
        }
        if let Some(known) = self.costs.get(&(counter.id(), tree)) {
            return Ok(*known);
        }
        let mut difference = 0;
        for entry in self.repo.read_tree(tree)? {
            difference += match entry.mode() {
                Mode::Folder => self.cost_difference(entry.oid, &below(above, &entry.name), counter)?,
                Mode::File => self.items.get(&entry.oid).map_or(0, |(before, after)| {
                    item_cost(after, counter).cast_signed() - item_cost(before, counter).cast_signed()
                }),
                Mode::Other => 0,
            };
        }
        self.costs.insert((counter.id(), tree), difference);
        Ok(difference)
    }

    /// As `commit`, unless git removed a part of its history, as it may if no ref leads there, or a remote's history is damaged.
    pub(super) fn commit_if_whole(&mut self, oid: Oid) -> Result<(), TraceError> {
        match self.commit(oid) {
            Err(TraceError::Git(error)) if error.is_damage() => Ok(()),
            done => done.map(drop),
        }
    }

    /// Whether one of our refs or reflogs leads to an object that may contain a hit.
    pub(super) fn has_seen(&self, oid: &Oid) -> bool {
        self.commits.contains_key(oid) || self.seen.contains(oid)
    }

    /// The objects that no rewritten history needs any more.
    pub(super) fn replaced(&self) -> HashSet<Oid> {
        let commits = self.commits.iter().map(|(old, new)| (*old, *new));
        let trees = self.trees.iter().map(|((_, old), new)| (*old, *new));
        let blobs = self.blobs.iter().map(|((_, old), new)| (*old, *new));
        let mut replaced: HashSet<Oid> = self.archive_trees.0.difference(&self.archive_trees.1).copied().collect();
        let mut needed: HashSet<Oid> = self.archive_trees.1.union(&self.kept).copied().collect();
        for (old, new) in commits.chain(trees).chain(blobs) {
            if old != new {
                replaced.insert(old);
            }
            needed.insert(new);
        }
        replaced.retain(|oid| !needed.contains(oid));
        replaced
    }
}

/// Whether a commit belongs to no trace and to no history of lines. False for other objects.
pub(super) fn is_of_code(repo: &Repo, oid: Oid) -> bool {
    let is_ours = |entry: Entry| {
        let is_digits = entry.name.len() == 2 && entry.name.iter().all(u8::is_ascii_hexdigit);
        entry.mode() == Mode::Folder && (is_digits || archive::FOLDERS.contains(&&*entry.name))
    };
    let folders = repo.read_commit(oid).and_then(|commit| repo.read_tree(commit.tree));
    let has_other = folders.is_ok_and(|entries| entries.is_empty() || !entries.into_iter().all(is_ours));
    has_other && is_of_no_trace(repo, oid)
}

/// As everywhere, a damaged file is a freeform item.
pub(super) fn read_item(id: ItemId, bytes: &[u8]) -> Item {
    item_file::parse(bytes)
        .unwrap_or_else(|_| Item::new(id, Draft { fields: Fields::new(ItemType::freeform()), body: bytes.to_vec() }))
}
