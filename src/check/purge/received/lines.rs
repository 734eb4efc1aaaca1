//! Priorities and archives without what was purged: those of this repository, and those of a remote as last fetched.

use std::collections::{BTreeMap, BTreeSet};

use super::join::join_text;
use super::pairs::{marked_reason, target};
use super::{LOG, Received};
use crate::check::purge::kept::KEPT;
use crate::git::{Oid, RefChange, RefUpdate, Repo};
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::line_history::{LineHistory, find_file, list_files, list_files_beyond};
use crate::trace::store::priority::{Level, Setting, item_of};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Fate, Purge, Removed, SHORTEST_COPY, Tombstones};
use crate::trace::sync::{delete_fetched, drop_objects};
use crate::trace::{ItemId, Time, TraceError};

/// Replaces purged lines of a history by the remote's form of them. The history begins anew, because its earlier commits have these
/// lines.
pub(super) fn apply_to_lines(
    repo: &Repo,
    tombstones: &Tombstones,
    signature: &Signature,
    history: &LineHistory<'_>,
    theirs: Option<Oid>,
) -> Result<Option<Received>, TraceError> {
    let (lock, theirs) = (repo.lock(history.refname)?, Vec::from_iter(theirs));
    repo.update_ref(&lock, &signature.committer, |tip| {
        let Some(old) = tip else { return Ok(RefUpdate::Keep(None)) };
        let Clean { tree, items, purge, .. } = Clean::of(repo, tombstones, history, old, &theirs)?;
        let Some(purge) = purge.map(Purge::to_string) else { return Ok(RefUpdate::Keep(None)) };
        let to = begin_anew(repo, signature, history, tree)?;
        let received = Received { refname: history.refname.to_owned(), old, new: to, own: 0, items, purge };
        Ok(RefUpdate::Move { to, log: LOG.to_owned(), value: Some(received) })
    })
}

/// Replaces purged lines of a fetched history by our form of them. `refname` is the ref as last fetched. The remote's commit gets a
/// tombstone, so that `purge --push` replaces it. Returns the new commit if anything was purged.
pub(super) fn rewrite_fetched_lines(
    repo: &Repo,
    tombstones: &Tombstones,
    signature: &Signature,
    history: &LineHistory<'_>,
    (refname, tip): (&str, Oid),
) -> Result<Option<Oid>, TraceError> {
    let ours = repo.find_ref(history.refname)?.filter(|ours| repo.read_commit(*ours).is_ok());
    if history.require_signed(repo, tip).is_err() {
        return Ok(None);
    }
    let others = forms_here(repo, history, ours)?;
    let Clean { tree, forms, purge, .. } = Clean::of(repo, tombstones, history, tip, &others)?;
    let found = tombstones.in_lines(repo, tip, ours)?;
    let Some(purge) = found.first().map(|(_, purge)| *purge).or(purge) else { return Ok(None) };
    let fate = tombstones.fate(repo, tip, &|oid| repo.read_commit(oid).is_ok());
    if fate == Fate::Removed {
        // `purge --push` deletes it, and the next push sends our lines.
        return Ok(None);
    }
    let writers = repo.lock_out_writers()?;
    let move_to = |new| RefChange { refname: refname.to_owned(), old: Some(tip), new };
    let new = if let Fate::Replaced(new) = fate {
        repo.replace_refs(&[move_to(new)])?;
        new
    } else {
        let new = begin_anew(repo, signature, history, with_replaced(repo, tombstones, history, (tip, tree))?)?;
        let mut objects = vec![(tip, Some(new))];
        for other in others.into_iter().filter(|other| Some(*other) != ours) {
            // A kept form that was joined is not needed any more.
            if has_any(repo, other, &forms)? {
                objects.push((other, Some(new)));
            }
        }
        let lines = forms.into_iter().collect();
        let removed = Removed { objects, lines, joins: true, ..Removed::default() };
        let (old, to) = tombstone::write(repo, signature, tombstones, &purge.reason, &removed)?;
        let refname = tombstone::HISTORY.refname.to_owned();
        repo.replace_refs(&[move_to(new), RefChange { refname, old, new: to }])?;
        new
    };
    drop(writers);
    // A reftable has reflogs of remote-tracking refs, too.
    repo.expire_reflogs(&|name| name == refname)?;
    let written = Tombstones::find(repo)?.unwrap_or_default();
    let found = found.into_iter().chain(written.in_lines(repo, tip, ours)?).map(|(oid, _)| oid);
    let objects = found.chain(repo.commits_beyond(tip, ours)?).filter(|oid| history.format.is_of(repo, *oid));
    drop_objects(repo, objects.collect())?;
    Ok(Some(new))
}

