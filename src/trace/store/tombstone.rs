//! Tombstones: what was purged, so that it does not come back.
//!
//! They are a history of lines, `refs/trace-purged`, with one file for each purge. Its name is the id of the purge. The first line
//! says who purged, when, and why; each other line is a digest of something that was removed:
//!
//! ```text
//! {"at":"2026-02-10T09:00:00Z","by":"A <a@b>","reason":"leaked","salt":"0f…"}
//! {"body":"1e…"}
//! {"content":"d2…"}
//! {"item":"3a…"}
//! {"left":"90…"}
//! {"line":"77…"}
//! {"new":"5b…","object":"c4…"}
//! ```
//!
//! - A digest is the first half of the BLAKE3 of the salt, the kind, and the oid, item id, line, or text. No line contains text.
//! - A purge takes the salt of an earlier one, so that looking up an object costs the same after many purges. Only purges of clones
//!   that did not know of each other have different salts.
//! - `new` is the oid of the object that replaced a removed one, in exclusive or with another digest of the removed one's oid. Only
//!   a repository that has the removed object can read it.
//! - The id of an imported item is derived from its source, so its digest represents the source too. An item with such an id is
//!   refused unless it has the content that the purge left; `left` is the digest of that content.
//! - `body` is the digest of a removed text, because a session that was exported and continued gives it another id, and because a file
//!   with the same text may have another oid. `content` is that of an item with its id, if the text is not enough to recognize it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use serde::{Deserialize, Serialize};

use super::commit::CommitBuilder;
use super::line_history::{LineFormat, LineHistory, find_file, list_files};
use super::signature::Signature;
use super::total::{Reading, read_item};
use super::walk::changes_of;
use crate::git::{Mode, Oid, Repo, TreeStore as _, short_oid};
use crate::trace::{Fields, Item, ItemEntry, ItemId, Tip, TraceError};

const PURGED: &str = "refs/trace-purged";

pub(crate) static HISTORY: LineHistory = LineHistory {
    refname: PURGED,
    shared: "purged",
    noun: "tombstones",
    format: LineFormat {
        is_path: |path| path.parse::<ItemId>().is_ok(),
        is_line: |line| serde_json::from_str::<Line>(line).is_ok(),
        sort: |lines| lines.sort_unstable(),
    },
};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Purge(Purge),
    Object {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new: Option<String>,
        object: String,
    },
    Item {
        item: String,
    },
    Text {
        line: String,
    },
    Body {
        body: String,
    },
    Content {
        content: String,
    },
    Left {
        left: String,
    },
}

/// A purge in which something was removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Purge {
    pub at: String,
    pub by: String,
    pub reason: String,
    salt: String,
}

fn digest(salt: &str, kind: &str, value: &[u8]) -> String {
    hash(salt, kind, value).to_hex()[..32].to_owned()
}

fn hash(salt: &str, kind: &str, value: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in [salt.as_bytes(), kind.as_bytes(), value] {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

impl Purge {
    /// Hides the oid of what replaced an object, or reveals it again. The digits are those of an oid.
    fn mask(&self, old: Oid, new: &str) -> Option<String> {
        let key = hash(&self.salt, "new", old.as_bytes());
        let bytes = new.as_bytes().chunks(2).zip(key.as_bytes()).map(|(digits, key)| {
            let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            Some(format!("{:02x}", byte ^ key))
        });
        bytes.collect()
    }

    /// The error for something that contains what was purged.
    pub(crate) fn refusal(&self, what: impl Into<String>) -> TraceError {
        TraceError::Purged { what: what.into(), purge: self.to_string() }
    }
}

impl std::fmt::Display for Purge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, by, reason, .. } = self;
        write!(f, "purged by {by} at {at}: {reason}")
    }
}

/// Removed objects and lines, and changed items.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// Each with the object that replaced it.
    pub objects: Vec<(Oid, Option<Oid>)>,
    pub items: Vec<ItemId>,
    pub lines: Vec<String>,
    pub bodies: Vec<Vec<u8>>,
    /// Items whose bodies do not identify them.
    pub contents: Vec<Item>,
    /// What remains of items.
    pub left: Vec<Item>,
}

/// The parts of an item that a purge may change.
fn content(item: &Item) -> Vec<u8> {
    let Fields { name, call_id, signature, kind, path, language, media_type, format, turn, meta, unknown, .. } =
        &item.fields;
    let headers = (name, call_id, signature, kind, path, language, media_type, format, turn);
    let headers = serde_json::to_vec(&(item.id.to_string(), headers, meta, unknown)).unwrap_or_default();
    [&*headers, b"\n", &*item.body].concat()
}

