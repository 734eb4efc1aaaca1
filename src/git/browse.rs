//! Showing a file in the user's browser, as git does.

use std::path::Path;

use super::error::GitError;
use crate::base::process::Process;

/// Opens a file in the browser that the setting `key` names, else in `web.browser`, else in one that git finds. Waits for a
/// browser that runs in the terminal.
pub(crate) fn browse(file: &Path, key: &str) -> Result<(), GitError> {
    let command = "web--browse";
    let status = Process::new("git").args([command, &format!("--config={key}")]).arg(file).status();
    if status.map_err(|error| GitError::process(command, error))?.success() {
        Ok(())
    } else {
        Err(GitError::Command { command: command.to_owned(), stderr: "no browser could be started".to_owned() })
    }
}
