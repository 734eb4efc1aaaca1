//! Keeping `git gc` and `git maintenance` away while objects are removed: they copy objects that they saw before into new packs.
//! A plain `git repack` takes no lock.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::process::Process;
use crate::git::error::GitError;
use crate::git::lock::{LOCK_PATIENCE, Wait};
use crate::git::open::Repo;
use crate::git::process::{Answer, text_of};
use crate::git::refs::{STALE_GIT_LOCK, remove_older};

const PAUSE: Duration = Duration::from_millis(100);
/// As for git: an older `gc.pid` belongs to a process that is gone, perhaps on another machine.
const STALE_COLLECTOR: Duration = Duration::from_secs(12 * 60 * 60);

/// Dropping it lets git collect again. If this process is killed, git sees that the process is gone.
#[derive(Debug)]
pub(crate) struct CollectorLock(PathBuf);

impl Drop for CollectorLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Repo {
    /// Waits until neither runs, and keeps `git gc` from starting.
    pub(crate) fn lock_out_collectors(&self) -> Result<CollectorLock, GitError> {
        let host = host();
        let path = self.common_dir().join("gc.pid");
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        while let Err(error) = create(&path, &format!("{} {host}", std::process::id())) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(GitError::io("write the lock", &path, error));
            }
            if is_of_dead(&path, &host) {
                fs::remove_file(&path).map_err(|error| GitError::io("remove the lock", &path, error))?;
            } else if !remove_older(&path, STALE_COLLECTOR) {
                go_on(&mut wait, &path)?;
            }
        }
        let lock = CollectorLock(path);
        self.wait_for_maintenance()?;
        Ok(lock)
    }

    /// Waits until no `git maintenance` runs. It is not locked out: if this process were killed, git would never run it again.
    pub(crate) fn wait_for_maintenance(&self) -> Result<(), GitError> {
        let path = self.objects.join("maintenance.lock");
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        let is_new = || fs::metadata(&path)?.modified()?.elapsed().map_err(io::Error::other);
        while is_new().is_ok_and(|age| age < STALE_GIT_LOCK) {
            go_on(&mut wait, &path)?;
        }
        Ok(())
    }
}

fn go_on(wait: &mut Wait<'_>, path: &Path) -> Result<(), GitError> {
    let other = format!("this repository, as `{}` says", path.display());
    if wait.go_on(PAUSE, || format!("`git gc` is already running on {other}")) {
        return Ok(());
    }
    Err(GitError::Collecting { other })
}

/// Creates a lock that always has its text: git takes one without for that of a dead process.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Whether a lock names a process of this machine that does not run, or none. A process of another user runs, too.
fn is_of_dead(path: &Path, host: &str) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    let Some((pid, on)) = text.split_once(' ').filter(|(pid, _)| pid.parse::<u32>().is_ok()) else { return true };
    on.trim() == host && is_dead(pid)
}

/// Whether a file protects a pack that git was fetching or receiving when it was killed. See `index-pack --keep` in git.
pub(super) fn keeps_for_dead(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    let named = text.strip_prefix("fetch-pack ").or_else(|| text.strip_prefix("receive-pack "));
    named.and_then(|named| named.split_once(" on ")).is_some_and(|(pid, on)| on.trim() == host() && is_dead(pid))
}

/// The name of this machine, as git writes it to locks.
fn host() -> String {
    text_of(Process::named("uname", "uname").arg("-n")).unwrap_or_default().trim().to_owned()
}

pub(super) fn is_dead(pid: &str) -> bool {
    if !cfg!(unix) {
        return false;
    }
    let mut kill = Process::named("kill", "kill");
    let answer = Answer::of(kill.args(["-0", pid]).env("LC_ALL", "C"));
    answer.is_ok_and(|answer| !answer.is_success() && answer.stderr.contains("No such process"))
}
