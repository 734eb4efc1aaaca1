//! Keeping the repository tidy, as git's own commands do.

use std::process::Stdio;

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// Starts `git maintenance run --auto` in the background and does not wait for it.
    ///
    /// Does nothing where `maintenance.auto` is off. git decides what is due, keeps others out and is safe beside writers.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be read. That git could not be started is not an error: nothing was lost.
    pub fn start_maintenance(&self) -> Result<(), GitError> {
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
