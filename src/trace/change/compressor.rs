//! The user's command that makes short texts of long ones: git config `trace.compressor`.
//!
//! It gets a prompt on stdin and prints the summary on stdout. No lock may be held while it runs.

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::process::{Process, ProcessError};
use crate::trace::model::trailers::one_line;

/// Name of the setting.
pub(crate) const SETTING: &str = "trace.compressor";

/// Why the command gave no summary.
#[derive(Debug, Error)]
pub(crate) enum CompressorError {
    /// It did not run, or said that it failed.
    #[error("cannot compress with the command in `trace.compressor`; nothing was changed")]
    Shell(#[from] ProcessError),
    /// It printed nothing but white space and control characters.
    #[error("the command in `trace.compressor` printed no summary, so nothing was changed")]
    NoText,
}

impl Diagnostic for CompressorError {}

/// Runs `command` with `prompt` on its stdin, and gives what it printed without white space around it.
pub(crate) fn run(command: &str, prompt: String) -> Result<Vec<u8>, CompressorError> {
    let printed = Process::shell(command).input(prompt).filter()?;
    let text = printed.trim_ascii();
    let is_empty = one_line(&String::from_utf8_lossy(text)).is_empty();
    if is_empty { Err(CompressorError::NoText) } else { Ok(text.to_vec()) }
}
