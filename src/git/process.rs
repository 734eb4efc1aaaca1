//! Running git itself, for what libgit2 cannot be trusted with, and maintenance.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::GitError;
use super::lock::{LOCK_PATIENCE, Wait};
use super::open::Repo;
use super::trust::leads_to;
use crate::base::effect;
use crate::base::process::{Place, Process, ProcessError};

/// How long to wait for another `git gc` before the next attempt.
const COLLECTOR_PAUSE: Duration = Duration::from_millis(100);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    command: String,
    /// Exit status; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Answer {
    pub(super) fn of(git: &mut Process) -> Result<Self, GitError> {
        let output = git.output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Ok(Self { command: git.name().to_owned(), code: output.status.code(), stdout: output.stdout, stderr })
    }

    pub(super) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    pub(crate) fn into_stdout(self) -> Result<Vec<u8>, GitError> {
        if self.is_success() { Ok(self.stdout) } else { Err(self.into_error()) }
    }

    /// The printed path, without the last line end. It need not be UTF-8.
    pub(crate) fn into_path(self) -> Result<PathBuf, GitError> {
        let printed = self.into_stdout()?;
        Ok(path_of(printed.strip_suffix(b"\n").unwrap_or(&printed)))
    }

    pub(super) fn into_error(self) -> GitError {
        if self.stderr.lines().any(|line| line.starts_with("fatal: not a git repository")) {
            return GitError::NotARepository;
        }
        GitError::Command { command: self.command, stderr: self.stderr }
    }
}

impl From<ProcessError> for GitError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Start { command, source } => Self::Spawn { command, source },
            ProcessError::Failed { command, status } => Self::Command { command, stderr: status.to_string() },
        }
    }
}

/// Git, whose output is read by a program: pager, prompts, and translations are off. Errors name the subcommand. Its hooks, and
/// `gpg`, need the encoding of the user's locale.
///
/// Like libgit2, it sees the objects that `refs/replace/` replaces, and not their replacements.
pub(super) fn git(subcommand: &str) -> Process {
    let mut git = Process::named("git", subcommand);
    git.env("GIT_PAGER", "cat").env("LANGUAGE", "C").env("GIT_NO_REPLACE_OBJECTS", "1").stdin(Stdio::null());
    // Only `git config` reads it, and would neither read nor change what all other commands read.
    git.env_remove("GIT_CONFIG");
    // It overrides options such as `-U0`.
    git.env_remove("GIT_DIFF_OPTS");
    git
}

/// Runs git and returns what it prints. An exit status other than 0 is an error.
pub(super) fn text_of(git: &mut Process) -> Result<String, GitError> {
    Ok(String::from_utf8_lossy(&Answer::of(git)?.into_stdout()?).into_owned())
}

/// A path as git prints or stores it: on Unix any bytes.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

impl Repo {
    pub(super) fn git(&self, subcommand: &str) -> Process {
        self.git_with(&[], subcommand)
    }

    pub(super) fn git_with(&self, settings: &[&str], subcommand: &str) -> Process {
        let mut git = git(subcommand);
        for setting in settings {
            git.args(["-c", setting]);
        }
        // Otherwise it finds this repository as for the user, by a path that `includeIf.gitdir` matches.
        if self.offline.get() {
            git.env("GIT_NO_LAZY_FETCH", "1");
        }
        if self.is_elsewhere() {
            git.elsewhere();
            // Programs that its settings name by a relative path are its own.
            git.current_dir(self.root());
            // A slash at the end would change what `includeIf.gitdir` matches.
            git.env("GIT_DIR", self.inner.path().components().as_path());
            // Git fails if it is gone, as that of a linked worktree may be.
            if let Some(worktree) = self.worktree().filter(|worktree| worktree.exists()) {
                git.env("GIT_WORK_TREE", worktree);
            }
        }
        git.arg(subcommand);
        git
    }

    /// The root of the working tree, or the git folder if there is none.
    fn root(&self) -> PathBuf {
        self.worktree().filter(|root| root.exists()).unwrap_or_else(|| self.git_dir().to_owned())
    }

