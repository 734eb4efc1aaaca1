//! Refs as files, in this process.
//!
//! A ref is moved by compare-and-swap under git's own `.lock` of it, and read by `packed`, or by libgit2 where something is unusual.
//! libgit2 does not write it: it would sync
//! refs together with objects or not at all, and log no move in a bare repository.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{ErrorCode, ReferenceType};

use super::packed::Target;
use super::worktree::{check_findable, is_local_refname};
use super::{LogLine, RefStorage};
use crate::base::worktree_path::check_regular;
use crate::git::config::parse_bool;
use crate::git::error::GitError;
use crate::git::fsync::Component;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::permissions::Permissions;

/// Age from which a ref's `.lock` file counts as left behind by a killed process.
pub(in crate::git) const STALE_LOCK: Duration = Duration::from_secs(10);

/// Age from which a lock file that this program made counts as left behind, if no process holds it. A live process holds it right
/// after it has made it.
#[cfg(unix)]
const DEAD_LOCK: Duration = Duration::from_millis(100);

/// The mode of lock files that this program makes, until they become refs: git makes none that are executable.
#[cfg(unix)]
const OUR_LOCK: u32 = 0o766;

/// The same for locks that ours do not guard (`packed-refs.lock`, `config.lock`): git may write for minutes.
pub(in crate::git) const STALE_GIT_LOCK: Duration = Duration::from_secs(600);

impl Repo {
    pub(super) fn find_file(&self, refname: &str) -> Result<Option<Oid>, GitError> {
        if let Some(found) = self.find_directly(refname) {
            return Ok(found);
        }
        check_findable(refname)?;
        match self.inner.refname_to_id(refname) {
            Ok(oid) => Ok(Some(Oid(oid))),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(source) => Err(GitError::store(format!("read `{refname}`"), source)),
        }
    }

    pub(super) fn find_symbolic_file(&self, refname: &str) -> Result<Option<String>, GitError> {
        // With `core.preferSymlinkRefs`, git makes links, which it reads with any setting.
        let link = fs::read_link(self.ref_path(refname)).ok();
        let target = link.as_deref().and_then(Path::to_str).filter(|target| target.starts_with("refs/"));
        if let Some(target) = target.filter(|target| Self::is_refname(target)) {
            return Ok(Some(target.to_owned()));
        }
        if let Some(found) = self.find_symbolic_directly(refname) {
            return Ok(found);
        }
        check_findable(refname)?;
        let path = self.ref_path(refname);
        // A FIFO would be waited for.
        check_regular(&path).map_err(|source| GitError::io("read", path, source))?;
        let reference = match self.inner.find_reference(refname) {
            Ok(reference) => reference,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(source) => return Err(GitError::store(format!("read `{refname}`"), source)),
        };
        if reference.kind() != Some(ReferenceType::Symbolic) {
            return Ok(None);
        }
        Ok(reference.symbolic_target().ok().flatten().map(str::to_owned))
    }

    /// Git syncs no symbolic ref.
    pub(super) fn point_symbolic_file(&self, refname: &str, target: &str) -> Result<(), GitError> {
        self.replace_ref(refname, &format!("ref: {target}\n"), None, || Ok(()), || Ok(()))
    }

    pub(super) fn list_files(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        if let Some(listed) = self.list_directly(prefix) {
            let plain = |(refname, target)| match target {
                Target::Oid(oid) => Some((refname, oid)),
                Target::Ref(_) => None,
            };
            return Ok(listed.into_iter().filter_map(plain).collect());
        }
        let failed = |source| GitError::store(format!("list the refs under `{prefix}`"), source);
        let mut listed = Vec::new();
        for reference in self.inner.references_glob(&format!("{prefix}*")).map_err(failed)? {
            let reference = reference.map_err(failed)?;
            if let (Ok(name), Some(oid)) = (reference.name(), reference.target()) {
                listed.push((name.to_owned(), Oid(oid)));
            }
        }
        listed.sort();
        Ok(listed)
    }

    pub(super) fn list_symbolic_files(&self, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
        if let Some(listed) = self.list_symbolic_directly(prefix) {
            return Ok(listed);
        }
        let failed = |source| GitError::store(format!("list the refs under `{prefix}`"), source);
        let mut listed = Vec::new();
        for reference in self.inner.references_glob(&format!("{prefix}*")).map_err(failed)? {
            let reference = reference.map_err(failed)?;
            if let (Ok(name), Ok(Some(target))) = (reference.name(), reference.symbolic_target()) {
                listed.push((name.to_owned(), target.to_owned()));
            }
        }
        listed.sort();
        Ok(listed)
    }

