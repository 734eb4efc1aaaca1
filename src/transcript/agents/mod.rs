//! The agents whose transcripts can be read, one file or folder each.
//!
//! An agent's module documents its format, implements [`RecordReader`] for it, and describes itself to the rest of the
//! program in one constant, `AGENT`. Adding an agent means adding its module here and its name and constant to
//! [`super::format`].

pub(crate) mod aider;
pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod conversations;
pub(crate) mod copilot_cli;
pub(crate) mod cursor;
pub(crate) mod droid;
pub(crate) mod gemini_cli;
pub(crate) mod opencode;
pub(crate) mod pi;
pub(crate) mod qwen_code;
mod search;
pub(crate) mod trajectories;
pub(crate) mod vscode_copilot;

use std::fs::{self, Metadata};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use super::Position;
use super::export::Exporter;
use super::read::dialect::{self, Dialect};
use super::read::document::DocumentLines;
use super::read::reader::{Certainty, RecordReader, Transcript, TranscriptReader};
use crate::base::bounded;
use crate::base::worktree_path::check_regular;
use crate::git::Env;

type BoxedTranscript<'r> = Box<dyn Transcript + 'r>;
type Resume = for<'r> fn(Box<dyn Read + 'r>, &Position, Vec<u8>, &[u8]) -> Option<BoxedTranscript<'r>>;

/// Files of sessions, which are searched for as they are needed.
type Sessions = Box<dyn Iterator<Item = PathBuf>>;

/// The folder in which a session ran, and the session's file.
pub(crate) type FolderAndFile = (PathBuf, PathBuf);

/// Which files are wanted, before anything is read from them.
pub(crate) type IsWanted<'w> = &'w dyn Fn(&Path, &Metadata) -> bool;

pub(crate) struct AgentFormat {
    pub name: &'static str,
    /// How sure its reader is that a line is a record of this format.
    pub certainty: fn(&[u8]) -> Certainty,
    pub home: fn(&Env) -> Option<PathBuf>,
    /// The wanted sessions of a project folder, below `home`, newest first.
    pub sessions: fn(home: &Path, folder: &Path, is_wanted: IsWanted<'_>) -> io::Result<Sessions>,
    /// All sessions below `home` whose folder is known.
    pub all: fn(home: &Path) -> io::Result<Vec<FolderAndFile>>,
    /// The folder in which a session ran, according to its file below `home`; `None` if there is no such file.
    pub folder: fn(home: &Path, session: &str) -> io::Result<Option<PathBuf>>,
    /// The files with a transcript's records, in their order; the file itself is the last one.
    pub parts: fn(transcript: &Path) -> io::Result<Vec<FilePart>>,
    /// The files of a session's sub-agents that are stored separately, sorted by id.
    pub sub_agents: fn(transcript: &Path) -> io::Result<Vec<SubAgent>>,
    /// The session and the own id of a sub-agent whose file is among those of sessions; `None` for a session.
    pub sub_agent: fn(transcript: &Path) -> Option<(String, String)>,
    pub open: for<'r> fn(Box<dyn Read + 'r>) -> io::Result<BoxedTranscript<'r>>,
    pub resume: Resume,
    pub exporter: Option<Exporter>,
    /// Whether a file may contain several independent conversations.
    pub has_conversations: bool,
    /// Whether it writes records of a turn after it called the hooks at the end of the turn.
    pub writes_late: bool,
}

impl AgentFormat {
    /// As `parts`. The user may name the session by a link or a relative path: then those by its real path, if these are more.
    pub(crate) fn parts_of(&self, transcript: &Path) -> io::Result<Vec<FilePart>> {
        let (found, others) = with_real(self.parts, transcript)?;
        Ok(if others.len() > found.len() { others } else { found })
    }

    /// As `sub_agents`, also of the session's real path.
    pub(crate) fn sub_agents_of(&self, transcript: &Path) -> io::Result<Vec<SubAgent>> {
        let (mut found, mut others) = with_real(self.sub_agents, transcript)?;
        others.retain(|other| found.iter().all(|one| one.id != other.id));
        found.append(&mut others);
        Ok(found)
    }
}

/// The files of a transcript, and those that its real path has: agents know them by the names of folders.
fn with_real<T>(files: fn(&Path) -> io::Result<Vec<T>>, transcript: &Path) -> io::Result<(Vec<T>, Vec<T>)> {
    let real = transcript.canonicalize().ok().filter(|real| real != transcript);
    Ok((files(transcript)?, real.map_or(Ok(Vec::new()), |real| files(&real))?))
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SubAgent {
    /// The id in the file's name; the reader's entries have it as their thread.
    pub id: String,
    pub path: PathBuf,
}

impl SubAgent {
    fn named_by_file(path: PathBuf) -> Option<Self> {
        Some(Self { id: path.file_stem()?.to_str()?.to_owned(), path })
    }
}

/// A file with records of a transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FilePart {
    pub path: PathBuf,
    /// The number of its bytes that belong to the transcript; `None` for all.
    pub length: Option<u64>,
}