/// What became of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Kept,
    Replaced(Oid),
    /// It was replaced by an object that is not here.
    ReplacedElsewhere,
    Removed,
}

/// All tombstones of this repository.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    purges: Vec<Purge>,
    /// The salts of the purges, each once.
    salts: BTreeSet<String>,
    /// The digests, each with its purges, and with the replacement of an object. Anybody can copy a digest to a purge with another
    /// salt, where it means nothing.
    digests: HashMap<String, Vec<(usize, Option<String>)>>,
    names_items: bool,
}

impl Tombstones {
    /// `None` if there are none, which costs one lookup of a ref.
    pub(crate) fn find(repo: &Repo) -> Result<Option<Self>, TraceError> {
        Self::at(repo, repo.find_ref(PURGED)?.into_iter().collect())
    }

    /// Those of histories at these tips; `None` if there are no tips.
    pub(crate) fn at(repo: &Repo, tips: Vec<Oid>) -> Result<Option<Self>, TraceError> {
        let mut tombstones = None;
        for tip in tips {
            let found = tombstones.get_or_insert_with(Self::default);
            for file in repo.read_tree(repo.read_commit(tip)?.tree)? {
                if file.mode() == Mode::File && std::str::from_utf8(&file.name).is_ok_and(HISTORY.format.is_path) {
                    found.read(&String::from_utf8_lossy(&repo.read_blob(file.oid)?));
                }
            }
        }
        Ok(tombstones)
    }

    /// Those of one purge of this repository.
    fn of_purge(repo: &Repo, id: &str) -> Result<Self, TraceError> {
        let mut one = Self::default();
        if let Some(tip) = repo.find_ref(PURGED)?
            && let Some(file) = find_file(repo, repo.read_commit(tip)?.tree, id)?
        {
            one.read(&String::from_utf8_lossy(&repo.read_blob(file)?));
        }
        Ok(one)
    }

    fn read(&mut self, text: &str) {
        let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let purge = |line: &Line| if let Line::Purge(purge) = line { Some(purge.clone()) } else { None };
        // Of two, which nobody writes, the first counts. Without a salt, the digests mean nothing.
        let Some(purge) = lines.iter().find_map(purge) else { return };
        let at = self.purges.len();
        self.salts.insert(purge.salt.clone());
        self.purges.push(purge);
        for line in lines {
            self.names_items |= matches!(line, Line::Item { .. });
            let (digest, new) = match line {
                Line::Purge(_) => continue,
                Line::Object { object, new } => (object, new),
                Line::Item { item: digest }
                | Line::Text { line: digest }
                | Line::Body { body: digest }
                | Line::Content { content: digest }
                | Line::Left { left: digest } => (digest, None),
            };
            self.digests.entry(digest).or_default().push((at, new));
        }
    }

    fn find_digest(&self, kind: &str, value: &[u8]) -> Option<&Purge> {
        self.of_digest(kind, value).next().map(|(purge, _)| purge)
    }

