//! Forgetting: a text, the matches of a pattern, or items are removed from everything that git-trace stores.
//!
//! - All objects are scanned first, reachable or not. Histories that contain a hit are written again, and refs move in one
//!   transaction. Then exactly the replaced objects are removed, and all remaining objects are scanned again.
//! - What the code's refs, reflogs, and indexes lead to is reported and stays.
//! - Tombstones of the removed objects keep them from coming back; see [`tombstone`].
//! - A purge that is killed can be repeated: the rewritten objects are the same.

mod content;
mod dangling;
mod json;
mod kept;
mod learn;
mod marks;
mod needle;
mod places;
mod received;
mod rewrite;
mod scan;
mod tags;
mod verify;
mod world;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

pub(crate) use content::Target;
pub(crate) use kept::forget_settled;
pub(crate) use needle::{Needle, SHORTEST};
pub(crate) use received::{Missing, Received, Rewritten, apply_received, refuse_independent, rewrite_fetched};
pub(crate) use rewrite::Counts;

use crate::check::fsck::{is_complete, lost_refs};
use crate::git::{GitError, Noted, ObjectKind, Objects, Oid, RefChange, Repo};
use crate::trace::store::commit::is_signing;
use crate::trace::store::priority::{Before, ChangedPriority, in_traces};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Fate, Removed, Tombstones};
use crate::trace::{Fields, ItemId, ItemType, TraceError};
use dangling::Dangling;
use places::Files;
use received::find_unapplied;
use rewrite::{Rewriter, is_of_code};
use scan::Scan;
use world::{World, is_fetched};

/// The changes of a purge, and the places that it leaves alone.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) refs: Vec<RefChange>,
    /// The refs whose reflogs are removed.
    pub(crate) reflogs: Vec<String>,
    pub(crate) counts: Counts,
    /// Objects that contain a hit and that nothing leads to.
    pub(crate) unreachable: HashSet<Oid>,
    /// All objects that are removed.
    pub(crate) removed: HashSet<Oid>,
    /// Whether derived files contain the text, or may have that of a purge that was killed. Any purge removes these files.
    pub(crate) is_in_derived: bool,
    pub(crate) outside: Outside,
    tombstones: Removed,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.refs.is_empty() && self.reflogs.is_empty() && self.removed.is_empty() && !self.is_in_derived
    }

    /// The objects that contain it: they are removed, or stay in the code's history.
    pub(crate) fn found(&self) -> HashSet<Oid> {
        self.removed.iter().copied().chain(self.outside.code.iter().map(|(oid, _)| *oid)).collect()
    }

    /// The objects that get tombstones, each with its replacement.
    pub(crate) fn objects(&self) -> &[(Oid, Option<Oid>)] {
        &self.tombstones.objects
    }
}

/// Where the text is, and stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outside {
    /// Objects of the code's history, each with a path; that of a commit is empty.
    pub(crate) code: Vec<(Oid, String)>,
    /// Commits whose author or committer contains it.
    pub(crate) authors: usize,
    /// Earlier purges whose reason contains it.
    pub(crate) reasons: usize,
    /// Other texts in tombstones: names of who purged, and what a remote has added.
    pub(crate) in_tombstones: usize,
    /// Files in the git directory and in work trees.
    pub(crate) files: Vec<PathBuf>,
    /// Files in work trees that are named by it.
    pub(crate) named_files: Vec<PathBuf>,
    /// Refs that are named by it, also symbolic ones.
    pub(crate) names: Vec<String>,
    /// Files that cannot be searched: large ones, and those among the objects that git does not read.
    pub(crate) unread: Vec<PathBuf>,
}

/// The result of a purge.
#[derive(Default, Debug)]
pub(crate) struct Purged {
    pub(crate) plan: Plan,
    /// Objects that another repository lends, so that they could not be removed here.
    pub(crate) lent: usize,
    /// Objects that still contain a hit, and are not the code's. This is not expected.
    pub(crate) left: Vec<(Oid, ObjectKind)>,
    /// The items with another level now: a reason may say where a skip applies.
    pub(crate) priorities: Vec<ChangedPriority>,
    /// Why a file of git-trace could not be removed.
    pub(crate) failed: Option<TraceError>,
}

/// Writes nothing.
pub(crate) fn plan(repo: &Repo, target: &Target) -> Result<Plan, TraceError> {
    plan_with(repo, target, Objects::hashed(repo))
}

