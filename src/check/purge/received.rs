//! What others purged, applied to the histories of this repository, so that a pull can merge them.
//!
//! - Tombstones name the replacements of purged commits and files. A commit of ours on top of a purged one is written again on top of
//!   the replacement, by the code that purges.
//! - The text itself is unknown here. A revision of ours of a purged item gets the content that the purge gave to the item.
//! - Each ref moves as by any command: the old tip is kept, and `undo` goes back.
//! - A replacement that is not here, or that changes anything else, is not taken over. If the remote's trace has no purged text,
//!   its commits take their place as far as only purged parts differ, and the rest is written again. Otherwise the history stays as it
//!   is, and a merge refuses it.

mod fetched;
mod join;
mod lines;
mod pairs;
mod target;

use std::collections::{BTreeSet, HashMap, HashSet};

pub(crate) use fetched::{Rewritten, refuse_independent, rewrite_fetched};
use lines::apply_to_lines;
use pairs::{Forms, Pairs};

use super::kept::KEPT;
use super::rewrite::{Rewriter, origin, read_item};
use super::tags::apply_to_tags;
use super::verify::Verifier;
use crate::git::{BACKUP_REFS, Objects, Oid, RefUpdate, Repo};
use crate::memory::crumb::archive::{self, ARCHIVES};
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTES, TRACES};
use crate::trace::model::tree::Change;
use crate::trace::store::archived;
use crate::trace::store::commit::is_signing;
use crate::trace::store::line_history::LineHistory;
use crate::trace::store::priority::HISTORY;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Fate, Purge, Tombstones, accept_texts};
use crate::trace::store::walk::{changes_of, new_files_of};
use crate::trace::sync::lines::accepted_lines;
use crate::trace::sync::{fetched_private, receive, tracking_ref};
use crate::trace::{Item, ItemId, Tip, TraceError};

const LOG: &str = "pull: without what was purged";

/// What somebody else's purge changed here.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) refname: String,
    pub(crate) old: Oid,
    pub(crate) new: Oid,
    /// The commits on top of purged ones, which are only here.
    pub(crate) own: usize,
    /// The items whose content changed, or in the priority record, whose reasons.
    pub(crate) items: BTreeSet<ItemId>,
    /// Who purged, when, and why.
    pub(crate) purge: String,
}

/// Takes over the tombstones of a remote, and applies them to local traces, forward crumbs, archives, priorities, and their tags. `named`
/// are the patterns of this fetch, unless it fetched everything. Adds what changed to `all`, also before a failure, which does not stop
/// the rest. Returns the first one, or the refs with purged content whose replacement is not here.
pub(crate) fn apply_received(
    repo: &Repo,
    signature: &Signature,
    (remote, named): (&str, Option<&[String]>),
    all: &mut Vec<Received>,
) -> Result<Vec<String>, TraceError> {
    let before = repo.find_ref(tombstone::HISTORY.refname)?;
    let from = receive(repo, signature, remote)?;
    let is_new = repo.find_ref(tombstone::HISTORY.refname)? != before;
    let Some(mut tombstones) = Tombstones::find(repo)? else { return Ok(Vec::new()) };
    let (mut survey, mut purged) = Survey::of_all(repo, &tombstones, (remote, named), is_new)?;
    if let Some(from) = from
        && accept_texts(repo, signature, from, &survey.texts)?
    {
        // Other items may have the same text.
        tombstones = Tombstones::find(repo)?.unwrap_or_default();
        (survey, purged) = Survey::of_all(repo, &tombstones, (remote, named), is_new)?;
    }
    archived::forget_purged_titles(repo, &tombstones)?;
    let target = survey.target()?;
    let (hits, lines) = (target.known.iter().flatten().map(|(blob, _)| *blob).collect(), HashMap::new());
    let mut rewriter = Rewriter::new(repo, &target, Objects::written(repo, is_signing(repo)?), &hits, &lines);
    rewriter.commits = survey.commits;
    rewriter.messages = survey.messages;
    let mut done = Ok(survey.waiting);
    let mut add = |received: Result<Option<Received>, TraceError>| match received {
        Ok(received) => all.extend(received),
        Err(failure) if done.is_ok() => done = Err(failure),
        Err(_) => {}
    };
    for (refname, Found { tip, own, items, purge, .. }) in purged {
        let moved = move_to_clean(repo, &mut rewriter, signature, (&refname, tip));
        let purge = purge.to_string();
        add(moved.map(|new| Some(Received { refname, old: tip, new: new?, own, items, purge })));
    }
    let apply = |history: &LineHistory<'_>, theirs| apply_to_lines(repo, &tombstones, signature, history, theirs);
    add(accepted_lines(repo, remote, &HISTORY).and_then(|theirs| apply(&HISTORY, theirs)));
    for (refname, _) in repo.list_refs(ARCHIVES)? {
        let history = archive::history(&refname);
        // An archive is pulled by name only, and only the remote has the other form of a line.
        let theirs = accepted_lines(repo, remote, &history).transpose();
        add(theirs.map_or(Ok(None), |theirs| apply(&history, Some(theirs?))));
    }
    let tagged = apply_to_tags(repo, &tombstones, &rewriter.commits);
    done.and_then(|waiting| tagged.map(|()| waiting))
}

