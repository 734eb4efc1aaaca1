//! Cuts: which items to omit or shorten to save tokens.
//!
//! Pinned items are never cut, and a call is never separated from its result: if one is kept, both are. Reasoning after the
//! first cut loses its signature, because what it was signed with is incomplete.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::Omission;
use super::join::Piece;
use crate::message::{Block, Content, Role, pair_calls};
use crate::tokens::Encoding;
use crate::tokens::framing::{PER_REPLY, message_cost};
use crate::trace::{ItemId, ItemType};

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

/// The result of a cut.
pub(super) struct Kept {
    pub(super) pieces: Vec<Piece>,
    pub(super) left_out: Vec<Omission>,
    pub(super) shortened: Vec<ItemId>,
}

/// Makes the cut. `pieces` are, and stay, in trace order.
pub(super) fn cut(pieces: Vec<Piece>, cut: &Cut, encoding: Encoding) -> Result<Kept, OverBudget> {
    if *cut == Cut::default() {
        return Ok(Kept { pieces, left_out: Vec::new(), shortened: Vec::new() });
    }
    let pairs = Pairs::of(&pieces);
    let mut kept = Kept { pieces, left_out: Vec::new(), shortened: Vec::new() };
    if let Some(since) = cut.since {
        let whole = kept.pieces.iter().map(|piece| piece.pinned || piece.seq >= since).collect();
        let whole = pairs.complete(&kept.pieces, whole);
        kept.drop_others(&whole, "older");
    }
    if let Some(recent) = cut.recent {
        let first = kept.pieces.len().saturating_sub(recent);
        let whole = kept.pieces.iter().enumerate().map(|(index, piece)| piece.pinned || index >= first).collect();
        let whole = pairs.complete(&kept.pieces, whole);
        kept.shorten_others(&whole, encoding);
    }
    if let Some(budget) = cut.budget {
        let whole = newest_that_fit(&kept.pieces, &pairs, budget)?;
        kept.drop_others(&whole, "budget");
    }
    Ok(kept)
}

/// Which call belongs to which result, found before cutting: a shortened item no longer shows it.
struct Pairs(HashMap<ItemId, ItemId>);

impl Pairs {
    fn of(pieces: &[Piece]) -> Self {
        let partners = pair_calls(pieces.iter().map(|piece| &piece.block.content));
        let pairs =
            pieces.iter().zip(partners).filter_map(|(piece, partner)| Some((piece.item, pieces[partner?].item)));
        Self(pairs.collect())
    }

    /// The index of each piece's call or result, if it is still present.
    fn among(&self, pieces: &[Piece]) -> Vec<Option<usize>> {
        let halves = pieces.iter().enumerate().filter(|(_, piece)| self.0.contains_key(&piece.item));
        let places: HashMap<ItemId, usize> = halves.map(|(index, piece)| (piece.item, index)).collect();
        pieces.iter().map(|piece| places.get(self.0.get(&piece.item)?).copied()).collect()
    }

    /// Keeps both items of every pair of which one is kept.
    fn complete(&self, pieces: &[Piece], mut whole: Vec<bool>) -> Vec<bool> {
        for (index, partner) in self.among(pieces).into_iter().enumerate() {
            if let Some(partner) = partner {
                whole[partner] |= whole[index];
            }
        }
        whole
    }
}

fn newest_that_fit(pieces: &[Piece], pairs: &Pairs, budget: u64) -> Result<Vec<bool>, OverBudget> {
    let mut whole = pairs.complete(pieces, pieces.iter().map(|piece| piece.pinned).collect());
    let cost = |index: usize| pieces[index].tokens;
    let pinned = PER_REPLY + (0..pieces.len()).filter(|index| whole[*index]).map(cost).sum::<u64>();
    let Some(mut left) = budget.checked_sub(pinned) else { return Err(OverBudget { pinned, budget }) };
    let partners = pairs.among(pieces);
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

impl Kept {
    fn drop_others(&mut self, whole: &[bool], why: &'static str) {
        let mut cut_before = false;
        let mut keep = whole.iter();
        let pieces = std::mem::take(&mut self.pieces);
        for mut piece in pieces {
            if *keep.next().unwrap_or(&true) {
                if cut_before {
                    break_signature(&mut piece);
                }
                self.pieces.push(piece);
                continue;
            }
            cut_before = true;
            let Piece { item, item_type, seq, tokens, .. } = piece;
            self.left_out.push(Omission { item, seq, item_type, why, reason: None, tokens });
        }
        // An item that is dropped now does not count as shortened.
        let gone: HashSet<ItemId> = self.left_out.iter().map(|omission| omission.item).collect();
        self.shortened.retain(|item| !gone.contains(item));
    }

    fn shorten_others(&mut self, whole: &[bool], encoding: Encoding) {
        let mut cut_before = false;
        for (piece, whole) in self.pieces.iter_mut().zip(whole) {
            if *whole {
                if cut_before {
                    break_signature(piece);
                }
                continue;
            }
            cut_before = true;
            self.shortened.push(piece.item);
            let subject = piece.subject.take().unwrap_or_default();
            let tokens = encoding.count(subject.as_bytes());
            piece.tokens = message_cost(tokens, false);
            piece.block = Block { content: Content::Text(subject), known_tokens: Some(tokens) };
            // A summary, no longer a message of its author, so that neighbors join whatever their roles were.
            (piece.item_type, piece.role, piece.name, piece.turn) = (ItemType::freeform(), Role::User, None, None);
            (piece.order, piece.aggregates) = (0, true);
        }
    }
}

pub(super) fn break_signature(piece: &mut Piece) {
    if let Content::Reasoning { signature: Some(signature), .. } = &mut piece.block.content {
        signature.holds = false;
    }
}

#[cfg(test)]
#[path = "../../tests/unit/materialize/cut.rs"]
mod tests;
