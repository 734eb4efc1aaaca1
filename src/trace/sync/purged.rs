//! Purges and remotes: refusing what a remote still has, and replacing it there.

use std::collections::{HashMap, HashSet};

use super::address::Target;
use super::lines::{accepted_lines, fetched_lines, fetched_ref, push_lines, shared_ref};
use super::{is_private, tracking_ref};
use crate::git::{GitError, ListedRef, Noted, Oid, Outgoing, PushFate, PushedRef, Repo};
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::model::tree;
use crate::trace::store::line_history::LineFormat;
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{Fate, HISTORY, Purge, RECEIVED, Tombstones};
use crate::trace::{Tip, TraceError, TraceName};

/// The files of archives of crumb files, as far as it matters here: `lines/3f/9a1c2e7b10d4e5`.
pub(crate) const ARCHIVED: LineFormat = LineFormat {
    is_path: |path| path.split_once('/').is_some_and(|(_, path)| priority::item_of(path).is_some()),
    is_line: |line| !line.trim().is_empty(),
    sort: |_| (),
};

/// Where the task `prefetch` of `git maintenance` puts what refspecs would put below `refs/`.
pub(crate) const PREFETCHED: &str = "refs/prefetch/";

/// A ref of a remote as last fetched.
pub(super) struct Fetched {
    pub(super) refname: String,
    tip: Oid,
    /// Its name in a report.
    name: String,
    /// The ref that a pull merges it into.
    local: Option<String>,
    /// The format of its files, if these are not items.
    lines: Option<LineFormat>,
}

impl Fetched {
    pub(super) fn is(&self, refname: &str, tip: Oid) -> bool {
        self.refname == refname && self.tip == tip
    }
}

/// All refs of a remote as last fetched.
pub(super) fn list_fetched(repo: &Repo, remote: &str) -> Result<Vec<Fetched>, TraceError> {
    list_fetched_below(repo, remote, "refs/")
}

/// The refs of a remote that the task `prefetch` of `git maintenance` fetched.
pub(super) fn list_prefetched(repo: &Repo, remote: &str) -> Result<Vec<Fetched>, TraceError> {
    list_fetched_below(repo, remote, PREFETCHED)
}

fn list_fetched_below(repo: &Repo, remote: &str, folder: &str) -> Result<Vec<Fetched>, TraceError> {
    let mut fetched = Vec::new();
    let prefix = tracking_ref(remote, "").replacen("refs/", folder, 1);
    for (refname, tip) in repo.list_refs(&prefix)? {
        let name = refname.strip_prefix(&prefix).unwrap_or(&refname).to_owned();
        let local = TraceName::of_ref(&format!("{TRACES}{name}")).map(|name| name.refname());
        fetched.push(Fetched { refname, tip, name, local, lines: None });
    }
    let prefix = fetched_ref(remote, "").replacen("refs/", folder, 1);
    for (refname, tip) in repo.list_refs(&prefix)? {
        let shared = refname.strip_prefix(&prefix).unwrap_or(&refname);
        let private = format!("refs/{shared}");
        let (name, local, lines) = if shared == priority::HISTORY.shared {
            ("priorities".to_owned(), priority::RECORD.to_owned(), Some(priority::HISTORY.format))
        } else if is_private(&private) {
            let lines = is_archive(&private).then_some(ARCHIVED);
            (private.clone(), private, lines)
        } else {
            continue;
        };
        fetched.push(Fetched { refname, tip, name, local: Some(local), lines });
    }
    Ok(fetched)
}

/// Removes fetched refs whose history contains something purged, and its objects. Returns the names of these refs and the reasons.
///
/// The remote's tombstones count too. Without any, this costs two lookups of refs.
pub(super) fn refuse_purged(repo: &Repo, remote: &str) -> Result<Vec<(String, String)>, TraceError> {
    refuse(repo, remote, |_| true)
}

/// As [`refuse_purged`], for the lines that a push fetched to add its own.
pub(super) fn forget_purged_lines(repo: &Repo, remote: &str) -> Result<(), TraceError> {
    refuse(repo, remote, |fetched| fetched.lines.is_some()).map(drop)
}

