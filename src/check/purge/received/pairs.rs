//! Two forms of the same commits, if two clones purged a trace before they knew of each other.
//!
//! Both forms of a commit have its time, operation, and item. If only one purge changed an item, its tombstone names the other form.
//! If both did, what they left is joined.
//!
//! The commits of a rebase, an import, or a merge have no other form here, but what two purges left of an item does.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::join::{join_items, join_text, may_be_forms};
use super::target::clean_source;
use crate::check::purge::content::{Target, is_blank};
use crate::check::purge::kept::KEPT;
use crate::check::purge::needle::Needle;
use crate::check::purge::rewrite::{is_fixed, read_item};
use crate::check::purge::verify::files_of_purged;
use crate::git::{BACKUP_REFS, Commit, Oid, Repo};
use crate::trace::model::item_file;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::model::trailers::Trailers;
use crate::trace::store::tombstone::{
    DEFAULT_REASON, Fate, Purge, Tombstones, is_marked, is_same_content, with_content_of,
};
use crate::trace::store::walk::changes_of;
use crate::trace::{Item, ItemEntry, ItemId, Tip, TraceError};

#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Our form of a commit, by theirs.
    pub(super) commits: HashMap<Oid, Oid>,
    /// What replaced our form of a commit, by theirs.
    pub(super) replaced: HashMap<Oid, Oid>,
    /// The messages of theirs without what either purge removed.
    pub(super) messages: HashMap<Oid, Vec<u8>>,
    /// The files that both purges changed, in either form, with the joined content.
    pub(super) files: HashMap<Oid, Vec<u8>>,
    /// The files that stay: those that both purges left alone, and revisions that were made of what stays.
    pub(super) kept: HashSet<Oid>,
    /// The files that an independent purge left, and in which a purge of this repository may have missed something.
    pub(super) refused: HashSet<Oid>,
    /// The contents that an independent purge left, and that stay, because both forms of a commit have them.
    pub(super) confirmed: Vec<Item>,
    /// The forms that contain what the other purge removed, with the joined item.
    forms: Vec<(Item, Item)>,
    pub(super) purge: Option<Purge>,
}

impl Pairs {
    pub(super) fn is_empty(&self) -> bool {
        self.is_joined() && self.refused.is_empty()
    }

    /// Whether nothing is left to be joined.
    pub(super) fn is_joined(&self) -> bool {
        self.messages.is_empty() && self.files.is_empty()
    }

    /// Whether a file gets another content.
    pub(super) fn is_changed(&self, blob: Oid) -> bool {
        self.files.contains_key(&blob) || self.refused.contains(&blob)
    }

    /// Empty if anything differs that no purge changes. `ours` is the trace that `theirs` is going to be merged into.
    pub(super) fn find(
        repo: &Repo,
        tombstones: &Tombstones,
        ours: Option<Oid>,
        theirs: Oid,
        others: &mut Others,
    ) -> Result<Self, TraceError> {
        if tombstones.is_one_purge() {
            return Ok(Self::default());
        }
        let mut read = self::read(repo, theirs, ours)?;
        if !is_any_purged(repo, tombstones, &read)? {
            return Ok(Self::default());
        }
        // Parents first: the times of a trace only increase.
        read.sort_by_key(|tip| tip.trailers.time);
        let mut pairs = if tombstones.are_independent() {
            Self::joined(repo, tombstones, ours.map(|ours| (ours, theirs)), &read, others)?.unwrap_or_default()
        } else {
            Self::default()
        };
        for theirs in &read {
            pairs.judge(repo, tombstones, theirs, others)?;
        }
        Ok(pairs)
    }

