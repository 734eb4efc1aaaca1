//! Refs behind one small interface: reading, moving from where a ref was seen, deleting.
//!
//! Refs are moved by compare-and-swap under git's own `.lock` of the ref. Deleting goes through `git update-ref`, because libgit2
//! reads packed refs before it locks them and loses refs beside a running `git pack-refs`. libgit2 writes no reflog in a
//! bare repository, so the line is appended here.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use git2::{ErrorCode, Oid, ReferenceType};

use super::error::{GitError, despite_gc};
use super::ident::Ident;
use super::lock::LOCK_PATIENCE;
use super::open::Repo;

/// Age from which a ref's `.lock` file is taken to be left behind by a killed process.
pub(super) const STALE_LOCK: Duration = Duration::from_secs(10);
/// The same of `packed-refs.lock`, which our locks do not guard: long enough for git to write any number of refs.
const STALE_PACKED_LOCK: Duration = Duration::from_secs(600);

/// What the reflog says of a move.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// Who moved the ref, and when.
    pub who: &'a Ident,
    /// Why; line breaks become spaces.
    pub why: &'a str,
}

impl Repo {
    /// Whether git accepts `refname` as the name of a ref.
    #[must_use]
    pub fn is_refname(refname: &str) -> bool {
        git2::Reference::is_valid_name(refname)
    }

