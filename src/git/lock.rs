//! Locks between our own processes that the kernel releases when their holder dies.
//!
//! Each ref has one. Processes that write objects before a ref holds them share another one, and `git trace gc --prune` takes that one
//! exclusively. The locks of many writers overlap without end, so both take turns: a writer that starts waits for a collector that
//! waits.

use std::fs::{File, OpenOptions, TryLockError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::error::GitError;
use super::open::Repo;
use crate::base::process::Process;

/// How long a writer waits. Longer than [`STALE_LOCK`], so that a killed process stops nobody.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_secs(12);

/// How long a writer waits for the summary of another one, which a model may write slowly.
const COMPRESSION_PATIENCE: Duration = Duration::from_secs(600);

/// How long a writer waits for `git trace gc --prune`, which takes long in a large repository.
const PRUNE_PATIENCE: Duration = Duration::from_secs(600);

/// After this time, a command reports the cause of its wait.
const SILENCE: Duration = Duration::from_millis(500);

/// A wait for another process.
pub(super) struct Wait<'r> {
    repo: &'r Repo,
    patience: Duration,
    start: Instant,
    is_told: bool,
}

impl<'r> Wait<'r> {
    pub(super) fn new(repo: &'r Repo, patience: Duration) -> Self {
        Self { repo, patience, start: Instant::now(), is_told: false }
    }

    /// Waits for `pause`, or returns false if the patience has ended. `cause` says what is in the way.
    pub(super) fn go_on(&mut self, pause: Duration, cause: impl FnOnce() -> String) -> bool {
        let elapsed = self.start.elapsed();
        if elapsed >= self.patience {
            return false;
        }
        if elapsed >= SILENCE && !self.is_told {
            self.is_told = true;
            self.repo.env().notice(&format!("{}; waiting up to {} seconds", cause(), self.patience.as_secs()));
        }
        thread::sleep(pause);
        true
    }
}

/// A held lock of a ref. Dropping it releases it, and so does the end of the process.
#[derive(Debug)]
pub(crate) struct RefLock {
    refname: String,
    _file: File,
    _objects: ObjectsLock,
}

/// Keeps `git trace gc --prune` from removing objects that were written and that no ref holds yet.
///
/// A git that moves a ref has the lock as well: it continues when this process is killed, and may then still move the ref to them.
#[derive(Debug)]
pub(crate) struct ObjectsLock(
    #[expect(dead_code, reason = "the kernel holds the lock as long as the file is open")] Arc<File>,
);