/// Moves a ref to its history without what was purged. Returns the new tip, if there is one.
fn move_to_clean(
    repo: &Repo,
    rewriter: &mut Rewriter<'_>,
    signature: &Signature,
    (refname, tip): (&str, Oid),
) -> Result<Option<Oid>, TraceError> {
    repo.update_ref(&repo.lock(refname)?, &signature.committer, |seen| {
        // What another process has added meanwhile is for the next pull.
        let new = if seen == Some(tip) { rewriter.commit(tip)? } else { tip };
        let log = LOG.to_owned();
        Ok(if new == tip { RefUpdate::Keep(None) } else { RefUpdate::Move { to: new, log, value: Some(new) } })
    })
}

/// Those of some revisions to which the purges that are known here were not applied, as after `undo` of a pull. The next pull applies
/// them.
pub(super) fn find_unapplied(
    repo: &Repo,
    tombstones: &Tombstones,
    revisions: HashSet<Oid>,
) -> Result<HashSet<Oid>, TraceError> {
    if revisions.is_empty() {
        return Ok(revisions);
    }
    let mut survey = Survey::new(repo, tombstones);
    survey.missing = Missing::Replace;
    for prefix in [TRACES, FORWARD_CRUMBS, REMOTES, BACKUP_REFS, KEPT] {
        for (_, tip) in repo.list_refs(prefix)? {
            match survey.history(tip, None) {
                Err(TraceError::Git(error)) if error.is_damage() => {}
                found => drop(found?),
            }
        }
    }
    Ok(&revisions - &survey.pairs.kept)
}

/// A history with something purged.
struct Found {
    tip: Oid,
    own: usize,
    items: BTreeSet<ItemId>,
    purge: Purge,
    /// Whether a tombstone names an object or an item in it. Otherwise, only texts are the same.
    is_named: bool,
}

/// Whether a remote has a commit of this history.
fn is_shared(repo: &Repo, remote: &str, refname: &str, tip: Oid) -> Result<bool, TraceError> {
    let traces = repo.list_refs(&tracking_ref(remote, ""))?.into_iter().map(|(_, theirs)| theirs);
    for theirs in traces.chain(fetched_private(repo, remote, refname)?) {
        if repo.read_commit(theirs).is_ok() && !repo.merge_bases(tip, theirs)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The purged objects in the histories of this repository, with their replacements.
struct Survey<'r> {
    repo: &'r Repo,
    tombstones: &'r Tombstones,
    verifier: Verifier<'r>,
    /// Commits whose new oid is known, which is the old one if nothing in their history is purged.
    commits: HashMap<Oid, Oid>,
    blobs: HashMap<Oid, Vec<u8>>,
    /// The messages of commits without what was purged.
    messages: HashMap<Oid, Vec<u8>>,
    /// The newest content that a purge left, by item.
    left: HashMap<ItemId, Item>,
    /// Revisions of purged items that no purge has seen.
    revisions: Vec<(ItemId, Oid)>,
    /// Purged items that commits of ours changed.
    items: BTreeSet<ItemId>,
    purge: Option<Purge>,
    pairs: Pairs,
    /// The texts that purges removed from items of this repository.
    texts: HashSet<Vec<u8>>,
    missing: Missing,
    /// Whether something in a history has a replacement that is not here.
    is_waiting: bool,
    /// The refs with such a history.
    waiting: Vec<String>,
    /// Whether this is a history of a remote: [`Pairs`] judges what purges left there.
    is_fetched: bool,
}

/// What to do if the replacement of a commit or file is not here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// The history stays as it is: somebody may be about to push the replacement.
    Wait,
    /// Another one is written, with markers in place of complete items.
    Replace,
}

impl<'r> Survey<'r> {
    fn new(repo: &'r Repo, tombstones: &'r Tombstones) -> Self {
        Self {
            repo,
            tombstones,
            verifier: Verifier::new(repo, tombstones),
            commits: HashMap::new(),
            blobs: HashMap::new(),
            messages: HashMap::new(),
            left: HashMap::new(),
            revisions: Vec::new(),
            items: BTreeSet::new(),
            purge: None,
            pairs: Pairs::default(),
            texts: HashSet::new(),
            missing: Missing::Wait,
            is_waiting: false,
            waiting: Vec::new(),
            is_fetched: false,
        }
    }