    /// The purges that have a digest, each with the replacement.
    fn of_digest<'t>(&'t self, kind: &str, value: &[u8]) -> impl Iterator<Item = (&'t Purge, Option<&'t str>)> {
        let purges = move |salt: &'t String| {
            let found = self.digests.get(&digest(salt, kind, value)).into_iter().flatten();
            let found = found.map(|(purge, new)| (&self.purges[*purge], new.as_deref()));
            found.filter(move |(purge, _)| purge.salt == *salt)
        };
        self.salts.iter().flat_map(purges)
    }

    pub(crate) fn of_object(&self, oid: Oid) -> Option<&Purge> {
        self.find_digest("object", oid.as_bytes())
    }

    /// Follows the replacements of all purges to an object without a tombstone.
    pub(crate) fn fate(&self, repo: &Repo, oid: Oid, is_here: &dyn Fn(Oid) -> bool) -> Fate {
        let (mut waiting, mut seen) = (vec![oid], HashSet::from([oid]));
        let mut fate = Fate::Kept;
        while let Some(oid) = waiting.pop() {
            let mut is_purged = false;
            for (purge, new) in self.of_digest("object", oid.as_bytes()) {
                is_purged = true;
                let new = new.and_then(|new| repo.find_oid(&purge.mask(oid, new)?));
                // Tombstones of a remote may name each other in a circle.
                waiting.extend(new.filter(|new| seen.insert(*new)));
            }
            match fate {
                Fate::Kept if is_purged => fate = Fate::Removed,
                _ if is_purged || fate == Fate::Kept => {}
                _ if is_here(oid) => return Fate::Replaced(oid),
                _ => fate = Fate::ReplacedElsewhere,
            }
        }
        fate
    }

    /// The reasons of the purges that removed an object or its replacements.
    pub(crate) fn reasons(&self, repo: &Repo, oid: Oid) -> BTreeSet<&str> {
        let (mut waiting, mut seen, mut reasons) = (vec![oid], HashSet::from([oid]), BTreeSet::new());
        while let Some(oid) = waiting.pop() {
            for (purge, new) in self.of_digest("object", oid.as_bytes()) {
                reasons.insert(purge.reason.as_str());
                waiting
                    .extend(new.and_then(|new| repo.find_oid(&purge.mask(oid, new)?)).filter(|new| seen.insert(*new)));
            }
        }
        reasons
    }

    pub(crate) fn of_line(&self, line: &str) -> Option<&Purge> {
        self.find_digest("line", line.as_bytes())
    }

    /// The purge that removed an item, or text from it. `None` for the item as the purge left it.
    pub(crate) fn of_item(&self, id: ItemId, body: &[u8]) -> Option<&Purge> {
        self.of_id(id).filter(|_| memchr::memmem::find(body, b"[purged: ").is_none())
    }

    /// The purge that removed a text, or the content of an item, whatever file it is in.
    pub(crate) fn of_content(&self, item: &Item) -> Option<&Purge> {
        self.find_digest("body", &item.body).or_else(|| self.find_digest("content", &content(item)))
    }

    /// The purge that removed a file of an item, or its content.
    pub(crate) fn of_file(&self, repo: &Repo, entry: &ItemEntry) -> Result<Option<&Purge>, TraceError> {
        match self.of_object(entry.blob) {
            None => Ok(self.of_content(&read_item(repo, entry)?)),
            found => Ok(found),
        }
    }

    /// The purge that refuses an item which is not from this repository: it removed this text, or it left something else of this
    /// item.
    pub(crate) fn of_incoming(&self, item: &Item) -> Option<&Purge> {
        let of_id = || self.of_id(item.id).filter(|_| self.find_digest("left", &content(item)).is_none());
        self.of_content(item).or_else(of_id)
    }

    /// The purge that removed an item, or text from one of its revisions.
    pub(crate) fn of_id(&self, id: ItemId) -> Option<&Purge> {
        self.find_digest("item", id.to_string().as_bytes())
    }

    /// The purged commits and files in the history of `tip` that the history of `known` does not have, and those with purged content.
    /// Reads each file once.
    pub(crate) fn in_history(
        &self,
        repo: &Repo,
        tip: Oid,
        known: Option<Oid>,
    ) -> Result<Vec<(Oid, &Purge)>, TraceError> {
        let (mut found, mut files) = (Vec::new(), BTreeMap::new());
        for oid in repo.commits_beyond(tip, known)? {
            found.extend(self.of_object(oid).map(|purge| (oid, purge)));
            for change in changes_of(repo, &Tip::read(repo, oid)?)? {
                let Some(entry) = change.sides().1 else { continue };
                match self.of_object(entry.blob) {
                    Some(purge) => found.push((entry.blob, purge)),
                    None => files.entry(entry.blob).or_insert_with(|| (entry.clone(), Vec::new())).1.push(oid),
                }
            }
        }
        // The same text may be stored with another count of tokens, or written again.
        repo.for_each_blob(files.into_iter().map(|(blob, file)| (file, blob)), |(entry, commits), blob, bytes| {
            if let Some(purge) = self.of_content(&Reading::of(&entry, bytes).item) {
                found.extend(commits.into_iter().chain([blob]).map(|oid| (oid, purge)));
            }
            Ok::<_, TraceError>(())
        })?;
        Ok(found)
    }

    /// The purged commits in the history of `tip` that the history of `known` does not have, and the files at `tip` that are purged
    /// or have a purged line. For histories of lines.
    pub(crate) fn in_lines(&self, repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<Vec<(Oid, &Purge)>, TraceError> {
        let of_commit = |oid: Oid| Some((oid, self.of_object(oid)?));
        let mut found: Vec<_> = repo.commits_beyond(tip, known)?.into_iter().filter_map(of_commit).collect();
        for (_, file) in list_files(repo, repo.read_commit(tip)?.tree)? {
            let text = String::from_utf8_lossy(&repo.read_blob(file)?).into_owned();
            let of_line = || text.lines().find_map(|line| self.of_line(line));
            found.extend(self.of_object(file).or_else(of_line).map(|purge| (file, purge)));
        }
        Ok(found)
    }

    /// Refuses a commit whose history has something purged that the history of `known` does not have.
    pub(crate) fn refuse(&self, repo: &Repo, what: &str, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
        match self.in_history(repo, tip, known)?.first() {
            Some((_, purge)) => Err(purge.refusal(what)),
            None => Ok(()),
        }
    }
}

