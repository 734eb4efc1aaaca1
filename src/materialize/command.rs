//! A command of the user's in place of the built-in materializing: git config `trace.materializer`.
//!
//! It gets the items that are not left out on stdin, oldest first, one JSON object a line (the fields of `export`, with `seq`
//! and `priority`), and what it prints is the result, byte for byte. It runs in the shell, as git's own commands in
//! settings do.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread;

use thiserror::Error;

use crate::git::Repo;
use crate::trace::TraceError;
use crate::trace::json::to_json;
use crate::trace::view::View;

/// Why the user's command gave no result.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It did not run.
    #[error("cannot run `{command}`")]
    Run {
        /// The command.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// It said that it failed.
    #[error("`{command}` ended with {status}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
    },
}

/// Runs `command` on what a view shows and returns what it printed. Its stderr is the user's.
///
/// # Errors
///
/// [`CommandError::Failed`] if its exit status is not 0, whatever it printed.
pub fn run(repo: &Repo, view: &View, command: &str) -> Result<Vec<u8>, CommandError> {
    let mut lines = Vec::new();
    view.for_each_item(repo, |slot, reading| {
        if view.left_out(slot).is_none() {
            let mut object = to_json(&reading.item);
            object.insert("seq".to_owned(), slot.seq.into());
            object.insert("priority".to_owned(), view.level(slot).level().as_str().into());
            lines.extend(serde_json::Value::Object(object).to_string().into_bytes());
            lines.push(b'\n');
        }
        Ok(())
    })?;
    let failed = |source| CommandError::Run { command: command.to_owned(), source };
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = shell.spawn().map_err(failed)?;
    let stdin = child.stdin.take();
    // Both ways at once: a command that prints while it reads must not wait for us.
    let writer = thread::spawn(move || stdin.map_or(Ok(()), |mut stdin| stdin.write_all(&lines)));
    let output = child.wait_with_output().map_err(failed)?;
    match writer.join() {
        // One that needs no more than the first lines may stop reading.
        Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => return Err(failed(error)),
        _ => {}
    }
    if !output.status.success() {
        return Err(CommandError::Failed { command: command.to_owned(), status: output.status.to_string() });
    }
    Ok(output.stdout)
}
