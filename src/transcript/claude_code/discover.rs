//! Where Claude Code keeps its transcripts.
//!
//! ```text
//! <config>/projects/-home-ada-engine/6b2e….jsonl                      a session
//! <config>/projects/-home-ada-engine/agent-a1b2.jsonl                 a sub-agent of some session, up to version 2.0
//! <config>/projects/-home-ada-engine/6b2e…/subagents/agent-a1b2.jsonl the same, since
//! ```

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::record::Record;
use crate::transcript::raw;

/// Past this length the agent shortens a folder's name and adds a hash of its own.
const MAX_NAME: usize = 200;

/// How much of a file is looked at to learn whose it is.
const MAX_HEAD: u64 = 1024 * 1024;

/// The transcript of a sub-agent, beside that of its session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SubAgent {
    /// The sub-agent's id, as its file is named; the reader's entries have it as their thread.
    pub id: String,
    /// The file.
    pub path: PathBuf,
}

/// The folder in which the sessions of `folder`, an absolute path, are kept; there may be none.
///
/// Its name is the path with every character but letters and digits of ASCII replaced by `-`. Where it is longer than 200,
/// the agent cuts it and adds a hash; then the folder that is there decides, by what its sessions say they ran in.
#[must_use]
pub(crate) fn project_dir(config_dir: &Path, folder: &Path) -> PathBuf {
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
    let cut = fs::read_dir(&projects).into_iter().flatten().flatten().map(|entry| entry.path()).find(|path| {
        let fits = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix));
        fits && newest_in(path).ok().flatten().is_some_and(|newest| ran_in(&newest, folder))
    });
    cut.unwrap_or_else(|| projects.join(name))
}

/// The newest transcript of `folder`, by modification time; sub-agents' files do not count.
///
/// # Errors
///
/// Whatever listing the folder meets, but for its absence.
pub(crate) fn newest_transcript(config_dir: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    newest_in(&project_dir(config_dir, folder))
}

fn newest_in(project: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest = None;
    for path in transcripts_in(project)? {
        if agent_id(&path).is_some() {
            continue;
        }
        // Gone meanwhile, or a link to nothing: not the newest.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_file() && metadata.len() > 0 {
            newest = newest.max(Some((metadata.modified()?, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// The files of a session's sub-agents, given the session's own, sorted by id.
///
/// Those in the session's folder are all its own; of those beside it, the ones that name the session in a record.
///
/// # Errors
///
/// Whatever listing the folders meets, but for their absence.
pub(crate) fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
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
    let listing = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listing => listing?,
    };
    let mut paths = Vec::new();
    for entry in listing {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The sub-agent's id, if the file is named as one's is.
fn agent_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-")
}

fn is_of(path: &Path, session: &str) -> bool {
    first_told(path, |record| record.session).is_some_and(|id| id == session)
}

fn ran_in(path: &Path, folder: &Path) -> bool {
    first_told(path, |record| record.cwd).is_some_and(|cwd| Path::new(&cwd) == folder)
}

/// What the first record says that says anything of it.
fn first_told(
    path: &Path,
    member: impl for<'a> Fn(&Record<'a>) -> Option<&'a serde_json::value::RawValue>,
) -> Option<String> {
    let head = BufReader::new(fs::File::open(path).ok()?.take(MAX_HEAD));
    head.split(b'\n').map_while(Result::ok).find_map(|line| {
        let record: Record<'_> = serde_json::from_slice(&line).ok()?;
        member(&record).and_then(raw::text).map(Into::into)
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
    fn a_folder_is_named_as_the_agent_names_it() {
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
    fn a_long_folder_is_found_by_what_its_sessions_say() {
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
