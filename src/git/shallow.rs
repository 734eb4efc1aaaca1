//! Shallow clones: as in git, commits whose parents were not fetched have no parents.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;

use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;

impl Repo {
    /// The commits at which a shallow clone ends; their parents are missing. Read on first use.
    pub(crate) fn shallow_commits(&self) -> Result<&HashSet<Oid>, GitError> {
        if let Some(cut) = self.shallow.get() {
            return Ok(cut);
        }
        let path = self.common_dir().join("shallow");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(source) => return Err(GitError::io("read", path, source)),
        };
        let oid = |line: &str| Oid::parse(line.trim(), self.object_format());
        let cut: HashSet<Oid> = text.lines().filter_map(oid).collect();
        Ok(self.shallow.get_or_init(|| cut))
    }

    pub(super) fn is_cut_off(&self, commit: Oid) -> Result<bool, GitError> {
        Ok(self.shallow_commits()?.contains(&commit))
    }
}
