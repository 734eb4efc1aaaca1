//! Opening a repository the way git does it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Once;

use git2::{ObjectFormat, Oid, Repository};

use super::config::Config;
use super::env::Env;
use super::error::GitError;
use super::loose::Loose;
use super::objects::Recent;
use super::refs::RefStorage;

/// An open repository and the environment it was opened in.
pub struct Repo {
    pub(super) inner: Repository,
    pub(super) refs: RefStorage,
    /// Refs that were there, see [`Repo::was_there`].
    pub(super) seen: RefCell<HashSet<String>>,
    /// Where it was opened; `None`: where the environment says.
    pub(super) place: Option<PathBuf>,
    pub(super) env: Env,
    pub(super) config: OnceCell<Config>,
    pub(super) shared: OnceCell<Vec<(String, String)>>,
    pub(super) shallow: OnceCell<HashSet<Oid>>,
    /// Where new objects go.
    pub(super) objects: PathBuf,
    pub(super) loose: Loose,
    /// Whether what a remote promised is not to be fetched.
    pub(super) stays_here: Cell<bool>,
    pub(super) recent: RefCell<Recent>,
}

impl Repo {
    /// Opens the repository of this process as git would find it.
    ///
    /// `GIT_DIR`, `GIT_WORK_TREE`, `GIT_CEILING_DIRECTORIES`, `GIT_OBJECT_DIRECTORY`, linked worktrees, bare repositories
    /// and subfolders work as in git. Reads the repository's configuration and no object.
    pub fn open_from_env(env: Env) -> Result<Self, GitError> {
        Self::opened(None, env)
    }

    /// Opens the repository at `path` itself, whatever the environment says of places.
    pub fn open(path: &Path, env: Env) -> Result<Self, GitError> {
        Self::opened(Some(path), env)
    }

    fn opened(place: Option<&Path>, env: Env) -> Result<Self, GitError> {
        let inner = Self::open_place(place).map_err(GitError::opening)?;
        // git's own reading commands do not hash what they read either: zlib's checksum finds damage, and `git fsck` what
        // is not what its name says. Hashing took a tenth of the time of materializing 10,000 items.
        git2::opts::strict_hash_verification(false);
        // It would hold up to 256 MiB of commits and trees, of which the last few are enough for us: see `objects`.
        git2::opts::enable_caching(false);
        let refs = RefStorage::of(&inner)?;
        let place = place.map(Path::to_path_buf);
        let own = env.os("GIT_OBJECT_DIRECTORY").filter(|_| place.is_none());
        let objects = own.map_or_else(|| inner.commondir().join("objects"), PathBuf::from);
        let loose = Loose::new(inner.path(), &objects);
        let (config, shared, shallow) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let (stays_here, recent, seen) = (Cell::new(false), RefCell::default(), RefCell::default());
        Ok(Self { inner, refs, seen, place, env, config, shared, shallow, objects, loose, stays_here, recent })
    }

    /// Opens libgit2's own handle of a repository, one for each thread that reads.
    ///
    /// One with reftable is opened as well. libgit2 finds no ref there, and says so by no error: it is asked for objects and
    /// settings alone, see `refs`.
    pub(super) fn open_place(place: Option<&Path>) -> Result<Repository, git2::Error> {
        allow_reftable();
        place.map_or_else(Repository::open_from_env, Repository::open)
    }

    /// The environment this repository was opened in.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// The git folder of this worktree: where `HEAD` and `TRACE_HEAD` are.
    pub(crate) fn git_dir(&self) -> &Path {
        self.inner.path()
    }

    /// The git folder that all worktrees share: where objects and refs are.
    pub(crate) fn common_dir(&self) -> &Path {
        self.inner.commondir()
    }

    /// The folder of the checked-out files; `None` in a bare repository.
    pub(crate) fn worktree(&self) -> Option<PathBuf> {
        self.inner.workdir().map(Path::to_path_buf)
    }

    /// SHA-1 or SHA-256.
    pub(crate) fn object_format(&self) -> ObjectFormat {
        self.inner.object_format()
    }

    /// The configuration, read at the first call.
    pub(crate) fn config(&self) -> Result<&Config, GitError> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let files = self
            .inner
            .config()
            .map_err(|source| GitError::Store { action: "read the git configuration".to_owned(), source })?;
        let config = Config::new(files, &self.env)?;
        Ok(self.config.get_or_init(|| config))
    }
}

/// Has libgit2 open repositories whose refs it cannot read.
#[allow(unsafe_code, reason = "libgit2 has one list of extensions for the whole process")]
fn allow_reftable() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: it writes a static of libgit2's, which libgit2 reads when it opens a repository. Nobody else in this crate
        // writes it, `Once` lets one thread do so, and every repository is opened behind this call. If it fails, such a
        // repository is refused as unknown.
        let _ = unsafe { git2::opts::set_extensions(&["refstorage"]) };
    });
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir()).finish_non_exhaustive()
    }
}
