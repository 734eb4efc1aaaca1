//! Reversing changes of priorities: each item gets the level that it had before.

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{HashMap, HashSet};

use crate::git::{Oid, Operation, Repo};
use crate::trace::model::item::ItemType;
use crate::trace::model::tree;
use crate::trace::model::types::Types;
use crate::trace::store::priority::{InForce, Level, RESTORING, Record, Request, Restored, Setting, path_of, tags};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::Tombstones;
use crate::trace::{ItemId, Tip, TraceError};

/// The items whose lines differ between two states of the record.
pub(super) fn changed(repo: &Repo, old: Option<Oid>, new: Oid) -> Result<HashSet<ItemId>, TraceError> {
    state(repo, Some(new))?.items_changed_since(repo, &state(repo, old)?)
}

fn state(repo: &Repo, record: Option<Oid>) -> Result<Record, TraceError> {
    let tree = record.map(|record| repo.read_commit(record)).transpose()?.map(|commit| commit.tree);
    Record::of_tree(repo, tree)
}

/// A move of the record, and whether it brought lines from elsewhere.
pub(super) type Brought = (Option<Oid>, Oid, bool);

/// The changes of priorities by an undo.
#[derive(Default)]
pub(super) struct Priorities {
    /// New lines of ours, which oppose those of an operation.
    pub opposing: Vec<Request>,
    /// Files without the lines that an operation brought, or, for a redo, with them again.
    pub restored: Vec<Restored>,
    /// The items whose level changes, without those that no trace has afterwards and that got no line of ours.
    pub levels: Vec<(ItemId, Level)>,
}

impl Priorities {
    pub(super) fn is_empty(&self) -> bool {
        self.opposing.is_empty() && self.restored.is_empty()
    }
}

/// The states of an item's lines before and after the moves of an undo.
struct Span {
    old: Option<Oid>,
    new: Oid,
    /// Whether all lines between them came from elsewhere.
    is_brought: bool,
}

/// What reverses these moves of the record, oldest first. `tips` are those that all traces will have. The caller holds the lock of the
/// record.
///
/// Lines from elsewhere are taken out again, so that the next pull brings and lists them. Lines of this repository may be in other clones, so
/// new lines oppose them. These also oppose lines from elsewhere if others of the item followed.
///
/// Fails with [`TraceError::SetSince`] if the level of an item was set later.
pub(super) fn reversing(
    repo: &Repo,
    signature: &Signature,
    moves: &[Brought],
    tips: &[Oid],
    operation: &Operation,
) -> Result<Priorities, TraceError> {
    let spans = spans(repo, moves)?;
    let (now, types) = (Record::open(repo)?, Types::read(repo)?);
    let tombstones = Tombstones::find(repo)?.unwrap_or_default();
    let mut found = Priorities::default();
    let live = live(repo, tips, spans.keys().copied().collect());
    for (item, Span { old, new, is_brought }) in spans {
        let (before, after) = (in_force(repo, old, item)?, in_force(repo, Some(new), item)?);
        let (introduced, item_type) = origin(repo, item, live.get(&item))?.unzip();
        let default = item_type.map(|item_type| types.rules(&item_type).priority);
        let [earlier, later] = [&before, &after].map(|change| change.as_ref().map(|one| one.setting.level).or(default));
        let files = [state(repo, old)?.file(repo, item)?, state(repo, Some(new))?.file(repo, item)?];
        if is_brought && now.file(repo, item)? == files[1] {
            let file = files[0].map(|file| without_purged(repo, &tombstones, item, file)).transpose()?;
            found.restored.push(Restored { item, file, introduced });
            let is_shown = earlier != later && live.contains_key(&item);
            found.levels.extend(earlier.filter(|_| is_shown).map(|level| (item, level)));
            continue;
        }
        if is_dispute(before.as_ref(), after.as_ref(), default) {
            continue;
        }
        // The levels of items that no trace has yet are shown nowhere.
        let (Some(introduced), Some(default)) = (introduced, default) else { continue };
        if is_set_since(after.as_ref(), now.in_force(repo, item)?.as_ref()) {
            let (operation, command) = (operation.id.clone(), operation.command.clone());
            return Err(TraceError::SetSince { operation, command, item });
        }
        let (level, reason) = match before {
            Some(InForce { setting: Setting { level, reason, .. }, .. }) => {
                let clean = reason.clone().map(|reason| tombstones.reason(item, reason));
                // Nothing but a purged reason would come back.
                if clean != reason && after.as_ref().is_some_and(|after| after.setting.level == level) {
                    continue;
                }
                (level, clean)
            }
            None => (default, None),
        };
        let seq = after.and_then(|after| after.setting.seq);
        found.opposing.push(Request { reason, seq, ..Request::now(item, level, signature.at, introduced) });
        found.levels.push((item, level));
    }
    Ok(found)
}

