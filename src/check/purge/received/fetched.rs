//! Rewrites the traces and forward crumbs of a remote without the content that was purged here, so that a pull neither brings it back nor leaves out
//! later work of others.
//!
//! - Commits of others on top of purged ones are written again, as those of ours are.
//! - If two clones purged a trace before they knew of each other, what each form lacks is taken out of the other one.
//! - The new commits are the same in all clones. They get tombstones, so `purge --push` replaces those of the remote, and the other
//!   clones follow.

use std::collections::{HashMap, HashSet};

use super::lines::{refuse_forms, rewrite_fetched_lines};
use super::pairs::{Others, Pairs};
use super::{Missing, Survey};
use crate::check::purge::kept::forget_settled;
use crate::check::purge::rewrite::Rewriter;
use crate::check::purge::verify::Histories;
use crate::git::{Objects, Oid, RefChange, Repo};
use crate::memory::crumb::archive;
use crate::trace::store::commit::{is_signing, require_signed_trace};
use crate::trace::store::priority;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Fate, HISTORY, Removed, Tombstones};
use crate::trace::sync::lines::{fetched_lines, fetched_ref};
use crate::trace::sync::{
    Arrival, EVERYTHING, arrivals, arrived_crumbs, delete_fetched, drop_objects, fetched_tombstones,
    fetched_unnamed_refs, is_of_code, tracking_ref_of,
};
use crate::trace::{Item, TraceError};

/// How often a trace is rewritten: joining two forms of an item adds tombstones, and other revisions may have the same content.
const PASSES: usize = 8;

/// The traces, forward crumbs, and priorities of a remote that were rewritten.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    pub names: Vec<String>,
    /// Their new tips. The old ones had the signature that `trace.requireSigned` demands, and this repository may sign nothing.
    pub tips: HashSet<Oid>,
}

impl Rewritten {
    pub(crate) fn extend(&mut self, later: Self) {
        for name in later.names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        self.tips.extend(later.tips);
    }
}

/// Rewrites the traces, forward crumbs, and priorities of a remote as last fetched that contain what was purged. `missing` says
/// what becomes of a trace whose replacement is not here.
pub(crate) fn rewrite_fetched(
    repo: &Repo,
    signature: &Signature,
    remote: &str,
    missing: Missing,
) -> Result<Rewritten, TraceError> {
    let (mut rewritten, mut others, files) = (Rewritten::default(), Others::default(), Histories::default());
    let theirs = fetched_tombstones(repo, remote)?;
    for History { name, refname, mut tip, known } in histories(repo, remote)? {
        if require_signed_trace(repo, || name.clone(), tip).is_err() {
            continue;
        }
        let mut is_rewritten = false;
        // A file that can be joined, possibly by the next pass, keeps more text than a marker.
        let mut is_last = false;
        for _ in 0..PASSES {
            // Each rewritten trace adds tombstones.
            let Some(tombstones) = Tombstones::with_fetched(repo, theirs)? else { break };
            let mut pairs = Pairs::find(repo, &tombstones, known, tip, &mut others)?;
            // The local trace may be waiting for the same replacement.
            let found = tombstones.in_history(repo, tip, known.filter(|_| missing == Missing::Wait))?;
            if found.is_empty() && pairs.is_empty() {
                leave(repo, signature, &tombstones, pairs.confirmed)?;
                break;
            }
            if !(is_last || (found.is_empty() && pairs.is_joined())) {
                pairs.refused.clear();
            }
            let mut objects: HashSet<Oid> = found.into_iter().map(|(oid, _)| oid).collect();
            let mut survey = Survey::new(repo, &tombstones);
            survey.messages.clone_from(&pairs.messages);
            survey.verifier.histories = files.clone();
            (survey.pairs, survey.missing, survey.is_fetched) = (pairs, missing, true);
            let Some((new, replaced)) = rewrite(signature, survey, (&refname, tip))?.filter(|(new, _)| *new != tip)
            else {
                if is_last {
                    break;
                }
                is_last = true;
                continue;
            };
            is_last = false;
            objects.extend(replaced);
            // A reftable has reflogs of remote-tracking refs, too.
            repo.expire_reflogs(&|name| name == refname)?;
            objects.retain(|oid| !is_of_code(repo, *oid));
            drop_objects(repo, objects)?;
            (tip, is_rewritten) = (new, true);
        }
        if is_rewritten {
            rewritten.names.push(name);
            rewritten.tips.insert(tip);
        }
    }
    let (history, prefix) = (&priority::HISTORY, fetched_ref(remote, ""));
    let priorities = fetched_lines(repo, remote, history)?.map(|tip| (fetched_ref(remote, history.shared), tip));
    for (refname, tip) in priorities.into_iter().chain(fetched_unnamed_refs(repo, remote)?) {
        let shared = format!("refs/{}", &refname[prefix.len()..]);
        let archive = archive::history(&shared);
        let Some(history) = [history, &archive].into_iter().find(|history| history.format.is_of(repo, tip)) else {
            continue;
        };
        if let Some(tombstones) = Tombstones::with_fetched(repo, theirs)?
            && let Some(new) = rewrite_fetched_lines(repo, &tombstones, signature, history, (&refname, tip))?
        {
            rewritten.names.push(if history.is_private() { shared } else { history.noun.to_owned() });
            rewritten.tips.insert(new);
        }
    }
    forget_settled(repo)?;
    Ok(rewritten)
}

