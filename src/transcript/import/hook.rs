//! Agent hooks: their input, what they do, and the log of their failures.
//!
//! Agents call a hook with a JSON object on stdin:
//!
//! ```text
//! {"session_id":"6b2e…","transcript_path":"/home/ada/.claude/projects/…/6b2e….jsonl","hook_event_name":"Stop","cwd":"…"}
//! ```
//!
//! Cursor calls the session a `conversation_id`, and names its folders in `workspace_roots`. Sessions of opencode are in no file: its
//! input contains the session as `transcript`, and the session that started it, if any, as `parent_id`.
//!
//! A hook must never stop the agent, so failures are written to `<git dir>/trace/hook.log`, one line each.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use super::input::Input;
use super::seen::{FileState, SeenFiles};
use super::session::{self, SessionError};
use super::{Destination, ImportContext, Imported, transcript};
use crate::base::error::Diagnostic;
use crate::base::folders::create_folders;
use crate::base::worktree_path::check_regular;
use crate::git::{GitError, Repo};
use crate::trace::change::bulk;
use crate::trace::model::trailers::one_line;
use crate::trace::store::session::continued_by;
use crate::trace::{Time, TraceError, TraceName};
use crate::transcript::format::Format;

const MAX_LOG: u64 = 64 * 1024;

#[derive(Debug, Deserialize)]
pub(crate) struct HookInput {
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    conversation_id: String,
    /// The session of whose sub-agent this is.
    parent_id: Option<String>,
    /// Is there if a sub-agent of GitHub Copilot CLI ends a turn.
    parent_agent_id: Option<String>,
    pub transcript_path: Option<PathBuf>,
    transcript: Option<Box<RawValue>>,
    #[serde(default)]
    pub workspace_roots: Vec<PathBuf>,
    #[serde(default)]
    pub hook_event_name: String,
    /// Why a session starts.
    #[serde(default)]
    source: String,
}

#[derive(Debug, Error)]
pub(crate) enum HookError {
    #[error("unexpected hook input: {cause}")]
    BadInput { cause: String },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl HookError {
    /// Whether the same file would fail again, unlike on a full disk.
    pub(super) fn is_of_file(&self) -> bool {
        match self {
            Self::Session(SessionError::Import { source, .. }) => matches!(
                source,
                TraceError::Stream { .. }
                    | TraceError::Secret { .. }
                    | TraceError::Schema(_)
                    | TraceError::Field(_)
                    | TraceError::OverBudget { .. }
                    | TraceError::Full { .. }
                    | TraceError::BadLine { .. }
                    | TraceError::SeenOtherwise { .. }
                    | TraceError::SeveralConversations
                    | TraceError::Purged { .. }
                    | TraceError::PurgedThere { .. }
            ),
            Self::Session(SessionError::Open { .. } | SessionError::SubAgents { .. }) => true,
            Self::BadInput { .. } | Self::Trace(_) | Self::Git(_) => false,
        }
    }
}

impl Diagnostic for HookError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::BadInput { .. } => None,
            Self::Session(error) => Some(error),
            Self::Trace(error) => Some(error),
            Self::Git(error) => Some(error),
        }
    }
}

impl HookInput {
    pub(crate) fn parse(input: &[u8]) -> Result<Self, HookError> {
        let mut input: Self =
            serde_json::from_slice(input).map_err(|error| HookError::BadInput { cause: error.to_string() })?;
        if input.session_id.is_empty() {
            input.session_id = std::mem::take(&mut input.conversation_id);
        }
        if input.session_id.is_empty() {
            return Err(HookError::BadInput { cause: "the session has no id".to_owned() });
        }
        Ok(input)
    }

    /// Whether the session that starts has an empty context, unlike one that is resumed.
    pub(crate) fn is_new_session(&self) -> bool {
        matches!(self.source.as_str(), "startup" | "clear")
    }

    /// Whether the session's own hook will record it, too.
    pub(crate) fn is_of_sub_agent(&self) -> bool {
        self.parent_agent_id.is_some()
    }

    /// Whether a turn ends: the agents show messages of these hooks to their user.
    pub(crate) fn ends_turn(&self) -> bool {
        matches!(self.hook_event_name.as_str(), "Stop" | "AfterAgent")
    }

    /// The default trace of the session.
    fn session(&self, format: Format) -> TraceName {
        TraceName::of_session(format.as_str(), &self.session_id)
    }
}

