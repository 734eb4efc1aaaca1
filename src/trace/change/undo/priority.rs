//! Reversing changes of priorities: each item gets the level that it had before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::{History, effects};
use crate::git::{Oid, Operation, Repo};
use crate::trace::model::item::ItemType;
use crate::trace::model::tree;
use crate::trace::model::types::Types;
use crate::trace::store::priority::{HISTORY, InForce, Level, RESTORING, Record, Request, Restored, Setting, tags};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::Tombstones;
use crate::trace::{ItemId, Tip, TraceError};

/// The items whose lines differ between two states of the record.
pub(super) fn changed(repo: &Repo, old: Option<Oid>, new: Oid) -> Result<HashSet<ItemId>, TraceError> {
    Record::at(repo, Some(new))?.items_changed_since(repo, &Record::at(repo, old)?)
}

/// Where the lines of a move of the record came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// This repository, from which others may have them.
    Here,
    /// An export. Others have them if they were pushed.
    Export,
    /// A remote.
    Remote,
}

impl Source {
    /// The source of the lines of an operation in a new state of the record. An undo or a redo takes out or gives back those of another.
    pub(super) fn of(repo: &Repo, history: &History, operation: &Operation, new: Oid) -> Result<Self, TraceError> {
        let of = |operation: &Operation| match operation.command.split(' ').next() {
            Some("pull") => Self::Remote,
            Some("import") => Self::Export,
            _ => Self::Here,
        };
        if !operation.reverses.is_empty() && repo.read_commit(new)?.subject() == RESTORING {
            let sources: Vec<Self> = history.originals(operation).into_iter().map(of).collect();
            let is_import = sources.contains(&Self::Export) && !sources.contains(&Self::Remote);
            return Ok(if is_import { Self::Export } else { Self::Remote });
        }
        Ok(of(operation))
    }
}

/// A move of the record that is reversed.
pub(super) struct RecordMove {
    pub old: Option<Oid>,
    pub new: Oid,
    pub source: Source,
    /// The place of its operation in the history, from the newest one, 0.
    pub place: usize,
}

/// The changes of priorities by an undo.
#[derive(Default)]
pub(super) struct Priorities {
    /// New lines of ours, which oppose those of an operation.
    pub opposing: Vec<Request>,
    /// Files without the lines that an operation brought, or, for a redo, with them again.
    pub restored: Vec<Restored>,
    /// The items whose level changes, without those that go with their traces and get no line of ours.
    pub levels: Vec<(ItemId, Level)>,
}

impl Priorities {
    pub(super) fn is_empty(&self) -> bool {
        self.opposing.is_empty() && self.restored.is_empty()
    }
}

/// The states of the record before and after some moves.
struct Span {
    old: Rc<Record>,
    new: Rc<Record>,
    /// The place of the oldest operation that made one of them.
    place: usize,
}

impl Span {
    fn joined(first: Option<Self>, last: Option<Self>) -> Option<Self> {
        match (first, last) {
            (Some(first), Some(last)) => Some(Self { new: last.new, ..first }),
            (first, last) => first.or(last),
        }
    }
}

/// The moves of an undo that are about an item.
#[derive(Default)]
struct Spans {
    own: Option<Span>,
    /// Those after `own` whose lines all came from elsewhere, without an operation between them.
    brought: Option<Span>,
}

