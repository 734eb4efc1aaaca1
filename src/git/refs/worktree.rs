//! The refs that each worktree has for itself, such as `HEAD`, also those of other worktrees.
//!
//! Git names those of another worktree `main-worktree/<name>` or `worktrees/<id>/<name>`. It reads refs of such names in either storage,
//! and writes none; so git writes them in that worktree.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::base::process::Process;
use crate::git::error::GitError;
use crate::git::open::Repo;
use crate::git::trust;

const MAIN_WORKTREE: &str = "main-worktree";

/// The worktree that the name of a ref begins with, and the name of the ref there.
pub(super) fn split_worktree(refname: &str) -> Option<(&str, &str)> {
    let length = match refname.strip_prefix("worktrees/") {
        Some(rest) => refname.len() - rest.len() + rest.find('/')?,
        None => refname.starts_with("main-worktree/").then_some(MAIN_WORKTREE.len())?,
    };
    Some((&refname[..length], &refname[length + 1..]))
}

/// Whether a worktree may have a ref of that name. The id of a worktree may be any name of a folder.
pub(super) fn is_local_refname(refname: &str) -> bool {
    Repo::is_refname(split_worktree(refname).map_or(refname, |(_, name)| name))
}

/// Fails for the refs of other worktrees, which libgit2 does not find.
pub(super) fn check_findable(refname: &str) -> Result<(), GitError> {
    match split_worktree(refname) {
        Some(_) => Err(GitError::store(format!("read `{refname}`"), git2::Error::from_str("it is not a ref"))),
        None => Ok(()),
    }
}

/// Whether a folder below `worktrees` is the git folder of a worktree. With `core.preferSymlinkRefs`, `HEAD` may be a link to a branch that
/// is not there.
fn is_linked_worktree(folder: &Path) -> bool {
    ["commondir", "gitdir"].iter().all(|file| folder.join(file).is_file())
        && folder.join("HEAD").symlink_metadata().is_ok()
}

impl Repo {
    /// The git folders of all worktrees, the main one's first, then sorted.
    pub(crate) fn worktree_git_dirs(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut folders = vec![self.common_dir().to_path_buf()];
        let linked = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&linked) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(folders),
            entries => entries.map_err(|source| GitError::io("list the worktrees in", linked, source))?,
        };
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.retain(|folder| is_linked_worktree(folder));
        found.sort();
        folders.extend(found);
        Ok(folders)
    }

    /// Git's name of this worktree.
    pub(crate) fn worktree_name(&self) -> String {
        self.name_of_worktree(self.git_dir())
    }

    pub(crate) fn name_of_worktree(&self, git_dir: &Path) -> String {
        if git_dir == self.common_dir() {
            return MAIN_WORKTREE.to_owned();
        }
        format!("worktrees/{}", git_dir.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The name by which this worktree knows a ref of the one with that git folder.
    pub(crate) fn ref_of_worktree(&self, git_dir: &Path, name: &str) -> String {
        if git_dir == self.git_dir() { name.to_owned() } else { format!("{}/{name}", self.name_of_worktree(git_dir)) }
    }

    /// The name by which each worktree knows a ref.
    pub(super) fn qualified(&self, refname: &str) -> String {
        if refname.contains('/') { refname.to_owned() } else { format!("{}/{refname}", self.worktree_name()) }
    }

    /// The git folder of the worktree that has a ref.
    pub(crate) fn git_dir_of(&self, refname: &str) -> PathBuf {
        self.locate_ref(refname).0
    }

    /// Whether the worktree that the name of a ref begins with is still there.
    pub(crate) fn has_worktree_of(&self, refname: &str) -> bool {
        let git_dir = self.git_dir_of(refname);
        git_dir == self.common_dir() || is_linked_worktree(&git_dir)
    }

    /// The folder of a ref, and its name there. Refs outside `refs/` belong to this worktree, or to the one that the name begins with.
    pub(super) fn locate_ref<'n>(&self, refname: &'n str) -> (PathBuf, &'n str) {
        let common = self.common_dir();
        match split_worktree(refname) {
            Some((MAIN_WORKTREE, name)) => (common.to_owned(), name),
            Some((worktree, name)) => (self.folder_of_worktree(worktree), name),
            None if refname.starts_with("refs/") => (common.to_owned(), refname),
            None => (self.git_dir().to_owned(), refname),
        }
    }

    /// The id of a worktree need not be UTF-8.
    fn folder_of_worktree(&self, worktree: &str) -> PathBuf {
        let folder = self.common_dir().join(worktree);
        let is_there = || self.worktree_git_dirs().ok()?.into_iter().find(|dir| self.name_of_worktree(dir) == worktree);
        if worktree.contains(char::REPLACEMENT_CHARACTER) { is_there().unwrap_or(folder) } else { folder }
    }

    /// `git symbolic-ref` in the worktree of a ref, and the name of the ref there. Git refuses to run in a linked one of another user unless
    /// it was told to trust it.
    pub(super) fn git_for_symbolic<'n>(&self, settings: &[&str], refname: &'n str) -> (Process, &'n str) {
        const COMMAND: &str = "symbolic-ref";
        let (git_dir, name) = self.locate_ref(refname);
        if name == refname || git_dir == self.git_dir() {
            return (self.git_with(settings, COMMAND), name);
        }
        let mut command = self.git_with(settings, COMMAND);
        command.elsewhere();
        let root = if git_dir == self.common_dir() {
            command.env("GIT_DIR", &git_dir);
            git_dir.parent().filter(|_| git_dir.ends_with(".git")).map(Path::to_owned)
        } else {
            let id = git_dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let root = self.inner.find_worktree(id).ok().map(|linked| linked.path().to_owned());
            // If it was moved, another repository may be there.
            root.filter(|root| trust::named_by(&root.join(".git")) == git_dir.canonicalize().ok())
        };
        command.current_dir(root.as_deref().unwrap_or(&git_dir));
        (command, name)
    }
}
