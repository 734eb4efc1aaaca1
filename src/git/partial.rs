//! Partial and shallow clones.
//!
//! A promisor remote provides missing objects on demand; libgit2 does not fetch them, git does. As in git, commits whose
//! parents were not fetched have no parents.

use std::collections::HashSet;

use git2::{Odb, OdbLookupFlags};

use super::config::parse_bool;
use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::{Answer, text_of};
use crate::base::bounded;

impl Repo {
    /// The remotes that promise objects, in the order in which git asks them: that of `extensions.partialClone` is the last one.
    fn promisors(&self) -> Result<Vec<String>, GitError> {
        let config = self.config()?;
        let mut promisors = config.promisors();
        if let Some(last) = config.text("extensions.partialClone")? {
            promisors.retain(|remote| *remote != last);
            promisors.push(last);
        }
        Ok(promisors)
    }

    pub(crate) fn is_partial(&self) -> Result<bool, GitError> {
        Ok(!self.promisors()?.is_empty())
    }

    /// Runs `act` without fetching: promised objects count as missing.
    pub(crate) fn without_fetching<T>(&self, act: impl FnOnce() -> T) -> T {
        let before = self.offline.replace(true);
        let done = act();
        self.offline.set(before);
        done
    }

    /// Those of the `missing` trees and blobs that no remote promised; `tips` are commits that lead to them.
    pub(crate) fn lost(
        &self,
        missing: &HashSet<Oid>,
        tips: impl Iterator<Item = Oid>,
    ) -> Result<HashSet<Oid>, GitError> {
        let input: String = tips.flat_map(|tip| [tip.to_string(), "\n".to_owned()]).collect();
        let options = ["--quiet", "--objects", "--missing=allow-promisor", "--stdin"];
        if Answer::of(self.git("rev-list").args(options).input(input))?.is_success() {
            return Ok(HashSet::new());
        }
        let answer = Answer::of(self.git("fsck").args(["--connectivity-only", "--no-dangling", "--no-progress"]))?;
        if answer.code.is_none_or(|code| code >= 128) {
            // It stopped at other damage, so none is known to be promised.
            return Ok(missing.clone());
        }
        let listed = String::from_utf8_lossy(&answer.stdout);
        // `missing blob <oid>`
        let words = listed.lines().filter_map(|line| line.strip_prefix("missing ")?.split_once(' '));
        let lost = words.filter_map(|(_, oid)| Oid::parse(oid, self.object_format()));
        Ok(lost.filter(|oid| missing.contains(oid)).collect())
    }

    /// Fetches the promised objects among `oids` that are missing, all at once. False if none was fetched.
    pub(super) fn fetch_promised(&self, odb: &Odb<'_>, oids: &[Oid]) -> Result<bool, GitError> {
        if self.offline.get() {
            return Ok(false);
        }
        let is_here = |oid: &Oid| odb.exists_ext(oid.0, OdbLookupFlags::NO_REFRESH);
        let wanted: Vec<String> = oids.iter().filter(|oid| !is_here(oid)).map(Oid::to_string).collect();
        let is_off = self.env().text("GIT_NO_LAZY_FETCH").is_some_and(|value| parse_bool(value) != Some(false));
        if wanted.is_empty() || is_off {
            return Ok(false);
        }
        let (wanted, mut failure) = (wanted.join("\n") + "\n", None);
        for remote in self.promisors()? {
            let mut command = self.git_with(&["fetch.negotiationAlgorithm=noop"], "fetch");
            command.args(["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"]);
            command.args(["--no-auto-maintenance", "--filter=blob:none", "--stdin", &remote]);
            match text_of(command.input(wanted.clone())) {
                Ok(_) => {
                    odb.refresh().map_err(|source| GitError::store("read what was fetched", source))?;
                    return Ok(true);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// The commits at which a shallow clone ends; their parents are missing. Read on first use.
    pub(crate) fn shallow_commits(&self) -> Result<&HashSet<Oid>, GitError> {
        if let Some(cut) = self.shallow.get() {
            return Ok(cut);
        }
        let path = self.common_dir().join("shallow");
        let bytes = bounded::read_if_exists(&path).map_err(|source| GitError::io("read", path, source))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let cut = text.lines().filter_map(|line| Oid::parse(line.trim(), self.object_format())).collect();
        Ok(self.shallow.get_or_init(|| cut))
    }
}