/// Purges. Our own writers wait meanwhile.
pub(crate) fn purge(repo: &Repo, target: &Target, signature: &Signature) -> Result<Purged, TraceError> {
    let _writers = repo.lock_out_writers()?;
    let _collectors = repo.lock_out_collectors()?;
    let before = Before::read(repo);
    let unfinished = repo.expire_noted_reflogs()?;
    let mut plan = plan_with(repo, target, Objects::written(repo, is_signing(repo)?))?;
    let mut refs = [plan.refs.clone(), kept::keep(repo, &plan.refs)?].concat();
    let mut after = None;
    // A ref of the code may keep all of them.
    if !plan.tombstones.objects.is_empty() {
        let known = Tombstones::default();
        let (old, new) = tombstone::write(repo, signature, &known, &target.reason, &plan.tombstones)?;
        after = Some((tombstone::HISTORY.refname.to_owned(), new));
        refs.push(RefChange { refname: tombstone::HISTORY.refname.to_owned(), old, new });
    }
    let (objects, reflogs, derived) = (plan.removed.clone(), plan.reflogs.clone(), !plan.is_empty());
    let mut noted = Noted { objects, reflogs, after, derived };
    repo.note_removal(&noted)?;
    if let Err(error) = repo.replace_refs(&refs) {
        repo.note_removal(&unfinished)?;
        return Err(error.into());
    }
    // Both states are still here. Damage must not stop a purge; `fsck` reports it.
    let priorities = before.and_then(|before| in_traces(repo, &before)).unwrap_or_default();
    let names: HashSet<&str> = plan.reflogs.iter().map(String::as_str).collect();
    repo.expire_reflogs(&|refname| names.contains(refname))?;
    let world = World::of(repo)?;
    if !plan.removed.is_disjoint(&repo.hidden_in_reflogs()?) {
        // Git does not say which reflog leads to it.
        repo.expire_reflogs(&|refname| world.is_ours(refname))?;
    }
    // Lines that are written from now on stay.
    noted.reflogs.clear();
    noted.after = None;
    repo.note_removal(&noted)?;
    // A file of another user must not keep the objects here.
    let derived = if plan.is_empty() { Ok(()) } else { places::remove_derived(repo, target, &plan.tombstones) };
    // Whatever leads to an object, it is needed: for git, a missing one makes the repository damaged.
    let needed = repo.needed(&plan.removed)?;
    plan.removed.retain(|oid| !needed.contains_key(oid));
    let staged = plan.unreachable.iter().filter(|oid| plan.removed.contains(oid));
    let staged: Vec<_> = staged.filter_map(|oid| Some((*oid, repo.read_blob(*oid).ok()?))).collect();
    repo.remove_objects(&plan.removed)?;
    // It may have packed what it saw before.
    repo.wait_for_maintenance()?;
    let lent = repo.remove_objects(&plan.removed)?;
    repo.note_removal(&Noted { derived: derived.is_err(), ..Noted::default() })?;
    restore_staged(repo, &staged)?;
    let scan = Scan::of(repo, target)?;
    let hits: HashSet<Oid> = scan.hits.keys().copied().collect();
    let code = repo.held_by_code(Some(&world.ours(repo)), &hits)?;
    let mut left: Vec<_> =
        scan.hits.into_iter().filter(|(oid, _)| !code.contains_key(oid) && !lent.contains(oid)).collect();
    left.sort();
    plan.outside.files = places::files_with(repo, target)?.with_text;
    Ok(Purged { plan, lent: lent.len(), left, priorities, failed: derived.err() })
}

/// Writes blobs again that git has staged since it was known that nothing needs them: it does not write what it finds.
fn restore_staged(repo: &Repo, removed: &[(Oid, Vec<u8>)]) -> Result<(), TraceError> {
    if removed.is_empty() {
        return Ok(());
    }
    let is_known = repo.wait_for_indexes()?;
    let staged = repo.staged_blobs()?;
    for (_, bytes) in removed.iter().filter(|(oid, _)| !is_known || staged.contains(oid)) {
        repo.write_blob(bytes)?;
    }
    Ok(())
}

/// Rewrites the histories of our refs. Returns the moves, by name.
fn rewrite_refs(repo: &Repo, world: &World, rewriter: &mut Rewriter<'_>) -> Result<Vec<RefChange>, TraceError> {
    let is_of_others = |refname: &str| is_fetched(refname) || refname.starts_with(kept::KEPT);
    let (mut found, mut refs) = (world.refs(repo)?, Vec::new());
    // Commits that are here, too, are ours.
    found.sort_by_key(|(refname, _)| is_of_others(refname));
    for (refname, old) in found {
        rewriter.vouches = !is_of_others(&refname);
        let new = match rewriter.commit(old) {
            // A remote may have any history. The text that this one contains is reported.
            Err(TraceError::Git(error)) if error.is_damage() && is_fetched(&refname) => continue,
            new => new?,
        };
        if new != old {
            refs.push(RefChange { refname, old: Some(old), new });
        }
    }
    refs.sort_by(|one, other| one.refname.cmp(&other.refname));
    Ok(refs)
}

