//! Names that users give: items, moments of a trace, and states of any trace.
//!
//! An item is named by its id or a prefix of four digits or more, by `#<seq>`, or by a commit that touched one. What is
//! unknown or ambiguous is refused, never guessed.

mod state;

use super::tip::Tip;
use super::walk::{Parents, Walk, changes_of};
use crate::base::time::Time;
use crate::git::Repo;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::Op;
use crate::trace::model::tree::{self, Change, ItemEntry};
pub(crate) use state::{State, find_tip, state};

/// How many candidates of an ambiguous name are listed.
const CANDIDATES: usize = 10;

/// A trace at one of its commits, as names are looked up in it.
pub(crate) struct Resolver<'r> {
    repo: &'r Repo,
    name: &'r TraceName,
    tip: &'r Tip,
    slots: Vec<ItemEntry>,
}

impl<'r> Resolver<'r> {
    /// Lists the live items of `tip`.
    pub(crate) fn new(repo: &'r Repo, name: &'r TraceName, tip: &'r Tip) -> Result<Self, TraceError> {
        Ok(Self { repo, name, tip, slots: tree::list(repo, tip.commit.tree)? })
    }

    /// The live item that `spec` names.
    pub(crate) fn live(&self, spec: &str) -> Result<&ItemEntry, TraceError> {
        let id = self.item(spec)?;
        self.find_live(id).ok_or_else(|| TraceError::NotLive { item: id, trace: self.name.clone() })
    }

    /// The live items that `spec` names: one, or all from A to B in reading order where it is `A..B`.
    pub(crate) fn range(&self, spec: &str) -> Result<&[ItemEntry], TraceError> {
        let (first, last) = spec.split_once("..").unwrap_or((spec, spec));
        let place = |end: &str| -> Result<usize, TraceError> {
            let id = self.live(end)?.id;
            Ok(self.slots.iter().position(|slot| slot.id == id).unwrap_or_default())
        };
        let (one, other) = (place(first)?, place(last)?);
        Ok(&self.slots[one.min(other)..=one.max(other)])
    }

    /// The live item of this id.
    #[must_use]
    pub(crate) fn find_live(&self, id: ItemId) -> Option<&ItemEntry> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// The item that `spec` names, live or taken out.
    ///
    /// Costs the live items' names; only a name none of them has makes it walk history.
    pub(crate) fn item(&self, spec: &str) -> Result<ItemId, TraceError> {
        let unknown = || TraceError::UnknownItem { spec: spec.to_owned(), trace: self.name.clone() };
        if let Some(digits) = spec.strip_prefix('#') {
            let seq: u32 = digits.parse().map_err(|_| unknown())?;
            let at_seq = self.slots.iter().filter(|slot| slot.seq == seq).map(|slot| slot.id);
            if let Some(id) = Self::only(spec, at_seq)? {
                return Ok(id);
            }
            return self.find_in_history(spec, |slot| slot.seq == seq)?.ok_or_else(unknown);
        }
        let hex = spec.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex && spec.len() < 4 {
            return Err(TraceError::TooShort { spec: spec.to_owned() });
        }
        if hex && spec.len() <= 16 {
            let live = self.slots.iter().map(|slot| slot.id).filter(|id| id.has_prefix(spec));
            if let Some(id) = Self::only(spec, live)? {
                return Ok(id);
            }
        }
        if let Some(commit) = self.repo.find_commit(spec)? {
            let id = self.touched(spec, &Tip::read(self.repo, commit)?)?;
            let was_here = self.find_live(id).is_some() || self.find_in_history(spec, |slot| slot.id == id)?.is_some();
            return if was_here { Ok(id) } else { Err(TraceError::NotInTrace { item: id, trace: self.name.clone() }) };
        }
        if hex && (4..=16).contains(&spec.len()) {
            return self.find_in_history(spec, |slot| slot.id.has_prefix(spec))?.ok_or_else(unknown);
        }
        Err(unknown())
    }

    fn only(spec: &str, ids: impl Iterator<Item = ItemId>) -> Result<Option<ItemId>, TraceError> {
        let mut candidates: Vec<ItemId> = ids.take(CANDIDATES).collect();
        candidates.dedup();
        match candidates.as_slice() {
            [] => Ok(None),
            [id] => Ok(Some(*id)),
            _ => Err(TraceError::AmbiguousItem { spec: spec.to_owned(), candidates }),
        }
    }

