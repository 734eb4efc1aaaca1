//! Tombstones: what was purged, so that it does not come back.
//!
//! They are a history of lines, `refs/trace-purged`, with one file for each purge. Its name is the id of the purge. The first line
//! says who purged, when, and why; each other line is a digest of something that was removed:
//!
//! ```text
//! {"at":"2026-02-10T09:00:00Z","by":"A <a@b>","knew":["4c…"],"reason":"leaked","salt":"0f…"}
//! {"body":"1e…"}
//! {"content":"d2…"}
//! {"item":"3a…"}
//! {"left":"90…"}
//! {"line":"77…"}
//! {"new":"5b…","object":"c4…"}
//! ```
//!
//! - A digest is the first half of the BLAKE3 of the salt, the kind, and the oid, item id, line, or text. No line contains text.
//! - A `line` is one of the priority record or an archive, a reason, or a subject; see also [`line_of`].
//! - A purge takes the salt of an earlier one, so that looking up an object costs the same after many purges. Only purges of clones
//!   that did not know of each other have different salts.
//! - `new` is the oid of the object that replaced a removed one, in exclusive or with another digest of the removed one's oid. Only
//!   a repository that has the removed object can read it.
//! - The id of an imported item is derived from its source, so its digest represents the source too. An item with such an id is
//!   refused unless it has the content that the purge left; `left` is the digest of that content. It counts only for the purge
//!   itself and for those that it `knew`; see [`Tombstones::of_item`].
//! - Anybody can guess a text. So a `body` of a purge of others counts only if it is long, and this repository has or had an item from
//!   which the purge removed that text; see [`accept_texts`].
//! - `body` is the digest of a removed text, because a session that was exported and continued gives it another id, and because a file
//!   with the same text may have another oid. Forms in which exports write the text have digests too; see [`forms_of_text`]. `content` is that of an item with its id, if the text is not enough to recognize it. If
//!   the purged text was in its headers, a `body` is the digest of headers and text without the id.

mod applied;
pub(crate) mod calls;
mod content;
mod incoming;
mod items;
mod stored;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::commit::CommitBuilder;
use super::line_history::{LineFormat, LineHistory, find_file};
use super::signature::Signature;
use crate::git::{Mode, Oid, Repo, TreeStore as _};
use crate::trace::{Item, ItemId, TraceError};

pub(crate) use applied::{note_purges, note_purges_again, require_no_purge};
use content::copied_content;
pub(crate) use content::{LONGEST_REASON, content, forms_of_text, is_reason, is_same_content, with_content_of};
pub(crate) use incoming::{accept_texts, is_marked, line_of};
pub(crate) use stored::{find_damage, objects, other_texts, reasons_of};

const PURGED: &str = "refs/trace-purged";

/// Salts have 32 digits. A longer one from a remote would make each digest slow.
const LONGEST_SALT: usize = 32;

/// The kinds of digests of contents that stay. The second one is that of revisions to which a purge that was known had not been applied.
const LEFT: &str = "left";
const LEFT_UNAPPLIED: &str = "left-unapplied";

pub(crate) const DEFAULT_REASON: &str = "secret";

/// Items with a shorter text are no copies of each other: it may be an answer that many give.
pub(crate) const SHORTEST_COPY: usize = 32;

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

/// The lines that are taken over from a remote.
pub(crate) static RECEIVED: LineHistory = LineHistory {
    format: LineFormat {
        is_line: |line| serde_json::from_str(line).is_ok_and(|line| !matches!(line, Line::Body { .. })),
        ..HISTORY.format
    },
    ..HISTORY
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
    /// Whether it only applies purges of others to a fetched history, or says that they left something alone.
    #[serde(default, skip_serializing_if = "is_false")]
    joins: bool,
    /// The earlier purges that changed the same items and that this one knew; sorted. `None` in those of an earlier version, which
    /// count as if they had known all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    knew: Option<Vec<String>>,
    pub reason: String,
    salt: String,
    /// The name of its file.
    #[serde(skip)]
    id: String,
    /// Whether this repository has it, and not only a remote.
    #[serde(skip)]
    is_here: bool,
}

/// Who purged, for each salt: a file has one such line, but anybody may add others, which must not make the digests of ours void.
fn purges_of(lines: &[Line]) -> Vec<Purge> {
    let mut salts = HashSet::new();
    let purges = lines.iter().filter_map(|line| if let Line::Purge(purge) = line { Some(purge) } else { None });
    purges.filter(|purge| purge.salt.len() <= LONGEST_SALT && salts.insert(&purge.salt)).cloned().collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
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
        TraceError::Purged { what: what.into(), purge: self.to_string(), remote: None }
    }
}