    /// The oid a ref points at, through symbolic refs; `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if it cannot be read.
    pub fn find_ref(&self, refname: &str) -> Result<Option<Oid>, GitError> {
        match self.inner.refname_to_id(refname) {
            Ok(oid) => Ok(Some(oid)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(source) => Err(GitError::Store { action: format!("read `{refname}`"), source }),
        }
    }

    /// The ref a symbolic ref names, whether that one exists or not; `None` where there is no symbolic ref.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if it cannot be read.
    pub fn find_symbolic_ref(&self, refname: &str) -> Result<Option<String>, GitError> {
        let reference = match self.inner.find_reference(refname) {
            Ok(reference) => reference,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(source) => return Err(GitError::Store { action: format!("read `{refname}`"), source }),
        };
        if reference.kind() != Some(ReferenceType::Symbolic) {
            return Ok(None);
        }
        Ok(reference.symbolic_target().ok().flatten().map(str::to_owned))
    }

    /// Makes `refname` a symbolic ref to `target`.
    ///
    /// # Errors
    ///
    /// [`GitError::RefLocked`] and its kin.
    pub fn point_symbolic_ref(&self, refname: &str, target: &str, why: &str) -> Result<(), GitError> {
        let _lock = self.lock(refname)?;
        self.patiently(refname, || self.inner.reference_symbolic(refname, target, true, why).map(drop))
    }

    /// The refs whose names begin with `prefix` (which ends in `/`), with the oids they point at, sorted by name.
    ///
    /// # Errors
    ///
    /// [`GitError::Store`] if they cannot be listed.
    pub fn list_refs(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        let failed = |source| GitError::Store { action: format!("list the refs under `{prefix}`"), source };
        let mut listed = Vec::new();
        for reference in self.inner.references_glob(&format!("{prefix}*")).map_err(failed)? {
            let reference = reference.map_err(failed)?;
            if let (Ok(name), Some(oid)) = (reference.name(), reference.target()) {
                listed.push((name.to_owned(), oid));
            }
        }
        listed.sort();
        Ok(listed)
    }

    /// Moves a ref from where it was seen, `old` (none: it was not there), to `new`, and logs it.
    ///
    /// The caller holds the ref's [`Repo::lock`]: a `.lock` file older than ten seconds was then left behind by a process
    /// that is dead, and is removed.
    ///
    /// # Errors
    ///
    /// [`GitError::RefMoved`] if it is no longer at `old`, [`GitError::RefLocked`] if another process is moving it; by
    /// both nothing was changed.
    pub fn move_ref(&self, refname: &str, old: Option<Oid>, new: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let why = log.why.replace(['\n', '\r', '\0'], " ");
        let logged_by_libgit2 = self.ensure_reflog(refname)?;
        let swap = || despite_gc(|| self.swap(refname, old, new, log.who, &why));
        match swap() {
            Err(GitError::RefLocked { .. }) if self.remove_stale_lock(refname) => swap()?,
            done => done?,
        }
        if !logged_by_libgit2 {
            let seen = old.map_or_else(|| "0".repeat(new.as_bytes().len() * 2), |oid| oid.to_string());
            self.append_reflog(refname, &seen, new, LogLine { who: log.who, why: &why })?;
        }
        Ok(())
    }

    /// Compares and swaps under the ref's own `.lock`.
    fn swap(&self, refname: &str, old: Option<Oid>, new: Oid, who: &Ident, why: &str) -> Result<(), GitError> {
        let moving = |source| GitError::moving(refname, source);
        let mut transaction = self.inner.transaction().map_err(moving)?;
        transaction.lock_ref(refname).map_err(moving)?;
        if self.find_ref(refname)? != old {
            return Err(GitError::RefMoved { refname: refname.to_owned() });
        }
        let when = git2::Time::new(who.seconds(), who.zone_minutes());
        let signature = git2::Signature::new(who.name(), who.email(), &when).map_err(moving)?;
        transaction.set_target(refname, new, Some(&signature), why).map_err(moving)?;
        transaction.commit().map_err(moving)
    }

    /// Points a lightweight tag at `target`, wherever it pointed before.
    ///
    /// The caller holds the [`Repo::lock`] that guards such tags, as in [`Repo::move_ref`].
    ///
    /// # Errors
    ///
    /// [`GitError::RefLocked`] and its kin.
    pub fn set_tag(&self, refname: &str, target: Oid) -> Result<(), GitError> {
        self.patiently(refname, || self.inner.reference(refname, target, true, "").map(drop))
    }

    /// Sets a ref wherever it was, waiting for whoever has its `.lock` unless that was left behind.
    fn patiently(&self, refname: &str, set: impl Fn() -> Result<(), git2::Error>) -> Result<(), GitError> {
        let start = Instant::now();
        loop {
            match despite_gc(|| set().map_err(|error| GitError::moving(refname, error))) {
                Err(GitError::RefLocked { .. }) if start.elapsed() < LOCK_PATIENCE => {
                    let _ = self.remove_stale_lock(refname);
                    thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    /// Deletes refs, all of them or none, through git; those that are not there are passed over.
    ///
    /// The caller holds the [`Repo::lock`] that guards them, as in [`Repo::move_ref`].
    ///
    /// # Errors
    ///
    /// [`GitError::Command`] with git's words.
    pub fn delete_refs<'n>(&self, refnames: impl IntoIterator<Item = &'n str>) -> Result<(), GitError> {
        let mut input = String::new();
        for refname in refnames {
            if self.find_ref(refname)?.is_some() {
                let _ = self.remove_stale_lock(refname);
                input.extend(["delete ", refname, "\n"]);
            }
        }
        if input.is_empty() {
            return Ok(());
        }
        self.remove_stale_packed_lock();
        let mut command = self.git("update-ref");
        command.arg("--stdin");
        Self::run_git("update-ref", command, input.as_bytes()).map(drop)
    }

    /// Sees to it that moves of `refname` are logged; whether libgit2 will do so.
    fn ensure_reflog(&self, refname: &str) -> Result<bool, GitError> {
        let logging = match self.config()?.text("core.logAllRefUpdates")?.as_deref() {
            Some("always") => true,
            Some(_) => self.config()?.boolean("core.logAllRefUpdates")?.unwrap_or(true),
            None => !self.inner.is_bare(),
        };
        if logging {
            let failed = |source| GitError::Store { action: format!("log moves of `{refname}`"), source };
            if !self.inner.reference_has_log(refname).map_err(failed)?
                && let Err(source) = self.inner.reference_ensure_log(refname)
            {
                // Most often the log of a ref of which this name is a part, or the other way round, is in the way.
                let error = if self.has_conflict(refname)? {
                    GitError::RefConflict { refname: refname.to_owned() }
                } else {
                    failed(source)
                };
                return Err(error);
            }
        }
        Ok(logging)
    }

    /// Whether there is a ref that is a part of this name, or has it as a part.
    fn has_conflict(&self, refname: &str) -> Result<bool, GitError> {
        for (end, _) in refname.match_indices('/') {
            if self.find_ref(&refname[..end])?.is_some() {
                return Ok(true);
            }
        }
        Ok(!self.list_refs(&format!("{refname}/"))?.is_empty())
    }

    fn append_reflog(&self, refname: &str, old: &str, new: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let path = self.common_dir().join("logs").join(refname);
        let failed = |source| GitError::io("write the reflog", &path, source);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let line = format!("{old} {new} {}\t{}\n", log.who, log.why);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        file.write_all(line.as_bytes()).map_err(failed)
    }

    /// Removes the `.lock` file of a ref that the dead left behind; whether there was one.
    pub(super) fn remove_stale_lock(&self, refname: &str) -> bool {
        // What is not under `refs/` is this worktree's own.
        let folder = if refname.starts_with("refs/") { self.common_dir() } else { self.git_dir() };
        remove_older(&folder.join(format!("{refname}.lock")), STALE_LOCK)
    }

    /// A process that was killed while it deleted a ref leaves both behind, and git stumbles over either.
    pub(super) fn remove_stale_packed_lock(&self) {
        for name in ["packed-refs.lock", "packed-refs.new"] {
            let _ = remove_older(&self.common_dir().join(name), STALE_PACKED_LOCK);
        }
    }
}

/// Removes a file that is older than that; whether it did.
pub(super) fn remove_older(path: &Path, age: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| at.elapsed().ok()).is_some_and(|since| since > age) && fs::remove_file(path).is_ok()
}
