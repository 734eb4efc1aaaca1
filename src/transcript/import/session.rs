//! Imports a session: its transcript, and those of its sub-agents that have their own files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::input::{Input, ProgressFn};
use super::seen::{FileState, LastRecording, SeenFiles};
use super::{Destination, ImportContext, Imported, transcript};
use crate::base::error::Diagnostic;
use crate::trace::TraceError;
use crate::transcript::format::Format;

#[derive(Debug, Error)]
pub(crate) enum SessionError {
    #[error("cannot read `{}`", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("cannot read the sub-agents of `{}`", path.display())]
    SubAgents { path: PathBuf, source: io::Error },
    #[error("cannot import `{}`", path.display())]
    Import { path: PathBuf, source: TraceError },
}

impl Diagnostic for SessionError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Open { .. } | Self::SubAgents { .. } => None,
            Self::Import { source, .. } => Some(source),
        }
    }
}

/// Imports the transcript at `path` and then those of its sub-agents, each into another trace.
///
/// On an error, what was imported before stays, and the next import continues from there.
pub(crate) fn import(
    context: ImportContext<'_>,
    format: Format,
    destination: Destination,
    path: &Path,
    progress: ProgressFn<'_>,
) -> Result<Imported, SessionError> {
    let import_file = |destination, path: &Path, progress| {
        let file = File::open(path).map_err(|source| SessionError::Open { path: path.to_owned(), source })?;
        transcript(context, format, destination, Input::File(&file, progress))
            .map_err(|source| SessionError::Import { path: path.to_owned(), source })
    };
    let seen = match &destination {
        Destination::Session { .. } | Destination::SessionOf(_) => FileState::with_sub_agents(format, path),
        Destination::Trace(_) | Destination::SubAgent { .. } => None,
    };
    let mut imported = import_file(destination, path, progress)?;
    let sub_agents = (format.agent().sub_agents)(path);
    for sub_agent in sub_agents.map_err(|source| SessionError::SubAgents { path: path.to_owned(), source })? {
        let destination = Destination::SubAgent { of: imported.base.clone(), id: sub_agent.id };
        let more = import_file(destination, &sub_agent.path, &|_| ())?;
        imported.traces.extend(more.traces.into_iter().filter(|(_, report)| report.tip.is_some()));
    }
    if let (Some(state), Some(mut files)) = (seen, SeenFiles::read(context.repo, format)) {
        files.note(path, state);
        if let Some((name, _)) = imported.traces.iter().find(|(_, report)| report.recorded > 0) {
            files.set_last(LastRecording::new(name, context.signature.clock));
        }
        files.write(context.repo, format);
    }
    Ok(imported)
}
