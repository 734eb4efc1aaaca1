//! Remotes in which somebody works: as in git, a push does not move what is current there.
//!
//! Only those in local folders are examined. Over a network, nothing shows that a repository has a work tree.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::is_private;
use super::pull::{Arrival, arrivals};
use crate::git::{Destination, GitError, Oid, PushFate, PushedRef, Repo, parse_bool};
use crate::trace::model::tree;
use crate::trace::store::head;
use crate::trace::store::line_history::{LineHistory, find_file, list_new_files};
use crate::trace::store::{priority, tombstone};
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// The answer for a trace that is current there.
const CURRENT: &str =
    "[rejected] (somebody works with this trace there: pull it in that repository, or push to a bare one)";

/// Why a fetch does not bring priorities or purges.
const UNSHARED: &str = "a repository with a work tree shares them only by a push to a bare one";

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
            // Where nobody chose a trace or committed to the default one, commands show the newest recorded session.
            let shows_sessions = current.contains(&TraceName::default_name())
                && there.find_ref(TraceName::default_name().refname().as_str()).is_ok_and(|tip| tip.is_none());
            let is_shown = |name: &TraceName, known| {
                current.contains(name)
                    || shows_sessions && Tip::read(there, known).is_ok_and(|tip| tip.family().is_some())
            };
            let moves = |name: &TraceName, tip| {
                let known = there.find_ref(&name.refname()).ok().flatten();
                known.is_some_and(|known| known != tip && is_shown(name, known))
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
    // As for git, also if the address is that of the git folder.
    let is_bare = there.config()?.boolean("core.bare")? != Some(false);
    let mut current = HashSet::new();
    for (git_dir, chosen) in head::of_worktrees(there)? {
        match chosen {
            // A worktree of a bare repository may only be there to deploy the code.
            _ if is_bare && git_dir == there.common_dir() => {}
            None if is_bare => {}
            chosen => {
                current.insert(chosen.unwrap_or_else(TraceName::default_name));
            }
        }
    }
    Ok(current)
}

/// What a fetch of traces does not bring: the priorities and purges of their items in a remote in which somebody works. By name and reason;
/// without those that other fetches brought.
pub(super) fn unshared(
    repo: &Repo,
    from: Destination<'_>,
    patterns: &[String],
) -> Result<Vec<(String, String)>, TraceError> {
    // Nothing but traces has them.
    if !patterns.is_empty() && patterns.iter().all(|name| is_private(name)) {
        return Ok(Vec::new());
    }
    // Git fetches from the first address.
    let address = from.address.map(str::to_owned).or(repo.addresses(from.remote, false)?.into_iter().next());
    let mut unshared = BTreeSet::new();
    for there in address.map(|address| repo.local_repositories(&address)).transpose()?.into_iter().flatten() {
        // As over a network, nothing is known of those without a work tree.
        if current_traces(&there).unwrap_or_default().is_empty() {
            continue;
        }
        let new = |history| files_with_new_lines(repo, &there, history).unwrap_or_default();
        let items: HashSet<ItemId> =
            new(&priority::HISTORY).iter().filter_map(|path| priority::item_of(path)).collect();
        if !items.is_empty() && have_any(repo, (from.remote, patterns), &items)? {
            unshared.insert(priority::HISTORY.noun);
        }
        // Only a search of all histories would show what a purge concerns.
        if !new(&tombstone::RECEIVED).is_empty() {
            unshared.insert(tombstone::RECEIVED.noun);
        }
    }
    Ok(unshared.into_iter().map(|noun| (noun.to_owned(), UNSHARED.to_owned())).collect())
}

/// Whether the traces of a remote as last fetched that match the patterns, or the local ones of these names, have one of the items.
fn have_any(repo: &Repo, (remote, patterns): (&str, &[String]), items: &HashSet<ItemId>) -> Result<bool, TraceError> {
    for Arrival { name, tip } in arrivals(repo, remote, patterns)?.traces {
        for tip in repo.find_ref(&name.refname())?.into_iter().chain([tip]) {
            // A damaged one is reported elsewhere.
            let slots = repo.read_commit(tip).and_then(|commit| tree::list(repo, commit.tree)).unwrap_or_default();
            if slots.iter().any(|slot| items.contains(&slot.id)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The files of a history in another repository with lines that this one has not, and has not fetched.
fn files_with_new_lines(repo: &Repo, there: &Repo, history: &LineHistory<'_>) -> Result<Vec<String>, TraceError> {
    let Some(theirs) = there.find_ref(history.refname)? else { return Ok(Vec::new()) };
    let tips = repo.find_ref(history.refname)?.into_iter().chain(history.list_fetched(repo)?);
    let trees = tips.map(|tip| Ok(repo.read_commit(tip)?.tree)).collect::<Result<Vec<Oid>, GitError>>()?;
    let (mut new, mut seen) = (Vec::new(), HashSet::new());
    for tree in &trees {
        list_new_files(repo, *tree, &mut seen)?;
    }
    for (path, file) in list_new_files(there, there.read_commit(theirs)?.tree, &mut seen)? {
        let known = trees.iter().map(|tree| find_file(repo, *tree, &path));
        let known: Vec<Oid> = known.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        if known.contains(&file) {
            continue;
        }
        let known = known.into_iter().map(|file| repo.read_blob(file)).collect::<Result<Vec<_>, _>>()?;
        let known: HashSet<&[u8]> = known.iter().flat_map(|text| text.split(|byte| *byte == b'\n')).collect();
        // Some lines of purges stay in their clone.
        let is_shared = |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| (history.format.is_line)(line));
        if there.read_blob(file)?.split(|byte| *byte == b'\n').any(|line| is_shared(line) && !known.contains(line)) {
            new.push(path);
        }
    }
    Ok(new)
}
