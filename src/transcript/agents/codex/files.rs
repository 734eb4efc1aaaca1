//! Where Codex stores its rollouts: one folder per day. The head of each file names the folder that the session ran in.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::records::{Head, Record};
use super::segments::{ids, last_segments};
use crate::transcript::agents::search::is_own_file;
use crate::transcript::agents::{
    FolderAndFile, IsWanted, Sessions, SubAgent, first_lines, has_extension, list_folder, newest_first,
};
use crate::transcript::read::json;

/// The rollouts of `folder`, by modification time, newest first.
///
/// Files from before September 2025 do not name their folder and are ignored.
pub(super) fn rollouts_of(home: &Path, folder: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions> {
    let (newest, folder) = (newest_first(last_segments(rollouts(home)?), is_wanted)?, folder.to_owned());
    Ok(Box::new(newest.filter(move |path| ran_in(path).is_some_and(|ran| Path::new(&ran) == folder))))
}

/// Every rollout that names its folder, with it.
pub(super) fn all(home: &Path) -> io::Result<Vec<FolderAndFile>> {
    let newest = newest_first(last_segments(rollouts(home)?), |_, _| true)?;
    Ok(newest.filter_map(|path| Some((ran_in(&path)?.into(), path))).collect())
}

/// The folder in which a session ran.
pub(super) fn folder_of(home: &Path, session: &str) -> io::Result<Option<PathBuf>> {
    let is_it = |path: &PathBuf| ids(path).is_some_and(|(of, _)| of == session);
    Ok(rollouts(home)?.into_iter().find(is_it).and_then(|path| ran_in(&path)).map(PathBuf::from))
}

/// The folders of Codex for rollouts, in its home.
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

pub(super) fn rollouts(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for sessions in FOLDERS {
        collect(&home.join(sessions), 3, &|_| true, &mut paths)?;
    }
    Ok(paths)
}

/// The files among which those of a session are: all of the agent's, else those next to it.
///
/// The user names only `path`, and the folder may be a clone. So no link is followed that is not on the way to it.
pub(super) fn files_around(path: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(home) = root_of(path).and_then(Path::parent) else { return list_folder(path.parent().unwrap_or(path)) };
    let mut paths = Vec::new();
    for folder in FOLDERS.map(|name| home.join(name)) {
        if is_on_way(path, &folder) {
            collect(&folder, 3, &|folder| is_on_way(path, folder), &mut paths)?;
        }
    }
    Ok(paths)
}

/// The folder of Codex that a rollout is in: above the folders of its year, month, and day.
fn root_of(path: &Path) -> Option<&Path> {
    let is_date =
        |folder: &&Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let root = path.ancestors().skip(1).find(|folder| !is_date(folder))?;
    FOLDERS.iter().any(|name| root.ends_with(name)).then_some(root)
}

fn is_on_way(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) || !folder.is_symlink()
}

fn collect(folder: &Path, depth: usize, is_wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in list_folder(folder)? {
        if depth > 0 && path.is_dir() {
            if is_wanted(&path) {
                collect(&path, depth - 1, is_wanted, found)?;
            }
        } else if has_extension(&path, &["jsonl"]) {
            found.push(path);
        }
    }
    Ok(())
}

/// The sub-agents of a session. Their files are in the folder of its day, or of a later day.
///
/// Reads the starts of the files of all sessions that began later. The user does not name them, so links are not followed.
pub(super) fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
    let (Some((session, segment)), Some(day)) = (ids(transcript), transcript.parent()) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    match root_of(transcript) {
        // The session may have begun long before its segment.
        Some(root) => {
            let is_later = |folder: &Path| session != segment || folder >= day || day.starts_with(folder);
            let is_wanted = |folder: &Path| is_later(folder) && is_on_way(transcript, folder);
            collect(root, 3, &is_wanted, &mut paths)?;
        }
        None => paths = list_folder(day)?,
    }
    let is_later = |path: &Path| ids(path).is_some_and(|(other, id)| other == id && other > session);
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| is_later(path) && starts_with_id(path, session)) {
        if let Some((_, id)) = sub_agent(&path).filter(|(of, _)| of == session) {
            found.push(SubAgent { id, path });
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the first bytes of a regular file contain an id, as those of a head that names it do.
fn starts_with_id(path: &Path, id: &str) -> bool {
    let mut start = Vec::new();
    let read = is_own_file(path).then(|| File::open(path)?.take(2048).read_to_end(&mut start));
    matches!(read, Some(Ok(_))) && memchr::memmem::find(&start, id.as_bytes()).is_some()
}

/// The session and the own id of a sub-agent.
pub(super) fn sub_agent(path: &Path) -> Option<(String, String)> {
    let line = head_line(path)?;
    let record: Record<'_> = serde_json::from_slice(&line).ok()?;
    let head: Head<'_> = json::view_of(record.payload?);
    let parent = json::text(head.parent?)?;
    let session = head.session.and_then(json::text).unwrap_or(parent);
    Some((session.into(), json::text(head.id?)?.into()))
}

/// The first line, without a line break.
pub(super) fn head_line(path: &Path) -> Option<Vec<u8>> {
    first_lines(path)?.next()
}

fn ran_in(path: &Path) -> Option<String> {
    let line = head_line(path)?;
    let record: Record<'_> = serde_json::from_slice(&line).ok()?;
    let head: Head<'_> = record.payload.and_then(|payload| serde_json::from_str(payload.get()).ok())?;
    head.cwd.or(record.cwd).and_then(json::text).map(Into::into)
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/codex/files.rs"]
mod tests;