impl std::fmt::Display for Purge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A remote may write anything.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let [at, by] =
            [&self.at, &self.by].map(|text| text.chars().take(LONGEST_REASON).map(plain).collect::<String>());
        write!(f, "purged by {by} at {at}: {}", self.reason)
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
    /// Those of them whose headers contained the text, which identify them under any id.
    pub copies: Vec<Item>,
    /// The rest of each item, and the contents that stay of the other revisions of these items.
    pub left: Vec<Item>,
    /// The rest of each revision to which a purge that is known here had not been applied. It may contain what that one removed.
    pub left_unapplied: Vec<Item>,
    /// Whether this only applies earlier purges.
    pub joins: bool,
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

/// A digest in a file: the purges that the file names, and the replacement of an object.
type Digest = (Range<usize>, Option<String>);

/// All tombstones of this repository.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    purges: Vec<Purge>,
    /// The salts of the purges, each once.
    salts: BTreeSet<String>,
    /// The digests, each with its purges, and with the replacement of an object. Anybody can copy a digest to a purge with another
    /// salt, where it means nothing.
    digests: HashMap<String, Vec<Digest>>,
    names_items: bool,
}

impl Tombstones {
    /// `None` if there are none, which costs one lookup of a ref.
    pub(crate) fn find(repo: &Repo) -> Result<Option<Self>, TraceError> {
        Self::with_fetched(repo, None)
    }

    /// Those of this repository, and those of a remote that nobody can guess.
    pub(crate) fn with_fetched(repo: &Repo, fetched: Option<Oid>) -> Result<Option<Self>, TraceError> {
        let tips = [(repo.find_ref(PURGED)?, &HISTORY), (fetched, &RECEIVED)];
        let (mut tombstones, mut here) = (None, HashSet::new());
        for (tip, history) in tips.into_iter().filter_map(|(tip, history)| Some((tip?, history))) {
            let found = tombstones.get_or_insert_with(Self::default);
            for file in repo.read_tree(repo.read_commit(tip)?.tree)? {
                if file.mode() == Mode::File
                    && let Ok(id) = std::str::from_utf8(&file.name)
                    && (HISTORY.format.is_path)(id)
                    && let Some(bytes) = repo.find_blob(file.oid)?
                {
                    let is_here = fetched != Some(tip) || here.contains(id);
                    found.read((id, is_here), &String::from_utf8_lossy(&bytes), history.format.is_line);
                    here.extend(is_here.then(|| id.to_owned()));
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
            one.read((id, true), &String::from_utf8_lossy(&repo.read_blob(file)?), HISTORY.format.is_line);
        }
        Ok(one)
    }

    fn read(&mut self, (id, is_here): (&str, bool), text: &str, counts: fn(&str) -> bool) {
        let lines: Vec<Line> =
            text.lines().filter(|line| counts(line)).filter_map(|line| serde_json::from_str(line).ok()).collect();
        let first = self.purges.len();
        for mut purge in purges_of(&lines) {
            // The reason of a remote may be anything.
            if !is_reason(&purge.reason) {
                DEFAULT_REASON.clone_into(&mut purge.reason);
            }
            id.clone_into(&mut purge.id);
            purge.is_here = is_here;
            self.salts.insert(purge.salt.clone());
            self.purges.push(purge);
        }
        // Without a salt, the digests mean nothing.
        let purges = first..self.purges.len();
        if purges.is_empty() {
            return;
        }
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
            self.digests.entry(digest).or_default().push((purges.clone(), new));
        }
    }

    fn find_digest(&self, kind: &str, value: &[u8]) -> Option<&Purge> {
        self.of_digest(kind, value).next().map(|(purge, _)| purge)
    }

    /// The purges that have a digest, each with the replacement.
    fn of_digest<'t>(
        &'t self,
        kind: &str,
        value: &[u8],
    ) -> impl Iterator<Item = (&'t Purge, Option<&'t str>)> + use<'t> {
        let digests: Vec<_> = self.salts.iter().map(|salt| (salt, digest(salt, kind, value))).collect();
        digests.into_iter().flat_map(move |(salt, digest)| {
            let found = self.digests.get(&digest).into_iter().flatten();
            found.filter_map(move |(purges, new)| {
                let purge = self.purges[purges.clone()].iter().find(|purge| purge.salt == *salt);
                Some((purge?, new.as_deref()))
            })
        })
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

