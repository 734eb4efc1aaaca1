//! The current trace of a worktree, and the previous one.

use std::path::PathBuf;

use crate::git::{GitError, Ident, LogLine, Repo};
use crate::trace::model::name::{PREVIOUS, TRACE_HEAD};
use crate::trace::{TraceError, TraceName};

/// The current trace of this worktree: the one that `TRACE_HEAD` names, or `main`.
pub(crate) fn current(repo: &Repo) -> Result<TraceName, TraceError> {
    Ok(chosen(repo)?.unwrap_or_else(TraceName::default_name))
}

/// The trace that `TRACE_HEAD` names, if a trace was chosen. Fails if it names something else.
pub(crate) fn chosen(repo: &Repo) -> Result<Option<TraceName>, TraceError> {
    named_by(repo, TRACE_HEAD)
}

fn named_by(repo: &Repo, head: &str) -> Result<Option<TraceName>, TraceError> {
    let mut target = repo.find_symbolic_ref(head)?;
    if target.is_none() {
        if repo.find_ref(head)?.is_none() {
            return Ok(None);
        }
        // It names an object, or another process has just created it.
        target = repo.find_symbolic_ref(head)?;
    }
    match target.as_deref().map(TraceName::of_ref) {
        Some(Some(name)) => Ok(Some(name)),
        _ => Err(TraceError::BadHead { target: target.unwrap_or_else(|| "a commit".to_owned()) }),
    }
}

/// Makes a trace, which may have no commit yet, the current one of this worktree, and remembers the previous one.
pub(crate) fn switch(repo: &Repo, name: &TraceName, who: &Ident) -> Result<(), TraceError> {
    let before = match chosen(repo) {
        Ok(Some(before)) if before == *name => return Ok(()),
        Ok(Some(before)) => Some(before),
        // The default trace was the current one if it has commits.
        _ => repo.find_ref(&TraceName::default_name().refname())?.map(|_| TraceName::default_name()),
    };
    if let Some(before) = before.filter(|before| before != name) {
        let why = &format!("switch: from {before}");
        repo.point_symbolic_ref(PREVIOUS, &before.refname(), LogLine { who, why })?;
    }
    let why = &format!("switch: to {name}");
    Ok(repo.point_symbolic_ref(TRACE_HEAD, &name.refname(), LogLine { who, why })?)
}

pub(crate) fn previous(repo: &Repo) -> Result<TraceName, TraceError> {
    let refname = repo.find_symbolic_ref(PREVIOUS)?;
    refname.and_then(|refname| TraceName::of_ref(&refname)).ok_or(TraceError::NoPrevious)
}

/// The git folder of each worktree, with the trace that was chosen there.
pub(crate) fn of_worktrees(repo: &Repo) -> Result<Vec<(PathBuf, Option<TraceName>)>, TraceError> {
    let mut heads = Vec::new();
    for git_dir in repo.worktree_git_dirs()? {
        // A bad head elsewhere is the concern of that worktree, and of `fsck`.
        let chosen = named_by(repo, &repo.ref_of_worktree(&git_dir, TRACE_HEAD)).ok().flatten();
        heads.push((git_dir, chosen));
    }
    Ok(heads)
}

/// Fails if worktrees still name a trace that is gone.
pub(crate) fn refuse_failures(old: &TraceName, failures: Vec<(PathBuf, GitError)>) -> Result<(), TraceError> {
    let (mut git_dirs, mut sources): (Vec<_>, Vec<_>) = failures.into_iter().unzip();
    git_dirs.dedup();
    match sources.pop() {
        Some(source) => Err(TraceError::HeadStays { old: old.clone(), git_dirs, source: Box::new(source) }),
        None => Ok(()),
    }
}

/// Renames the current and the previous trace in every worktree where that is `old`. Returns the worktrees where it fails: they may
/// belong to other users.
pub(crate) fn rename(
    repo: &Repo,
    old: &TraceName,
    new: &TraceName,
    log: LogLine<'_>,
) -> Result<Vec<(PathBuf, GitError)>, TraceError> {
    let mut failures = Vec::new();
    for git_dir in repo.worktree_git_dirs()? {
        let [head, previous] = [TRACE_HEAD, PREVIOUS].map(|name| repo.ref_of_worktree(&git_dir, name));
        let is_current = named_by(repo, &head).is_ok_and(|name| name.unwrap_or_else(TraceName::default_name) == *old);
        let was_current = repo.find_symbolic_ref(&previous).is_ok_and(|name| name == Some(old.refname()));
        for (head, names_it) in [(head, is_current), (previous, was_current)] {
            if names_it && let Err(failure) = repo.point_symbolic_ref(&head, &new.refname(), log) {
                failures.push((git_dir.clone(), failure));
            }
        }
    }
    Ok(failures)
}
