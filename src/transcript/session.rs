//! Importing a session: its transcript, and those of its sub-agents that have files of their own.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::claude_code;
use super::format::Format;
use super::import::{self, Destination, Imported, Writing};
use super::input::{Input, Watch};
use crate::base::error::Diagnostic;
use crate::trace::TraceError;

/// Why a session could not be imported.
#[derive(Debug, Error)]
pub(crate) enum SessionError {
    /// A file of it could not be opened.
    #[error("cannot read `{}`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of it could not be imported.
    #[error("cannot import `{}`", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
}

impl Diagnostic for SessionError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Import { source: error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Imports the transcript at `path`, and after it those of its sub-agents, each into a trace of its own.
///
/// # Errors
///
/// [`SessionError`]; what was imported before stays, and the next import goes on from there.
pub(crate) fn import(
    writing: Writing<'_>,
    format: Format,
    destination: Destination,
    path: &Path,
    watch: Watch<'_>,
) -> Result<Imported, SessionError> {
    let mut imported = import_file(writing, format, destination, path, watch)?;
    let Some((main, _)) = imported.traces.first() else { return Ok(imported) };
    let main = main.clone();
    let sub_agents = match format {
        Format::ClaudeCode => claude_code::sub_agents(path),
        // A sub-agent of theirs has a session of its own.
        Format::Codex | Format::GeminiCli | Format::SweAgent => return Ok(imported),
    };
    let sub_agents = sub_agents.map_err(|source| SessionError::Open { path: path.to_owned(), source })?;
    for sub_agent in sub_agents {
        let destination = Destination::Trace(main.of_sub_agent(&sub_agent.id));
        let more = import_file(writing, format, destination, &sub_agent.path, &|_| ())?;
        imported.traces.extend(more.traces.into_iter().filter(|(_, report)| report.tip.is_some()));
    }
    Ok(imported)
}

fn import_file(
    writing: Writing<'_>,
    format: Format,
    destination: Destination,
    path: &Path,
    watch: Watch<'_>,
) -> Result<Imported, SessionError> {
    let file = File::open(path).map_err(|source| SessionError::Open { path: path.to_owned(), source })?;
    import::transcript(writing, format, destination, Input::File(file, watch))
        .map_err(|source| SessionError::Import { path: path.to_owned(), source })
}