fn refuse(
    repo: &Repo,
    remote: &str,
    is_checked: impl Fn(&Fetched) -> bool,
) -> Result<Vec<(String, String)>, TraceError> {
    let mut refused = Vec::new();
    let fetched = fetched_lines(repo, remote, &HISTORY)?;
    let theirs = fetched.filter(|tip| match HISTORY.require_signed(repo, *tip) {
        Ok(()) => true,
        Err(error) => {
            refused.push((HISTORY.shared.to_owned(), error.to_string()));
            false
        }
    });
    let Some(tombstones) = Tombstones::with_fetched(repo, theirs)? else { return Ok(refused) };
    let (mut refnames, mut objects) = (Vec::new(), HashSet::new());
    for Fetched { refname, tip, name, local, lines } in list_fetched(repo, remote)?.into_iter().filter(is_checked) {
        // A remote may have anything there.
        if repo.read_commit(tip).is_err() {
            continue;
        }
        let known = local.map(|local| repo.find_ref(&local)).transpose()?.flatten();
        let known = known.filter(|known| repo.read_commit(*known).is_ok());
        if let Some((purge, purged)) = find_purged(repo, &tombstones, (tip, known), lines)? {
            refused.push((name, purge.to_string()));
            objects.extend(purged);
            refnames.push(refname);
        }
    }
    delete_fetched(repo, refnames.iter().map(String::as_str), objects)?;
    Ok(refused)
}

/// Deletes refs as last fetched, and the purged objects to which they led.
pub(crate) fn delete_fetched<'n>(
    repo: &Repo,
    refnames: impl IntoIterator<Item = &'n str>,
    objects: HashSet<Oid>,
) -> Result<(), TraceError> {
    let refnames: Vec<&str> = refnames.into_iter().collect();
    if refnames.is_empty() {
        return Ok(());
    }
    // A process that dies in between leaves them to the next removal.
    let noted = if objects.is_empty() { Ok(()) } else { note(repo, objects.clone()) };
    repo.delete_refs(refnames)?;
    noted?;
    if !objects.is_empty() {
        // Another process may have looked at the list before.
        drop_objects(repo, objects)?;
    }
    Ok(())
}

/// Notes the objects that a fetch left without a ref, because the remote has replaced them after a purge. [`complete_removal`] removes them.
pub(super) fn note_purged(repo: &Repo, remote: &str, before: Vec<Fetched>) -> Result<(), TraceError> {
    let theirs = fetched_tombstones(repo, remote)?;
    let Some(tombstones) = Tombstones::with_fetched(repo, theirs)? else { return Ok(()) };
    let after = list_fetched(repo, remote)?.into_iter().map(|fetched| (fetched.refname, fetched.tip));
    let after: HashMap<String, Oid> = after.collect();
    let (mut objects, mut refnames) = (HashSet::new(), HashSet::new());
    for Fetched { refname, tip, lines, .. } in before {
        let now = after.get(&refname).copied();
        if now != Some(tip)
            && repo.read_commit(tip).is_ok()
            && let now = now.filter(|now| repo.read_commit(*now).is_ok())
            && let Some((_, purged)) = find_purged(repo, &tombstones, (tip, now), lines)?
        {
            objects.extend(purged);
            refnames.insert(refname);
        }
    }
    if !objects.is_empty() {
        // `core.logAllRefUpdates=always` and reftable have reflogs of them.
        repo.expire_reflogs(&|refname| refnames.contains(refname))?;
        note(repo, objects)?;
    }
    Ok(())
}

/// Adds to the objects that the next removal takes along. A purge that runs would replace the list.
fn note(repo: &Repo, mut objects: HashSet<Oid>) -> Result<(), TraceError> {
    let _writers = repo.lock_out_writers()?;
    let noted = repo.expire_noted_reflogs()?;
    objects.extend(&noted.objects);
    Ok(repo.note_removal(&Noted { objects, ..noted })?)
}