fn plan_with(repo: &Repo, target: &Target, objects: Objects<'_>) -> Result<Plan, TraceError> {
    if let Some(cause) = repo.find_obstacle_to_removal()? {
        return Err(TraceError::CannotPurge { cause });
    }
    learn::matches(repo, target)?;
    let (scan, world) = (Scan::of(repo, target)?, World::of(repo)?);
    let ours = world.refs(repo)?.into_iter().filter(|(refname, _)| !is_fetched(refname));
    if let Some(oid) = repo.find_missing(&ours.map(|(_, tip)| tip).collect::<Vec<_>>())? {
        // It may contain the text, and come back.
        return Err(GitError::MissingObject { oid }.into());
    }
    let hits: HashSet<Oid> = scan.hits.keys().copied().collect();
    let mut rewriter = Rewriter::new(repo, target, objects, &hits, &scan.lines);
    rewriter.commits.extend(scan.commits.iter().filter(|oid| scan.tombstones.contains(oid)).map(|oid| (*oid, *oid)));
    let logs = places::logs(repo, &world)?;
    let mut refs = Vec::new();
    let is_found = !hits.is_empty() || !scan.lines.is_empty();
    if is_found {
        rewriter.names = scan.names(repo)?;
        rewriter.held = repo.commits_held_by_code(Some(&world.ours(repo)))?;
        refs = rewrite_refs(repo, &world, &mut rewriter)?;
        rewriter.vouches = false;
        for log in &logs {
            for oid in &log.oids {
                rewriter.commit_if_whole(*oid)?;
            }
        }
    }
    let moved: HashSet<&str> = refs.iter().map(|change| change.refname.as_str()).collect();
    let is_touched = |oid: &Oid| rewriter.commits.get(oid).is_some_and(|new| new != oid);
    let mut reflogs: Vec<String> = logs
        .into_iter()
        .filter(|log| {
            moved.contains(&*log.refname) || target.needle.is_in(&log.text) || log.oids.iter().any(is_touched)
        })
        .map(|log| log.refname)
        .collect();
    reflogs.sort();
    reflogs.dedup();
    // Without a ref that leads to the commits, the reflog is all that does.
    let is_safe = |refname: &str| {
        let is_whole = || matches!(repo.find_ref(refname), Ok(Some(tip)) if is_complete(repo, tip));
        moved.contains(refname) || reflogs.iter().all(|log| log != refname) || is_whole()
    };
    if let Some((refname, _)) = lost_refs(repo, &is_safe)?.into_iter().next() {
        let is_gone = matches!(repo.find_ref(&refname), Ok(None));
        return Err(if is_gone { GitError::RefGone { refname } } else { GitError::RefDamaged { refname } }.into());
    }
    let counts = rewriter.counts;
    let loose_ends: HashSet<Oid> = hits.iter().filter(|oid| !rewriter.has_seen(oid)).copied().collect();
    let mut replaced = rewriter.replaced();
    let held_by_code = |oids: &HashSet<Oid>| repo.held_by_code(Some(&world.ours(repo)), oids);
    let unseen = || scan.commits.iter().filter(|oid| is_found && !rewriter.has_seen(oid)).copied();
    let mut held = held_by_code(&replaced.union(&loose_ends).chain(&hits).copied().chain(unseen()).collect())?;
    let unreachable = loose_ends.iter().filter(|oid| !held.contains_key(oid)).copied().collect();
    let gone: HashSet<Oid> = replaced.union(&loose_ends).filter(|oid| !held.contains_key(oid)).copied().collect();
    let dangling: Vec<Oid> = unseen().filter(|oid| !held.contains_key(oid)).collect();
    let (incomplete, complete) = Dangling::divide(repo, &dangling, &gone);
    rewriter.commits.extend(complete.into_iter().map(|oid| (oid, oid)));
    for oid in incomplete {
        rewriter.commit_if_whole(oid)?;
    }
    let more = &rewriter.replaced() - &replaced;
    held.extend(held_by_code(&more)?);
    replaced.extend(more);
    let mut removed: HashSet<Oid> =
        replaced.union(&loose_ends).filter(|oid| !held.contains_key(oid)).copied().collect();
    // Git reads unreachable tags, too, and accepts a push of one without looking at its commit.
    let tags = Dangling::tags(&scan.tags, &removed);
    let needed_tags = repo.needed(&tags)?;
    removed.extend(tags.into_iter().filter(|tag| !needed_tags.contains_key(tag)));
    let mut code: Vec<_> = held.into_iter().filter(|(oid, _)| hits.contains(oid)).collect();
    code.sort_by(|(one, path), (other, other_path)| path.cmp(other_path).then(one.cmp(other)));
    // A branch, a tag, or a reflog may lead to commits of a trace, too. They stay, but must not come back into a trace. A commit of the
    // code may: the user may have it elsewhere.
    let all = &replaced | &removed;
    let of_code = scan.commits.iter().filter(|oid| all.contains(oid) && is_of_code(repo, **oid)).copied().collect();
    let known = Tombstones::find(repo)?.unwrap_or_default();
    rewriter.unapplied = find_unapplied(repo, &known, rewriter.changed_again(&known))?;
    let mut tombstones = rewriter.tombstones(&(&all - &of_code));
    forget_second_replacements(repo, &known, &mut tombstones.objects);
    tombstones.left.extend(rewriter.left_again(&known));
    // A purge that was killed has left them.
    let noted = repo.noted_removal()?;
    let needed = repo.needed(&noted.objects)?;
    let there = repo.existing(&noted.objects)?.into_iter().map(|(oid, _)| oid);
    removed.extend(there.filter(|oid| !needed.contains_key(oid)));
    let (refs_there, symbolic) = (repo.list_refs("refs/")?, repo.list_symbolic_refs("refs/")?);
    let names =
        refs_there.into_iter().map(|(refname, _)| refname).chain(symbolic.into_iter().map(|(refname, _)| refname));
    let names: BTreeSet<String> = names.filter(|refname| target.needle.is_in(refname.as_bytes())).collect();
    let names = names.into_iter().collect();
    let Files { with_text: files, named: named_files, mut unread } = places::files_with(repo, target)?;
    unread.extend(repo.unread_object_files());
    let Scan { authors, reasons, in_tombstones, .. } = scan;
    let outside = Outside { code, authors, reasons, in_tombstones, files, named_files, names, unread };
    let is_in_derived = noted.derived || places::is_in_derived(repo, target, &tombstones)?;
    Ok(Plan { refs, reflogs, counts, unreachable, removed, is_in_derived, outside, tombstones })
}