    /// All local histories with something purged, by ref. `is_new` says whether there are tombstones that were not here before.
    fn of_all(
        repo: &'r Repo,
        tombstones: &'r Tombstones,
        (remote, named): (&str, Option<&[String]>),
        is_new: bool,
    ) -> Result<(Self, Vec<(String, Found)>), TraceError> {
        let (mut survey, mut purged) = (Self::new(repo, tombstones), Vec::new());
        for (refname, tip) in [repo.list_refs(TRACES)?, repo.list_refs(FORWARD_CRUMBS)?].concat() {
            // `fsck` reports damaged tips.
            if repo.read_commit(tip).is_ok() {
                let published = match refname.strip_prefix(TRACES) {
                    Some(name) => repo.find_ref(&tracking_ref(remote, name))?,
                    // Forward crumbs are fetched by name only, so what was fetched before may be old.
                    None if named.is_some_and(|named| !named.contains(&refname)) => None,
                    None => fetched_private(repo, remote, &refname)?,
                };
                // Commits that both have would be searched in neither. Reading all files takes seconds, so only new tombstones
                // cause it.
                let published = match published {
                    Some(theirs) if is_new && !tombstones.in_history(repo, theirs, None)?.is_empty() => None,
                    Some(theirs) if tombstones.has_commit_of(repo, theirs)? => None,
                    published => published,
                };
                survey.is_waiting = false;
                let found = survey.history(tip, published)?;
                survey.waiting.extend(survey.is_waiting.then(|| refname.clone()));
                // A remote does not reach into a history that shares no commit with its own.
                if let Some(found) = found
                    && (found.is_named || is_shared(repo, remote, &refname, tip)?)
                {
                    purged.push((refname, found));
                }
            }
        }
        Ok((survey, purged))
    }

    /// `None` if nothing is purged in the history of `tip`, or if a replacement is not here or is none, and nothing can take its place.
    /// The history of `published` is clean.
    fn history(&mut self, tip: Oid, published: Option<Oid>) -> Result<Option<Found>, TraceError> {
        let (repo, tombstones) = (self.repo, self.tombstones);
        let beyond = repo.commits_beyond(tip, published)?;
        let listed: HashSet<Oid> = beyond.iter().copied().collect();
        let (mut own, mut items, mut purge) = (0, BTreeSet::new(), None);
        let (may_replace, mut forms) = (published.is_some() || self.missing == Missing::Replace, None);
        let (mut commits, mut blobs) = (HashMap::new(), HashMap::new());
        let mut is_named = !self.pairs.is_empty();
        for oid in beyond {
            let commit = Tip::read(repo, oid)?;
            let parents = &commit.commit.parents;
            commits.extend(parents.iter().filter(|parent| !listed.contains(parent)).map(|parent| (*parent, *parent)));
            let changes = changes_of(repo, &commit)?;
            let mut is_clean = parents.iter().all(|parent| commits.get(parent) == Some(parent));
            for entry in changes.iter().filter_map(|change| change.sides().1) {
                self.pairs.add_revision(repo, entry)?;
                is_clean = is_clean && !self.pairs.is_changed(entry.blob) && tombstones.of_file(repo, entry)?.is_none();
            }
            if let Some((message, found, is_of_item)) = tombstones.clean_message(&commit) {
                is_named |= is_of_item;
                purge = purge.or(Some(found));
                // A message that `pairs` joined stays.
                self.messages.entry(oid).or_insert(message.into_bytes());
            }
            is_clean &= !self.messages.contains_key(&oid);
            let new = match tombstones.fate(repo, oid, &|oid| repo.read_commit(oid).is_ok()) {
                Fate::Kept if is_clean => Some(oid),
                Fate::Replaced(new) if self.verifier.is_commit(oid, new, &commits)? => Some(new),
                Fate::Replaced(_) | Fate::ReplacedElsewhere if !may_replace => return Ok(self.wait()),
                _ => self.form_of(&commit, published.map(|published| (published, tip)), &mut forms, &commits)?,
            };
            // Its parents are not here, so it cannot be written again.
            if new.is_none() && repo.shallow_commits()?.contains(&oid) {
                return Ok(None);
            }
            commits.extend(new.map(|new| (oid, new)));
            let is_ours = new.is_none();
            own += usize::from(is_ours);
            is_named |= tombstones.of_object(oid).is_some();
            purge = purge.or_else(|| tombstones.of_object(oid));
            let is_alone = is_ours && !self.pairs.commits.contains_key(&oid);
            if is_alone {
                let named = self.named(&commit, &changes)?;
                self.items.extend(named.into_iter().filter(|item| tombstones.of_id(*item).is_some()));
            }
            // Files that a merge takes from a parent were judged there.
            let new_files = if is_ours { new_files_of(repo, &commit)? } else { HashMap::new() };
            for change in changes {
                let (_, Some(entry)) = change.sides() else { continue };
                if let Some(joined) = self.pairs.files.get(&entry.blob) {
                    blobs.insert(entry.blob, joined.clone());
                    items.insert(entry.id);
                    continue;
                }
                match tombstones.fate(repo, entry.blob, &|oid| repo.read_blob(oid).is_ok()) {
                    Fate::Replaced(new) if self.verifier.is_file(entry.blob, new)? => {
                        let new = repo.read_blob(new)?;
                        let item = read_item(entry.id, &new);
                        self.texts.insert(read_item(entry.id, &repo.read_blob(entry.blob)?).body);
                        if self.left.get(&entry.id).is_none_or(|left| left.revision <= item.revision) {
                            self.left.insert(entry.id, item);
                        }
                        blobs.insert(entry.blob, new);
                    }
                    Fate::Replaced(_) | Fate::ReplacedElsewhere if !may_replace => return Ok(self.wait()),
                    Fate::Kept if self.pairs.kept.contains(&entry.blob) => continue,
                    Fate::Kept if self.pairs.refused.contains(&entry.blob) => {
                        self.revisions.push((entry.id, entry.blob));
                    }
                    Fate::Kept => {
                        let Some(before) = new_files.get(&entry.blob) else {
                            if !is_ours {
                                self.pairs.kept.insert(entry.blob);
                            }
                            continue;
                        };
                        let item = read_item(entry.id, &repo.read_blob(entry.blob)?);
                        let is_edit_of_kept = !before.is_empty()
                            && before.iter().all(|before| !blobs.contains_key(before) && self.is_kept(*before))
                            && !self.texts.contains(&item.body);
                        let is_judged = || self.is_fetched && tombstones.of_left(&item).is_some();
                        let of_item = tombstones.of_item(&item).filter(|_| !(is_edit_of_kept || is_judged()));
                        is_named |= of_item.is_some();
                        let Some(of_item) = tombstones.of_content(&item).or(of_item) else {
                            self.pairs.kept.insert(entry.blob);
                            continue;
                        };
                        purge = purge.or(Some(of_item));
                        self.revisions.push((entry.id, entry.blob));
                    }
                    _ => self.revisions.push((entry.id, entry.blob)),
                }
                is_named |= tombstones.of_object(entry.blob).is_some();
                purge = purge.or_else(|| tombstones.of_object(entry.blob));
                items.insert(entry.id);
            }
        }
        // A replaced commit is known even if all that was purged is in its message.
        self.commits.extend(commits);
        self.blobs.extend(blobs);
        let Some(purge) = purge.or(self.pairs.purge.as_ref()).cloned() else { return Ok(None) };
        self.purge.get_or_insert_with(|| purge.clone());
        Ok(Some(Found { tip, own, items, purge, is_named }))
    }

