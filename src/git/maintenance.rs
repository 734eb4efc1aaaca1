//! Keeping the repository tidy, as git's own commands do.

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// Runs `git gc` with these options, whose progress and words go to stderr, and waits for it.
    pub(crate) fn collect(&self, options: &[String]) -> Result<(), GitError> {
        self.remove_stale_git_locks();
        let mut command = self.git("gc");
        command.args(options);
        command.stdout_to_stderr().run().map_err(|error| GitError::process("gc", error))
    }

    /// Starts `git maintenance run --auto` in the background and does not wait for it.
    ///
    /// Does nothing where `maintenance.auto` is off. git decides what is due, keeps others out and is safe beside writers.
    pub(crate) fn start_maintenance(&self) -> Result<(), GitError> {
        if self.config()?.boolean("maintenance.auto")? == Some(false) {
            return Ok(());
        }
        let _ = self.git("maintenance").args(["run", "--auto", "--quiet"]).detach();
        Ok(())
    }
}
