//! Changing git configuration through `git config`.
//!
//! Git fails at once if `config.lock` exists. This module waits for it, and removes one that is older than ten minutes: git holds
//! it only while it writes a file, so its owner was killed.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::call::Git;
use super::error::GitError;
use super::open::Repo;
use super::process::Answer;
use super::refs::{STALE_GIT_LOCK, remove_older};
use crate::base::effect;

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

/// Exit status of `git config` if there is nothing to remove.
const NOTHING_THERE: i32 = 5;

impl Git {
    /// Changes a configuration file once it is not locked.
    pub(crate) fn change_setting(&self, args: &[&str]) -> Result<(), GitError> {
        let args = [&["config"], args].concat();
        // Git names the file relative to the root of the working tree.
        let find = |named: &Path| {
            let name = named.file_name()?.to_str()?;
            self.path(&["rev-parse", "--git-path", name]).ok()
        };
        let answer = once_unlocked(find, || self.ask(&args))?;
        answer.into_stdout().map(drop)
    }
}

impl Repo {
    /// Does nothing if the setting has the value.
    pub(crate) fn add_setting(&self, key: &str, value: &str) -> Result<(), GitError> {
        let answer = self.answer_of_config(&["--null", "--get-all", key])?;
        let is_there = answer.stdout.split(|b| *b == 0).any(|there| there == value.as_bytes());
        if is_there { Ok(()) } else { self.change_setting(&["--add", key, value], &[]) }
    }

    /// Replaces all values of the setting.
    pub(crate) fn set_setting(&self, key: &str, value: &str) -> Result<(), GitError> {
        self.change_setting(&["--replace-all", key, value], &[])
    }

    pub(crate) fn remove_setting(&self, key: &str, value: &str) -> Result<(), GitError> {
        self.change_setting(&["--fixed-value", "--unset-all", key, value], &[NOTHING_THERE])
    }

    fn change_setting(&self, args: &[&str], allowed: &[i32]) -> Result<(), GitError> {
        let find = |named: &Path| Some(self.common_dir().join(named.file_name()?));
        let answer = once_unlocked(find, || self.answer_of_config(args))?;
        let is_done = answer.code.is_some_and(|code| code == 0 || allowed.contains(&code));
        if is_done { Ok(()) } else { Err(answer.into_error()) }
    }

    fn answer_of_config(&self, args: &[&str]) -> Result<Answer, GitError> {
        Answer::of(self.git("config").arg("--local").args(args))
    }
}

/// Replaces the text of a configuration file that exists, locked as git locks it. The file is removed if `change` returns `None`.
pub(crate) fn rewrite_settings(path: &Path, change: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Result<(), GitError> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut lock = path.clone().into_os_string();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let failed = |source| GitError::Io { action: "write", path: path.clone(), source };
    let start = Instant::now();
    let mut file = loop {
        match File::create_new(&lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => break file.map_err(failed)?,
        }
        if !remove_older(&lock, STALE_GIT_LOCK) {
            if start.elapsed() >= PATIENCE {
                return Err(GitError::SettingsLocked { path: lock });
            }
            thread::sleep(PAUSE);
        }
    };
    let replace = || {
        let text = fs::read(&path)?;
        // It may contain a password.
        file.set_permissions(path.metadata()?.permissions())?;
        match change(&text) {
            Some(new) if new == text => return fs::remove_file(&lock),
            Some(new) => file.write_all(&new)?,
            None => {
                fs::remove_file(&path)?;
                return fs::remove_file(&lock);
            }
        }
        file.sync_all()?;
        fs::rename(&lock, &path)
    };
    effect::note_change();
    replace().map_err(|error| {
        let _ = fs::remove_file(&lock);
        failed(error)
    })
}

/// Retries while the file is locked. `find` resolves a relative path that git printed.
fn once_unlocked(
    find: impl Fn(&Path) -> Option<PathBuf>,
    attempt: impl Fn() -> Result<Answer, GitError>,
) -> Result<Answer, GitError> {
    let start = Instant::now();
    loop {
        let answer = attempt()?;
        let Some(named) = locked_file(&answer) else {
            effect::note_change();
            return Ok(answer);
        };
        let path = if named.is_absolute() { Some(named) } else { find(&named) };
        let lock = path.map(|path| {
            // Git locks the file that links lead to.
            let mut lock = path.canonicalize().unwrap_or(path).into_os_string();
            lock.push(".lock");
            PathBuf::from(lock)
        });
        if lock.as_ref().is_some_and(|lock| remove_older(lock, STALE_GIT_LOCK)) {
            continue;
        }
        if start.elapsed() >= PATIENCE {
            return match lock {
                Some(path) => Err(GitError::SettingsLocked { path }),
                None => Ok(answer),
            };
        }
        thread::sleep(PAUSE);
    }
}

/// The file that was locked already, as git names it.
fn locked_file(answer: &Answer) -> Option<PathBuf> {
    let line = answer.stderr.lines().find_map(|line| line.split_once("could not lock config file "));
    let (_, rest) = line.filter(|_| answer.code != Some(0))?;
    rest.strip_suffix(": File exists").map(PathBuf::from)
}
