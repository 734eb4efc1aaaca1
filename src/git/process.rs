//! Running git itself, for what libgit2 cannot be trusted with.

use std::process::Stdio;

use super::error::GitError;
use super::open::Repo;
use crate::base::process::{Process, ProcessError};

/// What a git command printed, and how it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    /// Exit status; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Answer {
    /// Runs git and waits for its answer, whatever its exit status.
    pub(super) fn of(subcommand: &str, git: &mut Process) -> Result<Self, GitError> {
        let output = git.output().map_err(|error| GitError::process(subcommand, error))?;
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok(Self { code: output.status.code(), stdout: output.stdout, stderr })
    }

    pub(super) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    pub(super) fn into_stdout(self, subcommand: &str) -> Result<Vec<u8>, GitError> {
        if self.is_success() { Ok(self.stdout) } else { Err(self.into_error(subcommand)) }
    }

    pub(super) fn into_error(self, subcommand: &str) -> GitError {
        GitError::Command { command: subcommand.to_owned(), stderr: self.stderr }
    }
}

impl GitError {
    pub(super) fn process(subcommand: &str, error: ProcessError) -> Self {
        let command = subcommand.to_owned();
        match error {
            ProcessError::Start { source, .. } => Self::Spawn { command, source },
            ProcessError::Failed { status, .. } => Self::Command { command, stderr: status.to_string() },
        }
    }
}

impl Repo {
    /// A `git` command for this repository. Its output is read by a program, so pager, prompts, and translations are off.
    pub(super) fn git(&self, subcommand: &str) -> Process {
        self.git_with(&[], subcommand)
    }

    /// The same with settings, each `key=value`, for this command only.
    pub(super) fn git_with(&self, settings: &[&str], subcommand: &str) -> Process {
        let mut git = Process::new("git");
        for setting in settings {
            git.args(["-c", setting]);
        }
        git.env("GIT_DIR", self.git_dir()).env("GIT_PAGER", "cat").env("LC_ALL", "C");
        if let Some(worktree) = self.worktree() {
            git.env("GIT_WORK_TREE", worktree);
        }
        git.arg(subcommand).stdin(Stdio::null());
        git
    }

    /// Runs a git command with `input` on its stdin and returns its stdout. An exit status other than 0 is an error.
    pub(super) fn run_git(subcommand: &str, mut git: Process, input: &[u8]) -> Result<Vec<u8>, GitError> {
        Answer::of(subcommand, git.input(input))?.into_stdout(subcommand)
    }
}
