//! Merging the forward crumbs that two clones left: by union.
//!
//! Those of the merge base keep their positions. The others follow, sorted by time and id, whichever clone merges. So two clones
//! that merge each other have the same tree. Of two changes of one forward crumb, the later wins.

use std::collections::{HashMap, HashSet};

use super::crumb::{self, put_newest};
use super::query::newest_of;
use crate::git::{Oid, Repo};
use crate::trace::change::merge::Arrange;
use crate::trace::change::merge::three_way::Merged;
use crate::trace::model::item_file;
use crate::trace::model::tree::{self, CAPACITY, ItemEntry, TreeEditor, item_path};
use crate::trace::store::total::{Reading, read};
use crate::trace::{Time, TraceError, TraceName};

pub(crate) const ARRANGE: Arrange = Arrange { merged: arrange, moved: corrected };

/// Gives the forward crumbs that are not in `base` their positions, and all their headers `newest`.
fn arrange(repo: &Repo, name: &TraceName, base: Option<Oid>, merged: &mut Merged) -> Result<(), TraceError> {
    let base = base.map_or(Ok(Vec::new()), |base| tree::list(repo, base))?;
    let by_id: HashMap<_, _> = base.iter().map(|entry| (entry.id, entry)).collect();
    let (mut kept, mut new) = (Vec::new(), Vec::new());
    for entry in tree::list(repo, merged.tree)? {
        match by_id.get(&entry.id) {
            Some(before) => kept.push(ItemEntry { seq: before.seq, ..entry }),
            None => new.push((crumb::read(repo, &entry)?.0.ok().map(|crumb| crumb.metadata.created), entry)),
        }
    }
    kept.sort_by_key(|entry| entry.seq);
    new.sort_by(|(one, a), (other, b)| (one, a.id).cmp(&(other, b.id)));
    let mut editor = TreeEditor::new(repo, Some(merged.tree))?;
    // Remove all files first: one may move to the path of another.
    for file in tree::list_files(repo, merged.tree)? {
        editor.remove(repo, &file.path)?;
    }
    let mut put = |entry: &ItemEntry, seq: u32, newest: Option<Time>| -> Result<(), TraceError> {
        let blob = restated(repo, entry, seq, newest)?;
        Ok(editor.put(repo, &item_path(seq, &entry.item_type, entry.id), blob)?)
    };
    let stated = |entry: &ItemEntry| -> Result<Option<Time>, TraceError> { Ok(crumb::read(repo, entry)?.1) };
    for entry in &kept {
        let before = by_id[&entry.id];
        put(entry, entry.seq, if before.blob == entry.blob { None } else { stated(before)? })?;
    }
    let earlier: Vec<ItemEntry> = kept.iter().map(|entry| by_id[&entry.id].clone()).collect();
    let mut newest = newest_up_to(repo, &earlier)?;
    let mut seq = base.last().map_or(0, |last| last.seq + 1);
    for (created, entry) in new {
        if seq >= CAPACITY {
            return Err(TraceError::Full { trace: name.clone() });
        }
        newest = newest.max(created);
        put(&entry, seq, newest)?;
        seq += 1;
    }
    merged.tree = editor.write(repo)?;
    merged.next_seq = seq;
    Ok(())
}

/// The tree in which no forward crumb that is not in the tree `before` states with its header `newest` that earlier ones are older than they
/// are: a query would not find them. Reads those from the first new one on.
fn corrected(repo: &Repo, before: Option<Oid>, tree: Oid) -> Result<Oid, TraceError> {
    let before = before.map_or(Ok(Vec::new()), |before| tree::list(repo, before))?;
    let known: HashSet<(u32, Oid)> = before.iter().map(|entry| (entry.seq, entry.blob)).collect();
    let entries = tree::list(repo, tree)?;
    let first = entries.iter().take_while(|entry| known.contains(&(entry.seq, entry.blob))).count();
    let mut newest = newest_up_to(repo, &entries[..first])?;
    let mut editor = TreeEditor::new(repo, Some(tree))?;
    for entry in &entries[first..] {
        let (crumb, stated) = crumb::read(repo, entry)?;
        newest = newest.max(crumb.ok().map(|crumb| crumb.metadata.created));
        if stated.is_some() && stated < newest {
            editor.put(repo, &entry.path, restated(repo, entry, entry.seq, newest)?)?;
        }
    }
    Ok(editor.write(repo)?)
}

/// The latest time among entries whose headers are true, as the last one states it, else as all say.
fn newest_up_to(repo: &Repo, entries: &[ItemEntry]) -> Result<Option<Time>, TraceError> {
    let stated = entries.last().map(|last| crumb::read(repo, last)).transpose()?.and_then(|(_, stated)| stated);
    stated.map_or_else(|| newest_of(repo, entries), |stated| Ok(Some(stated)))
}

/// Whether two revisions of a forward crumb differ in more than their position and the header that depends on those before it.
pub(crate) fn is_edited(repo: &Repo, before: &ItemEntry, after: &ItemEntry) -> Result<bool, TraceError> {
    let content =
        |entry: &ItemEntry| Ok::<_, TraceError>(crumb::read(repo, &ItemEntry { seq: 0, ..entry.clone() })?.0.ok());
    Ok(before.blob != after.blob && content(before)? != content(after)?)
}

/// The blob of a forward crumb that states its position and the latest time up to it (none: as it is). A damaged file is not changed.
fn restated(repo: &Repo, entry: &ItemEntry, seq: u32, newest: Option<Time>) -> Result<Oid, TraceError> {
    let Some(newest) = newest else { return Ok(entry.blob) };
    let Reading { mut item, damage } = read(repo, entry)?;
    if damage.is_some() {
        return Ok(entry.blob);
    }
    put_newest(&mut item.fields, seq, newest);
    Ok(repo.write_blob(&item_file::render(&item))?)
}
