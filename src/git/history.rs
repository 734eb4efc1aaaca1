//! Walking the history of the user's code, which may be far longer than that of a trace. Git does it, with its commit graph.

use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::text_of;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CodeCommit {
    pub(crate) oid: Oid,
    /// When it was committed, in seconds since 1970.
    pub(crate) time: i64,
    pub(crate) subject: String,
}

impl Repo {
    /// The commits in `newer` and not in `older`, newest first.
    pub(crate) fn commits_between(&self, older: Oid, newer: Oid) -> Result<Vec<Oid>, GitError> {
        self.commits_only_in(&[newer], &[older])
    }

    /// The commits in the histories of some commits that the histories of `others` do not have, newest first.
    pub(crate) fn commits_only_in(&self, some: &[Oid], others: &[Oid]) -> Result<Vec<Oid>, GitError> {
        let lines = some.iter().map(Oid::to_string).chain(others.iter().map(|oid| format!("^{oid}")));
        let input: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
        let listed = text_of(self.git("rev-list").arg("--stdin").input(input))?;
        listed.lines().map(|oid| self.parse_oid(oid)).collect()
    }

    /// The commits of all branches and of `HEAD` that were made at `since` or later, newest first.
    pub(crate) fn code_since(&self, since: i64) -> Result<Vec<CodeCommit>, GitError> {
        let mut tips: Vec<Oid> = self.list_refs("refs/heads/")?.into_iter().map(|(_, tip)| tip).collect();
        tips.extend(self.find_ref("HEAD")?);
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let input: String = tips.into_iter().flat_map(|tip| [tip.to_string(), "\n".to_owned()]).collect();
        let listed = text_of(self.git("rev-list").arg(format!("--max-age={since}")).arg("--stdin").input(input))?;
        let commit = |oid| {
            let commit = self.read_commit(self.parse_oid(oid)?)?;
            Ok(CodeCommit { oid: commit.oid, time: commit.commit_time, subject: commit.subject().to_owned() })
        };
        listed.lines().map(commit).collect()
    }
}
