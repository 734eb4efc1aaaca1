//! Moving many refs at once, and expiring their reflogs.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::operation::BACKUP_REFS;
use crate::git::process::{Answer, text_of};
use crate::git::refs::{files_below, locked};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RefChange {
    pub(crate) refname: String,
    /// `None`: the ref does not exist yet.
    pub(crate) old: Option<Oid>,
    pub(crate) new: Oid,
}

impl Repo {
    /// Moves all refs or none, each from where it was seen. A backup ref, which is named by its oid, gets the name of the new one. The
    /// caller holds [`Repo::lock_out_writers`].
    pub(crate) fn replace_refs(&self, changes: &[RefChange]) -> Result<(), GitError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut input = String::new();
        let mut backups = HashSet::new();
        for RefChange { refname, old, new } in changes {
            let old = old.map_or_else(|| "0".repeat(new.as_bytes().len() * 2), |old| old.to_string());
            if refname.strip_prefix(BACKUP_REFS) == Some(&old) {
                let _ = writeln!(input, "delete {refname} {old}");
                backups.insert(*new);
                continue;
            }
            // Writing to a String cannot fail.
            let _ = writeln!(input, "update {refname} {new} {old}");
        }
        for new in backups {
            let _ = writeln!(input, "update {BACKUP_REFS}{new} {new}");
        }
        self.remove_stale_packed_lock();
        // A killed purge leaves the locks of all its refs; the error names one of them.
        let settings = ["core.logAllRefUpdates=false"];
        self.patiently(|| {
            for change in changes {
                let _ = self.remove_stale_lock(&change.refname);
            }
            self.update_refs(&settings, None, &input).map_err(|error| locked(error, &changes[0].refname))
        })?;
        for RefChange { refname, old, new } in changes {
            self.take_note_along(refname, *old, *new);
        }
        Ok(())
    }

    /// Removes all lines of the reflogs whose ref `is_wanted` accepts, in every worktree.
    pub(crate) fn expire_reflogs(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        for git_dir in self.worktree_git_dirs()? {
            if self.has_refs_as_files() {
                let logs = git_dir.join("logs");
                for path in files_below(vec![logs.clone()]) {
                    if path.strip_prefix(&logs).ok().and_then(Path::to_str).is_some_and(is_wanted) {
                        fs::remove_file(&path).map_err(|source| GitError::io("remove the reflog", &path, source))?;
                    }
                }
                continue;
            }
            let listed = text_of(self.git_in(&git_dir, "reflog").arg("list"))?;
            for refname in listed.lines().filter(|refname| is_wanted(refname)) {
                match self.expire_reflog(&git_dir, refname) {
                    Err(GitError::Command { stderr, .. }) if stderr.contains("points nowhere") => {
                        self.expire_reflog_of_dangling(&git_dir, refname)?;
                    }
                    done => done?,
                }
            }
        }
        if !self.has_refs_as_files() {
            // The expired lines stay in the old tables of each worktree until these are merged.
            for git_dir in self.worktree_git_dirs()? {
                text_of(self.git_in(&git_dir, "pack-refs").arg("--all"))?;
            }
        }
        Ok(())
    }

    fn expire_reflog(&self, git_dir: &Path, refname: &str) -> Result<(), GitError> {
        let options = ["expire", "--expire=all", "--expire-unreachable=all", refname];
        text_of(self.git_in(git_dir, "reflog").args(options)).map(drop)
    }

    /// Expires the reflog of a symbolic ref that is gone, or whose target is, which git refuses: it leads to another ref meanwhile.
    fn expire_reflog_of_dangling(&self, git_dir: &Path, refname: &str) -> Result<(), GitError> {
        let symbolic = |args: &[&str]| {
            let mut command = self.git_in_with(&["core.logAllRefUpdates=false"], git_dir, "symbolic-ref");
            Answer::of(command.args(args))
        };
        let target = symbolic(&["-q", refname])?;
        // Of this worktree, because refs may exist in one only.
        let existing = text_of(self.git_in(git_dir, "for-each-ref").args(["--count=1", "--format=%(refname)"]))?;
        let Some(existing) = existing.lines().next() else { return self.expire_reflog(git_dir, refname) };
        symbolic(&[refname, existing])?.into_stdout()?;
        let expired = self.expire_reflog(git_dir, refname);
        if target.is_success() {
            symbolic(&[refname, String::from_utf8_lossy(&target.stdout).trim_end()])?.into_stdout()?;
        } else {
            symbolic(&["--delete", refname])?.into_stdout()?;
        }
        expired
    }
}
