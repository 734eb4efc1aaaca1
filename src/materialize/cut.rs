//! Cuts: which items to omit or shorten to save tokens.
//!
//! Pinned items are never cut, and a call is never separated from its result: if one is kept, both are. Reasoning after the
//! first cut loses its signature, because what it was signed with is incomplete.

use std::collections::HashMap;

use thiserror::Error;

use super::Omission;
use super::piece::Piece;
use crate::message::pair_calls;
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::ItemId;

/// What to omit. The cuts apply in this order, each to the result of the previous one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// Keep only pinned items and those from this position on.
    pub since: Option<u32>,
    /// Keep only pinned items and this number of the newest ones complete; shorten the others to their subject.
    pub recent: Option<usize>,
    /// Keep only pinned items and the newest ones that fit into this number of tokens, up to the first that does not.
    pub budget: Option<u64>,
}

/// The pinned items exceed the budget.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[error("pinned items take {pinned} tokens, more than the budget of {budget}")]
pub struct OverBudget {
    /// The tokens of the pinned items, of their calls and results, and of the reply's start.
    pub pinned: u64,
    /// The budget in tokens.
    pub budget: u64,
}

/// Makes the cut. `pieces` are, and stay, in trace order. Returns what it omits.
pub(super) fn cut(pieces: &mut Vec<Piece>, cut: &Cut, counter: Counter) -> Result<Vec<Omission>, OverBudget> {
    let mut omitted = Vec::new();
    if *cut == Cut::default() {
        return Ok(omitted);
    }
    // Before cutting, because a shortened item no longer shows its call.
    let partners = pair_calls(pieces.iter().map(Piece::content));
    for (index, partner) in partners.into_iter().enumerate() {
        pieces[index].partner = partner.map(|partner| pieces[partner].item);
    }
    if let Some(since) = cut.since {
        let whole = pieces.iter().map(|piece| piece.pinned || piece.seq >= since).collect();
        omitted.extend(drop_others(pieces, whole, "older"));
    }
    if let Some(recent) = cut.recent {
        let first = pieces.len().saturating_sub(recent);
        let whole = pieces.iter().enumerate().map(|(index, piece)| piece.pinned || index >= first).collect();
        let whole = mark(pieces, whole);
        for (piece, _) in pieces.iter_mut().zip(whole).filter(|(_, whole)| !whole) {
            piece.shorten(counter);
        }
    }
    if let Some(budget) = cut.budget {
        let whole = newest_that_fit(pieces, budget)?;
        omitted.extend(drop_others(pieces, whole, "budget"));
    }
    Ok(omitted)
}

/// The index of each piece's call or result, if it is still present.
fn partners(pieces: &[Piece]) -> Vec<Option<usize>> {
    let halves = pieces.iter().enumerate().filter(|(_, piece)| piece.partner.is_some());
    let places: HashMap<ItemId, usize> = halves.map(|(index, piece)| (piece.item, index)).collect();
    pieces.iter().map(|piece| places.get(&piece.partner?).copied()).collect()
}

fn complete(pieces: &[Piece], mut whole: Vec<bool>) -> Vec<bool> {
    for (index, partner) in partners(pieces).into_iter().enumerate() {
        if let Some(partner) = partner {
            whole[partner] |= whole[index];
        }
    }
    whole
}

/// Completes the pairs, and breaks signatures after the first piece that is not kept.
fn mark(pieces: &mut [Piece], whole: Vec<bool>) -> Vec<bool> {
    let whole = complete(pieces, whole);
    let first_cut = whole.iter().position(|whole| !whole).unwrap_or(pieces.len());
    pieces[first_cut..].iter_mut().for_each(Piece::break_signature);
    whole
}

fn drop_others(pieces: &mut Vec<Piece>, whole: Vec<bool>, why: &'static str) -> Vec<Omission> {
    let mut whole = mark(pieces, whole).into_iter();
    let dropped = pieces.extract_if(.., |_| whole.next() == Some(false));
    let omission =
        |Piece { item, item_type, seq, tokens, .. }| Omission { item, seq, item_type, why, reason: None, tokens };
    dropped.map(omission).collect()
}

fn newest_that_fit(pieces: &[Piece], budget: u64) -> Result<Vec<bool>, OverBudget> {
    let mut whole = complete(pieces, pieces.iter().map(|piece| piece.pinned).collect());
    let cost = |index: usize| pieces[index].tokens;
    let pinned = PER_REPLY + (0..pieces.len()).filter(|index| whole[*index]).map(cost).sum::<u64>();
    let Some(mut left) = budget.checked_sub(pinned) else { return Err(OverBudget { pinned, budget }) };
    let partners = partners(pieces);
    for index in (0..pieces.len()).rev() {
        if whole[index] {
            continue;
        }
        let partner = partners[index];
        let Some(rest) = left.checked_sub(cost(index) + partner.map_or(0, cost)) else { break };
        left = rest;
        whole[index] = true;
        if let Some(partner) = partner {
            whole[partner] = true;
        }
    }
    Ok(whole)
}

#[cfg(test)]
#[path = "../../tests/unit/materialize/cut.rs"]
mod tests;
