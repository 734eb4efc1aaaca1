//! Opening a repository the way git does it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Weak;

use git2::{ObjectFormat, Repository};

use super::config::Config;
use super::deflate::Deflater;
use super::env::Env;
use super::error::GitError;
use super::fsync::Fsync;
use super::loose::Loose;
use super::objects::Recent;
use super::oid::Oid;
use super::operation::Progress;
use super::permissions::Permissions;
use super::process::Answer;
use super::refs::RefStorage;
use super::trust;

/// An open repository and the environment it was opened in.
pub struct Repo {
    pub(super) inner: Repository,
    pub(super) refs: RefStorage,
    /// Refs that existed, see [`Repo::was_there`].
    pub(super) seen: RefCell<HashSet<String>>,
    /// See [`Repo::watch_ref`].
    pub(super) watched: RefCell<HashMap<&'static str, Option<Oid>>>,
    /// The path that was opened; `None`: the environment locates the repository.
    pub(super) place: Option<PathBuf>,
    pub(super) env: Env,
    pub(super) config: OnceCell<Config>,
    pub(super) fsync: OnceCell<Fsync>,
    pub(super) permissions: OnceCell<Permissions>,
    pub(super) shared: OnceCell<Vec<(String, String)>>,
    pub(super) shallow: OnceCell<HashSet<Oid>>,
    pub(super) objects: PathBuf,
    pub(super) loose: Loose,
    /// See [`Repo::without_fetching`].
    pub(super) offline: Cell<bool>,
    pub(super) recent: RefCell<Recent>,
    pub(super) deflater: RefCell<Option<Deflater>>,
    /// The held lock of objects, if there is one; see [`Repo::lock_objects`].
    pub(super) objects_lock: RefCell<Weak<File>>,
    /// The id of this handle's operation in the operation log.
    pub(super) operation: OnceCell<String>,
    /// What its moves came to.
    pub(super) progress: Cell<Progress>,
    /// The operations that it reverses, and how many moves that takes.
    pub(super) reverses: RefCell<(Vec<String>, usize)>,
}

impl Repo {
    /// Opens the repository of this process as git would find it.
    ///
    /// `GIT_DIR`, `GIT_WORK_TREE`, `GIT_CEILING_DIRECTORIES`, `GIT_OBJECT_DIRECTORY`, linked worktrees, bare repositories
    /// and subfolders work as in git. Reads the repository's configuration and no object.
    pub fn open_from_env(env: Env) -> Result<Self, GitError> {
        let inner = trust::open(None, &env)?;
        Self::of(inner, None, env)
    }

    /// Opens the repository at `path` itself, whatever the environment says of places.
    pub fn open(path: &Path, env: Env) -> Result<Self, GitError> {
        let inner = trust::open(Some(path), &env)?;
        Self::of(inner, Some(path.to_owned()), env)
    }

    /// Opens the repository that `path` is in, whatever the environment says about its location.
    pub(crate) fn containing(path: &Path, env: Env) -> Result<Self, GitError> {
        let inner = trust::open_containing(path)?;
        let place = inner.path().to_owned();
        Self::of(inner, Some(place), env)
    }

    fn of(inner: Repository, place: Option<PathBuf>, env: Env) -> Result<Self, GitError> {
        // Git does not verify oids on reading either: zlib's checksum finds damage, and `git fsck` verifies oids. Hashing took a
        // tenth of the time of materializing 10,000 items.
        git2::opts::strict_hash_verification(false);
        // libgit2's cache holds up to 256 MiB of commits and trees. The last few are enough: see `objects`.
        git2::opts::enable_caching(false);
        let refs = RefStorage::of(&inner)?;
        let own = env.os("GIT_OBJECT_DIRECTORY").filter(|_| place.is_none());
        let objects = own.map_or_else(|| inner.commondir().join("objects"), PathBuf::from);
        let others = env.os("GIT_ALTERNATE_OBJECT_DIRECTORIES").filter(|_| place.is_none());
        let is_above = |root: &&Path| std::env::current_dir().is_ok_and(|folder| folder.starts_with(root));
        let others = others.map(|others| (others, inner.workdir().filter(is_above)));
        let loose = Loose::new(inner.path(), &objects, others);
        loose.lend_to(&inner).map_err(|source| GitError::store("open the object database", source))?;
        Ok(Self {
            inner,
            refs,
            seen: RefCell::default(),
            watched: RefCell::default(),
            place,
            env,
            config: OnceCell::new(),
            fsync: OnceCell::new(),
            permissions: OnceCell::new(),
            shared: OnceCell::new(),
            shallow: OnceCell::new(),
            objects,
            loose,
            offline: Cell::new(false),
            recent: RefCell::default(),
            deflater: RefCell::default(),
            objects_lock: RefCell::default(),
            operation: OnceCell::new(),
            progress: Cell::default(),
            reverses: RefCell::default(),
        })
    }

    /// Opens a libgit2 handle, one for each thread that reads. With reftable, libgit2 finds no refs and reports no error, so we
    /// use it for objects only; see `refs`.
    pub(super) fn open_place(place: Option<&Path>) -> Result<Repository, git2::Error> {
        place.map_or_else(Repository::open_from_env, Repository::open)
    }

    /// Whether it was opened at a path, and not as the environment says.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.place.is_some()
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// The git folder of this worktree, with `HEAD` and `TRACE_HEAD`.
    pub(crate) fn git_dir(&self) -> &Path {
        self.inner.path()
    }

    /// The git folder that all worktrees share, with objects and refs.
    pub(crate) fn common_dir(&self) -> &Path {
        self.inner.commondir()
    }

    /// The root of the working tree; `None` in a bare repository.
    pub(crate) fn worktree(&self) -> Option<PathBuf> {
        self.inner.workdir().map(Path::to_path_buf)
    }

    /// The place of a path in git config: below the user's home after `~/`, else relative to the root of the working tree.
    pub(crate) fn configured_path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.env.os("HOME")) {
            (Some(path), Some(home)) => Path::new(home).join(path),
            _ => self.worktree().unwrap_or_else(|| self.git_dir().to_owned()).join(path),
        }
    }

    /// As [`Self::configured_path`], for a file that we open: no link of the repository leads out of its work tree on the way to it.
    pub(crate) fn configured_file(&self, path: &str) -> io::Result<PathBuf> {
        let path = self.configured_path(path);
        self.check_configured(&path).map(|()| path)
    }

    pub(crate) fn object_format(&self) -> ObjectFormat {
        self.inner.object_format()
    }

    /// The configuration, read on first use.
    pub(crate) fn config(&self) -> Result<&Config, GitError> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let answer = Answer::of(self.git("config").args(["--null", "--list"]))?;
        // An older git may not know an extension. Then it lists the user's settings only.
        if let Some((_, cause)) = answer.stderr.split_once("ignoring git dir ") {
            let cause = cause.split_whitespace().collect::<Vec<_>>().join(" ");
            return Err(GitError::Ignored { cause });
        }
        let printed = answer.into_stdout()?;
        Ok(self.config.get_or_init(|| Config::listed(&printed)))
    }
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir()).finish_non_exhaustive()
    }
}