    /// `None` if two forms cannot be joined.
    fn joined(
        repo: &Repo,
        tombstones: &Tombstones,
        histories: Option<(Oid, Oid)>,
        read: &[Tip],
        others: &mut Others,
    ) -> Result<Option<Self>, TraceError> {
        let mut pairs = Self::default();
        let mut known = match histories {
            Some((ours, theirs)) => by_key(self::read(repo, ours, Some(theirs))?),
            None => ByKey::new(),
        };
        for theirs in read.iter().filter(|tip| tip.trailers.time.is_some()) {
            let key = key(theirs);
            let ours = match known.remove(&key) {
                Some(ours) => ours,
                None => {
                    others.read(repo, tombstones)?.iter().find_map(|known| known.commits.get(&key)).cloned().flatten()
                }
            };
            match ours.filter(|ours| ours.commit.oid != theirs.commit.oid && pairs.has_parents(ours, theirs)) {
                Some(ours) if !pairs.add(repo, tombstones, &ours, theirs)? => return Ok(None),
                Some(_) => {}
                None => pairs.add_items(repo, tombstones, theirs, others)?,
            }
        }
        Ok(Some(pairs))
    }

    /// Notes the files of a commit that a purge left which did not know of one of this repository, unless a trace here has the same
    /// content.
    fn judge(
        &mut self,
        repo: &Repo,
        tombstones: &Tombstones,
        theirs: &Tip,
        others: &mut Others,
    ) -> Result<(), TraceError> {
        for there in files_of_purged(repo, tombstones, theirs)? {
            if self.is_changed(there.blob) || newest(repo, tombstones, there.blob) != Some(there.blob) {
                continue;
            }
            let item = read_item(there.id, &repo.read_blob(there.blob)?);
            // A marker without headers of the user contains nothing.
            if self.kept.contains(&there.blob) || target(DEFAULT_REASON).is_blanked(&item) {
                let is_exempt = tombstones.of_left(&item).is_none() || tombstones.of_item(&item).is_none();
                self.confirmed.extend((!is_exempt).then_some(item));
                continue;
            }
            let Some(purge) = tombstones.of_independent(&item) else { continue };
            let mut is_here = || -> Result<bool, TraceError> {
                for blob in others.read(repo, tombstones)?[0].files.get(&item.id).into_iter().flatten() {
                    if let Some(blob) = newest(repo, tombstones, *blob)
                        && is_same_content(&read_item(item.id, &repo.read_blob(blob)?), &item)
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            if is_here()? {
                self.kept.insert(there.blob);
            } else {
                self.purge.get_or_insert_with(|| purge.clone());
                self.refused.insert(there.blob);
            }
        }
        Ok(())
    }

    /// The forms whose content must not come back. A marker without headers of the user contains nothing.
    pub(super) fn forms(&self) -> impl Iterator<Item = &Item> {
        let target = target(DEFAULT_REASON);
        self.forms.iter().map(|(form, _)| form).filter(move |form| !target.is_blanked(form))
    }

    /// Adds a file if another revision of its item with the same content was joined.
    pub(super) fn add_revision(&mut self, repo: &Repo, entry: &ItemEntry) -> Result<(), TraceError> {
        if self.forms.is_empty() || self.files.contains_key(&entry.blob) {
            return Ok(());
        }
        let item = read_item(entry.id, &repo.read_blob(entry.blob)?);
        if let Some((_, joined)) = self.forms.iter().find(|(form, _)| is_same_content(form, &item)) {
            self.files.insert(entry.blob, item_file::render(&with_joined(&item, joined)));
        }
        Ok(())
    }

    /// Adds the items of a commit without another form here, if what our purges left of them shows that text which was purged here is
    /// in them.
    fn add_items(
        &mut self,
        repo: &Repo,
        tombstones: &Tombstones,
        theirs: &Tip,
        others: &mut Others,
    ) -> Result<(), TraceError> {
        for there in files_of_purged(repo, tombstones, theirs)? {
            let read = |blob| Ok::<_, TraceError>(read_item(there.id, &repo.read_blob(blob)?));
            let is_kept = |blob| tombstones.fate(repo, blob, &|oid| repo.read_blob(oid).is_ok()) == Fate::Kept;
            if self.files.contains_key(&there.blob) || !is_kept(there.blob) {
                continue;
            }
            let other = read(there.blob)?;
            let Some(also) = tombstones.of_left(&other) else { continue };
            let known = others.read(repo, tombstones)?.iter().filter_map(|known| known.files.get(&there.id)).flatten();
            let known: BTreeSet<Oid> = known.copied().filter(|blob| is_kept(*blob)).collect();
            let known =
                known.into_iter().map(|blob| Ok((blob, read(blob)?))).collect::<Result<Vec<_>, TraceError>>()?;
            if known.iter().any(|(_, one)| is_same_content(one, &other)) {
                continue;
            }
            let left = known.iter().filter_map(|(blob, one)| Some((*blob, one, tombstones.of_left(one)?)));
            let mut left: Vec<_> = left.filter(|(_, one, _)| may_be_forms(&one.body, &other.body)).collect();
            // A marker alone may be a form of any text, so another revision that is one counts last.
            left.sort_by_key(|(_, one, _)| (one.revision != other.revision, is_blank(&one.body)));
            for (blob, one, purge) in left {
                let purge = if purge.reason <= also.reason { purge } else { also };
                if let Some(joined) = join_items(one, &other, &target(&purge.reason)) {
                    let joined = if is_same_content(&joined, &other) { other.clone() } else { joined };
                    self.purge = Some(purge.clone());
                    self.join([(blob, one.clone()), (there.blob, other)], &joined);
                    break;
                }
            }
        }
        Ok(())
    }

    fn join(&mut self, forms: [(Oid, Item); 2], joined: &Item) {
        self.confirmed.push(joined.clone());
        for (blob, form) in forms {
            let joined = with_joined(&form, joined);
            if joined == form {
                self.kept.insert(blob);
            } else {
                self.files.insert(blob, item_file::render(&joined));
            }
            if !is_same_content(&form, &joined) {
                self.forms.push((form, joined));
            }
        }
    }

    fn has_parents(&self, ours: &Tip, theirs: &Tip) -> bool {
        let (ours, theirs) = (&ours.commit.parents, &theirs.commit.parents);
        let is_pair = |(ours, theirs): (&Oid, &Oid)| ours == theirs || self.commits.get(theirs) == Some(ours);
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(is_pair)
    }

    /// Adds a pair, unless the commits changed other items. False if what both purges left of an item cannot be joined.
    fn add(&mut self, repo: &Repo, tombstones: &Tombstones, ours: &Tip, theirs: &Tip) -> Result<bool, TraceError> {
        let files = |tip: &Tip| -> Result<HashMap<ItemId, ItemEntry>, TraceError> {
            let changes = changes_of(repo, tip)?;
            Ok(changes.iter().filter_map(|change| change.sides().1).map(|entry| (entry.id, entry.clone())).collect())
        };
        let fate = |oid| tombstones.fate(repo, oid, &|oid| repo.read_commit(oid).is_ok());
        let (first, is_kept) = (ours.commit.oid, fate(theirs.commit.oid) == Fate::Kept);
        // Ours may have been joined already, in another trace.
        let replaced = match fate(first) {
            Fate::Replaced(new) => Some(Tip::read(repo, new)?),
            _ => None,
        };
        let ours = replaced.as_ref().unwrap_or(ours);
        let is_joined =
            fate(theirs.commit.oid) == Fate::Replaced(ours.commit.oid) || ours.commit.oid == theirs.commit.oid;
        let newest = |blob| newest(repo, tombstones, blob);
        let (here, there) = (files(ours)?, files(theirs)?);
        let is_same = |(id, there): (&ItemId, &ItemEntry)| here.get(id).is_some_and(|here| here.seq == there.seq);
        if here.len() != there.len() || !there.iter().all(is_same) {
            return Ok(true);
        }
        // The next pass compares another replacement, and joins the files.
        if is_kept || is_joined {
            self.commits.insert(theirs.commit.oid, first);
        }
        if is_joined || !is_kept || fate(ours.commit.oid) != Fate::Kept {
            return Ok(true);
        }
        self.replaced.extend(replaced.as_ref().map(|ours| (theirs.commit.oid, ours.commit.oid)));
        for (id, there) in &there {
            let here = &here[id];
            if here.blob == there.blob {
                self.kept.insert(here.blob);
            }
            let (Some(ours), Some(theirs)) = (newest(here.blob), newest(there.blob)) else { continue };
            if ours == theirs {
                self.kept.insert(ours);
            }
            // The next pass compares the replacement of theirs.
            if ours == theirs || theirs != there.blob {
                continue;
            }
            let (one, other) = (read_item(*id, &repo.read_blob(ours)?), read_item(*id, &repo.read_blob(theirs)?));
            let (Some(left), Some(also)) = (tombstones.of_left(&one), tombstones.of_left(&other)) else {
                return Ok(false);
            };
            let purge = if left.reason <= also.reason { left } else { also };
            let Some(joined) = join_items(&one, &other, &target(&purge.reason)) else { return Ok(false) };
            self.purge = Some(purge.clone());
            self.join([(ours, one), (theirs, other)], &joined);
        }
        let (one, other) = (&ours.commit.message, &theirs.commit.message);
        let reasons = [marked_reason(one), marked_reason(other)].into_iter().flatten().min();
        if let Some(joined) = join_messages(one, other, &target(reasons.unwrap_or("secret")).marker) {
            self.messages.insert(theirs.commit.oid, joined.into_bytes());
            self.purge = self.purge.take().or_else(|| tombstones.any().cloned());
        }
        Ok(true)
    }
}

/// A form with the joined content, and without the digest of its record if another form lacks it.
fn with_joined(form: &Item, joined: &Item) -> Item {
    let mut item = with_content_of(form, joined);
    clean_source(&mut item.fields, Some(&joined.fields));
    item
}

/// The replacement of a file, or the file itself; `None` if it is not here.
fn newest(repo: &Repo, tombstones: &Tombstones, blob: Oid) -> Option<Oid> {
    match tombstones.fate(repo, blob, &|oid| repo.read_blob(oid).is_ok()) {
        Fate::Kept => Some(blob),
        Fate::Replaced(new) => Some(new),
        Fate::ReplacedElsewhere | Fate::Removed => None,
    }
}

/// Commits by the parts that no purge changes. Of two with one key, neither can be told from the other.
type ByKey = HashMap<String, Option<Tip>>;

fn by_key(tips: impl IntoIterator<Item = Tip>) -> ByKey {
    let mut found = ByKey::new();
    for tip in tips {
        let oid = tip.commit.oid;
        let known = found.entry(key(&tip)).or_insert_with(|| Some(tip));
        *known = known.take().filter(|known| known.commit.oid == oid);
    }
    found
}

fn read(repo: &Repo, tip: Oid, other: Option<Oid>) -> Result<Vec<Tip>, TraceError> {
    repo.commits_beyond(tip, other)?.into_iter().map(|oid| Tip::read(repo, oid)).collect()
}

/// Whether a purge changed an item of these commits, or a message.
fn is_any_purged(repo: &Repo, tombstones: &Tombstones, tips: &[Tip]) -> Result<bool, TraceError> {
    for tip in tips {
        if is_marked(&tip.commit.message) || !files_of_purged(repo, tombstones, tip)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The purged traces and forward crumbs of this repository, whatever their names, then earlier states of them, then what purges left of
/// fetched ones: somebody may have given a purged trace another name. They are read once, if they are needed.
#[derive(Default)]
pub(super) struct Others(Option<[Known; 3]>);

#[derive(Default)]
struct Known {
    commits: ByKey,
    /// The files of purged items.
    files: HashMap<ItemId, HashSet<Oid>>,
}

impl Known {
    fn of(repo: &Repo, tombstones: &Tombstones, tips: Vec<Tip>) -> Result<Self, TraceError> {
        let mut files = HashMap::<_, HashSet<Oid>>::new();
        for tip in &tips {
            for entry in files_of_purged(repo, tombstones, tip)? {
                files.entry(entry.id).or_default().insert(entry.blob);
            }
        }
        Ok(Self { commits: by_key(tips), files })
    }
}

impl Others {
    fn read(&mut self, repo: &Repo, tombstones: &Tombstones) -> Result<&[Known; 3], TraceError> {
        if self.0.is_none() {
            let mut found = <[Known; 3]>::default();
            let live = [repo.list_refs(TRACES)?, repo.list_refs(FORWARD_CRUMBS)?].concat();
            let listed = [live, repo.list_refs(BACKUP_REFS)?, repo.list_refs(KEPT)?];
            for (refs, found) in listed.into_iter().zip(&mut found) {
                let mut purged = Vec::new();
                // `fsck` reports damaged tips.
                for (_, tip) in refs.into_iter().filter(|(_, tip)| repo.read_commit(*tip).is_ok()) {
                    let tips = read(repo, tip, None)?;
                    purged.extend(is_any_purged(repo, tombstones, &tips)?.then_some(tips).into_iter().flatten());
                }
                *found = Known::of(repo, tombstones, purged)?;
            }
            self.0 = Some(found);
        }
        Ok(self.0.get_or_insert_default())
    }
}

/// The commits of another history that may be forms of those of ours, for commits whose replacements are not here.
pub(super) struct Forms(HashMap<String, Option<Oid>>);

impl Forms {
    pub(super) fn of(repo: &Repo, tip: Oid, known: Oid) -> Result<Self, TraceError> {
        let mut forms = HashMap::new();
        for oid in repo.commits_beyond(tip, Some(known))? {
            // Of two with one key, neither can be told from the other.
            forms.entry(key(&Tip::read(repo, oid)?)).and_modify(|form| *form = None).or_insert(Some(oid));
        }
        Ok(Self(forms))
    }

    pub(super) fn find(&self, tip: &Tip) -> Option<Oid> {
        self.0.get(&key(tip)).copied().flatten()
    }
}

/// The reason of a remote may be anything.
pub(super) fn target(reason: &str) -> Target {
    let new = |reason| Target::new([].into(), Needle::default(), reason);
    new(reason).or_else(|| new("secret")).expect("this reason has no quote")
}

/// The parts of a commit that no purge changes.
fn key(tip: &Tip) -> String {
    let Trailers { time, op, item, code, .. } = &tip.trailers;
    // An export that was imported has all else of the other trace.
    let Commit { author, committer, commit_time, .. } = &tip.commit;
    format!("{time:?} {op:?} {item:?} {code:?} {commit_time} {author} {committer}")
}

pub(super) fn marked_reason(message: &str) -> Option<&str> {
    Some(message.split_once("[purged: ")?.1.split_once(']')?.0)
}

/// `theirs` without the parts that `ours` lacks, but with its own trailers about its tree. `None` if both say the same.
fn join_messages(ours: &str, theirs: &str, marker: &str) -> Option<String> {
    let split = |message: &str| -> (String, String) {
        let gap = message.trim_end().rfind("\n\n").filter(|gap| message[gap + 2..].contains("Trace-"));
        gap.map_or((message.to_owned(), String::new()), |gap| {
            (message[..gap + 2].to_owned(), message[gap + 2..].to_owned())
        })
    };
    let ((text, trailers), (other, others)) = (split(theirs), split(ours));
    let mut joined = join_text(&text, &other, marker);
    for line in trailers.split_inclusive('\n') {
        let key = line.split(": ").next().unwrap_or_default();
        let same = others.split_inclusive('\n').find(|other| other.split(": ").next() == Some(key));
        match same {
            _ if is_fixed(line) => joined += line,
            Some(same) => joined += &join_text(line, same, marker),
            None => {}
        }
    }
    let said = |message: &str| message.lines().filter(|line| !is_fixed(line)).map(str::to_owned).collect::<Vec<_>>();
    (said(ours) != said(theirs)).then_some(joined)
}
