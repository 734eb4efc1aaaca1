//! Recorded sessions that are older than `trace.retain`, which `gc` removes.
//!
//! Only traces count that have the default name of a session, and that of its sub-agents. A trace that somebody renamed or
//! branched off, such as a cleaned one, stays.

use std::collections::HashMap;

use crate::git::{Oid, Repo};
use crate::trace::model::name::{REMOTES, TRACES};
use crate::trace::store::head;
use crate::trace::{Op, Time, Tip, TraceError, TraceName};
use crate::transcript::format::Format;

#[derive(Debug)]
pub(crate) struct Expired {
    pub name: TraceName,
    pub tip: Oid,
    /// The time of its last change.
    pub at: Time,
    /// Whether a remote has it, according to the last push or fetch.
    pub is_pushed: bool,
}

/// The recorded sessions whose last change was before a time, the oldest first, except those that are current in a worktree. Reads
/// the tip of each.
pub(crate) fn expired(repo: &Repo, before: Time) -> Result<Vec<Expired>, TraceError> {
    let mut current = vec![head::current(repo)?];
    current.extend(head::of_worktrees(repo)?.into_iter().filter_map(|(_, chosen)| chosen));
    let mut found = Vec::new();
    for format in Format::all() {
        for (refname, oid) in repo.list_refs(&format!("{TRACES}{format}/"))? {
            let Some(name) = TraceName::of_ref(&refname).filter(|name| !current.contains(name)) else { continue };
            let tip = Tip::read(repo, oid)?;
            // What somebody changed after the last import is not only a recording any more.
            let is_import = tip.trailers.source.is_some() && tip.trailers.op != Some(Op::Export);
            if is_import && is_of_session(&name, &tip) && tip.time() < before {
                found.push(Expired { at: tip.time(), name, tip: oid, is_pushed: false });
            }
        }
    }
    let pushed = repo.list_refs(REMOTES)?;
    let mut by_name: HashMap<&str, Vec<Oid>> = HashMap::new();
    for (refname, oid) in &pushed {
        // The name of a remote may have slashes, too.
        for (slash, _) in refname.match_indices('/') {
            by_name.entry(&refname[slash + 1..]).or_default().push(*oid);
        }
    }
    for one in &mut found {
        for oid in by_name.get(one.name.as_str()).into_iter().flatten() {
            one.is_pushed |= repo.is_ancestor(one.tip, *oid)?;
        }
    }
    found.sort_by_key(|expired| expired.at);
    Ok(found)
}

fn is_of_session(name: &TraceName, tip: &Tip) -> bool {
    tip.family().is_none_or(|family| family == name || name.is_sub_agent_of(family))
}
