//! Shallow clones: commits whose parents were not fetched count as having none, as in git.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;

use git2::Oid;

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// Whether the history of this clone ends at `commit`, though the commit names parents. Reads a file at the first call.
    pub(super) fn is_cut_off(&self, commit: Oid) -> Result<bool, GitError> {
        if let Some(cut) = self.shallow.get() {
            return Ok(cut.contains(&commit));
        }
        let path = self.common_dir().join("shallow");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(source) => return Err(GitError::io("read", path, source)),
        };
        let oid = |line: &str| Oid::from_str_ext(line.trim(), self.object_format()).ok();
        let cut: HashSet<Oid> = text.lines().filter_map(oid).collect();
        Ok(self.shallow.get_or_init(|| cut).contains(&commit))
    }
}