/// Whether a purge of this repository named one of these items; `None` if it named no item at all, as one that changed only reasons.
pub(crate) fn names_any(repo: &Repo, id: &str, items: &BTreeSet<ItemId>) -> Result<Option<bool>, TraceError> {
    let purge = Tombstones::of_purge(repo, id)?;
    Ok(purge.names_items.then(|| items.iter().any(|item| purge.of_id(*item).is_some())))
}

/// As [`Tombstones::refuse`], for a state on which a trace is to continue; `known` may be damaged.
pub(crate) fn refuse_state(repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
    let known = known.filter(|known| repo.read_commit(*known).is_ok());
    if known == Some(tip) {
        return Ok(());
    }
    let tombstones = Tombstones::find(repo)?;
    tombstones.map_or(Ok(()), |all| all.refuse(repo, &format!("commit {}", short_oid(tip)), tip, known))
}

/// A defect of a file of tombstones. An unreadable line protects from nothing.
pub(crate) fn find_damage(text: &str) -> Option<String> {
    let mut purges = 0;
    for (index, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(Line::Purge(_)) => purges += 1,
            Ok(_) => {}
            Err(_) => return Some(format!("line {} cannot be read", index + 1)),
        }
    }
    (purges != 1).then(|| format!("{purges} lines say who purged, not 1"))
}

/// Writes the commit with the tombstones of a purge. Returns the tip before and after. The caller moves [`HISTORY`]'s ref with the
/// others and holds the lock that excludes writers.
pub(crate) fn write(
    repo: &Repo,
    signature: &Signature,
    reason: &str,
    removed: &Removed,
) -> Result<(Option<Oid>, Oid), TraceError> {
    let random = || RandomState::new().hash_one(signature.at.as_nanosecond());
    let old = repo.find_ref(PURGED)?;
    let salt = Tombstones::at(repo, old.into_iter().collect())?.and_then(|earlier| earlier.salts.into_iter().next());
    let salt = salt.unwrap_or_else(|| format!("{:016x}{:016x}", random(), random()));
    let id = format!("{:016x}", random());
    let purge = Purge { at: signature.at.to_string(), by: signature.author.person(), reason: reason.to_owned(), salt };
    let objects = removed.objects.iter().map(|(oid, new)| Line::Object {
        new: new.and_then(|new| purge.mask(*oid, &new.to_string())),
        object: digest(&purge.salt, "object", oid.as_bytes()),
    });
    let items =
        removed.items.iter().map(|id| Line::Item { item: digest(&purge.salt, "item", id.to_string().as_bytes()) });
    let lines = removed.lines.iter().map(|line| Line::Text { line: digest(&purge.salt, "line", line.as_bytes()) });
    let bodies = removed.bodies.iter().map(|body| Line::Body { body: digest(&purge.salt, "body", body) });
    let of_item = |kind: &str, item: &Item| digest(&purge.salt, kind, &content(item));
    let contents = removed.contents.iter().map(|item| Line::Content { content: of_item("content", item) });
    let left = removed.left.iter().map(|item| Line::Left { left: of_item("left", item) });
    let lines = [Line::Purge(purge.clone())].into_iter().chain(objects).chain(items).chain(lines);
    let lines = lines.chain(bodies).chain(contents).chain(left);
    let lines: Vec<String> =
        lines.map(|line| serde_json::to_string(&line)).collect::<Result<_, _>>().unwrap_or_default();
    let before = old.map(|oid| repo.read_commit(oid)).transpose()?.map(|commit| commit.tree);
    let tree = HISTORY.format.with_lines(repo, before, [(id, lines)], |lines, _| Ok(lines))?;
    let new = CommitBuilder::new(signature, tree, old).write_plain(repo, &format!("purge: {reason}\n"))?;
    Ok((old, new))
}
