//! Updating active checkpoints: which one is current, deltas, breadcrumbs.

use super::write::{lock, write};
use super::{bad_frontmatter, change_active, deactivate_others, edit_index_entry, set_status, truncate_to_second};
use crate::memory::checkpoint::document::ReferenceKind;
use crate::memory::checkpoint::document::edit::{self, NewDelta, RowChange};
use crate::memory::checkpoint::error::CheckpointError;
use crate::memory::checkpoint::folder::{Folder, checkpoints, is_current};
use crate::memory::checkpoint::follow::find_breadcrumb;
use crate::memory::checkpoint::index::edit::set_date;
use crate::trace::Time;
use crate::trace::model::trailers::one_line;

/// Makes one checkpoint the current one. Returns the paths of changed files.
pub(crate) fn set_current(folder: &Folder, name: &str) -> Result<Vec<String>, CheckpointError> {
    change_active(folder, Some(name), |chosen, known| {
        // The others are written first: after an interruption, no current checkpoint is better than two.
        let mut changes = deactivate_others(known, Some(chosen))?;
        if !is_current(chosen) {
            changes.push((chosen.file, set_status(chosen, "current")?));
        }
        for (file, text) in &changes {
            write(folder, &file.location, Some(&file.bytes), text.as_bytes())?;
        }
        Ok(changes.into_iter().map(|(file, _)| file.path.clone()).collect())
    })
}

/// Makes no checkpoint current. Returns the paths of changed files.
pub(crate) fn clear_current(folder: &Folder) -> Result<Vec<String>, CheckpointError> {
    let _lock = lock(folder)?;
    let files = folder.files()?;
    let changes = deactivate_others(&checkpoints(&files), None)?;
    for (file, text) in &changes {
        write(folder, &file.location, Some(&file.bytes), text.as_bytes())?;
    }
    Ok(changes.into_iter().map(|(file, _)| file.path.clone()).collect())
}

/// Appends a delta to a checkpoint and dates its index entry. Returns the path and the time of the delta.
///
/// The time is always later than that of the newest delta, whatever the clock says.
pub(crate) fn add_delta(
    folder: &Folder,
    name: Option<&str>,
    delta: &NewDelta,
    now: Time,
) -> Result<(String, Time), CheckpointError> {
    if delta.what_changed.trim().is_empty() {
        return Err(CheckpointError::Empty { what: "what changed" });
    }
    change_active(folder, name, |one, _| {
        let newest = one.document.newest_delta().map(|newest| Time::from_second(newest.time.as_second() + 1));
        let at = newest.map_or(truncate_to_second(now), |newest| newest.max(truncate_to_second(now)));
        let text =
            edit::append_delta(&one.document, delta, at).map_err(|problem| bad_frontmatter(one.file, problem))?;
        // The index is written first: repeating an interrupted command must not add the delta twice.
        edit_index_entry(folder, one, |text, name| set_date(text, name, at))?;
        write(folder, &one.file.location, Some(&one.file.bytes), text.as_bytes())?;
        Ok((one.file.path.clone(), at))
    })
}

/// Adds a breadcrumb to a checkpoint. Returns the path and what happened to the row.
pub(crate) fn add_breadcrumb(
    folder: &Folder,
    name: Option<&str>,
    kind: ReferenceKind,
    reference: &str,
    hint: &str,
) -> Result<(String, RowChange), CheckpointError> {
    if one_line(reference).is_empty() {
        return Err(CheckpointError::Empty { what: "the reference" });
    }
    change_active(folder, name, |one, _| {
        let path = one.file.path.clone();
        let Some((text, change)) = edit::put_breadcrumb(&one.document, kind, reference, hint) else {
            return Err(CheckpointError::BadTable { path });
        };
        if change != RowChange::Kept {
            write(folder, &one.file.location, Some(&one.file.bytes), text.as_bytes())?;
        }
        Ok((path, change))
    })
}

/// Removes a breadcrumb from a checkpoint. `wanted` is a number, a reference, or a part of one. Returns the path and the reference.
pub(crate) fn remove_breadcrumb(
    folder: &Folder,
    name: Option<&str>,
    wanted: &str,
) -> Result<(String, String), CheckpointError> {
    change_active(folder, name, |one, _| {
        let breadcrumbs = one.document.breadcrumbs();
        let found = find_breadcrumb(&breadcrumbs, wanted)?;
        let text = one.document.text;
        let end = text[found.span.end..].find('\n').map_or(text.len(), |end| found.span.end + end + 1);
        let start = text[..found.span.start].rfind('\n').map_or(0, |before| before + 1);
        let text = edit::splice(text, start..end, "");
        write(folder, &one.file.location, Some(&one.file.bytes), text.as_bytes())?;
        Ok((one.file.path.clone(), found.reference.clone()))
    })
}
