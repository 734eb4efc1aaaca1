//! The work trees whose links come from a repository, and not from its user.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::call::Git;
use super::open::Repo;
use super::process::path_of;
use crate::base::worktree_path::check_configured;

/// The work trees of a repository and of its superprojects. Git is asked about those that a path leads into; other paths cost no process.
pub(crate) struct Worktrees {
    /// The current one. It need not contain `.git`.
    root: Option<PathBuf>,
    common_dir: PathBuf,
    /// By folders with a `.git`: whether it is one of them.
    known: HashMap<PathBuf, bool>,
}

impl Worktrees {
    pub(crate) fn new(root: Option<&Path>, common_dir: &Path) -> io::Result<Self> {
        let root = root.and_then(|root| root.canonicalize().ok());
        Ok(Self { root, common_dir: common_dir.canonicalize()?, known: HashMap::new() })
    }

    /// Fails if a link in one of them leads out of it, or into a git directory, on the way to `path`. The user, who configured the
    /// path, may choose any place and any way to it, but such a link comes from the repository.
    pub(crate) fn check(&mut self, path: &Path) -> io::Result<()> {
        check_configured(path, |folder| self.root_of(folder))
    }

    /// The root of the one that a folder without links lies in.
    fn root_of(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(root) = self.root.as_ref().filter(|root| folder.starts_with(root)) {
            return Some(root.clone());
        }
        let mut roots = folder.ancestors().filter(|above| above.join(".git").symlink_metadata().is_ok());
        let Self { common_dir, known, .. } = self;
        let root = roots.find(|root| *known.entry(root.to_path_buf()).or_insert_with(|| is_related(root, common_dir)));
        root.map(Path::to_path_buf)
    }
}

/// Whether a folder with a `.git` is in a work tree of the repository, or of one whose submodule it is: its git directory is in that one's.
fn is_related(folder: &Path, common_dir: &Path) -> bool {
    let args = ["rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-common-dir"];
    let printed = Git::elsewhere(folder).run(&args).unwrap_or_default();
    let found = printed.strip_prefix(b"true\n").map(|path| path_of(path.strip_suffix(b"\n").unwrap_or(path)));
    found.and_then(|found| found.canonicalize().ok()).is_some_and(|found| common_dir.starts_with(found))
}

impl Repo {
    /// As [`Worktrees::check`].
    pub(crate) fn check_configured(&self, path: &Path) -> io::Result<()> {
        Worktrees::new(self.worktree().as_deref(), self.common_dir())?.check(path)
    }
}