    pub(super) fn move_file(
        &self,
        refname: &str,
        old: Option<Oid>,
        new: Oid,
        log: LogLine<'_>,
    ) -> Result<(), GitError> {
        let seen = old.map_or_else(|| "0".repeat(new.as_bytes().len() * 2), |oid| oid.to_string());
        let check = || match self.find_file(refname)? {
            found if found != old => Err(GitError::RefMoved { refname: refname.to_owned() }),
            None if self.has_conflict(refname)? => Err(GitError::RefConflict { refname: refname.to_owned() }),
            _ => Ok(()),
        };
        let swap = || self.replace_oid(refname, new, check, || self.append_reflog(refname, &seen, new, log));
        match swap() {
            Err(GitError::RefLocked { .. }) if self.remove_stale_lock(refname) => swap(),
            done => done,
        }
    }

    pub(super) fn set_file(&self, refname: &str, target: Oid) -> Result<(), GitError> {
        self.replace_oid(refname, target, || Ok(()), || Ok(()))
    }

    pub(in crate::git) fn replace_oid(
        &self,
        refname: &str,
        oid: Oid,
        check: impl FnOnce() -> Result<(), GitError>,
        log: impl FnOnce() -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        self.replace_ref(refname, &format!("{oid}\n"), Some(Component::Reference), check, log)
    }

    /// Replaces the file of a ref under git's own lock of it. `check` runs once it is locked, `log` just before the ref changes.
    fn replace_ref(
        &self,
        refname: &str,
        content: &str,
        synced: Option<Component>,
        check: impl FnOnce() -> Result<(), GitError>,
        log: impl FnOnce() -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let (lock, path) = (self.lock_path(refname), self.ref_path(refname));
        let failed = |source| GitError::io("write", &path, source);
        let (fsync, permissions) = (self.fsync()?, self.permissions()?);
        let mut file = self.lock_file(refname)?;
        let write = || {
            check()?;
            file.write_all(content.as_bytes()).map_err(failed)?;
            synced.map_or(Ok(()), |component| fsync.sync(component, &file)).map_err(failed)?;
            log()?;
            unmark(&file).and_then(|()| permissions.adjust(&lock)).map_err(failed)?;
            without_folder(&path, || fs::rename(&lock, &path)).map_err(failed)
        };
        let done = write();
        if done.is_err() {
            let _ = fs::remove_file(&lock);
        }
        done
    }

    /// Removes the file of a head under git's own lock of it.
    pub(super) fn delete_symbolic_file(&self, refname: &str) -> Result<(), GitError> {
        let _lock = self.lock_file(refname)?;
        let path = self.ref_path(refname);
        let done = fs::remove_file(&path).map_err(|source| GitError::io("remove", path, source));
        let _ = fs::remove_file(self.lock_path(refname));
        done
    }

