//! The work trees whose links come from a repository, and not from its user.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{io, iter};

use super::call::Git;
use super::error::GitError;
use super::open::Repo;
use super::process::path_of;
use crate::base::worktree_path::{check_configured, has_git, is_git_directory};

/// The work trees of a repository and of its superprojects, and those below them. Git is asked about those that a path leads into, except
/// the current one.
pub(crate) struct Worktrees {
    /// The current one.
    root: Option<PathBuf>,
    common_dir: PathBuf,
    /// The current one, and those that its git directory and those of its superprojects name. They need not contain `.git`. Found when
    /// they are needed.
    named: Option<Vec<PathBuf>>,
    /// The common git directories of the superprojects whose submodules have their own; found when they are needed.
    superprojects: Option<Vec<PathBuf>>,
    /// By folders with a `.git`: whether it is one of them.
    known: HashMap<PathBuf, bool>,
}

impl Worktrees {
    pub(crate) fn new(root: Option<&Path>, common_dir: &Path) -> io::Result<Self> {
        let root = root.and_then(|root| root.canonicalize().ok());
        Ok(Self {
            root,
            common_dir: common_dir.canonicalize()?,
            named: None,
            superprojects: None,
            known: HashMap::new(),
        })
    }

    /// Fails if a link in one of them leads out of it, or into a git directory, on the way to `path`. The user, who configured the
    /// path, may choose any place and any way to it, but such a link comes from the repository.
    pub(crate) fn check(&mut self, path: &Path) -> io::Result<()> {
        check_configured(path, |folder| self.root_of(folder))
    }

    /// The root of the innermost work tree with this path, whose folder is real.
    fn root_of(&mut self, file: &Path) -> Option<PathBuf> {
        let folder = file.parent()?;
        let named = self.named();
        let is_named = |above: &Path| named.iter().any(|root| root == above);
        let roots: Vec<&Path> = folder.ancestors().filter(|above| is_named(above) || has_git(above)).collect();
        let is_below = roots.iter().any(|root| is_named(root)) || roots.iter().any(|root| self.is_related(root));
        let root = roots.first().filter(|_| is_below)?;
        // No commit contains a git directory, which may have any name.
        let is_in_root = |git_dir: &&Path| git_dir.starts_with(root) && git_dir != root;
        let is_git = git_directories(&self.common_dir).filter(is_in_root).any(|git_dir| file.starts_with(git_dir));
        let below = file.strip_prefix(root).ok()?;
        (!is_git && below.iter().all(|name| name != ".git")).then(|| root.to_path_buf())
    }

    fn named(&mut self) -> &[PathBuf] {
        let Self { root, common_dir, named, .. } = self;
        named.get_or_insert_with(|| {
            root.iter().cloned().chain(git_directories(common_dir).filter_map(worktree_of)).collect()
        })
    }

    /// Whether a folder with a `.git` is in a work tree of the repository, or of one whose submodule it is: then its git directory is in that
    /// one's, or git names that one. A work tree that git cannot open, such as one whose repository was moved, may be one.
    fn is_related(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let is_related = match common_dir_of(folder) {
            Ok(None) => false,
            Ok(Some(found)) => {
                self.common_dir.starts_with(&found)
                    || self.superprojects().iter().any(|other| other.starts_with(&found))
            }
            Err(_) => true,
        };
        self.known.insert(folder.to_path_buf(), is_related);
        is_related
    }

    fn superprojects(&mut self) -> &[PathBuf] {
        let Self { root, common_dir, superprojects, .. } = self;
        superprojects.get_or_insert_with(|| {
            let places = root.iter().chain([&*common_dir]).flat_map(|place| place.ancestors());
            let submodules: BTreeSet<&Path> = places.filter(|above| has_git(above)).collect();
            let printed = submodules.into_iter().filter_map(|folder| rev_parse(folder, SUPERPROJECT).ok());
            printed.filter(|path| !path.is_empty()).filter_map(|path| common_dir_of(&path_of(&path)).ok()?).collect()
        })
    }
}

const COMMON_DIR: &[&str] = &["--is-inside-work-tree", "--git-common-dir"];
const SUPERPROJECT: &[&str] = &["--show-superproject-working-tree"];

/// The git directory of a repository, and those of its superprojects, which have it below `modules`. Other folders above it may look like
/// a git directory because a commit says so.
fn git_directories(common_dir: &Path) -> impl Iterator<Item = &Path> {
    let is_modules = |folder: &&Path| folder.file_name().is_some_and(|name| name == "modules");
    // A work tree between them would be that of another repository.
    let above = common_dir.ancestors().take_while(|folder| !has_git(folder));
    let superprojects = above.filter(is_modules).filter_map(Path::parent);
    iter::once(common_dir).chain(superprojects.filter(|folder| is_git_directory(folder)))
}

/// The work tree that the settings of a git directory name.
fn worktree_of(git_dir: &Path) -> Option<PathBuf> {
    let stored = Git::elsewhere(git_dir).stored_path("core.worktree")?;
    git_dir.join(stored).canonicalize().ok()
}

/// The git directory that the work trees of a repository share; `None` if the folder is in no work tree.
fn common_dir_of(folder: &Path) -> Result<Option<PathBuf>, GitError> {
    let printed = rev_parse(folder, COMMON_DIR)?;
    let Some(path) = printed.strip_prefix(b"true\n").map(path_of) else { return Ok(None) };
    path.canonicalize().map(Some).map_err(|source| GitError::io("find", &path, source))
}

fn rev_parse(folder: &Path, question: &[&str]) -> Result<Vec<u8>, GitError> {
    let printed = Git::elsewhere(folder).run(&[&["rev-parse", "--path-format=absolute"], question].concat())?;
    Ok(printed.strip_suffix(b"\n").unwrap_or(&printed).to_vec())
}

impl Repo {
    /// As [`Worktrees::check`].
    pub(crate) fn check_configured(&self, path: &Path) -> io::Result<()> {
        Worktrees::new(self.worktree().as_deref(), self.common_dir())?.check(path)
    }
}
