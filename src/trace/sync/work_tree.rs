//! Remotes in which somebody works: as in git, a push does not move what is current there.
//!
//! Only those in local folders are examined. Over a network, nothing shows that a repository has a work tree.

use std::collections::{BTreeMap, HashSet};

use crate::git::{Destination, Oid, PushFate, PushedRef, Repo, parse_bool};
use crate::trace::store::head;
use crate::trace::store::line_history::{LineHistory, find_file, list_files};
use crate::trace::store::{priority, tombstone};
use crate::trace::{TraceError, TraceName};

/// The answer for a trace that is current there.
const CURRENT: &str =
    "[rejected] (somebody works with this trace there: pull it in that repository, or push to a bare one)";

/// The answers for those of the traces, given with their tips, that a push to a remote would move while they are current there.
pub(super) fn refuse_current(
    repo: &Repo,
    remote: &str,
    traces: &[(&TraceName, Oid)],
) -> Result<Vec<PushedRef>, TraceError> {
    let mut refused = BTreeMap::new();
    // Of several addresses, one must not stop the others.
    if let [address] = &repo.addresses(remote, true)?[..] {
        for there in repo.local_repositories(address)?.iter().filter(|there| !accepts_moves(there)) {
            // Git decides about those that cannot be read.
            let current = current_traces(there).unwrap_or_default();
            let moves = |name: &TraceName, tip| {
                current.contains(name)
                    && there.find_ref(&name.refname()).ok().flatten().is_some_and(|known| known != tip)
            };
            let names = traces.iter().filter(|(name, tip)| moves(name, *tip)).map(|(name, _)| name.refname());
            refused.extend(names.map(|name| (name.clone(), PushedRef::new(name, PushFate::Refused, CURRENT))));
        }
    }
    Ok(refused.into_values().collect())
}

/// Whether git would accept a push to the branch that is checked out. See `receive.denyCurrentBranch` in `git-config(1)`.
fn accepts_moves(there: &Repo) -> bool {
    let setting = there.config().and_then(|config| config.text("receive.denyCurrentBranch")).ok().flatten();
    setting.is_some_and(|word| match word.to_ascii_lowercase().as_str() {
        "ignore" | "warn" | "updateinstead" => true,
        word => parse_bool(word) == Some(false),
    })
}

/// The current traces of all work trees.
fn current_traces(there: &Repo) -> Result<HashSet<TraceName>, TraceError> {
    let heads = head::of_worktrees(there)?.into_iter();
    // As for git, also if the address is that of the git folder.
    let is_bare = there.config()?.boolean("core.bare")? == Some(true);
    let in_worktree = heads.filter(|(git_dir, _)| !is_bare || git_dir != there.common_dir());
    Ok(in_worktree.map(|(_, chosen)| chosen.unwrap_or_else(TraceName::default_name)).collect())
}

/// The priorities and purges that somebody made in the remote itself, which a fetch does not bring, by name and reason.
pub(super) fn unshared(repo: &Repo, from: Destination<'_>) -> Result<Vec<(String, String)>, TraceError> {
    let addresses = match from.address {
        Some(address) => vec![address.to_owned()],
        None => repo.addresses(from.remote, false)?,
    };
    let mut unshared = BTreeMap::new();
    for address in addresses {
        for there in repo.local_repositories(&address)? {
            let shared = [&priority::HISTORY, &tombstone::RECEIVED].into_iter();
            for history in shared.filter(|history| has_new_lines(repo, &there, history).unwrap_or_default()) {
                let cause = "made in that repository itself, which shares them only by a push to a bare one";
                unshared.insert(history.noun.to_owned(), cause.to_owned());
            }
        }
    }
    Ok(unshared.into_iter().collect())
}

fn has_new_lines(repo: &Repo, there: &Repo, history: &LineHistory<'_>) -> Result<bool, TraceError> {
    let Some(theirs) = there.find_ref(history.refname)? else { return Ok(false) };
    let ours = repo.find_ref(history.refname)?.map(|tip| repo.read_commit(tip)).transpose()?;
    for (path, file) in list_files(there, there.read_commit(theirs)?.tree)? {
        let known = ours.as_ref().map(|ours| find_file(repo, ours.tree, &path)).transpose()?.flatten();
        let known = known.map(|known| repo.read_blob(known)).transpose()?.unwrap_or_default();
        let known: HashSet<&[u8]> = known.split(|byte| *byte == b'\n').collect();
        // Some lines of purges stay in their clone.
        let is_shared = |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| (history.format.is_line)(line));
        if there.read_blob(file)?.split(|byte| *byte == b'\n').any(|line| is_shared(line) && !known.contains(line)) {
            return Ok(true);
        }
    }
    Ok(false)
}
