//! The store: a folder with two files, how they are searched, and how they are rewritten.

pub(crate) mod edit;
mod error;
pub(crate) mod fix;
pub(crate) mod lines;
pub(crate) mod part;
mod read;
pub(crate) mod sorted;
pub(crate) mod write;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use error::StoreError;
pub(crate) use read::{Listing, Lookup, SkippedLine};

use self::sorted::Notes;
use super::Namespaces;
use super::encryption::is_encrypted;
use super::key::is_secret;
use crate::base::bounded;
use crate::base::replace::FileError;
use crate::base::worktree_path::{has_git, resolve};
use crate::git::{Git, GitError, Repo};

const FOLDER: &str = ".synapse";

/// Size of a file, in bytes, above which `check` and `set` warn.
pub(crate) const LARGE_FILE_LEN: u64 = 1024 * 1024;

fn is_large(text: &[u8]) -> bool {
    text.len() as u64 > LARGE_FILE_LEN
}

/// A breadcrumb store: the folder `.synapse` of one worktree. The first write creates it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// The work tree that links in the folder must not leave.
    root: PathBuf,
    /// `None` scans always.
    sorted: Option<Notes>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum StoreFile {
    Shared,
    Secret,
}

impl StoreFile {
    pub(crate) const ALL: [Self; 2] = [Self::Shared, Self::Secret];

    pub(crate) fn of_key(key: &str) -> Self {
        if is_secret(key) { Self::Secret } else { Self::Shared }
    }

    /// The file that a record is written to.
    pub(crate) fn of_record(key: &str, value: &str) -> Self {
        if is_encrypted(value) { Self::Shared } else { Self::of_key(key) }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Shared => Self::Secret,
            Self::Secret => Self::Shared,
        }
    }

    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Self::Shared => "breadcrumbs.jsonl",
            Self::Secret => "breadcrumbs-secret.jsonl",
        }
    }
}

impl fmt::Display for StoreFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file_name())
    }
}

impl Store {
    pub(crate) fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { root: folder.clone(), folder, sorted: None }
    }

    /// The nearest `.synapse` from `start` up to the worktree root `top`, or else the one that `top` will have.
    ///
    /// If `start` is outside `top`, the store is in `top`. Both paths should be absolute.
    pub(crate) fn find(start: &Path, top: &Path) -> Self {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (start, top) = (canonical(start), canonical(top));
        let within = start.ancestors().take_while(|folder| folder.starts_with(&top));
        let found = within.map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
        Self { folder: found.unwrap_or_else(|| top.join(FOLDER)), root: top, sorted: None }
    }

    /// Fails if a sparse checkout leaves out a file of this store, or one that is nearer to `start`, where the search began: who reads would be
    /// told that there is no breadcrumb, and who writes would start a new file.
    pub(crate) fn check_checked_out(&self, repo: Option<&Repo>, start: &Path) -> Result<(), GitError> {
        // Asking git takes as long as a lookup, and most repositories have never had a sparse checkout. A link may lead to one, and the
        // files may be in another repository.
        let is_elsewhere = |path: PathBuf| {
            let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
            path.ancestors().take(2).any(Path::is_symlink) || folders.any(has_git)
        };
        let is_complete = |repo: &Repo| !repo.git_dir().join("info").join("sparse-checkout").exists();
        let mut files = StoreFile::ALL.iter().map(|file| self.path(*file));
        if repo.is_some_and(is_complete) && !files.any(is_elsewhere) {
            return Ok(());
        }
        let real = StoreFile::ALL.iter().filter_map(|file| self.real_path(*file).ok());
        let missing = self.nearer(start).into_iter().chain(real.filter(|path| !path.exists()));
        let git = Git::in_folder(start);
        missing.into_iter().try_for_each(|path| git.check_checked_out(&path))
    }

    /// The folders of stores nearer to `start`, which do not exist.
    fn nearer(&self, start: &Path) -> Vec<PathBuf> {
        let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
        let folders = start.ancestors().map(|folder| folder.join(FOLDER));
        folders.take_while(|folder| folder.starts_with(&self.root) && *folder != self.folder).collect()
    }

    /// Notes in a folder which large files are sorted.
    #[must_use]
    pub(crate) fn with_notes(self, folder: PathBuf) -> Self {
        Self { sorted: Some(Notes { folder }), ..self }
    }

    #[cfg(test)]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn path(&self, file: StoreFile) -> PathBuf {
        self.folder.join(file.file_name())
    }

    pub(crate) fn real_path(&self, file: StoreFile) -> io::Result<PathBuf> {
        resolve(&self.root, self.path(file))
    }

    /// The namespaces that `config.json` declares; none if there is no such file.
    pub(crate) fn namespaces(&self) -> Result<Namespaces, StoreError> {
        let path = self.folder.join("config.json");
        match resolve(&self.root, &path).and_then(|real| bounded::read_file(&real)) {
            Ok(text) => Namespaces::parse(&text).map_err(|source| StoreError::Config { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Namespaces::default()),
            Err(source) => Err(FileError::Read { path, source }.into()),
        }
    }
}