/// The reversal of these moves of the record, oldest first, which `operations` made. `tips` are those of moved traces before, and those
/// that all will have. The caller holds the lock of the record.
///
/// Lines from elsewhere are taken out again, so that the next pull brings and lists them. Other clones may have those of this repository, so
/// new lines oppose them. If an item got lines later, new lines oppose those from elsewhere, too.
///
/// Fails with [`TraceError::SetSince`] if the level of an item was set later.
pub(super) fn reversing(
    repo: &Repo,
    signature: &Signature,
    (history, operations): (&History, &[&Operation]),
    moves: &[RecordMove],
    tips: [&[Oid]; 2],
) -> Result<Priorities, TraceError> {
    let spans = spans(repo, moves)?;
    let (oldest, mut set_since) = (moves.iter().map(|made| made.place).max(), None);
    let (now, types) = (Record::open(repo)?, Types::read(repo)?);
    let tombstones = Tombstones::find(repo)?.unwrap_or_default();
    let mut found = Priorities::default();
    let [had, live] = tips.map(|tips| live(repo, tips, spans.keys().copied().collect()));
    for (item, Spans { own, brought }) in spans {
        let default = |item_type: &ItemType| types.rules(item_type).priority;
        let mut seen = now.in_force(repo, item)?;
        let taken_out = match &brought {
            Some(Span { old, new, .. }) => {
                let lines = Lines::read(repo, item, [old, new, &now])?;
                lines.restored(&tombstones).map(|text| (text, lines.text))
            }
            None => None,
        };
        let span = if let Some((text, present)) = taken_out {
            if text != present {
                let file = if text.is_empty() { None } else { Some(repo.write_blob(text.as_bytes())?) };
                found.restored.push(Restored { item, file });
                // Nothing shows the level of an item that goes with its trace.
                let item_type = match live.get(&item) {
                    Some((_, item_type)) => Some(item_type.clone()),
                    None if had.contains_key(&item) => None,
                    None => origin(repo, item, None)?.map(|(_, item_type)| item_type),
                };
                if let Some(default) = item_type.map(|item_type| default(&item_type)) {
                    let restored = InForce::of(text.lines().filter_map(Setting::parse).collect());
                    let [now, then] = [&seen, &restored].map(|one| level(one.as_ref(), default));
                    found.levels.extend((now != then).then_some((item, then)));
                    seen = restored;
                }
            }
            own
        } else {
            Span::joined(own, brought)
        };
        let Some(Span { old, new, place }) = span else { continue };
        let (before, after) = (old.in_force(repo, item)?, new.in_force(repo, item)?);
        let known = live.get(&item).or_else(|| had.get(&item));
        let Some((introduced, item_type)) = origin(repo, item, known)? else { continue };
        if is_dispute(before.as_ref(), after.as_ref(), default(&item_type)) {
            continue;
        }
        let set_since = match &set_since {
            Some(known) => known,
            None => set_since.insert(effects::set_since(repo, history, operations, oldest.unwrap_or_default())?),
        };
        // The same level may have been set to settle a dispute.
        let is_set_since = set_since.get(&item).is_some_and(|newest| *newest < place);
        if is_set_since || has_other_meaning(after.as_ref(), seen.as_ref()) {
            let (operation, command) = (operations[0].id.clone(), operations[0].command.clone());
            return Err(TraceError::SetSince { operation, command, item });
        }
        let (level, reason) = match before {
            Some(InForce { setting: Setting { level, reason, .. }, .. }) => {
                let is_purged = |reason: &String| tombstones.reason(item, reason.clone()) != *reason;
                let clean = reason.clone().filter(|reason| !is_purged(reason));
                // Nothing but a purged reason would come back.
                if clean != reason && after.as_ref().is_some_and(|after| after.setting.level == level) {
                    continue;
                }
                (level, clean)
            }
            None => (default(&item_type), None),
        };
        let seq = after.and_then(|after| after.setting.seq);
        found.opposing.push(Request { reason, seq, ..Request::now(item, level, signature.at, introduced) });
        found.levels.pop_if(|(other, _)| *other == item);
        found.levels.push((item, level));
    }
    Ok(found)
}

fn spans(repo: &Repo, moves: &[RecordMove]) -> Result<BTreeMap<ItemId, Spans>, TraceError> {
    let (mut spans, mut published): (BTreeMap<ItemId, Spans>, _) = (BTreeMap::new(), None);
    for RecordMove { old, new, source, place } in moves {
        let [before, after] = [Rc::new(Record::at(repo, *old)?), Rc::new(Record::at(repo, Some(*new))?)];
        for item in after.items_changed_since(repo, &before)? {
            let is_brought = match source {
                Source::Here => false,
                Source::Remote => true,
                Source::Export => {
                    let published = match &published {
                        Some(known) => known,
                        None => published.insert(fetched_records(repo)?),
                    };
                    let lines = Lines::read(repo, item, [&before, &after, &after])?;
                    !published.iter().any(|record| lines.is_any_in(repo, record))
                }
            };
            let made = Some(Span { old: before.clone(), new: after.clone(), place: *place });
            let Spans { own, brought } = spans.entry(item).or_default();
            // An operation that stays may have changed it in between.
            let follows = match brought {
                Some(span) => span.new.file(repo, item)? == before.file(repo, item)?,
                None => true,
            };
            if !(is_brought && follows) {
                *own = Span::joined(own.take(), brought.take());
            }
            let last = if is_brought { brought } else { own };
            *last = Span::joined(last.take(), made);
        }
    }
    Ok(spans)
}

/// The records of all remotes as last fetched, without unreadable ones.
fn fetched_records(repo: &Repo) -> Result<Vec<Record>, TraceError> {
    let records = HISTORY.list_fetched(repo)?.into_iter();
    Ok(records.filter_map(|tip| Record::at(repo, Some(tip)).ok()).collect())
}