/// The tree of an archive with the lines that replaced purged ones of earlier commits: others have only added lines since.
fn with_replaced(
    repo: &Repo,
    tombstones: &Tombstones,
    history: &LineHistory<'_>,
    (tip, mut tree): (Oid, Oid),
) -> Result<Oid, TraceError> {
    if !history.is_private() {
        return Ok(tree);
    }
    for oid in repo.commits_beyond(tip, None)? {
        if let Fate::Replaced(new) = tombstones.fate(repo, oid, &|oid| history.format.is_of(repo, oid)) {
            tree = history.format.union(repo, Some(tree), repo.read_commit(new)?.tree, |_| Ok(true))?.tree;
        }
    }
    Ok(tree)
}

/// Removes fetched lines in which a purge that did not know of ours left what was purged here. Returns the purge.
pub(super) fn refuse_forms(
    repo: &Repo,
    tombstones: &Tombstones,
    history: &LineHistory<'_>,
    (refname, tip): (&str, Oid),
) -> Result<Option<String>, TraceError> {
    let ours = repo.find_ref(history.refname)?.filter(|ours| repo.read_commit(*ours).is_ok());
    let clean = Clean::of(repo, tombstones, history, tip, &forms_here(repo, history, ours)?)?;
    let Some(purge) = clean.purge.filter(|_| !clean.forms.is_empty()) else { return Ok(None) };
    let objects = list_files_beyond(repo, tip, ours)?.into_iter().map(|(file, _)| file);
    let objects = objects.chain(repo.commits_beyond(tip, ours)?);
    delete_fetched(repo, [refname], objects.filter(|oid| history.format.is_of(repo, *oid)).collect())?;
    Ok(Some(purge.to_string()))
}

/// The commits here that may have other forms of fetched lines: that of this repository, and what purges left of fetched ones.
fn forms_here(repo: &Repo, history: &LineHistory<'_>, ours: Option<Oid>) -> Result<Vec<Oid>, TraceError> {
    let kept = repo.list_refs(KEPT)?.into_iter().map(|(_, tip)| tip);
    Ok(ours.into_iter().chain(kept.filter(|tip| history.format.is_of(repo, *tip))).collect())
}

fn begin_anew(repo: &Repo, signature: &Signature, history: &LineHistory<'_>, tree: Oid) -> Result<Oid, TraceError> {
    let message = format!("purge {}\n", history.noun);
    Ok(CommitBuilder::new(signature, tree, None).write_plain(repo, &message)?)
}

/// The files of a history without purged lines.
struct Clean<'t> {
    tree: Oid,
    items: BTreeSet<ItemId>,
    /// The lines in which one of two purges that did not know of each other left what the other one removed, and long reasons of these.
    forms: BTreeSet<String>,
    /// `None` if no line changes.
    purge: Option<&'t Purge>,
}

impl<'t> Clean<'t> {
    /// `others` are commits that may have other forms of lines. Without one, a purged priority gets another reason, and any other
    /// purged line is removed: it comes back in its other form when histories are merged.
    fn of(
        repo: &Repo,
        tombstones: &'t Tombstones,
        history: &LineHistory<'_>,
        tip: Oid,
        others: &[Oid],
    ) -> Result<Self, TraceError> {
        let tree = repo.read_commit(tip)?.tree;
        let mut editor = TreeEditor::new(repo, Some(tree))?;
        let (mut items, mut forms, mut purge) = (BTreeSet::new(), BTreeSet::new(), None);
        for (path, file) in list_files(repo, tree)? {
            let text = String::from_utf8_lossy(&repo.read_blob(file)?).into_owned();
            let item = item_of(&path);
            let of_line = |line: &str| tombstones.of_setting(item, line);
            let found = text.lines().find_map(of_line);
            if found.is_none() && !text.contains("[purged: ") {
                continue;
            }
            let (commits, others) = (others, lines_of(repo, others, &path)?);
            let settings = |text: &str| -> Vec<Setting> {
                text.lines().filter(|line| of_line(line).is_none()).filter_map(Setting::parse).collect()
            };
            let joined = joined(tombstones, item, [settings(&text), settings(&others)].concat(), &mut forms);
            let lines: Vec<String> =
                text.lines().filter_map(|line| without_purged(of_line(line), line, &joined)).collect();
            // A form that only we have needs a tombstone, too.
            let is_form = |line: &str| forms.contains(line);
            if found.is_none() && !text.lines().chain(others.lines()).any(is_form) {
                continue;
            }
            purge = purge.or(found).or_else(|| tombstones.any());
            let bytes = history.format.normalized(lines.join("\n").as_bytes());
            let is_renamed = history.is_private() && found.is_some() && is_elsewhere(repo, commits, &path, &lines)?;
            if bytes.is_empty() || is_renamed {
                editor.remove(repo, &path)?;
            } else {
                editor.put(repo, &path, repo.write_blob(bytes.as_bytes())?)?;
            }
            items.extend(item);
        }
        Ok(Self { tree: editor.write(repo)?, items, forms, purge })
    }
}

