//! The commit that added each line of an item.

use std::collections::BTreeMap;

use super::diff::lines::same_lines;
use crate::base::changes;
use crate::git::{Oid, Repo};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::total::{Reading, read_item};
use crate::trace::{Item, ItemEntry, ItemId, Tip, TraceError};

#[derive(Debug)]
pub(crate) struct Blamed {
    pub text: String,
    pub commit: usize,
}

#[derive(Debug)]
pub(crate) struct Blame {
    pub lines: Vec<Blamed>,
    /// The commits that added them, with the item after each.
    pub commits: Vec<(Tip, Item)>,
}

/// Lines of a commit whose origin is not known yet.
struct Suspect {
    blob: Oid,
    /// The number of each line there, and in the text that was asked for.
    lines: Vec<(usize, usize)>,
}

/// Follows each line of the item in `slot` at `tip` to the commit that added it. The first parent that has a line gets it.
///
/// Walks history back to the commit that added the item, and compares each revision with the previous one.
pub(crate) fn blame(repo: &Repo, tip: &Tip, slot: &ItemEntry) -> Result<Blame, TraceError> {
    let item = read_item(repo, slot)?;
    let text = item.text().ok_or(TraceError::NotText { item: slot.id })?;
    let texts: Vec<&str> = changes::lines(text);
    let mut origins: Vec<Option<usize>> = vec![None; texts.len()];
    let mut commits: Vec<(Tip, Item)> = Vec::new();
    // Newest commit first: then a commit usually has all its lines when its turn comes.
    let mut waiting: BTreeMap<(i64, Oid), Suspect> = BTreeMap::new();
    let every = (0..texts.len()).map(|number| (number, number)).collect();
    waiting.insert((tip.commit.commit_time, tip.commit.oid), Suspect { blob: slot.blob, lines: every });
    while let Some(((_, oid), Suspect { blob, mut lines })) = waiting.pop_last() {
        let here = Tip::read(repo, oid)?;
        for parent in &here.commit.parents {
            if lines.is_empty() {
                break;
            }
            let Some(their_blob) = blob_in_parent(repo, &here, *parent, slot.id, blob)? else { continue };
            let (theirs, ours) = pass_on(repo, slot, their_blob, blob, lines)?;
            lines = ours;
            if !theirs.is_empty() {
                let time = repo.read_commit(*parent)?.commit_time;
                let suspect = waiting.entry((time, *parent)).or_insert(Suspect { blob: their_blob, lines: Vec::new() });
                suspect.lines.extend(theirs);
            }
        }
        if !lines.is_empty() {
            let number = commits.iter().position(|(tip, _)| tip.commit.oid == oid).unwrap_or(commits.len());
            if number == commits.len() {
                commits.push((here, read(repo, slot, blob)?));
            }
            for (_, line) in lines {
                origins[line] = Some(number);
            }
        }
    }
    let lines = texts.into_iter().zip(origins);
    let blamed = lines.filter_map(|(text, commit)| {
        Some(Blamed { text: text.strip_suffix('\n').unwrap_or(text).to_owned(), commit: commit? })
    });
    Ok(Blame { lines: blamed.collect(), commits })
}

/// The item's blob in a parent of a commit whose blob is `blob`; `None` if the parent does not have the item.
fn blob_in_parent(repo: &Repo, here: &Tip, parent: Oid, id: ItemId, blob: Oid) -> Result<Option<Oid>, TraceError> {
    let touches_another = here.item().is_some_and(|item| item != id);
    if touches_another && here.commit.parents.len() == 1 {
        return Ok(Some(blob));
    }
    let before = repo.read_commit(parent)?.tree;
    let changes = tree::changes(repo, Some(before), here.commit.tree)?;
    Ok(match changes.into_iter().find(|change| change.entry().id == id) {
        None => Some(blob),
        Some(Change::Changed(before, _)) => Some(before.blob),
        Some(_) => None,
    })
}

/// Lines of one text, each with its number in the requested text.
type Lines = Vec<(usize, usize)>;

/// Splits lines into those that `their_blob` also has, by their numbers there, and the rest.
fn pass_on(
    repo: &Repo,
    slot: &ItemEntry,
    their_blob: Oid,
    blob: Oid,
    lines: Lines,
) -> Result<(Lines, Lines), TraceError> {
    if their_blob == blob {
        return Ok((lines, Vec::new()));
    }
    let (theirs, ours) = (read(repo, slot, their_blob)?, read(repo, slot, blob)?);
    let (Some(theirs), Some(ours)) = (theirs.text(), ours.text()) else { return Ok((Vec::new(), lines)) };
    let same: BTreeMap<usize, usize> = same_lines(theirs, ours).into_iter().map(|(old, new)| (new, old)).collect();
    let (mut passed, mut kept) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        match same.get(&number) {
            Some(old) => passed.push((*old, line)),
            None => kept.push((number, line)),
        }
    }
    Ok((passed, kept))
}

fn read(repo: &Repo, slot: &ItemEntry, blob: Oid) -> Result<Item, TraceError> {
    Ok(Reading::of(slot, &repo.read_blob(blob)?).item)
}