    /// Where git runs programs that settings name: in the root of the working tree, if this process is in it, else where this process is.
    pub(crate) fn place_of_programs(&self) -> Place {
        let is_set = |variable| self.env().is_set(variable);
        let folder = if self.is_elsewhere() || self.runs_in_worktree() { self.root() } else { PathBuf::from(".") };
        // With another work tree than that around the git directory, git would search from there.
        let is_named = is_set("GIT_WORK_TREE") || self.worktree().is_some_and(|root| !leads_to(&root, self.git_dir()));
        let is_needed = !self.is_elsewhere() && is_named && !is_set("GIT_DIR");
        Place { folder, is_elsewhere: self.is_elsewhere(), git_dir: is_needed.then(|| self.git_dir().to_owned()) }
    }

    /// The editor or pager that git would start, by the name of the variable; `None` if there is none. Git knows settings, other variables,
    /// and the choice of the distribution. The variable `GIT_PAGER` itself does not count.
    pub(crate) fn program(&self, variable: &str) -> Result<Option<String>, GitError> {
        let answer = Answer::of(self.git("var").env_remove("GIT_PAGER").arg(variable))?;
        Ok(answer.is_success().then(|| String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned()))
    }

    /// A command of the user's settings.
    pub(crate) fn shell(&self, command: &str) -> Process {
        let mut shell = Process::shell(command);
        self.place_of_programs().apply(&mut shell);
        shell
    }

    /// Runs `git gc`. Its progress and messages go to stderr.
    pub(crate) fn collect(&self, options: &[String]) -> Result<(), GitError> {
        self.remove_stale_git_locks();
        self.remove_stale_pack_files();
        // By default git keeps unreachable objects for two weeks. A writer's must not be removed between being written and being
        // reachable.
        let is_pruning = options.iter().any(|option| option.starts_with("--prune")) || self.prunes_soon()?;
        let _alone = if is_pruning { Some(self.lock_out_writers()?) } else { None };
        // In the background, it would continue without the lock.
        let settings = if is_pruning { &["gc.autoDetach=false"][..] } else { &[] };
        let gc = || self.git_with(settings, "gc");
        let collector = self.common_dir().join("gc.pid");
        let is_first = || !collector.exists();
        // The user sees git's progress. Git removes its file when it ends, so a file after a failure is another process's.
        if is_first() {
            match gc().args(options).stdout_to_stderr().run() {
                Err(_) if !is_first() => {}
                done => {
                    effect::note_change();
                    return Ok(done?);
                }
            }
        }
        // Git maintenance, which our own commits start, takes seconds. Git itself judges whether the other process is alive.
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        loop {
            let answer = Answer::of(gc().args(options))?;
            let Some(other) = answer.stderr.split_once("gc is already running on ").filter(|_| !answer.is_success())
            else {
                effect::note_change();
                return answer.into_stdout().map(drop);
            };
            let other = other.1.split(" (").next().unwrap_or_default().to_owned();
            if !wait.go_on(COLLECTOR_PAUSE, || format!("`git gc` is already running on {other}")) {
                return Err(GitError::Collecting { other });
            }
        }
    }

    /// Starts `git maintenance run --auto` in the background, unless `maintenance.auto` is off. A failure to start is ignored:
    /// nothing is lost.
    pub(crate) fn start_maintenance(&self) -> Result<(), GitError> {
        if self.config()?.boolean("maintenance.auto")? != Some(false) {
            let settings = self.beside_writers()?;
            let _ = self.git_with(settings, "maintenance").args(["run", "--auto", "--quiet"]).detach();
        }
        Ok(())
    }

    /// The settings that make the upkeep by git safe beside writers.
    pub(super) fn beside_writers(&self) -> Result<&'static [&'static str], GitError> {
        Ok(if self.prunes_soon()? { &["gc.pruneExpire=2.weeks.ago"] } else { &[] })
    }

    /// Whether the settings let git remove objects that were written in the last hour, which no ref may hold yet.
    fn prunes_soon(&self) -> Result<bool, GitError> {
        const KEY: &str = "gc.pruneExpire";
        if self.config()?.text(KEY)?.is_none() {
            return Ok(false);
        }
        let answer = Answer::of(self.git("config").args(["--type=expiry-date", KEY]))?;
        // Git refuses other values when it collects.
        let expiry = String::from_utf8_lossy(&answer.stdout).trim().parse().unwrap_or(u64::MAX);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(expiry > now.as_secs().saturating_sub(60 * 60))
    }
}
