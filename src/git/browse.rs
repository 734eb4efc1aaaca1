//! Showing a file in the user's browser, as git does.

use std::path::Path;
use std::process::Command;

use super::error::GitError;

/// Opens a file in the browser that the setting `key` names, or git's own `web.browser`; what git finds where neither is set.
/// Waits for it where it is one of a terminal.
pub(crate) fn browse(file: &Path, key: &str) -> Result<(), GitError> {
    let command = "web--browse";
    let status = Command::new("git").args([command, &format!("--config={key}")]).arg(file).status();
    let status = status.map_err(|source| GitError::Spawn { command: command.to_owned(), source })?;
    if status.success() {
        Ok(())
    } else {
        Err(GitError::Command { command: command.to_owned(), stderr: "no browser could be started".to_owned() })
    }
}
