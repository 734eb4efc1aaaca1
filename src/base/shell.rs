//! The user's own commands, from settings: run in the shell, as git runs those of its settings.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::thread;

use thiserror::Error;

/// Why a command of the user's gave no result.
#[derive(Debug, Error)]
pub(crate) enum ShellError {
    #[error("cannot run `{command}`")]
    Run { command: String, source: io::Error },
    #[error("`{command}` ended with {status}")]
    Failed { command: String, status: String },
}

/// Runs `command` with `input` on its stdin and returns what it printed. Its stderr is the user's.
pub(crate) fn filter(command: &str, input: Vec<u8>) -> Result<Vec<u8>, ShellError> {
    let failed = |source| ShellError::Run { command: command.to_owned(), source };
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = shell.spawn().map_err(failed)?;
    let stdin = child.stdin.take();
    // Both ways at once: a command that prints while it reads must not wait for us.
    let writer = thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&input)));
    let output = child.wait_with_output().map_err(failed)?;
    match writer.join() {
        // One that needs no more than the first lines may stop reading.
        Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => return Err(failed(error)),
        _ => {}
    }
    if !output.status.success() {
        return Err(ShellError::Failed { command: command.to_owned(), status: output.status.to_string() });
    }
    Ok(output.stdout)
}
