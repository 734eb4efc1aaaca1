//! Signing commits.
//!
//! Git creates the commit object, because it knows the program, key, and format (`gpg.format`, `user.signingKey`, `gpg.program`,
//! and others).

use super::commit::NewCommit;
use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::Answer;

impl Repo {
    /// Whether the signature is good, and the key is one that git's settings trust, as for `git merge --verify-signatures`: by default, gpg
    /// must trust it at least marginally, which `git verify-commit` does not ask for.
    pub(crate) fn has_valid_signature(&self, oid: Oid) -> Result<bool, GitError> {
        let is_set = self.config()?.text("gpg.minTrustLevel")?.is_some();
        let settings: &[&str] = if is_set { &[] } else { &["gpg.minTrustLevel=marginal"] };
        Ok(Answer::of(self.git_with(settings, "verify-commit").arg(oid.to_string()))?.is_success())
    }

    /// As `git commit -S` does. Costs two processes, git and the signing program.
    pub(crate) fn write_signed_commit(&self, commit: &NewCommit<'_>) -> Result<Oid, GitError> {
        let mut command = self.git_with(&["i18n.commitEncoding=UTF-8"], "commit-tree");
        command.args(["-S", "-F", "-"]);
        for parent in commit.parents {
            command.arg("-p").arg(parent.to_string());
        }
        command.arg(commit.tree.to_string());
        for (word, who) in [("AUTHOR", commit.author), ("COMMITTER", commit.committer)] {
            command.env(format!("GIT_{word}_NAME"), who.name()).env(format!("GIT_{word}_EMAIL"), who.email());
            command.env(format!("GIT_{word}_DATE"), who.date());
        }
        let answer = Answer::of(command.input(commit.message))?;
        if answer.is_success() {
            return self.parse_oid(String::from_utf8_lossy(&answer.stdout).trim_end());
        }
        let lines = answer.stderr.lines().filter(|line| !line.starts_with("fatal: failed to write"));
        let said: Vec<&str> = lines.map(|line| line.trim_start_matches("error:").trim()).collect();
        let cause = match said.join(" ").trim() {
            "" => "the program that signs failed and did not say why".to_owned(),
            cause => cause.to_owned(),
        };
        Err(GitError::Unsigned { cause })
    }
}