impl From<&Path> for FilePart {
    fn from(path: &Path) -> Self {
        Self { path: path.to_owned(), length: None }
    }
}

impl AgentFormat {
    /// An agent that appends JSON objects to a file, one per line, and whose files are not searched for.
    const fn of_lines<S: RecordReader + 'static>(name: &'static str) -> Self {
        Self {
            name,
            certainty: |line| serde_json::from_slice(line).map_or(Certainty::No, |record| S::certainty(&record)),
            home: |_| None,
            sessions: |_, _, _| Ok(Box::new(std::iter::empty())),
            all: |_| Ok(Vec::new()),
            folder: |_, _| Ok(None),
            parts: |path| Ok(vec![path.into()]),
            sub_agents: |_| Ok(Vec::new()),
            sub_agent: |_| None,
            open: |reader| Ok(Box::new(TranscriptReader::<_, S>::new(reader))),
            resume: |reader, position, window, state| {
                Some(Box::new(TranscriptReader::<_, S>::resume(reader, position, window, state)?))
            },
            exporter: None,
            has_conversations: false,
            writes_late: false,
        }
    }

    /// A format that the shared reader reads.
    const fn of_dialect<D: Dialect>(name: &'static str) -> Self {
        Self {
            name,
            certainty: |line| serde_json::from_slice(line).map_or(Certainty::No, |record| D::certainty(&record)),
            home: |_| None,
            sessions: |home, folder, is_wanted| search::sessions(home, D::FILES, folder, is_wanted, D::folder),
            all: |home| search::all(home, D::FILES, D::folder),
            folder: |home, session| search::folder_of(home, D::FILES, session, (D::session, D::folder)),
            parts: |path| Ok(vec![path.into()]),
            sub_agents: |_| Ok(Vec::new()),
            sub_agent: |_| None,
            open: dialect::open::<D>,
            resume: dialect::resume::<D>,
            exporter: None,
            has_conversations: false,
            writes_late: false,
        }
    }

    /// A format whose files contain conversations, one per value. The shared reader reads them.
    const fn of_conversations<D: Dialect>(name: &'static str) -> Self {
        Self {
            open: dialect::open_values::<D>,
            resume: |_, _, _, _| None,
            has_conversations: true,
            ..Self::of_dialect::<D>(name)
        }
    }

    const fn of_document<S: RecordReader + 'static>(name: &'static str) -> Self {
        Self {
            open: |reader| {
                let lines: Box<dyn Read + '_> = Box::new(DocumentLines::new(reader));
                Ok(Box::new(TranscriptReader::<_, S>::of_document(lines)))
            },
            resume: |_, _, _, _| None,
            ..Self::of_lines::<S>(name)
        }
    }
}

/// The folder named by an environment variable, else `folder` in the home folder.
fn home_folder(env: &Env, variable: &str, folder: &str) -> Option<PathBuf> {
    let named = env.os(variable).map(PathBuf::from);
    named.or_else(|| env.os("HOME").map(|home| Path::new(home).join(folder)))
}

/// The paths in a folder; none if the folder does not exist.
fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        listing => listing?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}

/// A small file; `None` if it is missing, not a regular file, or cannot be read.
pub(crate) fn read_small(path: &Path) -> Option<Vec<u8>> {
    check_regular(path).ok()?;
    bounded::read_file(path).ok()
}

/// The lines in the head of a regular file, read as they are needed.
fn first_lines(path: &Path) -> Option<impl Iterator<Item = Vec<u8>>> {
    check_regular(path).ok()?;
    let head = BufReader::new(fs::File::open(path).ok()?.take(1024 * 1024));
    Some(head.split(b'\n').map_while(Result::ok))
}

/// The files among `paths` that `accept` accepts, newest first.
fn newest_first(
    paths: Vec<PathBuf>,
    accept: impl Fn(&Path, &Metadata) -> bool,
) -> io::Result<std::vec::IntoIter<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        // A file that vanished meanwhile, or a broken link, is not the newest.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_file() && accept(&path, &metadata) {
            found.push((metadata.modified()?, path));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, path)| path).collect::<Vec<_>>().into_iter())
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
}
