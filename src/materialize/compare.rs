//! The effects of a change of a trace on its prompt, beyond the items that it edited or removed.

use std::collections::{HashMap, HashSet};

use super::piece::{self, Piece};
use super::{MaterializeError, Options, join};
use crate::git::Repo;
use crate::message::{Role, pair_calls, request_order};
use crate::tokens::Counter;
use crate::trace::model::item::ItemType;
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::store::priority::{Before, Changes};
use crate::trace::store::view::View;
use crate::trace::{ItemEntry, ItemId, Tip, TraceError, TraceName};

/// What the built-in rules send of a state.
#[derive(Debug)]
pub(crate) struct Prompt {
    /// The items, in the order of a request.
    pub items: Vec<ItemId>,
    /// The calls that have a result, each with its result.
    pub answered: HashSet<(ItemId, ItemId)>,
}

/// The prompts of two states, and the items of the later one that give instructions, whatever their levels.
#[derive(Debug)]
pub(crate) struct Prompts {
    pub before: Prompt,
    pub after: Prompt,
    pub instructions: HashSet<ItemId>,
}

impl Prompts {
    /// Reads every item, once.
    pub(crate) fn of(repo: &Repo, before: &View, after: &View) -> Result<Self, TraceError> {
        let key = |slot: &ItemEntry| (slot.path.clone(), slot.blob);
        let there: HashSet<_> = after.slots.iter().map(key).collect();
        let others = before.slots.iter().filter(|slot| !there.contains(&key(slot)));
        let slots: Vec<ItemEntry> = after.slots.iter().chain(others).cloned().collect();
        let pieces = Piece::without_texts(&Options::default(), repo, &slots)?;
        let is_instruction =
            |piece: &&Piece| piece.item_type == ItemType::instruction() || piece.message.role == Role::System;
        let instructions = pieces[..after.slots.len()].iter().filter(is_instruction).map(|piece| piece.item).collect();
        let pieces: HashMap<_, Piece> = slots.iter().map(key).zip(pieces).collect();
        let prompt = |view: &View| {
            let sent = view.slots.iter().filter(|slot| view.left_out(slot).is_none());
            Prompt::of(sent.map(|slot| pieces[&key(slot)].clone()).collect())
        };
        Ok(Self { before: prompt(before), after: prompt(after), instructions })
    }
}

impl Prompt {
    fn of(mut pieces: Vec<Piece>) -> Self {
        join::sort(&mut pieces);
        let partners = pair_calls(pieces.iter().map(Piece::content)).into_iter().enumerate();
        let pairs = partners.filter_map(|(call, result)| Some((call, result.filter(|result| call < *result)?)));
        let answered = pairs.map(|(call, result)| (pieces[call].item, pieces[result].item)).collect();
        let (messages, items): (Vec<_>, Vec<_>) =
            join::join(&Options::default(), pieces).into_iter().map(|joined| (joined.message, joined.items)).unzip();
        let items = request_order(&messages).into_iter().flat_map(|at| items[at.message][at.block].iter().copied());
        Self { items: items.collect(), answered }
    }
}

/// The items that follow another one in `after` although they preceded it in `before`.
pub(crate) fn moved(before: &[ItemId], after: &[ItemId]) -> HashSet<ItemId> {
    let ranks: HashMap<ItemId, usize> = before.iter().copied().zip(0..).collect();
    let mut last = 0;
    let mut is_behind = |item: &ItemId| {
        let Some(rank) = ranks.get(item).copied() else { return false };
        last = last.max(rank);
        rank < last
    };
    after.iter().copied().filter(|item| is_behind(item)).collect()
}

/// The items of `new` that precede one of `earlier`.
pub(crate) fn inserted(items: &[ItemId], new: &HashSet<ItemId>, earlier: &HashSet<ItemId>) -> HashSet<ItemId> {
    let last = items.iter().rposition(|item| earlier.contains(item)).unwrap_or_default();
    items[..last].iter().copied().filter(|item| new.contains(item)).collect()
}

/// The reasoning of a trace that was sent before and is sent now, and whose signature held only before or holds only now.
#[derive(Debug)]
pub(crate) struct ChangedSignatures {
    pub trace: TraceName,
    pub lost: Vec<ItemEntry>,
    pub regained: Vec<ItemEntry>,
}

/// Compares the traces that moved, or that have an item with new priorities, if they have reasoning; reads their items twice.
pub(crate) fn changed_signatures(
    repo: &Repo,
    before: &Before,
    changes: &Changes,
) -> Result<Vec<ChangedSignatures>, MaterializeError> {
    let mut changed = Vec::new();
    for (refname, oid) in repo.list_refs(TRACES).map_err(TraceError::from)? {
        let Some(trace) = TraceName::of_ref(&refname) else { continue };
        let Some(earlier) = before.tip(&trace).filter(|earlier| *earlier != oid || !changes.is_empty()) else {
            continue;
        };
        // `fsck` reports damaged tips.
        let (Ok(earlier), Ok(tip)) = (Tip::read(repo, earlier), Tip::read(repo, oid)) else { continue };
        let slots = tree::list(repo, earlier.commit.tree).map_err(TraceError::from)?;
        let is_touched = earlier.commit.oid != oid || slots.iter().any(|slot| changes.contains_key(&slot.id));
        if !is_touched || !slots.iter().any(|slot| slot.item_type == ItemType::reasoning()) {
            continue;
        }
        let (held, was_sent) = signed(repo, &View::with_record(repo, &before.record, earlier, slots, None)?)?;
        let view = View::at(repo, tip, None)?;
        let (holds, is_sent) = signed(repo, &view)?;
        let both = |slot: &&ItemEntry| was_sent.contains(&slot.id) && is_sent.contains(&slot.id);
        let of = |one: &HashSet<ItemId>, other: &HashSet<ItemId>| -> Vec<ItemEntry> {
            let sent = view.slots.iter().filter(both);
            sent.filter(|slot| one.contains(&slot.id) && !other.contains(&slot.id)).cloned().collect()
        };
        let (lost, regained) = (of(&held, &holds), of(&holds, &held));
        if !lost.is_empty() || !regained.is_empty() {
            changed.push(ChangedSignatures { trace, lost, regained });
        }
    }
    Ok(changed)
}

/// The items with a valid signature, and all that are sent.
fn signed(repo: &Repo, view: &View) -> Result<(HashSet<ItemId>, HashSet<ItemId>), MaterializeError> {
    let mut pieces = piece::gather(&Options::default(), repo, view, Counter::default())?.pieces;
    join::sort(&mut pieces);
    let signed = pieces.iter().filter(|piece| piece.is_signed()).map(|piece| piece.item).collect();
    Ok((signed, pieces.iter().map(|piece| piece.item).collect()))
}
