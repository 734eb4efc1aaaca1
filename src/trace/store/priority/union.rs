//! Two records become one: the union of their lines.

use std::collections::{BTreeSet, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use super::line::Setting;
use super::record::Record;
use super::{RECORD, tags};
use crate::git::{Entry, GitError, LOCK_PATIENCE, LogLine, NewCommit, Oid, Repo, TreeStore};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::tip::Tip;
use crate::trace::store::write::Signature;

/// The tree of two records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Union {
    /// The tree.
    pub tree: Oid,
    /// The items of whom something came in.
    pub items: Vec<ItemId>,
}

/// Adds the lines of `from` to the record tree `into` (none: an empty one); with `only`, the lines of these items alone.
///
/// A line of `from` that cannot be read is left where it is: it would stop every reader here. Costs the folders that differ.
///
/// # Errors
///
/// Those of reading and writing objects.
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
///
/// # Errors
///
/// [`GitError::Busy`] and its kin; the record was not changed then, tags may have been, and the same again does all of it.
pub(crate) fn absorb(repo: &Repo, signature: &Signature, from: Oid, tips: &[Oid]) -> Result<usize, TraceError> {
    let theirs = repo.read_commit(from)?;
    let lock = repo.lock(RECORD)?;
    let start = Instant::now();
    let items = loop {
        let record = Record::open(repo)?;
        let ours = record.commit.as_ref();
        let union = union(repo, ours.map(|commit| commit.tree), theirs.tree, None)?;
        if union.items.is_empty() {
            return Ok(0);
        }
        let parents: Vec<Oid> = ours.map(|commit| commit.oid).into_iter().chain([from]).collect();
        let subject = format!("take in the priorities of {} items", union.items.len());
        let message = format!("{subject}\n");
        let (author, committer) = (&signature.author, &signature.committer);
        let commit = NewCommit { tree: union.tree, parents: &parents, author, committer, message: &message };
        let commit = repo.write_commit(&commit)?;
        // Before the record: whoever is stopped in between finds the lines missing, and does both again.
        point_tags(repo, &Record::at(repo, commit)?, &union.items, tips)?;
        let seen = ours.map(|commit| commit.oid);
        match repo.move_ref(RECORD, seen, commit, LogLine { who: committer, why: &subject }) {
            Ok(()) => break union.items,
            Err(GitError::RefMoved { .. } | GitError::RefLocked { .. }) if start.elapsed() < LOCK_PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    };
    drop(lock);
    Ok(items.len())
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
