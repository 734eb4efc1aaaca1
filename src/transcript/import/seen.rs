//! Which versions of an agent's files were read, so that sessions that grew since are found without reading any.
//!
//! One JSON file per agent in `<git dir of the worktree>/trace/transcripts`, which exists from the first recording on. It is a cache: without it,
//! sessions that grew unseen are left to `import --all`. Times are nanoseconds since 1970.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::base::replace::{Access, put};
use crate::git::Repo;
use crate::trace::store::session::cache_path;
use crate::trace::{Time, TraceName};
use crate::transcript::format::Format;

/// From this number of files on, those that did not change lately are forgotten.
const MANY: usize = 32;

/// Files that changed this shortly before a look may change again without a new time.
const MARGIN: u64 = 60_000_000_000;

/// A file as it was when reading began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FileState {
    length: u64,
    modified: u64,
    /// The bytes in the files of its sub-agents.
    #[serde(default)]
    sub_agents: u64,
}

impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().map_or(0, nanoseconds), sub_agents: 0 }
    }

    /// The state with its sub-agents; `None` if the file cannot be read.
    pub(crate) fn with_sub_agents(format: Format, path: &Path) -> Option<Self> {
        let state = Self::of(&fs::metadata(path).ok()?);
        let files = format.agent().sub_agents_of(path).ok()?;
        let lengths = files.iter().filter_map(|file| fs::metadata(&file.path).ok()).map(|file| file.len());
        Some(Self { sub_agents: lengths.sum(), ..state })
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SeenFiles {
    /// Files that did not change since then were read, or were there before the first recording.
    since: u64,
    files: BTreeMap<String, FileState>,
    last: Option<LastRecording>,
    /// Whether recording was off at the last look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_off: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LastRecording {
    trace: String,
    at: i64,
}

impl LastRecording {
    pub(crate) fn new(trace: &TraceName, at: Time) -> Self {
        Self { trace: trace.to_string(), at: at.as_second() }
    }

    pub(crate) fn trace(&self) -> &str {
        &self.trace
    }

    pub(crate) fn at(&self) -> Time {
        Time::from_second(self.at)
    }
}

impl SeenFiles {
    pub(crate) fn read(repo: &Repo, format: Format) -> Option<Self> {
        Self::read_in(repo.git_dir(), format)
    }

    fn read_in(git_dir: &Path, format: Format) -> Option<Self> {
        serde_json::from_slice(&fs::read(path(git_dir, format)).ok()?).ok()
    }

    /// Looks for files that change from now on, if that was not done before.
    pub(crate) fn start(repo: &Repo, format: Format) {
        // A damaged list is replaced, too.
        if Self::read(repo, format).is_none() {
            // A new worktree has no list yet. Before it was added, its folder may have been another one's.
            let of_main = Self::read_in(repo.common_dir(), format);
            let new = Self::from_now(None, of_main.as_ref().is_some_and(|main| main.is_off));
            let since = of_main.zip(added(repo)).map(|(main, added)| main.since.max(added));
            Self { since: since.unwrap_or(new.since), ..new }.write(repo, format);
        }
    }

    /// Whether it looks for files in a worktree.
    pub(crate) fn is_on(git_dir: &Path, format: Format) -> bool {
        Self::read_in(git_dir, format).is_some_and(|seen| !seen.is_off)
    }

    /// Looks for files that change from now on, if it looked for any before. If recording is off, from when it is on again.
    pub(crate) fn restart(git_dir: &Path, format: Format, is_off: bool) {
        if let Some(Self { last, .. }) = Self::read_in(git_dir, format) {
            Self::from_now(last, is_off).write_in(git_dir, format);
        }
    }

    /// Recording is on. After it was off, looks for files that change from now on.
    pub(crate) fn end_pause(&mut self, repo: &Repo, format: Format) {
        if std::mem::take(&mut self.is_off) {
            self.since = nanoseconds(SystemTime::now());
            self.write(repo, format);
        }
    }

    fn from_now(last: Option<LastRecording>, is_off: bool) -> Self {
        Self { since: nanoseconds(SystemTime::now()), files: BTreeMap::new(), last, is_off }
    }

    /// Stores it. If that fails, the next hook looks at the same files again. Of two hooks at once, one counts.
    pub(crate) fn write(&self, repo: &Repo, format: Format) {
        self.write_in(repo.git_dir(), format);
    }

    fn write_in(&self, git_dir: &Path, format: Format) {
        let _ = serde_json::to_vec(self).map(|text| put(&path(git_dir, format), Access::Cache, &text));
    }

    /// Whether the file may have grown since it was read, or found to be of another folder than this one.
    pub(crate) fn may_have_grown(&self, folder: &Path, file: &Path, metadata: &Metadata) -> bool {
        let now = FileState::of(metadata);
        let is_now = |seen: &FileState| (seen.length, seen.modified) == (now.length, now.modified);
        let keys = [key(file), key_of_other(folder, file)];
        now.modified >= self.since && !keys.iter().filter_map(|key| self.files.get(key)).any(is_now)
    }

    pub(crate) fn has(&self, file: &Path, state: FileState) -> bool {
        self.files.get(&key(file)) == Some(&state)
    }

    pub(crate) fn note(&mut self, file: &Path, state: FileState) {
        self.files.insert(key(file), state);
    }

    /// Notes a file that is of another folder than this one.
    pub(crate) fn note_other(&mut self, folder: &Path, file: &Path, state: FileState) {
        self.files.insert(key_of_other(folder, file), state);
    }

    pub(crate) fn set_last(&mut self, last: LastRecording) {
        self.last = Some(last);
    }

    pub(crate) fn last(&self) -> Option<&LastRecording> {
        self.last.as_ref()
    }

    /// Forgets files that did not change shortly before `looked_at`, when all files had been read.
    pub(crate) fn forget_old(&mut self, looked_at: SystemTime) {
        if self.files.len() > MANY {
            self.since = nanoseconds(looked_at).saturating_sub(MARGIN).max(self.since);
            self.files.retain(|_, state| state.modified >= self.since);
        }
    }
}

/// When a linked worktree was added: git writes this file once.
fn added(repo: &Repo) -> Option<u64> {
    fs::metadata(repo.git_dir().join("commondir")).and_then(|file| file.modified()).ok().map(nanoseconds)
}

fn key(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

/// No path of an agent has a tab.
fn key_of_other(folder: &Path, file: &Path) -> String {
    format!("{}\t{}", folder.display(), file.display())
}

fn path(git_dir: &Path, format: Format) -> PathBuf {
    cache_path(git_dir, format!("{format}.json"))
}
