//! Imports a session: its transcript, and those of its sub-agents that have their own files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::input::{Input, ProgressFn, TranscriptFile};
use super::seen::{FileState, LastRecording, SeenFiles};
use super::{Destination, ImportContext, Imported, transcript};
use crate::base::error::Diagnostic;
use crate::trace::change::bulk::Report;
use crate::trace::{TraceError, TraceName};
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
        let open = format.agent().parts_of(path).and_then(|parts| TranscriptFile::open(&parts));
        let file = open.map_err(|source| SessionError::Open { path: path.to_owned(), source })?;
        transcript(context, format, destination, Input::File(&file, progress))
            .map_err(|source| SessionError::Import { path: path.to_owned(), source })
    };
    let seen = match &destination {
        Destination::Session { .. } | Destination::SessionOf(_) => FileState::with_sub_agents(format, path),
        Destination::Trace(_) | Destination::SubAgent { .. } => None,
    };
    let destination = match (destination, (format.agent().sub_agent)(path)) {
        (Destination::Session { .. } | Destination::SessionOf(_), Some((session, id))) => {
            let family = TraceName::of_session(format.as_str(), &session);
            Destination::SubAgent { of: family.clone(), id, family }
        }
        (destination, _) => destination,
    };
    let mut imported = import_file(destination, path, progress)?;
    let sub_agents = format.agent().sub_agents_of(path);
    for sub_agent in sub_agents.map_err(|source| SessionError::SubAgents { path: path.to_owned(), source })? {
        let (of, family) = (imported.base.clone(), imported.family.clone());
        let destination = Destination::SubAgent { of, id: sub_agent.id, family };
        let more = import_file(destination, &sub_agent.path, &|_| ())?;
        imported.traces.extend(more.traces.into_iter().filter(|(_, report)| report.tip.is_some()));
    }
    if let (Some(state), Some(mut files)) = (seen, SeenFiles::read(context.repo, format)) {
        files.note(path, state);
        let is_last = |(name, report): &&(TraceName, Report)| report.recorded > 0 && !name.is_of_sub_agent();
        if let Some((name, _)) = imported.traces.iter().find(is_last) {
            files.set_last(LastRecording::new(name, context.signature.clock));
        }
        files.write(context.repo, format);
    }
    Ok(imported)
}