/// A purge of something in a history that was fetched, beyond that of `known`, and all objects to remove because of it. `lines` is the
/// format of a history of lines.
pub(super) fn find_purged<'t>(
    repo: &Repo,
    tombstones: &'t Tombstones,
    (tip, known): (Oid, Option<Oid>),
    lines: Option<LineFormat>,
) -> Result<Option<(&'t Purge, Vec<Oid>)>, TraceError> {
    let found = match lines {
        None => tombstones.in_history(repo, tip, known)?,
        Some(_) => tombstones.in_lines(repo, tip, known)?,
    };
    let Some((_, purge)) = found.first() else { return Ok(None) };
    // A later commit need not have its own tombstone, and would lack files.
    let all = found.iter().map(|(oid, _)| *oid).chain(repo.commits_beyond(tip, known)?);
    let is_removed = |oid: &Oid| match lines {
        None => !is_of_code(repo, *oid),
        Some(format) => format.is_of(repo, *oid),
    };
    Ok(Some((purge, all.filter(is_removed).collect())))
}

/// Removes purged objects that were fetched. A remote may have tombstones for anything: an object that is still needed here stays. Those
/// that cannot be removed now are noted, so that the next removal takes them along; see [`complete_removal`]. Returns the reason.
pub(crate) fn drop_objects(repo: &Repo, mut objects: HashSet<Oid>) -> Result<Option<String>, TraceError> {
    let _writers = repo.lock_out_writers()?;
    let mut noted = repo.expire_noted_reflogs()?;
    objects.extend(&noted.objects);
    // First: a process that dies leaves them to the next removal.
    noted.objects = repo.existing(&objects)?.into_iter().map(|(oid, _)| oid).collect();
    repo.note_removal(&noted)?;
    if let Some(cause) = repo.find_obstacle_to_removal()? {
        return Ok(Some(cause));
    }
    let held = repo.needed(&objects)?;
    objects.retain(|oid| !held.contains_key(oid));
    repo.remove_objects(&objects)?;
    noted.objects.clear();
    repo.note_removal(&noted)?;
    Ok(None)
}

/// Removes purged objects that could not be removed before. Returns the reason why some still cannot.
pub(crate) fn complete_removal(repo: &Repo) -> Result<Option<String>, TraceError> {
    if repo.noted_removal()?.objects.is_empty() { Ok(None) } else { drop_objects(repo, HashSet::new()) }
}

/// Whether a commit belongs to no trace. A remote may give it the name of one, and tombstones, and the user may have it without a ref.
pub(crate) fn is_of_code(repo: &Repo, oid: Oid) -> bool {
    let has_items = |tip: &Tip| tree::list(repo, tip.commit.tree).is_ok_and(|items| !items.is_empty());
    Tip::read(repo, oid).is_ok_and(|tip| !tip.is_ours() && !has_items(&tip))
}

/// The remote's tombstones, if they have a signature that `trace.requireSigned` demands.
pub(crate) fn fetched_tombstones(repo: &Repo, remote: &str) -> Result<Option<Oid>, TraceError> {
    accepted_lines(repo, remote, &HISTORY)
}

/// Adds the remote's tombstones to this repository's, except those that anybody can guess. Returns their commit.
pub(crate) fn receive(repo: &Repo, signature: &Signature, remote: &str) -> Result<Option<Oid>, TraceError> {
    let Some(from) = fetched_tombstones(repo, remote)? else { return Ok(None) };
    RECEIVED.absorb(repo, signature, (from, &HashSet::new()), |_| Ok(true))?;
    Ok(Some(from))
}

/// The answer for a ref whose replacement is not in this repository.
const NO_REPLACEMENT: &str = "its replacement is not in this repository: `git trace pull` gets it, or `git trace purge --push REMOTE` writes another one";

/// The answer for a ref to a blob, a tree, a tag, or a commit of the code.
const NOTHING_REPLACES: &str =
    "is not a commit of git-trace, so nothing replaces it, and it stays: `git push REMOTE :REF` deletes it";

/// The answer for a ref that somebody moved.
const MOVED: &str = "moved since it was fetched, so it may still contain what was purged: have it purged where it was pushed from, with the same reason";

/// The answer for an archive of a crumb file to which somebody added lines.
const PURGED_LINES: &str = "contains lines that were purged: `git trace purge --push REMOTE` takes them out";

/// The answer for a branch or a tag that points to a commit of a trace.
const NOT_OURS: &str = "contains what was purged, and stays: only you can decide what becomes of a branch or a tag";

