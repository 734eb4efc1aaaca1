//! Remotes in local folders, which may borrow objects from this repository.

use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::error::GitError;
use super::loose::Loose;
use super::open::Repo;
use super::process::{Answer, text_of};
use crate::base::worktree_path::{has_git, is_git_directory};

impl Repo {
    /// Whether a remote is this repository, borrows its objects, or only promises objects: it would lose what is removed here. Only a
    /// remote in a local folder is examined.
    pub(crate) fn lends_to(&self, remote: &str) -> Result<bool, GitError> {
        let url = text_of(self.git("ls-remote").args(["--get-url", "--", remote]))?;
        let folders = self.local_folders(url.trim_end_matches('\n'))?;
        let packs = |objects: &Path| [objects.to_owned(), objects.join("pack")].map(|path| path.canonicalize().ok());
        let ours = packs(&self.objects);
        for path in folders.into_iter().filter(|path| path.exists()) {
            let folder = folder_of_address(path);
            // The repository may belong to somebody else. The packs of a partial clone still show that it is one.
            let objects = match Self::containing(&folder, self.env().clone()) {
                Ok(other) if other.is_partial()? => return Ok(true),
                Ok(other) => vec![other.objects],
                Err(_) => ["objects", ".git/objects"].map(|path| folder.join(path)).to_vec(),
            };
            let is_ours = |path: &PathBuf| packs(path).iter().any(|path| path.is_some() && ours.contains(path));
            let lends = |path: &PathBuf| is_ours(path) || has_promised_pack(path);
            if objects.iter().any(|objects| Loose::new(&folder, objects, None).folders().iter().any(lends)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The repositories of an address in a local folder that this user may open. They fetch nothing: that would run programs of their
    /// settings, as `git upload-pack` does not.
    pub(crate) fn local_repositories(&self, url: &str) -> Result<Vec<Self>, GitError> {
        let folders = self.local_folders(url)?.into_iter().map(folder_of_address);
        let folders = folders.filter(|path| is_git_directory(path) || has_git(path));
        let open = |path: PathBuf| match Self::containing(&path, self.env().clone()) {
            // `safe.bareRepository` is about those that git finds, not about an address.
            Err(GitError::BareRepository { .. }) => Self::open(&path, self.env().clone()).ok(),
            opened => opened.ok(),
        };
        Ok(folders.filter_map(open).inspect(|there| there.offline.set(true)).collect())
    }

    /// Where git may look for the repository of an address; none if it is on a network.
    fn local_folders(&self, url: &str) -> Result<Vec<PathBuf>, GitError> {
        // A host before the path is ignored, as in git.
        let path = match url.strip_prefix("file://") {
            Some(rest) => percent_decode_str(rest.find('/').map_or("", |start| &rest[start..])).decode_utf8_lossy(),
            None if url.starts_with('~') => match self.expand_home(url)? {
                Some(path) => path.into(),
                None => return Ok(Vec::new()),
            },
            // As for git, a colon before the first slash follows a host, a scheme, or the name of a helper.
            None if !Path::new(url).is_absolute() && url.split('/').next().is_some_and(|start| start.contains(':')) => {
                return Ok(Vec::new());
            }
            None => url.into(),
        };
        let folder = self.place_of_programs().folder.join(&*path);
        let mut with_suffix = folder.clone().into_os_string();
        with_suffix.push(".git");
        Ok(vec![folder, with_suffix.into()])
    }

    /// The path that begins with the home folder of a user, as `~/x` or `~user/x`; `None` if git does not know the user.
    fn expand_home(&self, path: &str) -> Result<Option<String>, GitError> {
        let setting = format!("trace.path={path}");
        let answer =
            Answer::of(self.git_with(&[&setting], "config").args(["--type=path", "--null", "--get", "trace.path"]))?;
        let printed = String::from_utf8_lossy(&answer.stdout);
        Ok(answer.is_success().then(|| printed.trim_end_matches('\0').to_owned()))
    }
}

/// The file `.git` of a worktree is an address, too.
fn folder_of_address(path: PathBuf) -> PathBuf {
    let is_link = path.ends_with(".git") && path.is_file();
    path.parent().filter(|_| is_link).map(Path::to_path_buf).unwrap_or(path)
}

/// Whether another repository promised what the objects in a pack need.
fn has_promised_pack(objects: &Path) -> bool {
    let entries = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().extension().is_some_and(|extension| extension == "promisor"))
}
