//! A lock between our own writers that the kernel releases when its holder dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::error::GitError;
use super::open::Repo;

/// How long a writer waits. Longer than [`STALE_LOCK`], so that a killed process stops nobody.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_secs(12);

/// A held lock of a ref. Dropping it releases it, and so does the end of the process.
#[derive(Debug)]
pub(crate) struct RefLock {
    refname: String,
    _file: File,
}

impl RefLock {
    pub(crate) fn refname(&self) -> &str {
        &self.refname
    }
}

impl Repo {
    /// Takes the lock among our own processes. It must not be held while a user's command runs.
    /// | Its file stays behind empty: removing it would let two processes hold two locks of one name.
    pub(crate) fn lock(&self, refname: &str) -> Result<RefLock, GitError> {
        let folder = self.common_dir().join("trace").join("locks");
        // Two names with the same hash would only wait for one another.
        let path = folder.join(&blake3::hash(refname.as_bytes()).to_hex()[..16]);
        let open = || OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder).map_err(|source| GitError::io("create the folder", &folder, source))?;
                open()
            }
            opened => opened,
        }
        .map_err(|source| GitError::io("write the lock file", &path, source))?;

        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(RefLock { refname: refname.to_owned(), _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_PATIENCE => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(GitError::Busy { what: format!("`{refname}`"), seconds: LOCK_PATIENCE.as_secs() });
                }
                Err(TryLockError::Error(source)) => return Err(GitError::io("lock", &path, source)),
            }
        }
    }
}
