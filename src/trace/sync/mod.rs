//! Push, fetch, and pull of traces, by calling git.
//!
//! A push sends traces and the priority record's lines of their items, and nothing else. A fetch stores traces in
//! `refs/trace-remotes/<remote>/<name>`, and the record in `refs/trace-remote-records/<remote>/priority`.
//!
//! - A published prefix never moves: if both sides have new items, the published ones come first.
//! - Priority records merge by union of their lines, without conflicts, and only for items of traces that were accepted or merged.
//! - A trace may be archived: a remote keeps it instead of this repository, until it is used again. Fetching all traces leaves it there.
//! - Fetching changes no trace and no priority of this repository.

mod address;
mod archive;
pub(crate) mod lines;
mod pull;
mod purged;
mod push;
mod unnamed;
mod work_tree;

pub(crate) use address::{Target, all_targets};
pub(crate) use archive::{Archival, archive, bring_back_if_archived, forget_archived};
pub(crate) use pull::{
    Arrival, Arrivals, EVERYTHING, Pulled, arrivals, arrived_crumbs, fetch, fetched_private, local_items, pull,
    pull_priorities, refuse_fetched, refuse_unapplied,
};
pub(crate) use purged::{
    ARCHIVED, PREFETCHED, complete_removal, delete_fetched, drop_objects, fetched_tombstones, is_of_code,
    plan_replacement, receive, replace as replace_purged,
};
pub(crate) use push::{Delivery, Request, push};
pub(crate) use unnamed::{
    fetch_unnamed_refs, fetched_private_refs, fetched_unnamed_refs, forget as forget_fetched, forget_unnamed_refs,
};

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::git::{GitError, Oid, Repo};
use crate::trace::model::name::{REMOTE_RECORDS, REMOTES, TRACES};
use crate::trace::model::tree::{self, Change};
use crate::trace::store::walk::changes_of;
use crate::trace::{ItemId, Op, Tip, TraceError, TraceName};

/// The ref of a trace as last fetched; `name` may be a glob.
pub(crate) fn tracking_ref(remote: &str, name: &str) -> String {
    format!("{REMOTES}{remote}/{name}")
}

/// The remote of a remote-tracking ref, and the name of the trace there. Remotes may be named `team` and `team/fork`, and refs of removed
/// ones stay.
pub(crate) fn split_tracking<'r, 'n>(remotes: &'r HashSet<String>, refname: &'n str) -> Option<(&'r str, &'n str)> {
    let rest = refname.strip_prefix(REMOTES)?;
    let name_on = |remote: &'r String| Some((remote.as_str(), rest.strip_prefix(remote.as_str())?.strip_prefix('/')?));
    remotes.iter().filter_map(name_on).max_by_key(|(remote, _)| remote.len())
}

/// The ref of a trace or of the forward crumbs of an agent as last fetched.
pub(crate) fn tracking_ref_of(remote: &str, name: &TraceName) -> String {
    let refname = name.refname();
    let private = || lines::fetched_ref(remote, &refname);
    refname.strip_prefix(TRACES).map_or_else(private, |name| tracking_ref(remote, name))
}

/// Leaves out the remote-tracking refs of other remotes whose names begin with that of this one, as `team/private` with `team`.
fn leave_out_others(repo: &Repo, remote: &str, refs: &mut Vec<(String, Oid)>) -> Result<(), GitError> {
    for other in repo.remotes()? {
        if other.strip_prefix(remote).is_some_and(|rest| rest.starts_with('/')) {
            let folders = [tracking_ref(&other, ""), lines::fetched_ref(&other, "")];
            refs.retain(|(refname, _)| !folders.iter().any(|folder| refname.starts_with(folder)));
        }
    }
    Ok(())
}

/// Whether a name matches a glob in which `*` matches any text, including slashes, as in a refspec.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        Some((head, tail)) => name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail),
        None => glob == name,
    }
}

/// Whether a name is the full name of a ref that is shared only by this name: the forward crumbs of an agent, or the archive of
/// a crumb file.
pub(crate) fn is_private(name: &str) -> bool {
    let folders = ["refs/crumbs/", "refs/crumb-archive/"];
    folders.iter().any(|folder| name.starts_with(folder)) && Repo::is_refname(name)
}

/// From this number of traces on, their refs are listed instead of looked up one by one, and globs are passed on to git.
const MANY: usize = 64;

