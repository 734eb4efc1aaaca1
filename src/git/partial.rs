//! Partial clones: objects that a remote promised to give when they are needed. libgit2 does not ask for them; git does.

use git2::{Odb, OdbLookupFlags, Oid};

use super::error::GitError;
use super::open::Repo;

impl Repo {
    /// The remote that promised to give what is not here; `None` where the clone is not a partial one.
    fn promisor(&self) -> Result<Option<String>, GitError> {
        let config = self.config()?;
        if let Some(remote) = config.text("extensions.partialClone")? {
            return Ok(Some(remote));
        }
        config.remote_with("promisor")
    }

    /// Fetches those of `oids` that are not here and that a remote promised, all at once. False if none was fetched.
    ///
    /// # Errors
    ///
    /// [`GitError::Command`] with git's words if the remote does not give them.
    pub(super) fn fetch_promised(&self, odb: &Odb<'_>, oids: &[Oid]) -> Result<bool, GitError> {
        let Some(remote) = self.promisor()? else { return Ok(false) };
        let is_here = |oid: &Oid| odb.exists_ext(*oid, OdbLookupFlags::NO_REFRESH);
        let wanted: Vec<String> = oids.iter().filter(|oid| !is_here(oid)).map(Oid::to_string).collect();
        if wanted.is_empty() || self.env().is_set("GIT_NO_LAZY_FETCH") {
            return Ok(false);
        }
        let mut command = self.git_with(&["fetch.negotiationAlgorithm=noop"], "fetch");
        command.args([
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--no-auto-maintenance",
        ]);
        command.args(["--filter=blob:none", "--stdin", &remote]);
        Self::run_git("fetch", command, (wanted.join("\n") + "\n").as_bytes())?;
        odb.refresh().map_err(|source| GitError::Store { action: "read what was fetched".to_owned(), source })?;
        Ok(true)
    }
}