    /// The items that the subject of a commit may be about. An expansion or a revert names none, and repeats the subject of the commit that it takes
    /// back.
    fn named(&self, commit: &Tip, changes: &[Change]) -> Result<Vec<ItemId>, TraceError> {
        if let Some(item) = commit.item() {
            return Ok(vec![item]);
        }
        let removed = changes.iter().filter(|change| matches!(change, Change::Removed(_)));
        let mut named: Vec<ItemId> = removed.map(|change| change.entry().id).collect();
        if let Some(from) = origin(self.repo, &self.repo.read_raw_commit(commit.commit.oid)?)? {
            named.extend(Tip::read(self.repo, from)?.item());
        }
        Ok(named)
    }

    fn wait(&mut self) -> Option<Found> {
        self.is_waiting = true;
        None
    }

    /// Whether a file of an earlier commit stays.
    fn is_kept(&self, blob: Oid) -> bool {
        let is_here = |oid| self.repo.read_blob(oid).is_ok();
        let is_revision = || self.revisions.iter().any(|(_, revision)| *revision == blob);
        !self.blobs.contains_key(&blob)
            && !is_revision()
            && self.tombstones.fate(self.repo, blob, &is_here) == Fate::Kept
    }

    /// The commit of the remote that lacks only purged parts of ours.
    fn form_of(
        &mut self,
        ours: &Tip,
        histories: Option<(Oid, Oid)>,
        forms: &mut Option<Forms>,
        commits: &HashMap<Oid, Oid>,
    ) -> Result<Option<Oid>, TraceError> {
        let Some((published, tip)) = histories else { return Ok(None) };
        let forms = match forms {
            Some(forms) => forms,
            none => none.insert(Forms::of(self.repo, published, tip)?),
        };
        let form = forms.find(ours).filter(|form| self.tombstones.of_object(*form).is_none());
        Ok(match form {
            Some(form) if self.verifier.is_commit(ours.commit.oid, form, commits)? => Some(form),
            _ => None,
        })
    }
}
