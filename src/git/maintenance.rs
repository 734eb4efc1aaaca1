//! Keeping the repository tidy, as git's own commands do.

use std::io;
use std::process::Stdio;

use super::error::GitError;
use super::open::Repo;

/// What `git gc` is told beside its own settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collect {
    /// Only if git finds that it is due.
    pub auto: bool,
    /// Take longer for a smaller result.
    pub aggressive: bool,
    /// The age from which what nothing leads to is removed, as git takes dates; none: as git is set up.
    pub prune: Option<String>,
    /// Remove nothing.
    pub no_prune: bool,
    /// Say nothing.
    pub quiet: bool,
}

impl Repo {
    /// Runs `git gc`, whose progress and words go to stderr, and waits for it.
    ///
    /// # Errors
    ///
    /// [`GitError::Spawn`] if there is no git, [`GitError::Command`] if it fails; it said why.
    pub fn collect(&self, options: &Collect) -> Result<(), GitError> {
        let mut command = self.git("gc");
        command.args(options.auto.then_some("--auto"));
        command.args(options.aggressive.then_some("--aggressive"));
        command.args(options.prune.as_ref().map(|date| format!("--prune={date}")));
        command.args(options.no_prune.then_some("--no-prune"));
        command.args(options.quiet.then_some("--quiet"));
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