/// The oids of refs below `folder`, which ends in `/`, one for each trace.
fn find_all(repo: &Repo, folder: &str, names: &[TraceName]) -> Result<Vec<Option<Oid>>, TraceError> {
    let refname = |name: &TraceName| format!("{folder}{}", name.as_str());
    if names.len() < MANY {
        return names.iter().map(|name| Ok(repo.find_ref(&refname(name))?)).collect();
    }
    let listed: HashMap<String, Oid> = repo.list_refs(folder)?.into_iter().collect();
    Ok(names.iter().map(|name| listed.get(&refname(name)).copied()).collect())
}

/// The local traces that match names or globs.
pub(crate) fn named(repo: &Repo, patterns: &[String]) -> Result<Vec<TraceName>, TraceError> {
    let has_glob = patterns.iter().any(|pattern| pattern.contains('*'));
    let all = if has_glob { repo.list_refs(TRACES)? } else { Vec::new() };
    let mut names = BTreeSet::new();
    for pattern in patterns {
        let wanted = pattern.strip_prefix(TRACES).unwrap_or(pattern);
        let found: Vec<TraceName> = if wanted.contains('*') {
            let named = all.iter().filter_map(|(refname, _)| TraceName::of_ref(refname));
            named.filter(|name| matches(wanted, name.as_str())).collect()
        } else {
            match wanted.parse::<TraceName>() {
                Ok(name) if repo.find_ref(&name.refname())?.is_some() => vec![name],
                _ => Vec::new(),
            }
        };
        if found.is_empty() {
            return Err(TraceError::NoMatch { pattern: pattern.clone() });
        }
        names.extend(found);
    }
    Ok(names.into_iter().collect())
}

/// The items of traces, each given by its tip and by the commit that the receiver had: live items, and items that were changed in
/// commits that the receiver did not have.
fn items_of(repo: &Repo, traces: impl IntoIterator<Item = (Oid, Option<Oid>)>) -> Result<BTreeSet<ItemId>, TraceError> {
    let mut items = BTreeSet::new();
    for (tip, known) in traces {
        items.extend(tree::list(repo, repo.read_commit(tip)?.tree)?.into_iter().map(|slot| slot.id));
        for oid in repo.commits_beyond(tip, known)? {
            let commit = Tip::read(repo, oid)?;
            if let Some(item) = commit.item() {
                items.insert(item);
                // A summary takes the place of other items.
                if commit.trailers.op != Some(Op::Compress) {
                    continue;
                }
            }
            let removed = changes_of(repo, &commit)?.into_iter().filter(|change| matches!(change, Change::Removed(_)));
            items.extend(removed.map(|change| change.entry().id));
        }
    }
    Ok(items)
}

/// The setting that says what plain `git fetch` fetches.
pub(crate) fn fetch_key(remote: &str) -> String {
    format!("remote.{remote}.fetch")
}

fn is_of_traces(refspec: &str) -> bool {
    let destination = refspec.rsplit_once(':').map_or("", |(_, destination)| destination);
    [REMOTES, REMOTE_RECORDS].iter().any(|folder| destination.starts_with(folder))
}

/// Whether plain `git fetch` fetches a remote's traces.
pub(crate) fn is_followed(repo: &Repo, remote: &str) -> Result<bool, TraceError> {
    Ok(repo.config()?.texts(&fetch_key(remote))?.iter().any(|refspec| is_of_traces(refspec)))
}

/// Configures whether plain `git fetch` fetches a remote's traces.
pub(crate) fn follow(repo: &Repo, remote: &str, follows: bool) -> Result<(), TraceError> {
    let key = fetch_key(remote);
    if follows {
        // Plain git fetches from here from now on.
        address::note_address(repo, remote)?;
    }
    let ours = [format!("+{TRACES}*:{}", tracking_ref(remote, "*")), lines::refspec(remote)];
    // Those of version 0.1, and of an earlier name of the remote, are others.
    let is_obsolete = |refspec: &String| {
        let source = refspec.rsplit_once(':').map_or(&**refspec, |(source, _)| source);
        is_of_traces(refspec) && (!follows || (source.ends_with('*') && !ours.contains(refspec)))
    };
    for refspec in repo.config()?.texts(&key)?.iter().filter(|refspec| is_obsolete(refspec)) {
        repo.remove_setting(&key, refspec)?;
    }
    for refspec in ours.iter().filter(|_| follows) {
        repo.add_setting(&key, refspec)?;
    }
    Ok(())
}
