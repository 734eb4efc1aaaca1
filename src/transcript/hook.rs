//! What an agent's hook is told, what is to be done, and the log of what went wrong.
//!
//! Agents call a hook with an object on stdin:
//!
//! ```text
//! {"session_id":"6b2e…","transcript_path":"/home/ada/.claude/projects/…/6b2e….jsonl","hook_event_name":"Stop","cwd":"…"}
//! ```
//!
//! A hook must never stop the agent, so what goes wrong is written to `<git dir>/trace/hook.log`, one line a failure.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::format::Format;
use super::import::{Destination, Imported, Writing};
use super::session::{self, SessionError};
use crate::base::error::Diagnostic;
use crate::git::{GitError, Repo};
use crate::trace::change::bulk;
use crate::trace::model::trailers::one_line;
use crate::trace::{Time, TraceError, TraceName};

/// A log longer than this is begun anew.
const MAX_LOG: u64 = 64 * 1024;

/// What a hook is told.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    /// The session.
    pub session_id: String,
    /// Its transcript; an agent that keeps none says nothing.
    pub transcript_path: Option<PathBuf>,
    /// What happened.
    #[serde(default)]
    pub hook_event_name: String,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Duty {
    /// A session begins: whoever has something to tell it says so on stdout.
    Greet,
    /// The transcript is imported.
    Record,
}

/// Why a session was not recorded.
#[derive(Debug, Error)]
pub(crate) enum HookError {
    /// What the hook was told is not what agents tell.
    #[error("the hook was not told what agents tell: {cause}")]
    BadCall {
        /// What is wrong.
        cause: String,
    },
    /// The session could not be imported.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The repository refused.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Diagnostic for HookError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Session(error) => Some(error),
            Self::Trace(error) => Some(error),
            Self::Git(error) => Some(error),
            _ => None,
        }
    }
}

impl Call {
    /// Reads what a hook was given on stdin.
    ///
    /// # Errors
    ///
    /// [`HookError::BadCall`].
    pub(crate) fn parse(input: &[u8]) -> Result<Self, HookError> {
        let call: Self =
            serde_json::from_slice(input).map_err(|error| HookError::BadCall { cause: error.to_string() })?;
        if call.session_id.is_empty() {
            return Err(HookError::BadCall { cause: "the session has no id".to_owned() });
        }
        Ok(call)
    }

    /// What is to be done now.
    #[must_use]
    pub(crate) fn duty(&self) -> Duty {
        if self.hook_event_name == "SessionStart" { Duty::Greet } else { Duty::Record }
    }

    /// The trace of the session.
    #[must_use]
    pub(crate) fn trace(&self, format: Format) -> TraceName {
        TraceName::of_session(format.as_str(), &self.session_id)
    }
}

/// How many bytes of the transcript were not imported yet.
///
/// # Errors
///
/// Those of reading the trace's history.
pub(crate) fn backlog(repo: &Repo, format: Format, call: &Call) -> Result<u64, HookError> {
    let length = call.transcript_path.as_deref().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
    let mark = bulk::last_mark(repo, &call.trace(format), &call.session_id)?;
    Ok(length.saturating_sub(mark.map_or(0, |mark| mark.offset)))
}

/// Imports the transcript that a hook names into the trace of its session; `None` where there is none.
///
/// Of two hooks of one session the second waits for the first.
///
/// # Errors
///
/// [`HookError`].
pub(crate) fn record(writing: Writing<'_>, format: Format, call: &Call) -> Result<Option<Imported>, HookError> {
    // An agent may name the file before it has written anything.
    let Some(path) = call.transcript_path.as_deref().filter(|path| path.exists()) else { return Ok(None) };
    let name = call.trace(format);
    let _turn = writing.repo.lock(&format!("transcript of {}", name.refname()))?;
    Ok(Some(session::import(writing, format, Destination::Trace(name), path, &|_| ())?))
}

/// The log of failures.
#[must_use]
pub(crate) fn log_path(common_dir: &Path) -> PathBuf {
    common_dir.join("trace").join("hook.log")
}

/// Notes a failure.
///
/// # Errors
///
/// If the log cannot be written.
pub(crate) fn log(common_dir: &Path, at: Time, agent: &str, failure: &str) -> io::Result<()> {
    let path = log_path(common_dir);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let anew = fs::metadata(&path).is_ok_and(|file| file.len() > MAX_LOG);
    let mut file = OpenOptions::new().create(true).write(true).append(!anew).truncate(anew).open(&path)?;
    file.write_all(format!("{at} {agent}: {}\n", one_line(failure)).as_bytes())
}

/// The failures in the log, oldest first.
///
/// # Errors
///
/// If there is a log that cannot be read.
pub(crate) fn failures(common_dir: &Path) -> io::Result<Vec<String>> {
    match fs::read(log_path(common_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        log => Ok(String::from_utf8_lossy(&log?).lines().map(str::to_owned).collect()),
    }
}
