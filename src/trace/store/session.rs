//! Which trace continues the session of an agent.
//!
//! By default, the trace `<agent>/<session id>` does. Where another one does, because that trace was renamed or because the session was
//! exported from it, the symbolic ref `refs/trace-sessions/<agent>/<session id>` names that trace.
//!
//! A session is identified by its default trace. A symbolic ref to a trace that does not exist counts as absent.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::git::{LogLine, Repo};
use crate::trace::model::name::TRACES;
use crate::trace::{TraceError, TraceName};

pub(crate) const SESSIONS: &str = "refs/trace-sessions/";

fn refname(session: &TraceName) -> String {
    format!("{SESSIONS}{session}")
}

/// The path of a cache about recorded sessions, or a note about one.
pub(crate) fn cache_path(git_dir: &Path, file: impl AsRef<Path>) -> PathBuf {
    git_dir.join("trace").join("transcripts").join(file)
}

pub(crate) fn continued_by(repo: &Repo, session: &TraceName) -> Result<TraceName, TraceError> {
    let target = repo.find_symbolic_ref(&refname(session))?.and_then(|target| TraceName::of_ref(&target));
    match target {
        Some(name) if repo.find_ref(&name.refname())?.is_some() => Ok(name),
        _ => Ok(session.clone()),
    }
}

/// The sessions that traces continue because a symbolic ref says so.
pub(crate) fn of_traces(repo: &Repo, names: &[&TraceName]) -> Result<Vec<TraceName>, TraceError> {
    let named: HashSet<String> = names.iter().map(|name| name.refname()).collect();
    let listed = repo.list_symbolic_refs(SESSIONS)?.into_iter().filter(|(_, target)| named.contains(target));
    Ok(listed.filter_map(|(refname, _)| refname.strip_prefix(SESSIONS)?.parse().ok()).collect())
}

/// The ids of an agent's sessions that traces record, without those of sub-agents, forks, and cleaned copies.
pub(crate) fn recorded(repo: &Repo, agent: &str) -> Result<BTreeSet<String>, TraceError> {
    let mut found = BTreeSet::new();
    let mut add = |refname: &str, root| {
        let session = refname.strip_prefix(root).and_then(|name| name.strip_prefix(agent)?.strip_prefix('/'));
        found.extend(session.filter(|session| !session.contains('.')).map(str::to_owned));
    };
    for (refname, _) in repo.list_refs(&format!("{TRACES}{agent}/"))? {
        add(&refname, TRACES);
    }
    for (refname, _) in repo.list_symbolic_refs(&format!("{SESSIONS}{agent}/"))? {
        add(&refname, SESSIONS);
    }
    Ok(found)
}

/// Whether the ref of a session exists and names no trace, as after `git update-ref -d`.
pub(crate) fn is_dangling(repo: &Repo, refname: &str) -> Result<bool, TraceError> {
    let Some(target) = repo.find_symbolic_ref(refname)? else { return Ok(false) };
    // A ref that cannot be read exists.
    Ok(TraceName::of_ref(&target).is_none() || repo.find_ref(&target).is_ok_and(|oid| oid.is_none()))
}

/// Lets a trace continue a session.
pub(crate) fn bind(repo: &Repo, session: &TraceName, name: &TraceName, log: LogLine<'_>) -> Result<(), TraceError> {
    if session == name {
        return Ok(repo.delete_symbolic_ref(&refname(session), log)?);
    }
    Ok(repo.point_symbolic_ref(&refname(session), &name.refname(), log)?)
}

/// Lets the new name of a trace continue its sessions. `own`: the old name is the default name of a session.
pub(crate) fn rename(
    repo: &Repo,
    (old, new): (&TraceName, &TraceName),
    own: bool,
    log: LogLine<'_>,
) -> Result<(), TraceError> {
    let mut sessions = of_traces(repo, &[old])?;
    if own && continued_by(repo, old)? == *old {
        sessions.push(old.clone());
    }
    sessions.iter().try_for_each(|session| bind(repo, session, new, log))
}

/// Removes what names traces that are about to be deleted.
pub(crate) fn unbind(repo: &Repo, names: &[&TraceName], log: LogLine<'_>) -> Result<(), TraceError> {
    of_traces(repo, names)?.iter().try_for_each(|session| bind(repo, session, session, log))
}
