//! Refusals of an undo that would take a trace away from a worktree.

use super::Plan;
use crate::git::{Operation, Repo};
use crate::trace::model::name::TRACE_HEAD;
use crate::trace::store::{archived, head};
use crate::trace::{TraceError, TraceName};

/// A trace that is the current one of another worktree stays, unless that worktree's head is moved, too.
pub(super) fn refuse_to_delete(repo: &Repo, plan: &Plan) -> Result<(), TraceError> {
    let deleted: Vec<TraceName> = plan
        .refs
        .iter()
        .filter(|(.., to)| to.is_none())
        .filter_map(|(lock, ..)| TraceName::of_ref(lock.refname()))
        .collect();
    if deleted.is_empty() {
        return Ok(());
    }
    for (git_dir, chosen) in head::of_worktrees(repo)? {
        let refname = chosen.as_ref().map(TraceName::refname);
        let is_its_own = |head: &str| head.ends_with(TRACE_HEAD) && repo.git_dir_of(head) == git_dir;
        let leaves = plan.heads.iter().any(|(head, from, _)| *from == refname && is_its_own(head));
        if let Some(name) = chosen.filter(|name| deleted.contains(name) && git_dir != repo.git_dir() && !leaves) {
            return Err(TraceError::IsCurrent { name, git_dir: Some(git_dir) });
        }
    }
    Ok(())
}

/// A head does not return to a trace that was renamed or deleted since, as may happen in another worktree. Its first commit may be yet to
/// come.
pub(super) fn refuse_lost(repo: &Repo, plan: &Plan, operations: &[&Operation]) -> Result<(), TraceError> {
    for (head, _, to) in plan.heads.iter().filter(|(head, ..)| head.ends_with(TRACE_HEAD)) {
        let Some(refname) = to else { continue };
        let returns = plan.refs.iter().any(|(lock, _, to)| lock.refname() == refname && to.is_some());
        let name = TraceName::of_ref(refname);
        let is_archived = name.map_or(Ok(None), |name| archived::find(repo, &name))?.is_some();
        if returns || is_archived || repo.find_ref(refname)?.is_some() {
            continue;
        }
        let chose_it =
            |operation: &&&Operation| operation.refs.iter().any(|made| made.refname == *head && made.old == *to);
        let history = repo.operations()?;
        let removes = |later: &Operation| {
            later.refs.iter().any(|made| made.done && made.refname == *refname && made.new.is_none())
        };
        if let Some(operation) = operations.iter().find(chose_it)
            && history.iter().take_while(|later| later.id != operation.id).any(removes)
        {
            let (operation, command) = (operation.id.clone(), operation.command.clone());
            return Err(TraceError::MovedSince { operation, command, refname: refname.clone(), revert: None });
        }
    }
    Ok(())
}
