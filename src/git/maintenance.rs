//! Maintenance, done by git's own commands.

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// Runs `git gc`. Its progress and messages go to stderr.
    pub(crate) fn collect(&self, options: &[String]) -> Result<(), GitError> {
        self.remove_stale_git_locks();
        let mut command = self.git("gc");
        command.args(options);
        command.stdout_to_stderr().run().map_err(|error| GitError::process("gc", error))
    }

    /// Starts `git maintenance run --auto` in the background, unless `maintenance.auto` is off. It is safe beside writers. A
    /// failure to start is ignored: nothing is lost.
    pub(crate) fn start_maintenance(&self) -> Result<(), GitError> {
        if self.config()?.boolean("maintenance.auto")? == Some(false) {
            return Ok(());
        }
        let _ = self.git("maintenance").args(["run", "--auto", "--quiet"]).detach();
        Ok(())
    }
}
