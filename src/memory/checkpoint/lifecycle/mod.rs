//! Creating, updating, and archiving checkpoints.
//!
//! A change of several files writes them one after the other, in an order that allows an interrupted command to be repeated:
//! the checkpoint itself is written or removed last.

mod archive;
mod create;
pub(crate) mod item;
mod update;
mod write;

use std::path::Path;

use super::document::edit;
use super::error::{CheckpointError, read_error};
use super::folder::{Checkpoint, File, Folder, checkpoints, find, is_current};
use super::validate::has_conflict;
use crate::base::merge::FileKind;
use crate::base::replace;
use crate::trace::Time;
pub(super) use write::{lock, lock_new, write};

pub(crate) use archive::archive;
pub(super) use archive::{collect_learnings, list_of};
pub(crate) use create::{NewCheckpoint, create};
pub(crate) use update::{add_breadcrumb, add_delta, clear_current, remove_breadcrumb, set_current};

pub(super) const LEARNINGS: &str = "LEARNINGS.md";

fn truncate_to_second(time: Time) -> Time {
    Time::from_second(time.as_second())
}

/// Calls `apply` with an active checkpoint and all checkpoints, under the lock.
fn change_active<T>(
    folder: &Folder,
    name: Option<&str>,
    apply: impl FnOnce(&Checkpoint<'_>, &[Checkpoint<'_>]) -> Result<T, CheckpointError>,
) -> Result<T, CheckpointError> {
    change(folder, name, |one, known| {
        check_active(one)?;
        apply(one, known)
    })
}

fn check_active(one: &Checkpoint<'_>) -> Result<(), CheckpointError> {
    if one.file.is_archived() {
        return Err(CheckpointError::Archived { path: one.file.path.clone() });
    }
    Ok(())
}

fn change<T>(
    folder: &Folder,
    name: Option<&str>,
    apply: impl FnOnce(&Checkpoint<'_>, &[Checkpoint<'_>]) -> Result<T, CheckpointError>,
) -> Result<T, CheckpointError> {
    let _lock = lock(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, name)?;
    let is_index_of = |file: &&File| file.kind == FileKind::CheckpointIndex && file.parent() == one.file.parent();
    if let Some(file) =
        files.iter().find(|file| (file.path == one.file.path || is_index_of(file)) && file.has_conflict())
    {
        return Err(CheckpointError::Conflict { path: file.path.clone() });
    }
    apply(one, &known)
}

fn bad_frontmatter(file: &File, problem: String) -> CheckpointError {
    CheckpointError::Frontmatter { path: file.path.clone(), problem }
}

fn set_status(checkpoint: &Checkpoint<'_>, status: &str) -> Result<String, CheckpointError> {
    let text = edit::set_key(&checkpoint.document, "status", status);
    text.map_err(|problem| bad_frontmatter(checkpoint.file, problem))
}

/// The new texts of all current checkpoints except one, which make them active.
fn deactivate_others<'f>(
    known: &[Checkpoint<'f>],
    except: Option<&Checkpoint<'_>>,
) -> Result<Vec<(&'f File, String)>, CheckpointError> {
    let is_excepted = |one: &Checkpoint<'_>| except.is_some_and(|except| except.file.location == one.file.location);
    let others = known.iter().filter(|one| is_current(one) && !is_excepted(one));
    others.map(|one| Ok((one.file, set_status(one, "active")?))).collect()
}

pub(super) fn read_if_exists(folder: &Folder, path: &Path) -> Result<Option<Vec<u8>>, CheckpointError> {
    let seen = folder.resolved(path).and_then(|real| replace::read(&real)).map_err(read_error(path))?;
    Ok(seen.version.map(|_| seen.text))
}

/// Edits the index beside a checkpoint, if there is one. It may list the checkpoint by its file name or its id.
fn edit_index_entry(
    folder: &Folder,
    checkpoint: &Checkpoint<'_>,
    edit: impl Fn(&str, &str) -> String,
) -> Result<(), CheckpointError> {
    let Some(parent) = checkpoint.file.location.parent() else { return Ok(()) };
    let (stem, id) = (checkpoint.file.stem(), checkpoint.id());
    edit_index(folder, parent, |text| {
        let edited = edit(text?, stem);
        Some(if id == stem { edited } else { edit(&edited, id) })
    })
}

pub(super) fn edit_index(
    folder: &Folder,
    parent: &Path,
    edit: impl FnOnce(Option<&str>) -> Option<String>,
) -> Result<(), CheckpointError> {
    let path = parent.join("INDEX.md");
    let before = read_if_exists(folder, &path)?;
    // An index that is not UTF-8 is not edited; `validate` reports it.
    let Ok(text) = before.as_deref().map(std::str::from_utf8).transpose() else { return Ok(()) };
    if text.is_some_and(has_conflict) {
        return Err(CheckpointError::Conflict { path: folder.shown(&path) });
    }
    match edit(text) {
        Some(edited) if Some(&*edited) != text => write(folder, &path, before.as_deref(), edited.as_bytes()),
        _ => Ok(()),
    }
}