/// Writes tombstones that know all purges, for contents that stay: otherwise they would be judged again.
fn leave(repo: &Repo, signature: &Signature, known: &Tombstones, left: Vec<Item>) -> Result<(), TraceError> {
    let Some(purge) = left.iter().find_map(|item| known.of_left(item)) else { return Ok(()) };
    let items = left.iter().map(|item| item.id).collect();
    let _writers = repo.lock_out_writers()?;
    let removed = Removed { items, left, joins: true, ..Removed::default() };
    let (old, new) = tombstone::write(repo, signature, known, &purge.reason, &removed)?;
    repo.replace_refs(&[RefChange { refname: HISTORY.refname.to_owned(), old, new }])?;
    Ok(())
}

/// A history of items of a remote as last fetched.
struct History {
    /// Its name in a report.
    name: String,
    refname: String,
    tip: Oid,
    /// The tip that a pull merges it into.
    known: Option<Oid>,
}

/// The traces, also archived ones, and forward crumbs of a remote as last fetched, and what a purge fetches of a mirror.
fn histories(repo: &Repo, remote: &str) -> Result<Vec<History>, TraceError> {
    let mut found = Vec::new();
    let traces = arrivals(repo, remote, &[EVERYTHING.to_owned()])?.traces;
    for Arrival { name, tip } in [traces, arrived_crumbs(repo, remote)?].concat() {
        let known = repo.find_ref(&name.refname())?.filter(|known| repo.read_commit(*known).is_ok());
        found.push(History { name: name.to_string(), refname: tracking_ref_of(remote, &name), tip, known });
    }
    let mut others = fetched_unnamed_refs(repo, remote)?;
    others.retain(|(refname, tip)| {
        let formats = [priority::HISTORY.format, archive::history(refname).format];
        !found.iter().any(|known| known.refname == *refname) && !formats.iter().any(|format| format.is_of(repo, *tip))
    });
    found.extend(others.into_iter().map(|(refname, tip)| History { name: refname.clone(), refname, tip, known: None }));
    Ok(found)
}

