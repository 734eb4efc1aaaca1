//! What `fsck` needs: every ref including broken ones, verified oids, stale locks, and repairs of refs and reflogs.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::error::GitError;
use super::ident::Ident;
use super::objects::Recent;
use super::oid::Oid;
use super::open::Repo;
use super::process::Answer;
use super::refs::{LogLine, RefStorage, STALE_LOCK, lock_files, locked};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct RefListing {
    /// Sorted by name. The objects may be missing.
    pub(crate) refs: Vec<(String, Oid)>,
    /// Refs that git cannot read.
    pub(crate) broken: Vec<String>,
}

impl Repo {
    /// Asks git, which continues after broken refs.
    pub(crate) fn list_every_ref(&self, prefixes: &[&str]) -> Result<RefListing, GitError> {
        let mut command = self.git("for-each-ref");
        let answer = Answer::of(command.arg("--format=%(objectname) %(refname)").args(prefixes))?;
        if !answer.is_success() {
            return Err(answer.into_error());
        }
        let listed = String::from_utf8_lossy(&answer.stdout);
        let refs = listed.lines().filter_map(|line| {
            let (oid, refname) = line.split_once(' ')?;
            Some((refname.to_owned(), Oid::parse(oid, self.object_format())?))
        });
        let broken = answer.stderr.lines().filter_map(|line| {
            let name = line.strip_prefix("warning: ignoring broken ref ");
            name.or_else(|| line.strip_prefix("warning: ignoring dangling symref ")).map(str::to_owned)
        });
        Ok(RefListing { refs: refs.collect(), broken: broken.collect() })
    }

    /// From now on, verifies the oid of every object that this process reads.
    pub(crate) fn verify_names_of_objects(&self) {
        git2::opts::strict_hash_verification(true);
        self.loose.verified.store(true, Ordering::Relaxed);
        *self.recent.borrow_mut() = Recent::default();
    }

    /// The refs below `prefix` (which ends in `/`), or the ref of that name, with a stale `.lock` file.
    pub(crate) fn stale_ref_locks(&self, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        if prefix.ends_with('/') {
            let locks = lock_files(vec![self.common_dir().join(prefix)]).into_iter().filter(|path| is_stale_lock(path));
            found.extend(locks.filter_map(|path| self.ref_of_lock(&path)));
        } else if is_stale_lock(&self.lock_path(prefix)) {
            found.push(prefix.to_owned());
        }
        found.sort();
        found
    }

    fn ref_of_lock(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(self.common_dir()).ok()?.to_str()?;
        Some(name.strip_suffix(".lock")?.to_owned())
    }

    /// Takes our own lock of the ref. Returns whether the `.lock` file is gone.
    pub(crate) fn remove_stale_ref_lock(&self, refname: &str) -> Result<bool, GitError> {
        let _lock = self.lock(refname)?;
        self.remove_stale_lock(refname);
        Ok(!self.lock_path(refname).exists())
    }

    /// Fails with [`GitError::RefMoved`] if the ref is readable by now. The caller holds its [`Repo::lock`].
    pub(crate) fn repair_ref(&self, refname: &str, oid: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let check = || match self.find_ref(refname) {
            Ok(Some(_)) => Err(GitError::RefMoved { refname: refname.to_owned() }),
            _ => Ok(()),
        };
        match &self.refs {
            RefStorage::Files if self.is_in_process()? => {
                let log = || self.append_reflog(refname, &oid.to_string(), oid, log);
                self.patiently(|| self.replace_oid(refname, oid, check, log))
            }
            // With reftable, an unreadable ref is a dangling symbolic ref.
            storage => {
                let input = format!("option no-deref\nupdate {refname} {oid}\n");
                let update = || {
                    self.update_refs(&["core.logAllRefUpdates=always"], Some(log), &input)
                        .map_err(|error| locked(error, refname))
                };
                self.patiently(|| {
                    check()?;
                    match (update(), storage) {
                        // Git replaces no file that it cannot read.
                        (Err(GitError::Command { stderr, .. }), RefStorage::Files)
                            if stderr.contains("reference broken") =>
                        {
                            self.without_file(refname, update)
                        }
                        (done, _) => done,
                    }
                })
            }
        }
    }

    /// Runs `act` while the damaged file of a ref is away. It comes back if that fails.
    fn without_file(&self, refname: &str, act: impl FnOnce() -> Result<(), GitError>) -> Result<(), GitError> {
        let path = self.common_dir().join(refname);
        let text = fs::read(&path).map_err(|source| GitError::io("read", &path, source))?;
        fs::remove_file(&path).map_err(|source| GitError::io("remove", &path, source))?;
        act().inspect_err(|_| drop(fs::write(&path, text)))
    }

    /// Logs the missing last move of a ref to a commit, whose [`Repo::lock`] the caller holds. With reftable, none can be missing.
    pub(crate) fn complete_reflog(&self, refname: &str, who: &Ident) -> Result<(), GitError> {
        let (Some(last), Some(tip)) = (self.read_reflog(refname)?.pop(), self.find_ref(refname)?) else {
            return Ok(());
        };
        if last.new == tip || self.read_commit(tip).is_err() || !matches!(self.refs, RefStorage::Files) {
            return Ok(());
        }
        let why = "fsck: a move that was not logged";
        self.append_reflog(refname, &last.new.to_string(), tip, LogLine { who, why })
    }
}

fn is_stale_lock(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > STALE_LOCK)
}
