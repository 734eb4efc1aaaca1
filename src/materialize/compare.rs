//! The effects of a change of a trace on its prompt, beyond the items that it edited or removed.

use std::collections::HashSet;

use super::piece::{self, Piece};
use super::{MaterializeError, Options, join};
use crate::git::Repo;
use crate::message::Role;
use crate::tokens::Counter;
use crate::trace::model::item::ItemType;
use crate::trace::model::name::TRACES;
use crate::trace::model::tree;
use crate::trace::store::priority::{Before, Changes};
use crate::trace::store::view::View;
use crate::trace::{ItemEntry, ItemId, Tip, TraceError, TraceName};

/// The items of a state in the order in which the built-in rules would send them if none was left out, and those that give
/// instructions. Reads every item.
#[derive(Debug)]
pub(crate) struct PromptOrder {
    pub items: Vec<ItemId>,
    pub instructions: HashSet<ItemId>,
}

impl PromptOrder {
    pub(crate) fn of(repo: &Repo, slots: &[ItemEntry]) -> Result<Self, TraceError> {
        let options = Options::default();
        let mut pieces = Piece::without_texts(&options, repo, slots)?;
        let is_instruction =
            |piece: &&Piece| piece.item_type == ItemType::instruction() || piece.message.role == Role::System;
        let instructions = pieces.iter().filter(is_instruction).map(|piece| piece.item).collect();
        join::sort(&mut pieces);
        let joined = join::join(&options, pieces);
        Ok(Self { items: joined.into_iter().flat_map(|joined| joined.items.concat()).collect(), instructions })
    }

    /// The items of `new` that precede one of `earlier`, in the prompt.
    pub(crate) fn inserted(&self, new: &HashSet<ItemId>, earlier: &HashSet<ItemId>) -> HashSet<ItemId> {
        let last = self.items.iter().rposition(|item| earlier.contains(item)).unwrap_or_default();
        self.items[..last].iter().copied().filter(|item| new.contains(item)).collect()
    }
}

/// The reasoning of each trace whose signature was valid before and is not now, although it is still sent. Compares the traces that moved,
/// or that have an item with new priorities, if they had reasoning; reads their items twice.
pub(crate) fn lost_signatures(
    repo: &Repo,
    before: &Before,
    changes: &Changes,
) -> Result<Vec<(TraceName, Vec<ItemEntry>)>, MaterializeError> {
    let mut lost = Vec::new();
    for (refname, oid) in repo.list_refs(TRACES).map_err(TraceError::from)? {
        let Some(name) = TraceName::of_ref(&refname) else { continue };
        let Some(earlier) = before.tip(&name).filter(|earlier| *earlier != oid || !changes.is_empty()) else {
            continue;
        };
        // `fsck` reports damaged tips.
        let (Ok(earlier), Ok(tip)) = (Tip::read(repo, earlier), Tip::read(repo, oid)) else { continue };
        let slots = tree::list(repo, earlier.commit.tree).map_err(TraceError::from)?;
        let is_touched = earlier.commit.oid != oid || slots.iter().any(|slot| changes.contains_key(&slot.id));
        if !is_touched || !slots.iter().any(|slot| slot.item_type == ItemType::reasoning()) {
            continue;
        }
        let signed = signed(repo, &View::with_record(repo, &before.record, earlier, slots, None)?)?.0;
        if signed.is_empty() {
            continue;
        }
        let view = View::at(repo, tip, None)?;
        let (still, sent) = self::signed(repo, &view)?;
        let is_lost =
            |slot: &&ItemEntry| signed.contains(&(slot.id)) && sent.contains(&slot.id) && !still.contains(&slot.id);
        let slots: Vec<ItemEntry> = view.slots.iter().filter(is_lost).cloned().collect();
        if !slots.is_empty() {
            lost.push((name, slots));
        }
    }
    Ok(lost)
}

/// The items with a valid signature, and all that are sent.
fn signed(repo: &Repo, view: &View) -> Result<(HashSet<ItemId>, HashSet<ItemId>), MaterializeError> {
    let mut pieces = piece::gather(&Options::default(), repo, view, Counter::default())?.pieces;
    join::sort(&mut pieces);
    let signed = pieces.iter().filter(|piece| piece.is_signed()).map(|piece| piece.item).collect();
    Ok((signed, pieces.iter().map(|piece| piece.item).collect()))
}
