//! Keeping `git gc` and `git maintenance` away while objects are removed: they copy the objects that they saw before into new packs.
//! A plain `git repack` takes no lock.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::process::Process;
use crate::git::error::GitError;
use crate::git::lock::{LOCK_PATIENCE, Wait};
use crate::git::open::Repo;
use crate::git::process::text_of;
use crate::git::refs::remove_older;

const PAUSE: Duration = Duration::from_millis(100);
/// As for git: an older lock belongs to a process that is gone, perhaps on another machine.
const STALE: Duration = Duration::from_secs(12 * 60 * 60);

/// Dropping it lets git pack again.
#[derive(Debug)]
pub(crate) struct PackersLock(Vec<PathBuf>);

impl Drop for PackersLock {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

impl Repo {
    /// Waits until neither runs, and keeps both from starting.
    pub(crate) fn lock_out_packers(&self) -> Result<PackersLock, GitError> {
        let host = text_of(Process::named("uname", "uname").arg("-n")).unwrap_or_default();
        let owner = format!("{} {}", std::process::id(), host.trim());
        let mut held = PackersLock(Vec::new());
        for path in [self.common_dir().join("gc.pid"), self.objects.join("maintenance.lock")] {
            let mut wait = Wait::new(self, LOCK_PATIENCE);
            while let Err(error) = create(&path, &owner) {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    return Err(GitError::io("write the lock", &path, error));
                }
                if is_of_dead(&path, host.trim()) {
                    let _ = fs::remove_file(&path);
                } else if !remove_older(&path, STALE) {
                    let other = format!("this repository, as `{}` says", path.display());
                    if !wait.go_on(PAUSE, || format!("`git gc` is already running on {other}")) {
                        return Err(GitError::Collecting { other });
                    }
                }
            }
            held.0.push(path);
        }
        Ok(held)
    }
}

fn create(path: &Path, owner: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(owner.as_bytes())
}

/// Whether a lock names a process of this machine that does not run.
fn is_of_dead(path: &Path, host: &str) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some((pid, on)) = text.split_once(' ') else { return false };
    let is_ours = on.trim() == host && pid.parse::<u32>().is_ok();
    is_ours && cfg!(unix) && text_of(Process::named("kill", "kill").args(["-0", pid])).is_err()
}
