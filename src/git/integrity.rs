//! What checking a repository needs: every ref, the broken ones too, objects read with their names verified, and what
//! processes that died have left.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;

use git2::Oid;

use super::error::GitError;
use super::ident::Ident;
use super::objects::Recent;
use super::open::Repo;
use super::process::Answer;
use super::refs::{LogLine, RefStorage, STALE_LOCK, locked};

/// The refs below some prefixes, as git itself lists them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct RefListing {
    /// Names with the oids they lead to, sorted; whether the object is there was not looked at.
    pub(crate) refs: Vec<(String, Oid)>,
    /// Names of refs that git cannot read.
    pub(crate) broken: Vec<String>,
}

impl Repo {
    /// Lists every ref below the prefixes through git, which tells of those that cannot be read and goes on.
    pub(crate) fn list_every_ref(&self, prefixes: &[&str]) -> Result<RefListing, GitError> {
        const COMMAND: &str = "for-each-ref";
        let mut command = self.git(COMMAND);
        command.arg("--format=%(objectname) %(refname)").args(prefixes);
        let answer = Answer::of(COMMAND, &mut command)?;
        if !answer.is_success() {
            return Err(answer.into_error(COMMAND));
        }
        let listed = String::from_utf8_lossy(&answer.stdout);
        let refs = listed.lines().filter_map(|line| {
            let (oid, refname) = line.split_once(' ')?;
            Some((refname.to_owned(), Oid::from_str_ext(oid, self.object_format()).ok()?))
        });
        let broken = answer.stderr.lines().filter_map(|line| {
            let name = line.strip_prefix("warning: ignoring broken ref ");
            name.or_else(|| line.strip_prefix("warning: ignoring dangling symref ")).map(str::to_owned)
        });
        Ok(RefListing { refs: refs.collect(), broken: broken.collect() })
    }

    /// Sees to it that every object read from here on has the name that its bytes give it, in this whole process.
    pub(crate) fn verify_names_of_objects(&self) {
        git2::opts::strict_hash_verification(true);
        self.loose.verified.store(true, Ordering::Relaxed);
        *self.recent.borrow_mut() = Recent::default();
    }

    /// The `.lock` files of refs below `prefix` (which ends in `/`), or of the ref of that name, that are older than ten
    /// seconds: by their refs' names.
    pub(crate) fn left_over_locks(&self, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        if prefix.ends_with('/') {
            let mut folders = vec![self.common_dir().join(prefix)];
            while let Some(folder) = folders.pop() {
                let Ok(entries) = fs::read_dir(&folder) else { continue };
                for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                    if path.is_dir() {
                        folders.push(path);
                    } else if is_left_over(&path) {
                        found.extend(self.ref_of_lock(&path));
                    }
                }
            }
        } else if is_left_over(&self.lock_path(prefix)) {
            found.push(prefix.to_owned());
        }
        found.sort();
        found
    }

    fn ref_of_lock(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(self.common_dir()).ok()?.to_str()?;
        Some(name.strip_suffix(".lock")?.to_owned())
    }

    /// Removes a `.lock` file that [`Repo::left_over_locks`] told of, under our own lock of the ref; whether it is gone.
    pub(crate) fn remove_left_over_lock(&self, refname: &str) -> Result<bool, GitError> {
        let _lock = self.lock(refname)?;
        self.remove_stale_lock(refname);
        Ok(!self.lock_path(refname).exists())
    }

    /// Points a ref that cannot be read at `oid`, unless it can be read by now, under git's own lock of it. The caller holds its
    /// [`Repo::lock`].
    pub(crate) fn mend_ref(&self, refname: &str, oid: Oid, who: &Ident) -> Result<(), GitError> {
        let log = LogLine { who, why: "fsck: back to where the reflog has it" };
        match &self.refs {
            RefStorage::Files => self.patiently(|| self.mend_file(refname, oid, log)),
            // One that cannot be read is symbolic there, and leads to nothing.
            RefStorage::Reftable(_) => {
                let input = format!("option no-deref\nupdate {refname} {oid}\n");
                self.patiently(|| {
                    if self.find_ref(refname).is_ok_and(|found| found.is_some()) {
                        return Err(GitError::RefMoved { refname: refname.to_owned() });
                    }
                    self.update_refs(&[], Some(log), &input).map_err(|error| locked(error, refname))
                })
            }
        }
    }

    /// What libgit2 does to move a ref, which reads where it was before and so stops at one that cannot be read.
    fn mend_file(&self, refname: &str, oid: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let lock = self.lock_path(refname);
        let failed = |source| GitError::io("write", &lock, source);
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(GitError::RefLocked { refname: refname.to_owned() });
            }
            opened => opened.map_err(failed)?,
        };
        let mut mend = || {
            if self.find_ref(refname).is_ok_and(|found| found.is_some()) {
                return Err(GitError::RefMoved { refname: refname.to_owned() });
            }
            file.write_all(format!("{oid}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
            self.append_reflog(refname, &oid.to_string(), oid, log)?;
            fs::rename(&lock, self.ref_folder(refname).join(refname)).map_err(failed)
        };
        let done = mend();
        if done.is_err() {
            let _ = fs::remove_file(&lock);
        }
        done
    }

    /// Adds the move that is missing at a reflog's end: from where its last line leads to where the ref is. Of a reftable, which
    /// holds both, nothing can be missing. The caller holds the ref's [`Repo::lock`].
    pub(crate) fn close_reflog(&self, refname: &str, who: &Ident) -> Result<(), GitError> {
        let (Some(last), Some(tip)) = (self.read_reflog(refname)?.pop(), self.find_ref(refname)?) else {
            return Ok(());
        };
        if last.new == tip || !matches!(self.refs, RefStorage::Files) {
            return Ok(());
        }
        let why = "fsck: a move that was not logged";
        self.append_reflog(refname, &last.new.to_string(), tip, LogLine { who, why })
    }
}

fn is_left_over(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    path.extension().is_some_and(|extension| extension == "lock") && age.is_some_and(|age| age > STALE_LOCK)
}