    /// The one item a commit touched.
    fn touched(&self, spec: &str, tip: &Tip) -> Result<ItemId, TraceError> {
        if let Some(item) = tip.trailers.item.filter(|_| tip.is_ours()) {
            return Ok(item);
        }
        let changes = changes_of(self.repo, tip)?;
        match changes.as_slice() {
            [change] => Ok(change.entry().id),
            _ => Err(TraceError::NotOneItem { spec: spec.to_owned(), count: changes.len() }),
        }
    }

    /// The one item that history has, but the tip has not, of which `fits` is true.
    fn find_in_history(&self, spec: &str, fits: impl Fn(&ItemEntry) -> bool) -> Result<Option<ItemId>, TraceError> {
        let mut found: Vec<ItemId> = Vec::new();
        for tip in Walk::new(self.repo, self.tip.clone(), Parents::All) {
            let tip = tip?;
            // Only what was taken out is missing from the tip.
            if tip.is_ours() && matches!(tip.trailers.op, Some(Op::Append | Op::Edit | Op::Import | Op::Restore)) {
                continue;
            }
            let removed =
                changes_of(self.repo, &tip)?.into_iter().filter(|change| matches!(change, Change::Removed(_)));
            found.extend(removed.filter(|change| fits(change.entry())).map(|change| change.entry().id));
        }
        found.sort_unstable();
        found.dedup();
        Self::only(spec, found.into_iter())
    }
}

/// A trace as it stood at a moment.
#[derive(Debug)]
pub(crate) struct Moment {
    /// The commit whose tree is looked at.
    pub tip: Tip,
    pub at: Time,
}

/// Finds the state of a trace that `spec` names: a commit, an item (the commit that last touched it), or an RFC 3339 time
/// (the newest commit on the first-parent line whose time is not later).
pub(crate) fn moment(repo: &Repo, name: &TraceName, tip: &Tip, spec: &str) -> Result<Moment, TraceError> {
    if let Ok(at) = spec.parse::<Time>() {
        for earlier in Walk::new(repo, tip.clone(), Parents::First) {
            let earlier = earlier?;
            if earlier.time() <= at {
                return Ok(Moment { tip: earlier, at });
            }
        }
        return Err(TraceError::BeforeTheFirst { trace: name.clone(), at });
    }
    let unknown = || TraceError::UnknownMoment { spec: spec.to_owned(), trace: name.clone() };
    let named_item = item_by_name(repo, name, tip, spec)?;
    let at_commit = match named_item {
        Some(id) => last_touch(repo, tip, id)?.ok_or_else(unknown)?,
        None => Tip::read(repo, repo.find_commit(spec)?.ok_or_else(unknown)?)?,
    };
    // The code has commits too. That a commit of a trace is of this one is not worth a walk through its history.
    if !at_commit.is_ours() && !repo.is_ancestor(at_commit.commit.oid, tip.commit.oid)? {
        return Err(unknown());
    }
    Ok(Moment { at: at_commit.time(), tip: at_commit })
}

/// The item that `spec` names by an id, digits of one or a position; `None` where it names a commit, or nothing.
pub(crate) fn item_by_name(repo: &Repo, name: &TraceName, tip: &Tip, spec: &str) -> Result<Option<ItemId>, TraceError> {
    let resolver = Resolver::new(repo, name, tip)?;
    match resolver.item(spec) {
        Ok(id) => Ok((!is_commit(repo, &resolver, spec, id)?).then_some(id)),
        Err(
            TraceError::UnknownItem { .. }
            | TraceError::NotOneItem { .. }
            | TraceError::NotInTrace { .. }
            | TraceError::TooShort { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether `spec` named `id` by a commit and not by the item's own name.
fn is_commit(repo: &Repo, resolver: &Resolver<'_>, spec: &str, id: ItemId) -> Result<bool, TraceError> {
    let by_name = spec.starts_with('#') || id.has_prefix(spec);
    Ok(!by_name || (resolver.find_live(id).is_none() && repo.find_commit(spec)?.is_some()))
}

/// The newest commit that touched an item.
fn last_touch(repo: &Repo, tip: &Tip, id: ItemId) -> Result<Option<Tip>, TraceError> {
    for earlier in Walk::new(repo, tip.clone(), Parents::All) {
        let earlier = earlier?;
        let touched = match earlier.trailers.item.filter(|_| earlier.is_ours()) {
            Some(item) => item == id,
            None => changes_of(repo, &earlier)?.iter().any(|change| change.entry().id == id),
        };
        if touched {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}
