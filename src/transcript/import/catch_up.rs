//! Records what agents wrote without calling a hook afterwards, such as a session that was killed.

use std::cell::{LazyCell, RefCell};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::hook::{self, HookError};
use super::seen::{FileState, SeenFiles};
use super::{Destination, ImportContext, Imported};
use crate::git::Repo;
use crate::transcript::continuation::{forgotten_exports, is_one_of};
use crate::transcript::format::Format;

/// The sessions of `folders` that changed since they were read, the most recently changed first, at most `most`. None if the
/// agent's sessions are not recorded in this repository.
///
/// Reads the heads of new files if their names do not tell the folder. Recording is on.
pub(crate) fn grown(repo: &Repo, format: Format, folders: &[PathBuf], most: usize) -> io::Result<Vec<PathBuf>> {
    let Some(mut seen) = SeenFiles::read(repo, format) else { return Ok(Vec::new()) };
    seen.end_pause(repo, format);
    let Some(home) = format.home(repo.env()) else { return Ok(Vec::new()) };
    let looked_at = SystemTime::now();
    let forgotten = LazyCell::new(|| forgotten_exports(repo).unwrap_or_default());
    let candidates = RefCell::new(Vec::new());
    let (mut found, mut others): (Vec<PathBuf>, Vec<(&Path, PathBuf, FileState)>) = (Vec::new(), Vec::new());
    for folder in folders {
        let is_wanted = |file: &Path, metadata: &fs::Metadata| {
            let is_wanted = seen.may_have_grown(folder, file, metadata);
            if is_wanted {
                candidates.borrow_mut().push((&**folder, file.to_owned(), FileState::of(metadata)));
            }
            is_wanted
        };
        let sessions = format.wanted_sessions(&home, folder, &is_wanted)?;
        let is_wanted = |file: &PathBuf| !is_one_of(&forgotten, format, file);
        found.extend(sessions.filter(is_wanted).take(most - found.len()));
        others.append(&mut candidates.borrow_mut());
    }
    if found.len() < most && !others.is_empty() {
        // All were looked at: the other candidates are of other folders.
        for (folder, file, state) in others.iter().filter(|(_, file, _)| !found.contains(file)) {
            seen.note_other(folder, file, *state);
        }
        if found.is_empty() {
            seen.forget_old(looked_at);
        }
        seen.write(repo, format);
    }
    Ok(found)
}

/// Imports a session that [`grown`] found. One that cannot be read, or that a setting refuses, is left alone until it changes
/// again.
pub(crate) fn import(context: ImportContext<'_>, format: Format, file: &Path) -> Result<Imported, HookError> {
    let state = FileState::with_sub_agents(format, file);
    // A file that does not tell its session waits for the session's own hook.
    let imported = hook::import_file(context, format, Destination::session_of(file, false), file);
    let is_refused = imported.as_ref().is_err_and(HookError::is_of_file);
    if let (true, Some(state), Some(mut seen)) = (is_refused, state, SeenFiles::read(context.repo, format)) {
        seen.note(file, state);
        seen.write(context.repo, format);
    }
    imported
}