    /// Makes git's own lock of a ref.
    fn lock_file(&self, refname: &str) -> Result<File, GitError> {
        let lock = self.lock_path(refname);
        let failed = |source| GitError::io("write", self.ref_path(refname), source);
        if !is_local_refname(refname) {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        match with_folder(&lock, self.permissions()?, || new_lock_file().open(&lock)) {
            Ok(file) => {
                // The kernel releases it if this process dies.
                let _ = file.try_lock();
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && lock.is_file() => {
                Err(GitError::locked_file(refname))
            }
            Err(_) if self.has_conflict(refname)? => Err(GitError::RefConflict { refname: refname.to_owned() }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether git logs moves of all refs.
    pub(super) fn logs_all(&self) -> Result<bool, GitError> {
        const KEY: &str = "core.logAllRefUpdates";
        let Some(value) = self.config()?.text(KEY)? else { return Ok(false) };
        let is_always = value.eq_ignore_ascii_case("always");
        if !is_always && parse_bool(&value).is_none() {
            return Err(GitError::BadSetting { key: KEY.to_owned(), value, expected: "true, false, or always" });
        }
        Ok(is_always)
    }

    /// Whether git logs moves of one of these refs, which are not traces. Git then moves them, because a log names a person.
    pub(super) fn are_logged<'n>(&self, mut refnames: impl Iterator<Item = &'n str>) -> Result<bool, GitError> {
        Ok(self.logs_all()? || refnames.any(|refname| self.reflog_path(refname).exists()))
    }

    /// Whether the name of another ref is a prefix of this one, or the reverse.
    fn has_conflict(&self, refname: &str) -> Result<bool, GitError> {
        for (end, _) in refname.match_indices('/') {
            if self.find_ref(&refname[..end])?.is_some() {
                return Ok(true);
            }
        }
        Ok(!self.list_refs(&format!("{refname}/"))?.is_empty())
    }

    pub(in crate::git) fn append_reflog(
        &self,
        refname: &str,
        old: &str,
        new: Oid,
        log: LogLine<'_>,
    ) -> Result<(), GitError> {
        let path = self.reflog_path(refname);
        let failed = |source| GitError::io("write the reflog", &path, source);
        let line = format!("{old} {new} {}\t{}\n", log.who, log.one_line());
        let open = || OpenOptions::new().create(true).append(true).open(&path);
        let permissions = self.permissions()?;
        let mut file = with_folder(&path, permissions, || without_folder(&path, open)).map_err(failed)?;
        permissions.adjust(&path).and_then(|()| file.write_all(line.as_bytes())).map_err(failed)
    }

    /// The caller holds the [`Repo::lock`] of the ref. Returns whether there was a stale file.
    pub(in crate::git) fn remove_stale_lock(&self, refname: &str) -> bool {
        if !matches!(self.refs, RefStorage::Files) {
            // One lock for all refs, and one for each table.
            let (folder, _) = self.locate_ref(refname);
            let locks =
                lock_files([self.common_dir(), self.git_dir(), &folder].map(|home| home.join("reftable")).into());
            return locks.iter().filter(|lock| remove_older(lock, STALE_GIT_LOCK)).count() > 0;
        }
        remove_stale(&self.lock_path(refname), |lock| {
            #[cfg(unix)]
            if lock.mode() & 0o100 != 0 {
                return DEAD_LOCK;
            }
            let _ = lock;
            STALE_LOCK
        })
    }

    pub(super) fn ref_path(&self, refname: &str) -> PathBuf {
        let (folder, name) = self.locate_ref(refname);
        folder.join(name)
    }

    pub(in crate::git) fn lock_path(&self, refname: &str) -> PathBuf {
        let (folder, name) = self.locate_ref(refname);
        folder.join(format!("{name}.lock"))
    }

    /// Removes the locks that killed git commands left, which block `git gc` and `git fetch`, except those of the index and of
    /// settings.
    pub(in crate::git) fn remove_stale_git_locks(&self) {
        let common = self.common_dir();
        if matches!(self.refs, RefStorage::Files) {
            self.remove_stale_packed_lock();
        }
        let worktrees = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        for name in ["gc.pid.lock", "shallow.lock"] {
            let _ = remove_older(&common.join(name), STALE_GIT_LOCK);
        }
        // Locks of the commit graph and of the multi-pack index.
        let mut folders = vec![common.join("objects/info"), common.join("objects/pack")];
        for home in worktrees.map(|entry| entry.path()).chain([common.to_owned()]) {
            let _ = remove_older(&home.join("HEAD.lock"), STALE_GIT_LOCK);
            folders.extend(["refs", "logs", "reftable"].map(|name| home.join(name)));
        }
        for path in lock_files(folders) {
            let _ = remove_older(&path, STALE_GIT_LOCK);
        }
    }

    /// A process that is killed while it deletes a ref leaves both behind, and git refuses to run beside either.
    pub(in crate::git) fn remove_stale_packed_lock(&self) {
        for name in ["packed-refs.lock", "packed-refs.new"] {
            let _ = remove_older(&self.common_dir().join(name), STALE_GIT_LOCK);
        }
    }
}

/// Creates the folder of `path` if it is missing: git removes empty ones at any time.
fn with_folder<T>(path: &Path, permissions: Permissions, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const TRIES: usize = 10;
    for _ in 1..TRIES {
        match (attempt(), path.parent()) {
            (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
                permissions.create_folders(folder)?;
            }
            (done, _) => return done,
        }
    }
    attempt()
}

/// Removes empty folders at `path`, which deleted refs left, if they are in the way.
fn without_folder<T>(path: &Path, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match attempt() {
        Err(_) if path.is_dir() => {
            remove_empty(path);
            attempt()
        }
        done => done,
    }
}

fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    // It stays if it has files.
    let _ = fs::remove_dir(folder);
}

/// The `.lock` files in folders and the folders below them.
pub(in crate::git) fn lock_files(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = files_below(folders);
    found.retain(|path| path.extension().is_some_and(|extension| extension == "lock"));
    found
}

pub(in crate::git) fn files_below(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

fn new_lock_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OUR_LOCK);
    options
}

/// Gives a lock file the usual mode of a ref.
fn unmark(lock: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mode = lock.metadata()?.mode() & 0o666;
        lock.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = lock;
    Ok(())
}

pub(in crate::git) fn remove_older(path: &Path, age: Duration) -> bool {
    remove_stale(path, |_| age)
}

/// Removes a file that no process has locked and that is older than `age` says. Returns whether it did.
///
/// Of two processes, the second might remove a new file of a third. So each locks the file and checks that it is still at the
/// path.
fn remove_stale(path: &Path, age: impl FnOnce(&Metadata) -> Duration) -> bool {
    let removed = || {
        let file = File::open(path)?;
        file.try_lock()?;
        let (judged, there) = (file.metadata()?, fs::metadata(path)?);
        #[cfg(unix)]
        let is_it = judged.ino() == there.ino();
        #[cfg(not(unix))]
        let is_it = judged.modified()? == there.modified()?;
        let age = age(&judged);
        let is_old = judged.modified()?.elapsed().is_ok_and(|since| since > age);
        if is_it && is_old {
            fs::remove_file(path)?;
        }
        Ok::<_, io::Error>(is_it && is_old)
    };
    removed().unwrap_or(false)
}
