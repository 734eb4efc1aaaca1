//! Two records become one: the union of their lines.

use std::collections::{BTreeSet, HashSet};

use super::line::Setting;
use super::record::Record;
use super::{RECORD, tags};
use crate::git::{Entry, Oid, RefUpdate, Repo, TreeStore};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::signature::Signature;
use crate::trace::store::tip::Tip;

/// The tree of two records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Union {
    pub tree: Oid,
    /// The items of whom something came in.
    pub items: Vec<ItemId>,
}

/// Adds the lines of `from` to the record tree `into` (none: an empty one); with `only`, the lines of these items alone.
///
/// A line of `from` that cannot be read is left where it is: it would stop every reader here. Costs the folders that differ.
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

/// The lines of both, each once, in order of time; `None` where nothing comes in.
fn union_of_lines(ours: &[u8], theirs: &[u8]) -> Option<String> {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    let here: BTreeSet<&str> = ours.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut lines = here.clone();
    lines.extend(theirs.lines().filter(|line| Setting::parse(line).is_some()));
    if lines.len() == here.len() {
        return None;
    }
    // Damaged lines of ours stay, in front.
    let mut lines: Vec<&str> = lines.into_iter().collect();
    lines.sort_by_cached_key(|line| (Setting::parse(line).map(|setting| setting.at), (*line).to_owned()));
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}

/// Brings another record's lines into this repository's, and the tags of their items in line, as far as the
/// history of one of `tips` tells which commit brought an item in. Returns of how many items something came in.
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
        // Before the record moves: if this process dies in between, the next import finds lines missing and does both again.
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
            if let Some(setting) = record.history(repo, item)?.pop() {
                tags::point(repo, item, setting.level, introduced)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(second: u32, level: &str) -> String {
        format!(r#"{{"at":"2026-02-10T09:00:{second:02}.000000000Z","by":"A <a@b>","level":"{level}"}}"#)
    }

    #[test]
    fn lines_of_both_stand_once_in_order_of_time() {
        let (one, two, three) = (line(1, "skip"), line(2, "normal"), line(3, "pinned"));
        let merged =
            union_of_lines(format!("{one}\n{three}\n").as_bytes(), format!("{two}\n{one}\nnot a line\n").as_bytes());
        assert_eq!(merged, Some(format!("{one}\n{two}\n{three}\n")));
        assert_eq!(union_of_lines(format!("{one}\n").as_bytes(), format!("{one}\nbroken\n").as_bytes()), None);
    }
}