pub(crate) fn backlog(repo: &Repo, format: Format, input: &HookInput) -> Result<u64, HookError> {
    if let Some(transcript) = &input.transcript {
        return Ok(transcript.get().len() as u64);
    }
    let length = input.transcript_path.as_deref().and_then(|path| fs::metadata(path).ok()).map_or(0, |file| file.len());
    let name = continued_by(repo, &input.session(format))?;
    let mark = bulk::last_mark(repo, &name, &input.session_id)?;
    Ok(length.saturating_sub(mark.map_or(0, |(_, mark)| mark.offset)))
}

/// Whether the transcript that a hook names is as it was when it was read. A trace that was deleted meanwhile is recorded again.
pub(crate) fn is_recorded(repo: &Repo, format: Format, input: &HookInput) -> Result<bool, HookError> {
    let Some((path, seen)) = input.transcript_path.as_deref().zip(SeenFiles::read(repo, format)) else {
        return Ok(false);
    };
    let is_known = FileState::with_sub_agents(format, path).is_some_and(|state| seen.has(path, state));
    Ok(is_known && repo.find_ref(&continued_by(repo, &input.session(format))?.refname())?.is_some())
}

/// Imports the transcript that a hook names into the trace that continues its session; `None` if there is no transcript.
pub(crate) fn import(
    context: ImportContext<'_>,
    format: Format,
    input: &HookInput,
) -> Result<Option<Imported>, HookError> {
    if let Some(text) = &input.transcript {
        return import_text(context, format, input, text.get()).map(Some);
    }
    // An agent may name the file before it has written anything.
    let Some(path) = input.transcript_path.as_deref().filter(|path| path.exists()) else { return Ok(None) };
    import_file(context, format, Destination::SessionOf(input.session(format)), path).map(Some)
}

/// Imports a transcript. The second of two concurrent hooks that read it waits for the first.
pub(super) fn import_file(
    context: ImportContext<'_>,
    format: Format,
    destination: Destination,
    path: &Path,
) -> Result<Imported, HookError> {
    check_regular(path).map_err(|source| SessionError::Open { path: path.to_owned(), source })?;
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let _lock = context.repo.lock_transcript(&real.to_string_lossy())?;
    let imported = session::import(context, format, destination, path, &|_| ())?;
    log_refused(context, format, &imported);
    Ok(imported)
}

/// Imports the transcript that the input of a hook contains.
fn import_text(
    context: ImportContext<'_>,
    format: Format,
    input: &HookInput,
    text: &str,
) -> Result<Imported, HookError> {
    let destination = match &input.parent_id {
        None => Destination::SessionOf(input.session(format)),
        Some(parent) => {
            let of = TraceName::of_session(format.as_str(), parent);
            Destination::SubAgent { family: of.clone(), of, id: input.session_id.clone() }
        }
    };
    let _lock = context.repo.lock_transcript(input.session(format).as_str())?;
    let imported = transcript(context, format, destination, Input::Stream(Box::new(text.as_bytes())))?;
    log_refused(context, format, &imported);
    Ok(imported)
}

fn log_refused(context: ImportContext<'_>, format: Format, imported: &Imported) {
    for (name, report) in &imported.traces {
        for (purge, count) in &report.purged {
            let refused = format!("trace `{name}`: not imported: {count} items, {purge}");
            // If the log cannot be written, nobody can be told.
            let _ = log(context.repo, context.signature.clock, format.as_str(), &refused);
        }
    }
}

pub(crate) fn log_path(common_dir: &Path) -> PathBuf {
    common_dir.join("trace").join("hook.log")
}

pub(crate) fn log(repo: &Repo, at: Time, agent: &str, failure: &str) -> io::Result<()> {
    let path = log_path(repo.common_dir());
    path.parent().map_or(Ok(()), create_folders)?;
    let is_full = fs::metadata(&path).is_ok_and(|file| file.len() > MAX_LOG);
    let mut file = OpenOptions::new().create(true).write(true).append(!is_full).truncate(is_full).open(&path)?;
    // The owner can share it.
    let _ = repo.share_file(&path);
    file.write_all(format!("{at} {agent}: {}\n", one_line(failure)).as_bytes())
}

pub(crate) fn failures(common_dir: &Path) -> io::Result<Vec<String>> {
    match fs::read(log_path(common_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        log => Ok(String::from_utf8_lossy(&log?).lines().map(str::to_owned).collect()),
    }
}
