//! The tree of a trace: one file for every live item, in reading order.
//!
//! ```text
//! 00/00/000000-instruction-3f9a1c2e7b10d4e5
//! 00/00/000001-dialogue-81d2f0a94c55b9a0
//! ```
//!
//! There are three levels of two digits each, so a commit writes three small trees at any length. Trees that plain git made are
//! read too: they may have two files for one position, misplaced files, and files that are not items, which are kept unread.

use std::collections::{BTreeMap, HashSet};

use super::id::ItemId;
use super::item::ItemType;
use crate::git::{Entry, EntryRef, GitError, Mode, Oid, Tree, TreeStore};

/// The number of positions in a trace.
pub(crate) const CAPACITY: u32 = 1_000_000;

/// A live item's entry in the tree, known from its path. Its file has not been read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ItemEntry {
    /// Its position, from 0; gaps are normal.
    pub seq: u32,
    pub id: ItemId,
    pub item_type: ItemType,
    pub blob: Oid,
    pub path: String,
}

pub(crate) fn item_path(seq: u32, item_type: &ItemType, id: ItemId) -> String {
    let digits = format!("{seq:06}");
    format!("{}/{}/{digits}-{item_type}-{id}", &digits[..2], &digits[2..4])
}

/// Parses `000002-tool_io-0be7719d3a2f61c8`; `None` for any other name.
pub(crate) fn parse_name(name: &[u8]) -> Option<(u32, ItemType, ItemId)> {
    let name = std::str::from_utf8(name).ok()?;
    let (digits, rest) = name.split_once('-')?;
    let (item_type, id) = rest.rsplit_once('-')?;
    let plain = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| Some((digits.parse().ok()?, item_type.parse().ok()?, id.parse().ok()?)))?
}

/// Lists the live items of a tree in reading order, each id once. Reads one object per hundred items, and no blob.
pub(crate) fn list(store: &impl TreeStore, tree: Oid) -> Result<Vec<ItemEntry>, GitError> {
    let mut slots = list_files(store, tree)?;
    let mut seen = HashSet::with_capacity(slots.len());
    slots.retain(|slot| seen.insert(slot.id));
    Ok(slots)
}

/// Lists every item file of a tree in reading order. Plain git may leave two files of one item; the first is the item.
pub(crate) fn list_files(store: &impl TreeStore, tree: Oid) -> Result<Vec<ItemEntry>, GitError> {
    let mut slots = Vec::new();
    for top in folders(&store.tree(tree)?) {
        for middle in folders(&store.tree(top.oid())?) {
            slots.extend(files(top.name, middle.name, store.tree(middle.oid())?.entries()));
        }
    }
    slots.sort_by_key(|slot| (slot.seq, slot.id));
    Ok(slots)
}

/// The last live item of a tree in reading order, if any. Reads three trees.
pub(crate) fn last(store: &impl TreeStore, tree: Oid) -> Result<Option<ItemEntry>, GitError> {
    Ok(newest(store, tree, 1)?.pop())
}

/// At least `count` of the last live items of a tree, if it has as many, in reading order. Reads three trees, and one more per
/// hundred items.
pub(crate) fn newest(store: &impl TreeStore, tree: Oid, count: usize) -> Result<Vec<ItemEntry>, GitError> {
    let root = store.tree(tree)?;
    let mut found: Vec<ItemEntry> = Vec::new();
    let tops: Vec<EntryRef<'_>> = folders(&root).collect();
    for top in tops.into_iter().rev() {
        let inner = store.tree(top.oid())?;
        let middles: Vec<EntryRef<'_>> = folders(&inner).collect();
        for middle in middles.into_iter().rev() {
            let leaves = store.tree(middle.oid())?;
            found.extend(files(top.name, middle.name, leaves.entries()));
            if found.len() >= count {
                break;
            }
        }
        if found.len() >= count {
            break;
        }
    }
    found.sort_by_key(|slot| (slot.seq, slot.id));
    Ok(found)
}

fn folders(tree: &Tree) -> impl Iterator<Item = EntryRef<'_>> {
    tree.entries().filter(|entry| entry.mode() == Mode::Folder)
}

/// The item files among the entries of a folder of the third level.
fn files<'t>(top: &[u8], middle: &[u8], leaves: impl Iterator<Item = EntryRef<'t>>) -> impl Iterator<Item = ItemEntry> {
    let folder = [top, b"/", middle, b"/"].concat();
    // An item file has a name in UTF-8, and so have its folders.
    let folder = String::from_utf8(folder).ok();
    leaves.filter_map(move |leaf| {
        let (seq, item_type, id) = parse_name(leaf.name).filter(|_| leaf.mode() == Mode::File)?;
        let path = [folder.as_deref()?, std::str::from_utf8(leaf.name).ok()?].concat();
        Some(ItemEntry { seq, id, item_type, blob: leaf.oid(), path })
    })
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Added(ItemEntry),
    Removed(ItemEntry),
    Changed(ItemEntry, ItemEntry),
}