/// Whether another file of a commit has these lines: an archive's file is named by a line, and a purge of that line renames it.
fn is_elsewhere(repo: &Repo, commits: &[Oid], path: &str, lines: &[String]) -> Result<bool, TraceError> {
    for oid in commits {
        for (other, file) in list_files(repo, repo.read_commit(*oid)?.tree)? {
            let bytes = repo.read_blob(file)?;
            let text = String::from_utf8_lossy(&bytes);
            let there: BTreeSet<&str> = text.lines().collect();
            if other != path && lines.iter().all(|line| there.contains(line.as_str())) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The lines of a file in all of these commits.
fn lines_of(repo: &Repo, commits: &[Oid], path: &str) -> Result<String, TraceError> {
    let mut lines = String::new();
    for oid in commits {
        let file = find_file(repo, repo.read_commit(*oid)?.tree, path)?;
        let bytes = file.map(|file| repo.read_blob(file)).transpose()?.unwrap_or_default();
        lines.extend(String::from_utf8_lossy(&bytes).lines().flat_map(|line| [line, "\n"]));
    }
    Ok(lines)
}

fn has_any(repo: &Repo, commit: Oid, lines: &BTreeSet<String>) -> Result<bool, TraceError> {
    for (path, _) in list_files(repo, repo.read_commit(commit)?.tree)? {
        if lines_of(repo, &[commit], &path)?.lines().any(|line| lines.contains(line)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What all forms of a line have: a purge changes only reasons.
type Key = (Time, String, Level);

fn key(setting: &Setting) -> Key {
    (setting.at, setting.by.clone(), setting.level)
}

/// What all forms of each line have. Adds the forms that have more to `forms`.
fn joined(
    tombstones: &Tombstones,
    item: Option<ItemId>,
    mut settings: Vec<Setting>,
    forms: &mut BTreeSet<String>,
) -> BTreeMap<Key, Setting> {
    // In both clones, in the same order.
    settings.sort_by_cached_key(Setting::render);
    let mut joined: BTreeMap<Key, Setting> = BTreeMap::new();
    for setting in &settings {
        let Some(known) = joined.get_mut(&key(setting)) else {
            joined.insert(key(setting), setting.clone());
            continue;
        };
        // Version 0.1 may have dropped it.
        known.after = known.after.take().or_else(|| setting.after.clone());
        let (Some(one), Some(other)) = (&known.reason, &setting.reason) else { continue };
        let Some(reason) = [one, other].into_iter().filter_map(|text| marked_reason(text)).min() else { continue };
        if one != other {
            let marker = target(reason).marker;
            let mut new = Setting { reason: Some(join_text(one, other, &marker)), ..known.clone() };
            if tombstones.of_setting(item, &new.render()).is_some() {
                new.reason = Some(marker);
            }
            *known = new;
        }
    }
    for setting in &settings {
        let left = joined[&key(setting)].reason.as_deref();
        if left != setting.reason.as_deref() && left.is_some_and(|text| text.contains("[purged: ")) {
            forms.insert(setting.render());
            forms.extend(setting.reason.clone().filter(|reason| reason.len() >= SHORTEST_COPY));
        }
    }
    joined
}

fn without_purged(purge: Option<&Purge>, line: &str, joined: &BTreeMap<Key, Setting>) -> Option<String> {
    let Some(mut setting) = Setting::parse(line) else { return purge.is_none().then(|| line.to_owned()) };
    let form = joined.get(&key(&setting));
    match (form, purge) {
        // No purge changes the other fields, which say where the line applies.
        (Some(form), _) if purge.is_some() || form.reason != setting.reason => {
            setting.reason.clone_from(&form.reason);
            setting.after = setting.after.or_else(|| form.after.clone());
        }
        (_, Some(purge)) => setting.reason = Some(format!("[purged: {}]", purge.reason)),
        _ => return Some(line.to_owned()),
    }
    Some(setting.render())
}