/// The answer for a ref that a purge has to fetch first.
const NOT_FETCHED: &str = "was not fetched, so it may contain it too";

/// The answer for a ref at an address to which the user's settings do not push.
const FETCHED_ONLY: &str = "contains what was purged, and stays: git only fetches from this address; `git remote add NAME ADDRESS` and `git trace purge --push NAME` replace it";

/// A ref of a remote that leads to something purged.
struct Purged {
    refname: String,
    oid: Oid,
    /// `None`: the remote is to delete it.
    new: Option<Oid>,
}

/// The refs of git-trace at an address whose tips were purged, or are `planned` to be, each with its replacement. Other refs that lead to
/// something purged are returned as refused, or as behind if a fetch helps. Refused, too, are refs of git-trace to anything but a commit,
/// and to a commit of the code that leads to one of `found`.
fn purged_there(
    repo: &Repo,
    target: &Target,
    tombstones: &Tombstones,
    planned: Option<&[(Oid, Option<Oid>)]>,
    found: &HashSet<Oid>,
) -> Result<(Vec<Purged>, Vec<PushedRef>), TraceError> {
    let planned_fates: HashMap<Oid, Option<Oid>> = planned.into_iter().flatten().copied().collect();
    let (mut purged, mut answers) = (Vec::new(), Vec::new());
    for ListedRef { refname, is_utf8, oid } in repo.list_remote_with_targets(target.fetch())? {
        let answer =
            |fate, summary: &str| PushedRef::new(refname.strip_suffix("^{}").unwrap_or(&refname), fate, summary);
        if refname.strip_suffix("^{}").is_some_and(is_ours) {
            continue;
        }
        let is_here = |oid| repo.read_commit(oid).is_ok();
        let is_strange = || match repo.read_commit(oid) {
            Ok(_) => found.contains(&oid) && is_of_code(repo, oid),
            Err(error) => found.contains(&oid) || matches!(error, GitError::WrongKind { .. }),
        };
        let fate = match (planned_fates.get(&oid), tombstones.fate(repo, oid, &is_here)) {
            (Some(Some(new)), _) => Fate::Replaced(*new),
            (Some(None), Fate::Kept) => Fate::Removed,
            (_, known) => known,
        };
        // A name that is not UTF-8 cannot be pushed to. The fetch reports those of git-trace.
        if !is_ours(&refname) || !is_utf8 {
            // An earlier version gave tombstones to commits of the code, too.
            if fate != Fate::Kept && !is_of_code(repo, oid) {
                answers.push(answer(PushFate::Refused, NOT_OURS));
            }
            continue;
        }
        let new = match fate {
            fate if target.is_fetched_only && fate != Fate::Kept => {
                answers.push(answer(PushFate::Refused, FETCHED_ONLY));
                continue;
            }
            Fate::Replaced(new) => Some(new),
            // The next push sends the lines of a record again.
            Fate::Removed if refname.starts_with("refs/trace-records/") => None,
            Fate::Kept | Fate::Removed | Fate::ReplacedElsewhere if is_strange() => {
                answers.push(answer(PushFate::Refused, NOTHING_REPLACES));
                continue;
            }
            Fate::Kept if planned.is_some() && !is_here(oid) && refname != shared_ref(&HISTORY) => {
                answers.push(answer(PushFate::Behind, NOT_FETCHED));
                continue;
            }
            Fate::Kept if is_ahead(repo, &target.remote, &refname, oid)? => {
                answers.push(answer(PushFate::Behind, MOVED));
                continue;
            }
            Fate::Kept if is_archive(&refname) && is_here(oid) && !tombstones.in_lines(repo, oid, None)?.is_empty() => {
                answers.push(answer(PushFate::Refused, PURGED_LINES));
                continue;
            }
            Fate::Kept => {
                if !found.is_empty() && is_here(oid) && is_of_code(repo, oid) && repo.leads_to(oid, found)? {
                    answers.push(answer(PushFate::Refused, NOTHING_REPLACES));
                }
                continue;
            }
            Fate::Removed | Fate::ReplacedElsewhere => {
                answers.push(answer(PushFate::Refused, NO_REPLACEMENT));
                continue;
            }
        };
        purged.push(Purged { refname, oid, new });
    }
    Ok((purged, answers))
}

