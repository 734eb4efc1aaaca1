//! The user's command that makes short texts of long ones: git config `trace.compressor`.
//!
//! It runs in the shell, as git's own commands in settings do, gets a prompt on stdin and prints the summary on stdout; its
//! stderr is the user's. No lock may be held while it runs.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::thread;

use thiserror::Error;

/// Name of the setting.
pub const SETTING: &str = "trace.compressor";

/// Why the command gave no summary.
#[derive(Debug, Error)]
pub enum CompressorError {
    /// It did not run.
    #[error("cannot run the compressor `{command}`")]
    Run {
        /// The command.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// It said that it failed.
    #[error("the compressor `{command}` ended with {status}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
    },
    /// It printed nothing but white space, or what is no text.
    #[error("the compressor `{command}` printed no text")]
    NoText {
        /// The command.
        command: String,
    },
}

/// Runs `command` with `prompt` on its stdin, and gives what it printed without white space around it.
///
/// # Errors
///
/// [`CompressorError`]; whatever a command printed that says it failed is dropped.
pub fn run(command: &str, prompt: &str) -> Result<String, CompressorError> {
    let named = || command.to_owned();
    let failed = |source| CompressorError::Run { command: named(), source };
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = shell.spawn().map_err(failed)?;
    let (stdin, prompt) = (child.stdin.take(), prompt.to_owned());
    // Both ways at once: a command that prints while it reads must not wait for us. One that does not care for its input
    // may close it.
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(prompt.as_bytes())));
    let output = child.wait_with_output().map_err(failed)?;
    drop(writer.join());
    if !output.status.success() {
        return Err(CompressorError::Failed { command: named(), status: output.status.to_string() });
    }
    match String::from_utf8(output.stdout).map(|text| text.trim().to_owned()) {
        Ok(text) if !text.is_empty() => Ok(text),
        _ => Err(CompressorError::NoText { command: named() }),
    }
}
