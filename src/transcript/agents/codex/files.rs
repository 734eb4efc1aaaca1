//! Where Codex stores its rollouts: one folder per day. The head of each file names the folder that the session ran in.

use std::io;
use std::path::{Path, PathBuf};

use super::records::{Head, Record};
use crate::transcript::agents::{
    FolderAndFile, IsWanted, Sessions, first_lines, has_extension, list_folder, newest_first,
};
use crate::transcript::read::json;

/// The rollouts of `folder`, by modification time, newest first.
///
/// Files from before September 2025 do not name their folder and are ignored.
pub(super) fn rollouts_of(home: &Path, folder: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions> {
    let (newest, folder) = (newest_first(rollouts(home)?, is_wanted)?, folder.to_owned());
    Ok(Box::new(newest.filter(move |path| ran_in(path).is_some_and(|ran| Path::new(&ran) == folder))))
}

/// Every rollout that names its folder, with it.
pub(super) fn all(home: &Path) -> io::Result<Vec<FolderAndFile>> {
    let newest = newest_first(rollouts(home)?, |_, _| true)?;
    Ok(newest.filter_map(|path| Some((ran_in(&path)?.into(), path))).collect())
}

/// The folder in which a session ran.
pub(super) fn folder_of(home: &Path, session: &str) -> io::Result<Option<PathBuf>> {
    let is_it = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.strip_suffix(session));
        stem.is_some_and(|rest| rest.ends_with('-'))
    };
    Ok(rollouts(home)?.into_iter().find(is_it).and_then(|path| ran_in(&path)).map(PathBuf::from))
}

fn rollouts(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for sessions in ["sessions", "archived_sessions"] {
        collect(&home.join(sessions), 3, &mut paths)?;
    }
    Ok(paths)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in list_folder(folder)? {
        if depth > 0 && path.is_dir() {
            collect(&path, depth - 1, found)?;
        } else if has_extension(&path, &["jsonl"]) {
            found.push(path);
        }
    }
    Ok(())
}

fn ran_in(path: &Path) -> Option<String> {
    let line = first_lines(path)?.next()?;
    let record: Record<'_> = serde_json::from_slice(&line).ok()?;
    let head: Head<'_> = record.payload.and_then(|payload| serde_json::from_str(payload.get()).ok())?;
    head.cwd.or(record.cwd).and_then(json::text).map(Into::into)
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/codex/files.rs"]
mod tests;