/// What replaced an object before, also in another clone, replaces it for good: what is written now may contain what was purged then. So
/// does what is written for a commit on top of such an object.
fn forget_second_replacements(repo: &Repo, known: &Tombstones, objects: &mut [(Oid, Option<Oid>)]) {
    let is_here = |oid| repo.read_commit(oid).is_ok() || repo.read_blob(oid).is_ok();
    // One that is not here may never come.
    let is_replaced = |oid| matches!(known.fate(repo, oid, &is_here), Fate::Replaced(_));
    let mut replaced: HashSet<Oid> = objects.iter().map(|(old, _)| *old).filter(|old| is_replaced(*old)).collect();
    let mut children: HashMap<Oid, Vec<Oid>> = HashMap::new();
    if !replaced.is_empty() {
        for (oid, _) in &*objects {
            let parents = repo.read_raw_commit(*oid).map(|commit| commit.parents).unwrap_or_default();
            for parent in parents {
                children.entry(parent).or_default().push(*oid);
            }
        }
    }
    let mut waiting: Vec<Oid> = replaced.iter().copied().collect();
    while let Some(oid) = waiting.pop() {
        waiting.extend(children.remove(&oid).into_iter().flatten().filter(|child| replaced.insert(*child)));
    }
    objects.iter_mut().filter(|(old, _)| replaced.contains(old)).for_each(|(_, new)| *new = None);
}

/// The new digests of lines of archives, by the old ones.
type Lines = HashMap<String, String>;

/// The first item with each text that ties items together.
type Names = HashMap<(Tie, String), ItemId>;

/// Headers whose equal texts tie items together: the name of an instruction, the id of a call, and the id of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Tie {
    Name,
    Call,
    Turn,
}

impl Tie {
    const ALL: [Self; 3] = [Self::Name, Self::Call, Self::Turn];

    fn of(self, fields: &mut Fields) -> Option<&mut String> {
        let is_instruction = fields.item_type == ItemType::instruction();
        match self {
            Self::Name => fields.name.as_mut().filter(|_| is_instruction),
            Self::Call => fields.call_id.as_mut(),
            Self::Turn => fields.turn.as_mut(),
        }
    }
}
