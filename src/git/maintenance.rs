//! Keeping the repository tidy, as git's own commands do.

use std::io;
use std::process::Stdio;

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// Runs `git gc` with these options, whose progress and words go to stderr, and waits for it.
    pub(crate) fn collect(&self, options: &[String]) -> Result<(), GitError> {
        self.remove_stale_git_locks();
        let mut command = self.git("gc");
        command.args(options);
        let failed = |source| GitError::Spawn { command: "gc".to_owned(), source };
        let status = command.stdout(Stdio::from(io::stderr())).status().map_err(failed)?;
        if status.success() {
            return Ok(());
        }
        let stderr = match status.code() {
            Some(code) => format!("exit status {code}"),
            None => "a signal ended it".to_owned(),
        };
        Err(GitError::Command { command: "gc".to_owned(), stderr })
    }

    /// Starts `git maintenance run --auto` in the background and does not wait for it.
    ///
    /// Does nothing where `maintenance.auto` is off. git decides what is due, keeps others out and is safe beside writers.
    pub(crate) fn start_maintenance(&self) -> Result<(), GitError> {
        if self.config()?.boolean("maintenance.auto")? == Some(false) {
            return Ok(());
        }
        let mut command = self.git("maintenance");
        command.args(["run", "--auto", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // The child is left to itself: this process ends long before it.
        let _ = command.spawn();
        Ok(())
    }
}