impl Change {
    /// The item's entry, or its last one if it was removed.
    pub(crate) fn entry(&self) -> &ItemEntry {
        let (Self::Added(slot) | Self::Removed(slot) | Self::Changed(_, slot)) = self;
        slot
    }

    pub(crate) fn sides(&self) -> (Option<&ItemEntry>, Option<&ItemEntry>) {
        match self {
            Self::Added(after) => (None, Some(after)),
            Self::Changed(before, after) => (Some(before), Some(after)),
            Self::Removed(before) => (Some(before), None),
        }
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &ItemEntry> {
        let (before, after) = self.sides();
        after.into_iter().chain(before)
    }
}

/// Values of two trees: before and after.
type Pair<T> = [Option<T>; 2];

/// Lists the changes from `before` (none: an empty tree) to `after`, by item, in reading order. Reads only the folders that
/// differ.
pub(crate) fn changes(store: &impl TreeStore, before: Option<Oid>, after: Oid) -> Result<Vec<Change>, GitError> {
    let mut by_id: BTreeMap<ItemId, Pair<ItemEntry>> = BTreeMap::new();
    for (top, tops) in differing_folders(store, [before, Some(after)])? {
        for (middle, middles) in differing_folders(store, tops)? {
            for (side, leaves) in differing(&read_trees(store, middles)?).into_iter().enumerate() {
                for found in files(&top, &middle, leaves.into_iter()) {
                    by_id.entry(found.id).or_default()[side].get_or_insert(found);
                }
            }
        }
    }
    Ok(in_order(by_id))
}

/// Lists the changes between two lists of live items, in reading order. The result equals that of [`changes`], unless plain git
/// left a second file of an item.
pub(crate) fn changes_of_lists(before: Vec<ItemEntry>, after: Vec<ItemEntry>) -> Vec<Change> {
    let mut by_id: BTreeMap<ItemId, Pair<ItemEntry>> = BTreeMap::new();
    for (side, slots) in [before, after].into_iter().enumerate() {
        for slot in slots {
            let id = slot.id;
            by_id.entry(id).or_default()[side] = Some(slot);
        }
    }
    by_id.retain(|_, [before, after]| before != after);
    in_order(by_id)
}

fn in_order(by_id: BTreeMap<ItemId, Pair<ItemEntry>>) -> Vec<Change> {
    let change = |sides: Pair<ItemEntry>| match sides {
        [Some(before), Some(after)] => Some(Change::Changed(before, after)),
        [Some(before), None] => Some(Change::Removed(before)),
        [None, after] => after.map(Change::Added),
    };
    let mut listed: Vec<Change> = by_id.into_values().filter_map(change).collect();
    listed.sort_by_key(|change| (change.entry().seq, change.entry().id));
    listed
}

fn read_trees(store: &impl TreeStore, oids: Pair<Oid>) -> Result<Pair<Tree>, GitError> {
    let [before, after] = oids.map(|oid| oid.map(|oid| store.tree(oid)).transpose());
    Ok([before?, after?])
}

/// The folders of two trees that are not the same in both, paired by name, in order.
fn differing_folders(store: &impl TreeStore, oids: Pair<Oid>) -> Result<BTreeMap<Vec<u8>, Pair<Oid>>, GitError> {
    let mut pairs: BTreeMap<Vec<u8>, Pair<Oid>> = BTreeMap::new();
    for (side, entries) in differing(&read_trees(store, oids)?).into_iter().enumerate() {
        for entry in entries.into_iter().filter(|entry| entry.mode() == Mode::Folder) {
            pairs.entry(entry.name.to_vec()).or_default()[side] = Some(entry.oid());
        }
    }
    Ok(pairs)
}

fn key<'t>(entry: &EntryRef<'t>) -> (&'t [u8], Mode, Oid) {
    (entry.name, entry.mode(), entry.oid())
}