fn spans(repo: &Repo, moves: &[Brought]) -> Result<BTreeMap<ItemId, Span>, TraceError> {
    let mut spans = BTreeMap::new();
    for (old, new, is_brought) in moves {
        let is_brought = *is_brought || repo.read_commit(*new)?.subject() == RESTORING;
        for item in changed(repo, *old, *new)? {
            match spans.entry(item) {
                Entry::Vacant(entry) => drop(entry.insert(Span { old: *old, new: *new, is_brought })),
                Entry::Occupied(mut entry) => {
                    let span: &mut Span = entry.get_mut();
                    // An operation that stays may have changed it in between.
                    span.is_brought &= is_brought
                        && state(repo, Some(span.new))?.file(repo, item)? == state(repo, *old)?.file(repo, item)?;
                    span.new = *new;
                }
            }
        }
    }
    Ok(spans)
}

/// A file of an item without the reasons that were purged since.
fn without_purged(repo: &Repo, tombstones: &Tombstones, item: ItemId, file: Oid) -> Result<Oid, TraceError> {
    match tombstones.clean_file(&path_of(item), repo.read_blob(file)?) {
        (clean, Some(_)) => Ok(repo.write_blob(&clean)?),
        (_, None) => Ok(file),
    }
}

/// Whether a move of the record brought disputes about levels that stayed, and nothing else.
pub(super) fn brings_only_disputes(repo: &Repo, old: Option<Oid>, new: Oid) -> Result<bool, TraceError> {
    let types = Types::read(repo)?;
    for item in changed(repo, old, new)? {
        let (before, after) = (in_force(repo, old, item)?, in_force(repo, Some(new), item)?);
        let default = origin(repo, item, None)?.map(|(_, item_type)| types.rules(&item_type).priority);
        if !is_dispute(before.as_ref(), after.as_ref(), default) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether only concurrent changes came, and the level stayed. An undo does not settle these.
fn is_dispute(before: Option<&InForce>, after: Option<&InForce>, default: Option<Level>) -> bool {
    let level = |change: Option<&InForce>| change.map(|one| one.setting.level).or(default);
    level(before) == level(after) && after.is_some_and(|after| !after.rivals.is_empty())
}

/// Whether a level was set again. An undo of a later change sets the same one, in a separate line, which settles a dispute.
fn is_set_since(after: Option<&InForce>, now: Option<&InForce>) -> bool {
    let meaning = |change: Option<&InForce>| change.map(|one| (one.setting.level, one.setting.reason.clone()));
    let rivals = |change: Option<&InForce>| change.map(|one| one.rivals.clone()).unwrap_or_default();
    let known = rivals(after);
    meaning(after) != meaning(now) || rivals(now).iter().any(|rival| !known.contains(rival))
}

fn in_force(repo: &Repo, record: Option<Oid>, item: ItemId) -> Result<Option<InForce>, TraceError> {
    state(repo, record)?.in_force(repo, item)
}

/// Those of some items that the traces with these tips have, each with its first tip and the type there. Damaged ones are left out.
fn live(repo: &Repo, tips: &[Oid], mut wanted: HashSet<ItemId>) -> HashMap<ItemId, (Oid, ItemType)> {
    let mut found = HashMap::new();
    for tip in tips {
        if wanted.is_empty() {
            break;
        }
        let slots = repo.read_commit(*tip).and_then(|commit| tree::list(repo, commit.tree)).unwrap_or_default();
        let ours = slots.into_iter().filter(|slot| wanted.remove(&slot.id));
        found.extend(ours.map(|slot| (slot.id, (*tip, slot.item_type))));
    }
    found
}

/// The commit that introduced an item, which its tag points to, and its type in a trace, or else in that commit.
fn origin(repo: &Repo, item: ItemId, live: Option<&(Oid, ItemType)>) -> Result<Option<(Oid, ItemType)>, TraceError> {
    let tagged = tags::tagged(repo, &tags::prefix(repo)?, item)?;
    match (tagged, live) {
        (Some(commit), Some((_, item_type))) => Ok(Some((commit, item_type.clone()))),
        (None, Some((tip, item_type))) => {
            let introduced = tags::introduction(repo, &Tip::read(repo, *tip)?, item)?;
            Ok(Some((introduced.unwrap_or(*tip), item_type.clone())))
        }
        (Some(commit), None) => {
            let slots = tree::list(repo, repo.read_commit(commit)?.tree)?;
            Ok(slots.into_iter().find(|slot| slot.id == item).map(|slot| (commit, slot.item_type)))
        }
        // The levels of items that no trace has yet are shown nowhere.
        (None, None) => Ok(None),
    }
}
