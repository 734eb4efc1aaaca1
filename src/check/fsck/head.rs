//! The current and the previous trace of each worktree.

use std::fs;

use super::Inspection;
use super::problem::Problem;
use crate::git::{GitError, Repo};
use crate::trace::model::name::TRACE_HEAD;
use crate::trace::store::head::PREVIOUS;
use crate::trace::{TraceError, TraceName};

impl Inspection<'_> {
    /// A head is a symbolic ref to a trace, which may have no commit yet.
    pub(crate) fn heads(&mut self) -> Result<(), TraceError> {
        for git_dir in self.repo.worktree_git_dirs()? {
            for name in [TRACE_HEAD, PREVIOUS] {
                let path = git_dir.join(name);
                let is_file = fs::symlink_metadata(&path).is_ok();
                if !is_file && self.repo.has_refs_as_files() {
                    continue;
                }
                let worktree = Repo::open(&git_dir, self.repo.env().clone())?;
                let target = match worktree.find_symbolic_ref(name) {
                    // With reftable there may be no head.
                    Ok(None) if !is_file && worktree.find_ref(name)?.is_none() => continue,
                    target => target,
                };
                let cause = match target {
                    Ok(Some(target)) if TraceName::of_ref(&target).is_some() => continue,
                    Ok(Some(target)) => format!("it names `{target}`, which is no trace"),
                    Ok(None) => "it is detached, so it names no trace and keeps no commit".to_owned(),
                    Err(GitError::Store { .. }) => "git cannot read it".to_owned(),
                    Err(error) => return Err(error.into()),
                };
                let remedy = if is_file {
                    "remove that file, and choose with `git trace switch <trace>`".to_owned()
                } else {
                    format!(
                        "take it away with `git update-ref --no-deref -d {name}` in that worktree, and choose with \
                         `git trace switch <trace>`"
                    )
                };
                self.problems.push(Problem::error("head", path.display(), cause).remedy(remedy));
            }
        }
        Ok(())
    }
}
