//! The union of two records, by lines.

use std::collections::{BTreeSet, HashSet};

use super::record::{Record, Setting};
use super::{RECORD, tags};
use crate::git::{Entry, Oid, RefUpdate, Repo, TreeStore};
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::signature::Signature;
use crate::trace::{ItemId, Tip, TraceError};

pub(crate) struct Union {
    pub tree: Oid,
    pub items: Vec<ItemId>,
}

/// Adds the lines of the record tree `from`, or only those of the items `only`, to the record tree `into` (none: an empty one).
///
/// Ignores unreadable lines of `from`, because they would stop every reader. Reads only folders that differ.
pub(crate) fn union(
    repo: &Repo,
    into: Option<Oid>,
    from: Oid,
    only: Option<&BTreeSet<ItemId>>,
) -> Result<Union, TraceError> {
    let mut editor = TreeEditor::new(repo, into)?;
    let mut items = Vec::new();
    let here = into.map_or(Ok(Vec::new()), |tree| repo.read_tree(tree))?;
    let find = |entries: &[Entry], name: &[u8]| entries.iter().find(|entry| entry.name == name).map(|entry| entry.oid);
    for folder in repo.read_tree(from)? {
        let ours = find(&here, &folder.name);
        if ours == Some(folder.oid) {
            continue;
        }
        let ours = ours.map_or(Ok(Vec::new()), |oid| repo.read_tree(oid))?;
        for file in repo.read_tree(folder.oid)? {
            let our_file = find(&ours, &file.name);
            let digits = [folder.name.as_slice(), &file.name].concat();
            let id = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse::<ItemId>().ok());
            let Some(id) = id.filter(|id| our_file != Some(file.oid) && only.is_none_or(|only| only.contains(id)))
            else {
                continue;
            };
            let ours = our_file.map_or(Ok(Vec::new()), |oid| repo.read_blob(oid))?;
            let Some(lines) = union_of_lines(&ours, &repo.read_blob(file.oid)?) else { continue };
            let (folder, name) = id.fan_out();
            editor.put(repo, &format!("{folder}/{name}"), repo.write_blob(lines.as_bytes())?)?;
            items.push(id);
        }
    }
    Ok(Union { tree: editor.write(repo)?, items })
}

/// The lines of both files, each once, in order of time; `None` if `theirs` adds nothing.
pub(crate) fn union_of_lines(ours: &[u8], theirs: &[u8]) -> Option<String> {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    let here: BTreeSet<&str> = ours.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut lines = here.clone();
    lines.extend(theirs.lines().filter(|line| Setting::parse(line).is_some()));
    if lines.len() == here.len() {
        return None;
    }
    // Our damaged lines stay, before all others.
    let mut lines: Vec<&str> = lines.into_iter().collect();
    lines.sort_by_cached_key(|line| (Setting::parse(line).map(|setting| setting.at), (*line).to_owned()));
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}

/// Adds another record's lines to this repository's record, and sets the tags of items that the history of `tips` introduced.
/// Returns the number of items with new lines.
pub(crate) fn absorb(repo: &Repo, signature: &Signature, from: Oid, tips: &[Oid]) -> Result<usize, TraceError> {
    let theirs = repo.read_commit(from)?;
    let lock = repo.lock(RECORD)?;
    repo.update_ref(&lock, &signature.committer, |oid| {
        let record = Record::at(repo, oid)?;
        let union = union(repo, record.commit.map(|commit| commit.tree), theirs.tree, None)?;
        if union.items.is_empty() {
            return Ok(RefUpdate::Keep(0));
        }
        let log = format!("take in the priorities of {} items", union.items.len());
        let builder = CommitBuilder::new(signature, union.tree, oid.into_iter().chain([from]));
        let to = builder.write_plain(repo, &format!("{log}\n"))?;
        // Before the record moves: if this process dies in between, the next one still finds new lines and does both again.
        point_tags(repo, &Record::at(repo, Some(to))?, &union.items, tips)?;
        Ok(RefUpdate::Move { to, log, value: union.items.len() })
    })
}

fn point_tags(repo: &Repo, record: &Record, items: &[ItemId], tips: &[Oid]) -> Result<(), TraceError> {
    let mut wanted: HashSet<ItemId> = items.iter().copied().collect();
    for tip in tips {
        if wanted.is_empty() {
            break;
        }
        let tip = Tip::read(repo, *tip)?;
        for (item, introduced) in tags::introductions(repo, &tip, wanted.iter().copied())? {
            wanted.remove(&item);
            let in_force = record.history(repo, item)?.pop();
            tags::point(repo, in_force.map(|setting| (item, setting.level, introduced)))?;
        }
    }
    Ok(())
}