/// The entries of each tree that are not in both, by name, kind, and oid: a remote may turn a file into a link.
fn differing(trees: &Pair<Tree>) -> [Vec<EntryRef<'_>>; 2] {
    let [Some(before), Some(after)] = trees else {
        return trees.each_ref().map(|tree| tree.iter().flat_map(Tree::entries).collect());
    };
    let [mut old, mut new] = before.between_common_ends(after);
    let in_old: HashSet<_> = old.iter().map(key).collect();
    let in_new: HashSet<_> = new.iter().map(key).collect();
    old.retain(|entry| !in_new.contains(&key(entry)));
    new.retain(|entry| !in_old.contains(&key(entry)));
    [old, new]
}

/// A tree that is being changed. Folders are read when a path enters them, and written if they were touched.
pub(crate) struct TreeEditor {
    root: Folder,
}

struct Folder {
    /// As they were read or last written.
    entries: Vec<Entry>,
    /// What replaces the entries of a name when the folder is written, so that the entries are copied once for many changes.
    changed: BTreeMap<Vec<u8>, Option<Entry>>,
    /// Entered sub-folders, by name. Their entries above have old oids until the tree is written.
    entered: BTreeMap<Vec<u8>, Folder>,
    touched: bool,
}

impl TreeEditor {
    /// Starts from a tree, or from an empty one.
    pub(crate) fn new(store: &impl TreeStore, tree: Option<Oid>) -> Result<Self, GitError> {
        let entries = tree.map_or(Ok(Vec::new()), |oid| store.read_tree(oid))?;
        Ok(Self { root: Folder { touched: tree.is_none(), ..Folder::new(entries) } })
    }

    /// Finds the file at `path`, which is about to be replaced.
    pub(crate) fn find(&mut self, store: &impl TreeStore, path: &str) -> Result<Option<Oid>, GitError> {
        let (folder, name) = self.root.enter(store, path)?;
        let is_it = |entry: &&Entry| entry.name == name.as_bytes() && entry.mode() == Mode::File;
        let found = match folder.changed.get(name.as_bytes()) {
            Some(changed) => changed.as_ref(),
            None => folder.entries.iter().find(is_it),
        };
        Ok(found.map(|entry| entry.oid))
    }

    /// Writes a file at `path`, replacing any file there.
    pub(crate) fn put(&mut self, store: &impl TreeStore, path: &str, blob: Oid) -> Result<(), GitError> {
        let (folder, name) = self.root.enter(store, path)?;
        folder.changed.insert(name.as_bytes().to_vec(), Some(Entry::file(name, blob)));
        Ok(())
    }

    /// Removes the file at `path` and folders that become empty.
    pub(crate) fn remove(&mut self, store: &impl TreeStore, path: &str) -> Result<(), GitError> {
        let (folder, name) = self.root.enter(store, path)?;
        folder.changed.insert(name.as_bytes().to_vec(), None);
        Ok(())
    }

    /// Writes every touched folder and returns the tree's oid; more changes may follow.
    pub(crate) fn write(&mut self, store: &(impl TreeStore + ?Sized)) -> Result<Oid, GitError> {
        self.root.write(store)
    }
}

impl Folder {
    fn new(entries: Vec<Entry>) -> Self {
        Self { entries, changed: BTreeMap::new(), entered: BTreeMap::new(), touched: false }
    }

    /// The folder that contains the last part of `path`, and that part. Marks the folders on the path as touched.
    fn enter<'p>(&mut self, store: &impl TreeStore, path: &'p str) -> Result<(&mut Self, &'p str), GitError> {
        self.touched = true;
        let Some((first, rest)) = path.split_once('/') else { return Ok((self, path)) };
        let name = first.as_bytes();
        if !self.entered.contains_key(name) {
            let is_it = |entry: &&Entry| entry.name == name && entry.mode() == Mode::Folder;
            let known = if self.changed.contains_key(name) { None } else { self.entries.iter().find(is_it) };
            let entries = known.map_or(Ok(Vec::new()), |entry| store.read_tree(entry.oid))?;
            self.entered.insert(name.to_vec(), Self::new(entries));
        }
        self.entered.get_mut(name).expect("it was put there above").enter(store, rest)
    }

    fn write(&mut self, store: &(impl TreeStore + ?Sized)) -> Result<Oid, GitError> {
        for (name, folder) in &mut self.entered {
            if !folder.touched {
                continue;
            }
            let oid = folder.write(store)?;
            let entry = (!folder.entries.is_empty()).then(|| Entry::folder(name.clone(), oid));
            self.changed.insert(name.clone(), entry);
        }
        let changed = std::mem::take(&mut self.changed);
        self.entries.retain(|entry| !changed.contains_key(&entry.name));
        self.entries.extend(changed.into_values().flatten());
        self.touched = false;
        store.write_tree(&mut self.entries)
    }
}
