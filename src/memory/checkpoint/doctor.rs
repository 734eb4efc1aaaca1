//! The state of all checkpoints together: what no single file shows.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::document::start_of;
use super::error::CheckpointError;
use super::folder::{Checkpoint, File, Folder, checkpoints};
use super::follow::{FollowContext, is_stale};
use super::index::Index;
use super::index::edit::{IndexEntry, add, empty, remove};
use super::lifecycle::{LEARNINGS, collect_learnings, edit_index, list_of, lock_new, read_if_exists, write};
use super::validate::{completion_field, has_learnings, validate_set};
use crate::base::escape::{Plain, shell_word};
use crate::base::merge::{FileKind, conflict};
use crate::git::Git;
use crate::trace::Time;

/// Something that a person should know about a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Problem {
    pub path: String,
    pub code: &'static str,
    pub message: String,
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, code, message, remedy } = self;
        write!(f, "{}: {code}: {}; {}", Plain(path), Plain(message), Plain(remedy))
    }
}

/// Examines lists, learnings, statuses, ids, and the breadcrumbs of active checkpoints. Writes nothing.
pub(crate) fn examine(folder: &Folder, git: &Git) -> Result<Vec<Problem>, CheckpointError> {
    let files = folder.files()?;
    let known = checkpoints(&files);
    let mut problems = Vec::new();
    let mut report = |path: &str, code, message: String, remedy: &str| {
        problems.push(Problem { path: path.to_owned(), code, message, remedy: remedy.to_owned() });
    };
    for file in files.iter().filter(|file| file.kind == FileKind::CheckpointIndex) {
        let Ok(text) = file.text() else { continue };
        if file.has_conflict() {
            report(&file.path, "conflict-marker", "it has conflict markers".to_owned(), conflict::REMEDY);
            continue;
        }
        for name in rows_without_file(&known, file, text) {
            report(&file.path, "row-without-file", format!("the row `{name}` has no file"), FIX);
        }
    }
    // A sparse checkout may leave it out.
    if let Some(list) = missing_list(folder, &known)?.filter(|list| git.check_checked_out(list).is_ok()) {
        let active = folder.shown(list.parent().unwrap_or(&list));
        if list.parent().is_some_and(std::path::Path::is_dir) {
            report(
                &folder.shown(&list),
                "missing-index",
                "the list of active checkpoints does not exist".to_owned(),
                FIX,
            );
        } else {
            report(&active, "missing-folder", "the folder of active checkpoints does not exist".to_owned(), FIX);
        }
    }
    for one in unlisted(&files, &known) {
        report(&one.file.path, "file-without-row", "INDEX.md does not list it".to_owned(), FIX);
    }
    for one in known.iter().filter(|one| one.file.has_conflict()) {
        let message = "it has conflict markers".to_owned();
        report(&one.file.path, "conflict-marker", message, conflict::REMEDY);
    }
    let set: Vec<_> = known.iter().map(|one| (one.file.path.as_str(), &one.document)).collect();
    for (one, findings) in known.iter().zip(validate_set(&set)) {
        for finding in findings {
            report(&one.file.path, finding.code, finding.message, &finding.remedy);
        }
    }
    for one in known.iter().filter(|one| !one.file.is_archived()) {
        let context = FollowContext::new(&folder.root, git, Some(&one.document));
        for reference in context.breadcrumbs.iter().filter(|reference| is_stale(&context, reference)) {
            let message = format!("the breadcrumb `{}` leads nowhere", reference.reference);
            let (value, id) = (shell_word(&reference.reference), shell_word(one.id()));
            let remedy = format!("git trace checkpoint remove-breadcrumb {value} -c {id}");
            report(&one.file.path, "stale-breadcrumb", message, &remedy);
        }
    }
    for (one, _) in unlearned(folder, &known)? {
        report(&one.file.path, "learnings", "LEARNINGS.md does not contain its learnings".to_owned(), FIX);
    }
    Ok(problems)
}

/// The archived checkpoints with learnings that LEARNINGS.md does not contain.
fn unlearned<'k, 'f>(
    folder: &Folder,
    known: &'k [Checkpoint<'f>],
) -> Result<Vec<(&'k Checkpoint<'f>, String)>, CheckpointError> {
    let learned = read_if_exists(folder, &folder.top().join(LEARNINGS))?.unwrap_or_default();
    let learned = String::from_utf8_lossy(&learned);
    let learnings = known.iter().filter(|one| one.file.is_archived()).filter_map(|one| {
        let section = one.document.section("Completion")?;
        Some((one, completion_field(&one.document, &section, "Learnings")?.to_owned()))
    });
    let is_learned = |learnings: &str| learned.contains(learnings) || learned.contains(&list_of(learnings));
    Ok(learnings.filter(|(_, learnings)| has_learnings(learnings) && !is_learned(learnings)).collect())
}