/// The lines of an item before and after moves of the record, and now.
struct Lines {
    item: ItemId,
    /// By digest, which does not cover reasons.
    before: BTreeMap<String, Setting>,
    after: BTreeMap<String, Setting>,
    now: BTreeMap<String, Setting>,
    /// The present file, in order.
    text: String,
}

impl Lines {
    fn read(repo: &Repo, item: ItemId, states: [&Record; 3]) -> Result<Self, TraceError> {
        let by_digest = |record: &Record| -> Result<BTreeMap<String, Setting>, TraceError> {
            Ok(record.settings(repo, item)?.into_iter().map(|setting| (setting.digest(), setting)).collect())
        };
        let file = states[2].file(repo, item)?;
        let text = file.map_or(Ok(Vec::new()), |file| repo.read_blob(file))?;
        let [before, after, now] = states.map(by_digest);
        let text = HISTORY.format.ordered(&String::from_utf8_lossy(&text));
        Ok(Self { item, before: before?, after: after?, now: now?, text })
    }

    /// Those that came.
    fn brought(&self) -> impl Iterator<Item = &String> {
        self.after.keys().filter(|digest| !self.before.contains_key(*digest))
    }

    /// Whether a record has one that came.
    fn is_any_in(&self, repo: &Repo, record: &Record) -> bool {
        let there = record.settings(repo, self.item).unwrap_or_default();
        there.iter().any(|setting| self.brought().any(|digest| *digest == setting.digest()))
    }

    /// The present text, in order, without lines that came, and with those that went; `None` if lines came, and others later.
    fn restored(&self, tombstones: &Tombstones) -> Option<String> {
        let came: HashSet<&String> = self.brought().collect();
        let is_known = |digest| self.after.contains_key(digest) || self.before.contains_key(digest);
        if !came.is_empty() && !self.now.keys().all(is_known) {
            return None;
        }
        let stays = |line: &&str| Setting::parse(line).is_none_or(|setting| !came.contains(&setting.digest()));
        let mut text: String = self.text.lines().filter(stays).flat_map(|line| [line, "\n"]).collect();
        let went = |digest| !self.now.contains_key(digest) && !self.after.contains_key(digest);
        for (_, setting) in self.before.iter().filter(|(digest, _)| went(*digest)) {
            let mut line = setting.render();
            // The next pull may bring it in the form that the purge left.
            if tombstones.of_setting(Some(self.item), &line).is_some() {
                line = Setting { reason: None, ..setting.clone() }.render();
            }
            text += &(line + "\n");
        }
        Some(HISTORY.format.ordered(&text))
    }
}

fn level(change: Option<&InForce>, default: Level) -> Level {
    change.map_or(default, |one| one.setting.level)
}

/// Whether an undo of this move of the record would change something. It settles no dispute that came from elsewhere.
pub(super) fn is_left(repo: &Repo, (old, new, source): (Option<Oid>, Oid, Source)) -> Result<bool, TraceError> {
    if source == Source::Here {
        return Ok(true);
    }
    let [before, after, now] = [Record::at(repo, old)?, Record::at(repo, Some(new))?, Record::open(repo)?];
    let (types, tombstones) = (Types::read(repo)?, Tombstones::default());
    for item in after.items_changed_since(repo, &before)? {
        let lines = Lines::read(repo, item, [&before, &after, &now])?;
        match lines.restored(&tombstones) {
            Some(text) if text == lines.text => continue,
            Some(_) => return Ok(true),
            None => {}
        }
        let [before, after] = [before.in_force(repo, item)?, after.in_force(repo, item)?];
        if after.as_ref().is_none_or(|after| after.rivals.is_empty()) {
            return Ok(true);
        }
        let Some((_, item_type)) = origin(repo, item, None)? else { continue };
        if !is_dispute(before.as_ref(), after.as_ref(), types.rules(&item_type).priority) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether only concurrent changes came, and the level stayed. An undo does not settle these.
fn is_dispute(before: Option<&InForce>, after: Option<&InForce>, default: Level) -> bool {
    level(before, default) == level(after, default) && after.is_some_and(|after| !after.rivals.is_empty())
}

/// Whether a level, its reason, or a dispute differs. An undo of a later change sets the same level, in a separate line, which settles a
/// dispute.
fn has_other_meaning(after: Option<&InForce>, now: Option<&InForce>) -> bool {
    let meaning = |change: Option<&InForce>| change.map(|one| (one.setting.level, one.setting.reason.clone()));
    let rivals = |change: Option<&InForce>| change.map(|one| one.rivals.clone()).unwrap_or_default();
    let known = rivals(after);
    meaning(after) != meaning(now) || rivals(now).iter().any(|rival| !known.contains(rival))
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
        // The levels of items that no trace has are shown nowhere.
        (None, None) => Ok(None),
    }
}
