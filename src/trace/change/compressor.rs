//! The user's command that writes summaries: git config `trace.compressor`.
//!
//! It reads a prompt from stdin and prints the summary on stdout. No lock may be held while it runs.

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::process::ProcessError;
use crate::git::Repo;
use crate::trace::TraceError;
use crate::trace::model::trailers::one_line;
use crate::trace::store::budget_policy::IN_COMPRESSOR;

pub(crate) const SETTING: &str = "trace.compressor";

#[derive(Debug, Error)]
pub(crate) enum CompressorError {
    #[error("cannot compress with the command in `trace.compressor`")]
    Shell(#[from] ProcessError),
    #[error("the command in `trace.compressor` printed no summary")]
    NoText,
}

impl Diagnostic for CompressorError {}

impl From<CompressorError> for TraceError {
    fn from(error: CompressorError) -> Self {
        Self::Compressor(Box::new(error))
    }
}

/// Runs the command and returns the summary without surrounding white space.
pub(crate) fn run(repo: &Repo, command: &str, prompt: String) -> Result<Vec<u8>, CompressorError> {
    let printed = repo.shell(command).env(IN_COMPRESSOR, "1").input(prompt).filter()?;
    let text = printed.trim_ascii();
    if is_blank(text) { Err(CompressorError::NoText) } else { Ok(text.to_vec()) }
}

/// Whether a text has nothing but white space and control characters.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    one_line(&String::from_utf8_lossy(text)).is_empty()
}
