//! Where Claude Code stores its transcripts.
//!
//! ```text
//! <config>/projects/-home-ada-engine/6b2e….jsonl                      a session
//! <config>/projects/-home-ada-engine/agent-a1b2.jsonl                 a sub-agent of some session, up to version 2.0
//! <config>/projects/-home-ada-engine/6b2e…/subagents/agent-a1b2.jsonl the same, in later versions
//! ```

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::records::Record;
use crate::base::worktree_path::check_regular;
use crate::transcript::agents::{
    FolderAndFile, IsWanted, Sessions, SubAgent, first_lines, has_extension, list_folder, newest_first,
};
use crate::transcript::read::json;

/// The agent shortens a folder name longer than this, and adds its own hash.
const MAX_NAME: usize = 200;

/// The folder with the sessions of `folder`, an absolute path; it may not exist.
///
/// Its name is the path with every character except ASCII letters and digits replaced by `-`. If that is longer than 200
/// characters, the agent truncates it and adds a hash; then the working folder recorded in the sessions decides.
pub(super) fn project_dir(config_dir: &Path, folder: &Path) -> PathBuf {
    let projects = config_dir.join("projects");
    let mut name = String::new();
    for c in folder.to_string_lossy().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            // JavaScript counts in UTF-16.
            name.extend(std::iter::repeat_n('-', c.len_utf16()));
        }
    }
    if name.len() <= MAX_NAME {
        return projects.join(name);
    }
    let prefix = format!("{}-", &name[..MAX_NAME]);
    let truncated = list_folder(&projects).unwrap_or_default().into_iter().find(|path| {
        let matches = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix));
        matches
            && sessions_in(path, &|_, _| true)
                .ok()
                .and_then(|mut found| found.next())
                .is_some_and(|newest| first_folder(&newest).is_some_and(|ran| is_same_folder(&ran, folder)))
    });
    truncated.unwrap_or_else(|| projects.join(name))
}

/// The transcripts of `folder`, by modification time, newest first, except those of sub-agents.
///
/// The agent gives `work/app` and `work-app` the same name. So a session that ran in another folder is not one of them.
pub(super) fn transcripts_of(config_dir: &Path, folder: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions> {
    let (sessions, folder) = (sessions_in(&project_dir(config_dir, folder), is_wanted)?, folder.to_owned());
    Ok(Box::new(sessions.filter(move |file| first_folder(file).is_none_or(|ran| is_same_folder(&ran, &folder)))))
}

/// Every session, except those of sub-agents, with the folder in which it ran.
pub(super) fn all(config_dir: &Path) -> io::Result<Vec<FolderAndFile>> {
    let mut found = Vec::new();
    for project in list_folder(&config_dir.join("projects"))? {
        found.extend(sessions_in(&project, &|_, _| true)?.filter_map(|file| Some((first_folder(&file)?, file))));
    }
    Ok(found)
}

/// The folder in which a session ran. A session that was resumed elsewhere names several folders; the first one counts, because the
/// agent looks for it there.
pub(super) fn folder_of(config_dir: &Path, session: &str) -> io::Result<Option<PathBuf>> {
    let projects = list_folder(&config_dir.join("projects"))?.into_iter();
    let file = projects.map(|project| project.join(format!("{session}.jsonl"))).find(|file| file.is_file());
    Ok(file.and_then(|file| first_folder(&file)))
}

fn sessions_in(project: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions> {
    let sessions = |path: &Path, metadata: &fs::Metadata| {
        agent_id(path).is_none() && metadata.len() > 0 && is_wanted(path, metadata)
    };
    Ok(Box::new(newest_first(transcripts_in(project)?, sessions)?))
}

/// The files of a session's sub-agents: all in the session's folder, and those beside its transcript that name the session.
///
/// The user does not name these files, and the folder may be a clone. So links, FIFOs, and devices are refused.
pub(super) fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
    // That of `...jsonl` is the folder above.
    let is_name = |stem: &&str| !matches!(*stem, "." | "..");
    let session = transcript.file_stem().and_then(|stem| stem.to_str()).filter(is_name);
    let Some((project, session)) = transcript.parent().zip(session) else { return Ok(Vec::new()) };
    let project = if project.as_os_str().is_empty() { Path::new(".") } else { project };
    let mut found: Vec<SubAgent> = Vec::new();
    let mut own = None;
    // A session without an extension has the name of its folder.
    if transcript.file_name().is_some_and(|name| name != session) {
        let folder = project.join(session);
        if folder.is_dir() {
            refuse_link(&folder)?;
            let folder = folder.join("subagents");
            refuse_link(&folder)?;
            own = Some(folder);
        }
    }
    let own = own.map_or(Ok(Vec::new()), |folder| transcripts_in(&folder))?;
    let beside = transcripts_in(project)?.into_iter().filter(|path| agent_id(path).is_some() && is_of(path, session));
    for path in own.into_iter().chain(beside) {
        refuse_link(&path)?;
        check_regular(&path).map_err(|error| named(&path, &error))?;
        if let Some(id) = agent_id(&path).map(str::to_owned)
            && found.iter().all(|other| other.id != id)
        {
            found.push(SubAgent { id, path });
        }
    }
    found.sort();
    Ok(found)
}

fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::read_link(path) {
        Ok(target) => Err(named(path, &format_args!("it is a link to `{}`", target.display()))),
        Err(_) => Ok(()),
    }
}

fn named(path: &Path, cause: &dyn Display) -> io::Error {
    io::Error::other(format!("`{}`: {cause}", path.display()))
}

fn transcripts_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = list_folder(folder)?;
    paths.retain(|path| has_extension(path, &["jsonl"]));
    paths.sort();
    Ok(paths)
}

fn agent_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-")
}

fn is_of(path: &Path, session: &str) -> bool {
    first_member(path, |record| record.session).is_some_and(|id| id == session)
}

/// The first folder that a session names.
fn first_folder(path: &Path) -> Option<PathBuf> {
    first_member(path, |record| record.cwd).map(PathBuf::from)
}

/// Whether two paths name one folder, also through links.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn first_member(path: &Path, member: impl for<'a> Fn(&Record<'a>) -> Option<&'a RawValue>) -> Option<String> {
    first_lines(path)?.find_map(|line| {
        let record: Record<'_> = serde_json::from_slice(&line).ok()?;
        member(&record).and_then(json::text).map(Into::into)
    })
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/claude_code/files.rs"]
mod tests;
