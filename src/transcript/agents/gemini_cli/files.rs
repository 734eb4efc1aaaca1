//! Where Gemini CLI stores its sessions.
//!
//! ```text
//! <home>/projects.json                            {"projects":{"/home/ada/engine":"engine"}}
//! <home>/tmp/engine/.project_root                 /home/ada/engine
//! <home>/tmp/engine/chats/session-….jsonl         a session
//! <home>/tmp/engine/chats/<session id>/….jsonl    its sub-agents
//! <home>/tmp/<SHA-256 of the path>/chats/…        the same, up to version 0.28
//! ```

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::records::Record;
use crate::transcript::agents::search::own_files;
use crate::transcript::agents::{
    FolderAndFile, IsWanted, Sessions, SubAgent, first_lines, has_extension, list_folder, newest_first, read_small,
};
use crate::transcript::read::json;

/// The sessions of `folder`, by modification time, newest first. Files of sub-agents are in separate folders.
pub(super) fn sessions(home: &Path, folder: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions> {
    Ok(Box::new(sessions_in(projects(home, folder)?, is_wanted)?))
}

/// Every session in a folder that is named, or whose hash is that of a folder that the agent lists.
pub(super) fn all(home: &Path) -> io::Result<Vec<FolderAndFile>> {
    let registry = registry(home);
    let listed = registry.as_ref().and_then(|registry| registry["projects"].as_object());
    let listed: HashMap<String, PathBuf> =
        listed.into_iter().flatten().map(|(folder, _)| (project_hash(Path::new(folder)), folder.into())).collect();
    let mut found = Vec::new();
    for project in list_folder(&home.join("tmp"))? {
        let of_hash = || listed.get(project.file_name()?.to_str()?).cloned();
        let Some(root) = root_of(&project).or_else(of_hash) else { continue };
        found.extend(sessions_in(vec![project], &|_, _| true)?.map(|file| (root.clone(), file)));
    }
    Ok(found)
}

fn sessions_in(projects: Vec<PathBuf>, is_wanted: IsWanted<'_>) -> io::Result<std::vec::IntoIter<PathBuf>> {
    let mut paths = Vec::new();
    for project in projects {
        paths.extend(list_folder(&project.join("chats"))?);
    }
    let is_session = |path: &Path, metadata: &fs::Metadata| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("session-") && has_extension(path, &["json", "jsonl"]) && is_wanted(path, metadata)
    };
    newest_first(paths, is_session)
}

/// The folder in which a session ran. Folders that are named by a hash do not tell, and the name of a file has only the start of
/// the session's id.
pub(super) fn folder_of(home: &Path, session: &str) -> io::Result<Option<PathBuf>> {
    let start = session.get(..8).unwrap_or(session);
    for project in list_folder(&home.join("tmp"))? {
        let Some(root) = root_of(&project) else { continue };
        let is_it = |path: &PathBuf| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            stem.starts_with("session-") && stem.rsplit('-').next() == Some(start)
        };
        if list_folder(&project.join("chats"))?.iter().any(is_it) {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

/// The sub-agents of a session.
pub(super) fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
    let head = first_lines(transcript).and_then(|mut lines| lines.next()).unwrap_or_default();
    let session =
        serde_json::from_slice::<Record<'_>>(&head).ok().and_then(|head| json::text(head.session?).map(Into::into));
    let is_name =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let Some((chats, session)) = transcript.parent().zip(session.filter(is_name)) else { return Ok(Vec::new()) };
    let files = own_files(chats, &[&session], ".jsonl")?.into_iter();
    let mut found: Vec<_> = files.filter_map(SubAgent::named_by_file).collect();
    found.sort();
    Ok(found)
}

pub(super) fn projects(home: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let tmp = home.join("tmp");
    let mut found = vec![tmp.join(project_hash(folder))];
    let registry = registry(home);
    let slug = registry.as_ref().and_then(|registry| registry["projects"][folder.to_string_lossy().as_ref()].as_str());
    found.extend(slug.filter(|slug| !slug.contains(['/', '\\']) && *slug != "..").map(|slug| tmp.join(slug)));
    for project in list_folder(&tmp)? {
        if root_of(&project).is_some_and(|root| root == folder) && !found.contains(&project) {
            found.push(project);
        }
    }
    Ok(found)
}

fn registry(home: &Path) -> Option<Value> {
    serde_json::from_slice(&read_small(&home.join("projects.json"))?).ok()
}

fn root_of(project: &Path) -> Option<PathBuf> {
    let root = String::from_utf8(read_small(&project.join(".project_root"))?).ok()?;
    Some(PathBuf::from(root.trim()))
}

/// The SHA-256 of the path of a folder.
pub(super) fn project_hash(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/gemini_cli/files.rs"]
mod tests;
