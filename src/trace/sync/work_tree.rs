//! Remotes in which somebody works: as in git, a push does not move what is current there.
//!
//! Only those in local folders are examined. Over a network, nothing shows that a repository has a work tree.

use std::collections::{BTreeMap, HashSet};

use super::is_private;
use super::pull::{Arrival, arrivals};
use crate::git::{Destination, GitError, Oid, PushFate, PushedRef, Repo, parse_bool};
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::store::head;
use crate::trace::store::line_history::{LineHistory, find_file, list_new_files};
use crate::trace::store::priority;
use crate::trace::store::tombstone::{self, Tombstones};
use crate::trace::{ItemEntry, ItemId, Tip, TraceError, TraceName};

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
            let Current { traces: current, shows_sessions } = Current::of(there).unwrap_or_default();
            let is_shown = |name: &TraceName, tip| {
                let is_session = || Tip::read(repo, tip).is_ok_and(|tip| tip.family().is_some());
                current.contains(name) || shows_sessions && is_session()
            };
            let moves = |name: &TraceName, tip| {
                is_shown(name, tip) && there.find_ref(&name.refname()).is_ok_and(|known| known != Some(tip))
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

/// What commands in the work trees of a repository are about.
#[derive(Default)]
struct Current {
    traces: HashSet<TraceName>,
    /// Whether nobody chose a trace or committed to the default one in one of them, so that commands show the newest recorded session.
    shows_sessions: bool,
}

impl Current {
    fn of(there: &Repo) -> Result<Self, TraceError> {
        // As for git, also if the address is that of the git folder.
        let is_bare = there.config()?.boolean("core.bare")? != Some(false);
        let has_traces = !there.list_refs(TRACES)?.is_empty();
        let default = TraceName::default_name();
        let has_default = there.find_ref(&default.refname())?.is_some();
        let mut current = Self::default();
        for (git_dir, chosen) in head::of_worktrees(there)? {
            let is_main = git_dir == there.common_dir();
            let is_used = || {
                let name = there.name_of_worktree(&git_dir);
                Ok::<_, GitError>(there.operations()?.iter().any(|operation| operation.worktree == name))
            };
            // A worktree of a bare repository may only be there to deploy the code.
            if is_bare && (is_main || chosen.is_none() && !is_used()?) {
                continue;
            }
            // Nobody uses git-trace there.
            if chosen.is_none() && !has_traces {
                continue;
            }
            current.shows_sessions |= chosen.is_none() && !has_default;
            current.traces.insert(chosen.unwrap_or_else(|| default.clone()));
        }
        Ok(current)
    }
}

/// The priorities and purges of a remote in which somebody works, which no fetch of its traces brings, by name and reason. Without those that came
/// in another way.
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
    let mut unshared = BTreeMap::new();
    for there in address.map(|address| repo.local_repositories(&address)).transpose()?.into_iter().flatten() {
        // As over a network, nothing is known of those without a work tree.
        if Current::of(&there).unwrap_or_default().traces.is_empty() {
            continue;
        }
        let new = |history| files_with_new_lines(repo, &there, history).unwrap_or_default();
        let items: HashSet<ItemId> =
            new(&priority::HISTORY).iter().filter_map(|path| priority::item_of(path)).collect();
        if !items.is_empty() && have_any(repo, (from.remote, patterns), &|slot| items.contains(&slot.id))? {
            unshared.insert(priority::HISTORY.noun, "a push to a bare one");
        }
        if !new(&tombstone::RECEIVED).is_empty()
            && let Ok(Some(purges)) = Tombstones::find(&there)
            && have_any(repo, (from.remote, patterns), &|slot| purges.of_object(slot.blob).is_some())?
        {
            unshared.insert(tombstone::RECEIVED.noun, "`git trace purge --push` to a bare one");
        }
    }
    let cause = |by: &str| format!("a repository with a work tree shares them only by {by}");
    Ok(unshared.into_iter().map(|(noun, by)| (noun.to_owned(), cause(by))).collect())
}

/// Whether the traces of a remote as last fetched that match the patterns, or the local ones of these names, have one of some items.
fn have_any(
    repo: &Repo,
    (remote, patterns): (&str, &[String]),
    is_one: &dyn Fn(&ItemEntry) -> bool,
) -> Result<bool, TraceError> {
    for Arrival { name, tip } in arrivals(repo, remote, patterns)?.traces {
        for tip in repo.find_ref(&name.refname())?.into_iter().chain([tip]) {
            // A damaged one is reported elsewhere.
            let slots = repo.read_commit(tip).and_then(|commit| tree::list(repo, commit.tree)).unwrap_or_default();
            if slots.iter().any(is_one) {
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