/// Replaces each ref of git-trace at an address whose tip was purged by that tip without what was purged, unless it moved meanwhile, and
/// pushes the tombstones. Refs that cannot be replaced are returned as refused, or as behind if a fetch helps.
///
/// The address was fetched from before. `found` are objects that a purge has found and not replaced.
pub(crate) fn replace(
    repo: &Repo,
    signature: &Signature,
    target: &Target,
    found: &HashSet<Oid>,
) -> Result<Vec<PushedRef>, TraceError> {
    let tombstones = Tombstones::find(repo)?;
    if tombstones.is_none() && found.is_empty() {
        return Ok(Vec::new());
    }
    let (purged, mut replaced) = purged_there(repo, target, &tombstones.unwrap_or_default(), None, found)?;
    let outgoing: Vec<_> = purged
        .into_iter()
        .map(|Purged { refname, oid, new }| Outgoing {
            // With a `+`, git ignores the lease.
            lease: Some(format!("--force-with-lease={refname}:{oid}")),
            refspec: format!("{}:{refname}", new.map(|new| new.to_string()).unwrap_or_default()),
        })
        .collect();
    if !target.is_fetched_only {
        // First: a pull between the two must not merge the purged state with the old one.
        match push_lines(repo, signature, target, &HISTORY, |_| Ok(true))?.rejected {
            // It was repeated there as long as others pushed.
            Some(rejected) => replaced.push(PushedRef { fate: PushFate::Refused, ..rejected }),
            None => match repo.push(target.push(), &outgoing)? {
                (pushed, Some(error)) if pushed.iter().all(PushedRef::is_accepted) => return Err(error.into()),
                (pushed, _) => replaced.extend(pushed),
            },
        }
    }
    target.name(&mut replaced);
    Ok(replaced)
}

/// The answers that [`replace`] would give, as far as they are known without a fetch, after a purge of the `planned` objects that
/// leaves those that were `found`. Moves no ref.
pub(crate) fn plan_replacement(
    repo: &Repo,
    target: &Target,
    planned: Option<&[(Oid, Option<Oid>)]>,
    found: &HashSet<Oid>,
) -> Result<Vec<PushedRef>, TraceError> {
    let tombstones = match Tombstones::find(repo)? {
        None if planned.is_none() => return Ok(Vec::new()),
        known => known.unwrap_or_default(),
    };
    let (purged, answers) = purged_there(repo, target, &tombstones, planned, found)?;
    let planned = purged.into_iter().map(|Purged { refname, new, .. }| {
        let summary = if new.is_some() { "would be replaced" } else { "would be deleted" };
        PushedRef::new(refname, PushFate::Moved, summary)
    });
    // The purge fetches first.
    let answers = answers.into_iter().map(|answer| match answer.fate {
        PushFate::Behind => PushedRef { summary: NOT_FETCHED.to_owned(), ..answer },
        _ => answer,
    });
    let mut all: Vec<PushedRef> = planned.chain(answers).collect();
    target.name(&mut all);
    Ok(all)
}

/// Whether a ref of a remote is one of git-trace: it may be that of a mirror. Peeled tags are not.
pub(super) fn is_ours(refname: &str) -> bool {
    let is_ours = refname.starts_with(TRACES) || refname.starts_with("refs/trace-") || is_private(refname);
    is_ours && !refname.ends_with("^{}")
}

fn is_archive(refname: &str) -> bool {
    is_private(refname) && !refname.starts_with(FORWARD_CRUMBS)
}

/// Whether somebody moved a trace or a private history of a remote that this repository knows to a commit that is not here.
fn is_ahead(repo: &Repo, remote: &str, refname: &str, tip: Oid) -> Result<bool, TraceError> {
    let is_known = match refname.strip_prefix(TRACES) {
        Some(name) => repo.find_ref(refname)?.or(repo.find_ref(&tracking_ref(remote, name))?).is_some(),
        None => is_private(refname) && repo.find_ref(refname)?.is_some(),
    };
    Ok(is_known && repo.read_commit(tip).is_err())
}
