//! Where Claude Code stores its transcripts.
//!
//! ```text
//! <config>/projects/-home-ada-engine/6b2e….jsonl                      a session
//! <config>/projects/-home-ada-engine/agent-a1b2.jsonl                 a sub-agent of some session, up to version 2.0
//! <config>/projects/-home-ada-engine/6b2e…/subagents/agent-a1b2.jsonl the same, in later versions
//! ```

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::records::Record;
use crate::transcript::agents::{SubAgent, has_extension, list_folder, newest_first};
use crate::transcript::read::json;

/// The agent shortens a folder name longer than this, and adds a hash of its own.
const MAX_NAME: usize = 200;

/// How much of a file is read to find its session or folder.
const MAX_HEAD: u64 = 1024 * 1024;

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
        matches && newest_in(path).ok().flatten().is_some_and(|newest| ran_in(&newest, folder))
    });
    truncated.unwrap_or_else(|| projects.join(name))
}

/// The newest transcript of `folder`, by modification time, except those of sub-agents.
pub(super) fn newest_transcript(config_dir: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    newest_in(&project_dir(config_dir, folder))
}

fn newest_in(project: &Path) -> io::Result<Option<PathBuf>> {
    let sessions = |path: &Path, metadata: &fs::Metadata| agent_id(path).is_none() && metadata.len() > 0;
    Ok(newest_first(transcripts_in(project)?, sessions)?.next())
}

/// The files of a session's sub-agents: all in the session's folder, and those beside its transcript that name the session.
pub(super) fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
    let (Some(project), Some(session)) = (transcript.parent(), transcript.file_stem().and_then(|stem| stem.to_str()))
    else {
        return Ok(Vec::new());
    };
    let mut found: Vec<SubAgent> = Vec::new();
    let own = transcripts_in(&project.join(session).join("subagents"))?;
    let beside = transcripts_in(project)?.into_iter().filter(|path| agent_id(path).is_some() && is_of(path, session));
    for path in own.into_iter().chain(beside) {
        if let Some(id) = agent_id(&path).map(str::to_owned)
            && found.iter().all(|other| other.id != id)
        {
            found.push(SubAgent { id, path });
        }
    }
    found.sort();
    Ok(found)
}

fn transcripts_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = list_folder(folder)?;
    paths.retain(|path| has_extension(path, &["jsonl"]));
    paths.sort();
    Ok(paths)
}

/// The sub-agent's id, if the file is named like a sub-agent's.
fn agent_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-")
}

fn is_of(path: &Path, session: &str) -> bool {
    first_member(path, |record| record.session).is_some_and(|id| id == session)
}

fn ran_in(path: &Path, folder: &Path) -> bool {
    first_member(path, |record| record.cwd).is_some_and(|cwd| Path::new(&cwd) == folder)
}

/// The text of a member in the first record that has it.
fn first_member(path: &Path, member: impl for<'a> Fn(&Record<'a>) -> Option<&'a RawValue>) -> Option<String> {
    let head = BufReader::new(fs::File::open(path).ok()?.take(MAX_HEAD));
    head.split(b'\n').map_while(Result::ok).find_map(|line| {
        let record: Record<'_> = serde_json::from_slice(&line).ok()?;
        member(&record).and_then(json::text).map(Into::into)
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn write(path: &Path, text: &str, age: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    #[test]
    fn a_folder_name_matches_that_of_the_agent() {
        let dir = |folder| project_dir(Path::new("/c"), Path::new(folder)).to_str().unwrap().to_owned();
        assert_eq!(dir("/home/ada/my_engine.v2"), "/c/projects/-home-ada-my-engine-v2");
        assert_eq!(dir("/é/😀"), "/c/projects/-----");
    }

    #[test]
    fn the_newest_session_is_found() {
        let config = tempfile::tempdir().unwrap();
        let folder = Path::new("/home/ada/engine");
        assert_eq!(newest_transcript(config.path(), folder).unwrap(), None);
        let project = project_dir(config.path(), folder);
        fs::create_dir_all(&project).unwrap();
        assert_eq!(newest_transcript(config.path(), folder).unwrap(), None);
        write(&project.join("old.jsonl"), "{}", 100);
        write(&project.join("new.jsonl"), "{}", 50);
        write(&project.join("agent-a1.jsonl"), "{}", 10);
        write(&project.join("empty.jsonl"), "", 5);
        write(&project.join("notes.txt"), "{}", 5);
        write(&project.join("new").join("x.jsonl"), "{}", 1);
        assert_eq!(newest_transcript(config.path(), folder).unwrap(), Some(project.join("new.jsonl")));
    }

    #[test]
    fn a_long_folder_name_is_found_by_the_recorded_working_folder() {
        let config = tempfile::tempdir().unwrap();
        let folder = format!("/{}/b", "a".repeat(250));
        let cut = format!("projects/-{}", "a".repeat(199));
        let record = |cwd: &str| format!("{{\"type\":\"summary\"}}\n{{\"cwd\":\"{cwd}\"}}\n");
        write(&config.path().join(format!("{cut}-zzz/s.jsonl")), &record("/elsewhere"), 1);
        write(&config.path().join(format!("{cut}-1x2y/s.jsonl")), &record(&folder), 2);
        let found = newest_transcript(config.path(), Path::new(&folder)).unwrap();
        assert_eq!(found, Some(config.path().join(format!("{cut}-1x2y/s.jsonl"))));
    }

    #[test]
    fn sub_agents_of_both_layouts_are_listed() {
        let project = tempfile::tempdir().unwrap();
        let session = project.path().join("s1.jsonl");
        write(&session, "{}", 1);
        write(&project.path().join("s1/subagents/agent-b2.jsonl"), "{}", 1);
        write(&project.path().join("agent-a1.jsonl"), "{\"type\":\"x\"}\n{\"sessionId\":\"s1\"}\n", 1);
        write(&project.path().join("agent-b2.jsonl"), "{\"sessionId\":\"s1\"}\n", 1);
        write(&project.path().join("agent-c3.jsonl"), "{\"sessionId\":\"s2\"}\n", 1);
        let found = sub_agents(&session).unwrap();
        let expected = [
            SubAgent { id: "a1".to_owned(), path: project.path().join("agent-a1.jsonl") },
            SubAgent { id: "b2".to_owned(), path: project.path().join("s1/subagents/agent-b2.jsonl") },
        ];
        assert_eq!(found, expected);
        assert_eq!(sub_agents(Path::new("/nowhere/s.jsonl")).unwrap(), []);
    }
}