/// A held lock of [`Repo::lock_compression`] or [`Repo::lock_transcript`].
#[derive(Debug)]
pub(crate) struct WorkLock(#[expect(dead_code, reason = "the kernel holds the lock as long as the file is open")] File);

impl RefLock {
    pub(crate) fn refname(&self) -> &str {
        &self.refname
    }
}

impl Repo {
    /// Takes the lock among our own processes. It must not be held while a user's command runs.
    ///
    /// Its file stays behind empty: removing it would let two processes hold two locks of one name.
    pub(crate) fn lock(&self, refname: &str) -> Result<RefLock, GitError> {
        // Git removes these objects if a hook refuses the push. It refuses to move refs, too.
        if self.env.is_set("GIT_QUARANTINE_PATH") {
            return Err(GitError::Quarantine);
        }
        let objects = self.lock_objects()?;
        // Two names with the same hash would only wait for one another.
        let name = &blake3::hash(refname.as_bytes()).to_hex()[..16];
        let file = self.acquire(name, &format!("`{refname}`"), LOCK_PATIENCE, File::try_lock)?;
        Ok(RefLock { refname: refname.to_owned(), _file: file, _objects: objects })
    }

    /// Keeps the objects that this process writes, until refs hold them. Taken by [`Repo::lock`] too.
    pub(crate) fn lock_objects(&self) -> Result<ObjectsLock, GitError> {
        // A writer that holds the lock must not wait for a collector that waits for it.
        let held = self.objects_lock.borrow().upgrade();
        held.map_or_else(|| self.take_objects_lock(PRUNE_PATIENCE, File::try_lock_shared), |held| Ok(ObjectsLock(held)))
    }

    /// Waits until no process writes objects that no ref holds yet, and keeps it so. Removes what killed ones left.
    pub(crate) fn lock_out_writers(&self) -> Result<ObjectsLock, GitError> {
        let alone = self.take_objects_lock(LOCK_PATIENCE, File::try_lock)?;
        self.remove_pack_files(&alone);
        Ok(alone)
    }

    /// Removes the files of imports that were killed, if no process writes now.
    pub(crate) fn remove_stale_pack_files(&self) {
        if let Ok(alone) = self.take_objects_lock(Duration::ZERO, File::try_lock) {
            self.remove_pack_files(&alone);
        }
    }

    fn take_objects_lock(
        &self,
        patience: Duration,
        try_lock: fn(&File) -> Result<(), TryLockError>,
    ) -> Result<ObjectsLock, GitError> {
        let what = "the object database";
        let _turn = self.acquire("objects.turn", what, patience, try_lock)?;
        let file = Arc::new(self.acquire("objects", what, patience, try_lock)?);
        *self.objects_lock.borrow_mut() = Arc::downgrade(&file);
        Ok(ObjectsLock(file))
    }

    /// Lets a program that moves refs hold the lock of the objects until it ends. The program must not use its stdout.
    pub(super) fn lend_objects_lock(&self, program: &mut Process) -> Result<(), GitError> {
        if let Some(held) = self.objects_lock.borrow().upgrade() {
            let lent = held.try_clone().map_err(|source| GitError::io("share the lock of", &self.objects, source))?;
            program.stdout(lent);
        }
        Ok(())
    }

    /// Excludes other imports of a transcript, but no purge: an import may fetch what was purged, and removes it again.
    pub(crate) fn lock_transcript(&self, transcript: &str) -> Result<WorkLock, GitError> {
        self.lock_work((transcript, "transcript"), &format!("the import of `{transcript}`"), LOCK_PATIENCE)
    }

    /// Excludes other compressions of a trace. Unlike [`Repo::lock`], it is held while the user's command runs, and stops no other
    /// writer.
    pub(crate) fn lock_compression(&self, refname: &str) -> Result<WorkLock, GitError> {
        self.lock_work((refname, "compress"), &format!("the compression of `{refname}`"), COMPRESSION_PATIENCE)
    }

    fn lock_work(&self, (of, kind): (&str, &str), what: &str, patience: Duration) -> Result<WorkLock, GitError> {
        let name = format!("{}.{kind}", &blake3::hash(of.as_bytes()).to_hex()[..16]);
        self.acquire(&name, what, patience, File::try_lock).map(WorkLock)
    }

    /// Opens a lock file and locks it, however long that takes within `patience`.
    pub(super) fn acquire(
        &self,
        name: &str,
        what: &str,
        patience: Duration,
        try_lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<File, GitError> {
        let folder = self.common_dir().join("trace").join("locks");
        let path = folder.join(name);
        let permissions = self.permissions()?;
        let open = || OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = permissions.create_folders(&folder);
                made.map_err(|source| GitError::io("create the folder", &folder, source))?;
                open()
            }
            opened => opened,
        }
        .and_then(|file| permissions.adjust(&path).map(|()| file))
        .map_err(|source| GitError::io("write the lock file", &path, source))?;

        let mut wait = Wait::new(self, patience);
        let mut pause = Duration::from_micros(200);
        loop {
            match try_lock(&file) {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {
                    if !wait.go_on(pause, || format!("another git-trace is writing to {what}")) {
                        return Err(GitError::Busy { what: what.to_owned(), seconds: patience.as_secs() });
                    }
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
                Err(TryLockError::Error(source)) => return Err(GitError::io("lock", &path, source)),
            }
        }
    }
}
