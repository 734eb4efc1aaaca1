//! Priorities and archives without what was purged: those of this repository, and those of a remote as last fetched.

use std::collections::BTreeSet;

use super::{LOG, Received};
use crate::git::{Oid, RefChange, RefUpdate, Repo};
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::line_history::{LineHistory, find_file, list_files};
use crate::trace::store::priority::{Setting, item_of};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Fate, Purge, Removed, Tombstones};
use crate::trace::sync::drop_objects;
use crate::trace::{ItemId, TraceError};

/// Replaces purged lines of a history by the remote's form of them. The history begins anew, because its earlier commits have these
/// lines.
pub(super) fn apply_to_lines(
    repo: &Repo,
    tombstones: &Tombstones,
    signature: &Signature,
    history: &LineHistory<'_>,
    theirs: Option<Oid>,
) -> Result<Option<Received>, TraceError> {
    let lock = repo.lock(history.refname)?;
    repo.update_ref(&lock, &signature.committer, |tip| {
        let Some(old) = tip else { return Ok(RefUpdate::Keep(None)) };
        let Clean { tree, items, purge } = Clean::of(repo, tombstones, history, old, theirs)?;
        let Some(purge) = purge.map(Purge::to_string) else { return Ok(RefUpdate::Keep(None)) };
        let to = begin_anew(repo, signature, history, tree)?;
        let received = Received { refname: history.refname.to_owned(), old, new: to, own: 0, items, purge };
        Ok(RefUpdate::Move { to, log: LOG.to_owned(), value: Some(received) })
    })
}

/// Replaces purged lines of a fetched history by our form of them. `refname` is the ref as last fetched. The remote's commit gets a
/// tombstone, so that `purge --push` replaces it. Returns whether anything was purged.
pub(super) fn rewrite_fetched_lines(
    repo: &Repo,
    tombstones: &Tombstones,
    signature: &Signature,
    history: &LineHistory<'_>,
    (refname, tip): (&str, Oid),
) -> Result<bool, TraceError> {
    let ours = repo.find_ref(history.refname)?.filter(|ours| repo.read_commit(*ours).is_ok());
    let found = tombstones.in_lines(repo, tip, ours)?;
    let Some((_, purge)) = found.first().filter(|_| history.require_signed(repo, tip).is_ok()) else {
        return Ok(false);
    };
    let fate = tombstones.fate(repo, tip, &|oid| repo.read_commit(oid).is_ok());
    if fate == Fate::Removed {
        // `purge --push` deletes it, and the next push sends our lines.
        return Ok(false);
    }
    let writers = repo.lock_out_writers()?;
    let move_to = |new| RefChange { refname: refname.to_owned(), old: Some(tip), new };
    if let Fate::Replaced(new) = fate {
        repo.replace_refs(&[move_to(new)])?;
    } else {
        let Clean { tree, .. } = Clean::of(repo, tombstones, history, tip, ours)?;
        let new = begin_anew(repo, signature, history, tree)?;
        let removed = Removed { objects: vec![(tip, Some(new))], ..Removed::default() };
        let (old, to) = tombstone::write(repo, signature, &purge.reason, &removed)?;
        let refname = tombstone::HISTORY.refname.to_owned();
        repo.replace_refs(&[move_to(new), RefChange { refname, old, new: to }])?;
    }
    drop(writers);
    // A reftable has reflogs of remote-tracking refs, too.
    repo.expire_reflogs(&|name| name == refname)?;
    let commits = repo.commits_beyond(tip, ours)?;
    drop_objects(repo, found.into_iter().map(|(oid, _)| oid).chain(commits).collect())?;
    Ok(true)
}

fn begin_anew(repo: &Repo, signature: &Signature, history: &LineHistory<'_>, tree: Oid) -> Result<Oid, TraceError> {
    let message = format!("purge {}\n", history.noun);
    Ok(CommitBuilder::new(signature, tree, None).write_plain(repo, &message)?)
}

/// The files of a history without purged lines.
struct Clean<'t> {
    tree: Oid,
    items: BTreeSet<ItemId>,
    /// `None` if no line was purged.
    purge: Option<&'t Purge>,
}

impl<'t> Clean<'t> {
    /// `others` is a commit that may have another form of purged lines. Without one, a priority gets another reason, and any other
    /// line is removed: it comes back in its other form when histories are merged.
    fn of(
        repo: &Repo,
        tombstones: &'t Tombstones,
        history: &LineHistory<'_>,
        tip: Oid,
        others: Option<Oid>,
    ) -> Result<Self, TraceError> {
        let others = others.map(|others| repo.read_commit(others)).transpose()?;
        let tree = repo.read_commit(tip)?.tree;
        let mut editor = TreeEditor::new(repo, Some(tree))?;
        let (mut items, mut purge) = (BTreeSet::new(), None);
        for (path, file) in list_files(repo, tree)? {
            let text = String::from_utf8_lossy(&repo.read_blob(file)?).into_owned();
            let Some(found) = text.lines().find_map(|line| tombstones.of_line(line)) else { continue };
            purge.get_or_insert(found);
            let others = others.as_ref().map(|tip| find_file(repo, tip.tree, &path)).transpose()?.flatten();
            let others = others.map(|oid| repo.read_blob(oid)).transpose()?.unwrap_or_default();
            let others: Vec<Setting> = String::from_utf8_lossy(&others)
                .lines()
                .filter(|line| tombstones.of_line(line).is_none())
                .filter_map(Setting::parse)
                .collect();
            let lines: Vec<String> =
                text.lines().filter_map(|line| without_purged(tombstones, line, &others)).collect();
            let bytes = history.format.normalized(lines.join("\n").as_bytes());
            if bytes.is_empty() {
                editor.remove(repo, &path)?;
            } else {
                editor.put(repo, &path, repo.write_blob(bytes.as_bytes())?)?;
            }
            items.extend(item_of(&path));
        }
        Ok(Self { tree: editor.write(repo)?, items, purge })
    }
}

fn without_purged(tombstones: &Tombstones, line: &str, others: &[Setting]) -> Option<String> {
    let Some(purge) = tombstones.of_line(line) else { return Some(line.to_owned()) };
    let mut setting = Setting::parse(line)?;
    let same = |other: &&Setting| other.at == setting.at && other.by == setting.by && other.level == setting.level;
    if let Some(replaced) = others.iter().find(same) {
        return Some(replaced.render());
    }
    setting.reason = Some(format!("[purged: {}]", purge.reason));
    Some(setting.render())
}