/// Removes fetched traces and forward crumbs in which a purge that did not know of ours left what was purged here. Their commits and files have no tombstone.
/// Returns their names and the reasons.
pub(crate) fn refuse_independent(repo: &Repo, remote: &str) -> Result<Vec<(String, String)>, TraceError> {
    let (mut refused, mut others) = (Vec::new(), Others::default());
    if repo.find_ref(HISTORY.refname)?.is_none() {
        return Ok(refused);
    }
    let Some(tombstones) = Tombstones::with_fetched(repo, fetched_tombstones(repo, remote)?)? else {
        return Ok(refused);
    };
    let (mut refnames, mut objects) = (Vec::new(), HashSet::new());
    for History { name, refname, tip, known } in histories(repo, remote)? {
        let pairs = Pairs::find(repo, &tombstones, known, tip, &mut others)?;
        if pairs.is_empty() {
            continue;
        }
        let purge = pairs.purge.as_ref().map_or_else(|| HISTORY.noun.to_owned(), ToString::to_string);
        refused.push((name, format!("{purge}; `git trace pull` takes it out")));
        refnames.push(refname);
        let purged = tombstones.in_history(repo, tip, known)?.into_iter().map(|(oid, _)| oid);
        objects
            .extend(repo.commits_beyond(tip, known)?.into_iter().chain(purged).filter(|oid| !is_of_code(repo, *oid)));
        objects.extend(pairs.files.into_keys().chain(pairs.refused));
    }
    let history = &priority::HISTORY;
    let refname = fetched_ref(remote, history.shared);
    if let Some(tip) = fetched_lines(repo, remote, history)?
        && let Some(purge) = refuse_forms(repo, &tombstones, history, (&refname, tip))?
    {
        refused.push((history.noun.to_owned(), format!("{purge}; `git trace pull` takes it out")));
    }
    delete_fetched(repo, refnames.iter().map(String::as_str), objects)?;
    Ok(refused)
}

/// Moves the remote-tracking ref. Returns its new tip and the objects that it needs no more; `None` if a replacement is not here.
fn rewrite(
    signature: &Signature,
    mut survey: Survey<'_>,
    (refname, tip): (&str, Oid),
) -> Result<Option<(Oid, HashSet<Oid>)>, TraceError> {
    let (repo, tombstones) = (survey.repo, survey.tombstones);
    if survey.history(tip, None)?.is_none() {
        return Ok(None);
    }
    let _writers = repo.lock_out_writers()?;
    let target = survey.target()?;
    let (hits, lines) = (target.known.iter().flatten().map(|(blob, _)| *blob).collect(), HashMap::new());
    let mut rewriter = Rewriter::new(repo, &target, Objects::written(repo, is_signing(repo)?), &hits, &lines);
    rewriter.vouches = false;
    rewriter.commits = std::mem::take(&mut survey.commits);
    rewriter.messages = std::mem::take(&mut survey.messages);
    let new = rewriter.commit(tip)?;
    let replaced = rewriter.replaced();
    // The texts of a remote are not those that were purged here.
    let Removed { mut objects, mut items, mut left, .. } = rewriter.tombstones(&replaced);
    items.extend(survey.pairs.confirmed.iter().map(|item| item.id));
    left.append(&mut survey.pairs.confirmed);
    for (theirs, ours) in survey.pairs.commits.iter().chain(&survey.pairs.replaced) {
        objects.extend(rewriter.commits.get(theirs).map(|new| (*ours, Some(*new))));
    }
    // The rest that one purge left of an item contains the text that the other one removed, in any file.
    let contents = survey.pairs.forms().cloned().collect();
    for (blob, bytes) in &survey.pairs.files {
        objects.push((*blob, Some(repo.write_blob(bytes)?)));
    }
    let is_here = |oid| repo.read_commit(oid).is_ok() || repo.read_blob(oid).is_ok();
    let is_replaced = |oid| matches!(tombstones.fate(repo, oid, &is_here), Fate::Replaced(_));
    objects.retain(|(old, new)| *new != Some(*old) && !is_replaced(*old) && !is_of_code(repo, *old));
    objects.sort_unstable();
    objects.dedup();
    let mut refs = vec![RefChange { refname: refname.to_owned(), old: Some(tip), new }];
    if !objects.is_empty() {
        let removed = Removed { objects, items, contents, left, joins: true, ..Removed::default() };
        let (old, to) = tombstone::write(repo, signature, tombstones, &target.reason, &removed)?;
        refs.push(RefChange { refname: HISTORY.refname.to_owned(), old, new: to });
    }
    refs.retain(|change| change.old != Some(change.new));
    repo.replace_refs(&refs)?;
    Ok(Some((new, replaced)))
}