const FIX: &str = "fix it with `git trace checkpoint doctor --fix`";

/// The list of active checkpoints if it, or the folder that it is in, should exist: if there is no checkpoint yet, or an archive, or if
/// the folder has checkpoints.
fn missing_list(folder: &Folder, known: &[Checkpoint<'_>]) -> Result<Option<PathBuf>, CheckpointError> {
    let active = folder.top().join("active");
    let list = active.join("INDEX.md");
    let has_active = known.iter().any(|one| one.file.location.parent() == Some(&active));
    let is_needed = has_active || !active.exists() && (known.is_empty() || folder.top().join("archive").is_dir());
    Ok((is_needed && read_if_exists(folder, &list)?.is_none()).then_some(list))
}

/// Writes a list that is missing, removes rows without a file from the lists, adds rows for active checkpoints without one, and collects
/// learnings of archived ones. Returns the paths of changed files.
pub(crate) fn fix(folder: &Folder, now: Time) -> Result<Vec<String>, CheckpointError> {
    let mut changed = Vec::new();
    let _lock = lock_new(folder)?;
    if let Some(list) = missing_list(folder, &checkpoints(&folder.files()?))? {
        write(folder, &list, None, empty().as_bytes())?;
        changed.push(folder.shown(&list));
    }
    let files = folder.files()?;
    let known = checkpoints(&files);
    let unlisted = unlisted(&files, &known);
    for file in files.iter().filter(|file| file.kind == FileKind::CheckpointIndex) {
        let (Ok(text), Some(parent), false) = (file.text(), file.location.parent(), file.has_conflict()) else {
            continue;
        };
        let mut fixed = text.to_owned();
        for name in rows_without_file(&known, file, text) {
            fixed = remove(&fixed, &name);
        }
        for one in unlisted.iter().filter(|one| one.file.parent() == file.parent()) {
            let problem = one.document.problem_line().unwrap_or_default();
            let entry =
                IndexEntry { name: one.file.stem(), description: problem, problem, scope: "", status: "Started" };
            let at = one.document.last_change().map_or(now, |last| last.time);
            fixed = add(Some(&fixed), &entry, at).unwrap_or(fixed);
        }
        if fixed != text {
            edit_index(folder, parent, |_| Some(fixed))?;
            changed.push(file.path.clone());
            changed.dedup();
        }
    }
    let list = folder.top().join(LEARNINGS);
    for (one, learnings) in unlearned(folder, &known)? {
        let at = one.document.last_change().map_or(now, |last| last.time);
        collect_learnings(folder, &list, one.id(), &learnings, at)?;
        changed.push(folder.shown(&list));
        changed.dedup();
    }
    Ok(changed)
}

fn rows_without_file(known: &[Checkpoint<'_>], file: &File, text: &str) -> Vec<String> {
    let beside = known.iter().filter(|one| one.file.parent() == file.parent());
    let names: HashSet<&str> = beside.flat_map(|one| [one.file.stem(), one.id()]).collect();
    let rows = Index::parse(text).rows.into_iter().map(|(name, _)| name);
    rows.filter(|name| !names.contains(name.as_str())).collect()
}

/// The active checkpoints that the list in their folder does not have. A page without frontmatter is none.
fn unlisted<'k, 'f>(files: &[File], known: &'k [Checkpoint<'f>]) -> Vec<&'k Checkpoint<'f>> {
    let lists = files.iter().filter(|file| file.kind == FileKind::CheckpointIndex && !file.has_conflict());
    let lists = lists.filter_map(|list| {
        let names: HashSet<String> = Index::parse(list.text().ok()?).rows.into_iter().map(|(name, _)| name).collect();
        Some((list.parent(), names))
    });
    let lists: HashMap<_, _> = lists.collect();
    let is_unlisted = |one: &&Checkpoint<'_>| {
        let has_frontmatter = one.document.text[start_of(one.document.text)..].starts_with("---");
        let list = lists.get(&one.file.parent()).filter(|_| has_frontmatter && !one.file.is_archived());
        list.is_some_and(|names| !names.contains(one.file.stem()) && !names.contains(one.id()))
    };
    known.iter().filter(is_unlisted).collect()
}