    pub(crate) fn any(&self) -> Option<&Purge> {
        self.purges.first()
    }

    pub(crate) fn is_one_purge(&self) -> bool {
        self.purges.len() < 2
    }

    /// Whether there are purges of clones that did not know of each other: with two salts, or with two replacements of an object.
    pub(crate) fn are_independent(&self) -> bool {
        let has_two = |found: &Vec<Digest>| found.iter().any(|(_, new)| *new != found[0].1);
        self.salts.len() > 1 || self.digests.values().any(has_two)
    }
}

/// Whether a purge of this repository named one of these items; `None` if it named no item at all, as one that changed only reasons.
pub(crate) fn names_any(repo: &Repo, id: &str, items: &BTreeSet<ItemId>) -> Result<Option<bool>, TraceError> {
    let purge = Tombstones::of_purge(repo, id)?;
    Ok(purge.names_items.then(|| items.iter().any(|item| purge.of_id(*item).is_some())))
}

/// Writes the commit with the tombstones of a purge that knew `known`, and those of this repository. Returns the tip before and after.
/// The caller moves [`HISTORY`]'s ref with the others and holds the lock that excludes writers.
pub(crate) fn write(
    repo: &Repo,
    signature: &Signature,
    known: &Tombstones,
    reason: &str,
    removed: &Removed,
) -> Result<(Option<Oid>, Oid), TraceError> {
    let random = || RandomState::new().hash_one(signature.at.as_nanosecond());
    let old = repo.find_ref(PURGED)?;
    let earlier = Tombstones::find(repo)?.unwrap_or_default();
    let items = || removed.items.iter().copied().chain(removed.left.iter().map(|item| item.id));
    let knew: BTreeSet<String> = [known, &earlier].into_iter().flat_map(|all| all.ids_of(items())).collect();
    let salt = earlier.salts.into_iter().next();
    let purge = Purge {
        at: signature.at.to_string(),
        by: signature.author.person(),
        joins: removed.joins,
        knew: Some(knew.into_iter().collect()),
        reason: reason.to_owned(),
        salt: salt.unwrap_or_else(|| format!("{:016x}{:016x}", random(), random())),
        id: format!("{:016x}", random()),
        is_here: true,
    };
    let objects = removed.objects.iter().map(|(oid, new)| Line::Object {
        new: new.and_then(|new| purge.mask(*oid, &new.to_string())),
        object: digest(&purge.salt, "object", oid.as_bytes()),
    });
    let items =
        removed.items.iter().map(|id| Line::Item { item: digest(&purge.salt, "item", id.to_string().as_bytes()) });
    let lines = removed.lines.iter().map(|line| Line::Text { line: digest(&purge.salt, "line", line.as_bytes()) });
    let bodies = removed.bodies.iter().map(|body| Line::Body { body: digest(&purge.salt, "body", body) });
    // Others cannot accept it as they accept a text, because it is the digest of more.
    let copies = removed.copies.iter().map(|item| digest(&purge.salt, "copy", &copied_content(item)));
    let bodies = bodies.chain(copies.map(|body| Line::Body { body }));
    let of_item = |kind: &str, item: &Item| digest(&purge.salt, kind, &content(item));
    let contents = removed.contents.iter().map(|item| Line::Content { content: of_item("content", item) });
    let left = removed.left.iter().map(|item| of_item(LEFT, item));
    let left = left.chain(removed.left_unapplied.iter().map(|item| of_item(LEFT_UNAPPLIED, item)));
    let left = left.map(|left| Line::Left { left });
    let lines = [Line::Purge(purge.clone())].into_iter().chain(objects).chain(items).chain(lines);
    let lines = lines.chain(bodies).chain(contents).chain(left);
    let lines: Vec<String> =
        lines.map(|line| serde_json::to_string(&line)).collect::<Result<_, _>>().unwrap_or_default();
    let before = old.map(|oid| repo.read_commit(oid)).transpose()?.map(|commit| commit.tree);
    let tree = HISTORY.format.with_lines(repo, before, [(purge.id, lines)], |lines, _| Ok(lines))?;
    let new = CommitBuilder::new(signature, tree, old).write_plain(repo, &format!("purge: {reason}\n"))?;
    Ok((old, new))
}
