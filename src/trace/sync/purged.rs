//! Purges and remotes: refusing what a remote still has, and replacing it there.

use std::collections::HashSet;

use super::lines::{fetched_lines, fetched_ref, push_lines};
use super::{is_private, tracking_ref};
use crate::git::{Oid, PushedRef, Repo};
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{HISTORY, Tombstones};
use crate::trace::{TraceError, TraceName};

/// A ref of a remote as last fetched.
struct Fetched {
    refname: String,
    tip: Oid,
    /// Its name in a report.
    name: String,
    /// The ref that a pull merges it into.
    local: Option<String>,
    /// Whether its trees hold items, and not files of lines.
    has_items: bool,
}

/// All refs of a remote as last fetched, except those that are not commits.
fn fetched_refs(repo: &Repo, remote: &str) -> Result<Vec<Fetched>, TraceError> {
    let mut fetched = Vec::new();
    let prefix = tracking_ref(remote, "");
    for (refname, tip) in repo.list_refs(&prefix)? {
        let name = refname.strip_prefix(&prefix).unwrap_or(&refname).to_owned();
        let local = name.parse::<TraceName>().ok().map(|name| name.refname());
        fetched.push(Fetched { refname, tip, name, local, has_items: true });
    }
    let prefix = fetched_ref(remote, "");
    for (refname, tip) in repo.list_refs(&prefix)? {
        let shared = refname.strip_prefix(&prefix).unwrap_or(&refname);
        let private = format!("refs/{shared}");
        let (name, local, has_items) = if shared == priority::HISTORY.shared {
            ("priorities".to_owned(), priority::RECORD.to_owned(), false)
        } else if is_private(&private) {
            (private.clone(), private, shared.starts_with("crumbs/"))
        } else {
            continue;
        };
        fetched.push(Fetched { refname, tip, name, local: Some(local), has_items });
    }
    fetched.retain(|fetched| repo.read_commit(fetched.tip).is_ok());
    Ok(fetched)
}

/// Removes fetched refs whose history contains something purged, and its objects. Returns the names of these refs and the reasons.
///
/// The remote's tombstones count too. Without any, this costs two lookups of refs.
pub(super) fn refuse_fetched(repo: &Repo, remote: &str) -> Result<Vec<(String, String)>, TraceError> {
    let tips = [repo.find_ref(HISTORY.refname)?, fetched_lines(repo, remote, &HISTORY)?];
    let Some(tombstones) = Tombstones::at(repo, tips.into_iter().flatten().collect())? else { return Ok(Vec::new()) };
    let mut refused = Vec::new();
    let (mut refnames, mut objects) = (Vec::new(), HashSet::new());
    for Fetched { refname, tip, name, local, has_items } in fetched_refs(repo, remote)? {
        let known = local.map(|local| repo.find_ref(&local)).transpose()?.flatten();
        let known = known.filter(|known| repo.read_commit(*known).is_ok());
        let found =
            if has_items { tombstones.in_history(repo, tip, known)? } else { tombstones.in_lines(repo, tip, known)? };
        if let Some((_, purge)) = found.first() {
            refused.push((name, purge.to_string()));
            objects.extend(found.iter().map(|(oid, _)| *oid));
            if !has_items {
                // A later commit need not have its own tombstone.
                objects.insert(tip);
            }
            refnames.push(refname);
        }
    }
    if refused.is_empty() {
        return Ok(refused);
    }
    repo.delete_refs(refnames.iter().map(String::as_str))?;
    let _writers = repo.lock_out_writers()?;
    // A remote may have tombstones for anything: an object that is still needed here stays.
    let held = repo.held_by_code(&|_| false, &objects)?;
    objects.retain(|oid| !held.contains_key(oid));
    if repo.find_obstacle_to_removal()?.is_none() {
        repo.remove_objects(&objects)?;
    }
    Ok(refused)
}

/// Adds the remote's tombstones to this repository's.
pub(crate) fn receive(repo: &Repo, signature: &Signature, remote: &str) -> Result<(), TraceError> {
    let Some(from) = fetched_lines(repo, remote, &HISTORY)? else { return Ok(()) };
    HISTORY.absorb(repo, signature, from, |_| Ok(true), |_, _| Ok(()))?;
    Ok(())
}

/// Replaces each ref on a remote whose tip was purged by the rewritten one, unless it moved meanwhile, and pushes the tombstones. A
/// ref that was deleted here is deleted there.
pub(crate) fn replace(repo: &Repo, signature: &Signature, remote: &str) -> Result<Vec<PushedRef>, TraceError> {
    let Some(tombstones) = Tombstones::find(repo)? else { return Ok(Vec::new()) };
    // First: a pull between the two must not merge the purged state with the old one.
    let rejected = push_lines(repo, signature, remote, &HISTORY, |_| Ok(true))?.rejected;
    let (mut refspecs, mut options) = (Vec::new(), Vec::new());
    for (refname, oid) in repo.list_remote(remote)? {
        let ours = match refname.strip_prefix("refs/trace-records/") {
            Some(shared) => format!("refs/trace-remote-records/{remote}/{shared}"),
            None => refname.clone(),
        };
        if tombstones.of_object(oid).is_none() {
            continue;
        }
        // Without a ref of ours, the remote's is deleted; the next push sends the lines of a record again.
        let new = repo.find_ref(&ours)?.map(|new| new.to_string()).unwrap_or_default();
        refspecs.push(format!("+{new}:{refname}").replace("+:", ":"));
        options.push(format!("--force-with-lease={refname}:{oid}"));
    }
    let mut replaced = if refspecs.is_empty() { Vec::new() } else { repo.push(remote, &refspecs, &options)? };
    replaced.extend(rejected);
    Ok(replaced)
}
