//! Calling git itself, for what libgit2 must not be trusted with.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// A `git` command for this repository, ready to be given arguments.
    ///
    /// Pager, prompts and translations are off: the answer is read by a program.
    pub(super) fn git(&self, subcommand: &str) -> Command {
        self.git_with(&[], subcommand)
    }

    /// The same with settings, each `key=value`, for this call alone.
    pub(super) fn git_with(&self, settings: &[&str], subcommand: &str) -> Command {
        let mut command = Command::new("git");
        for setting in settings {
            command.args(["-c", setting]);
        }
        command.env("GIT_DIR", self.git_dir()).env("GIT_PAGER", "cat").env("LC_ALL", "C");
        if let Some(worktree) = self.worktree() {
            command.env("GIT_WORK_TREE", worktree);
        }
        command.arg(subcommand).stdin(Stdio::null());
        command
    }

    /// Runs a prepared `git` command with `input` on its stdin and returns its stdout.
    pub(super) fn run_git(subcommand: &str, mut command: Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
        let spawn_error = |source| GitError::Spawn { command: subcommand.to_owned(), source };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(spawn_error)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A git that ended early says why on stderr; the broken pipe is not the news.
            let _ = stdin.write_all(input);
        }
        let output = child.wait_with_output().map_err(spawn_error)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(GitError::Command { command: subcommand.to_owned(), stderr })
        }
    }
}
