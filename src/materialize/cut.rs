//! Cutting: less than the whole, for want of room.
//!
//! What is pinned is never cut, and a call never parts from its result: a pair is kept whole where either half is. A thought
//! after the first cut loses the proof that what it was signed over is still there.

use std::collections::HashSet;

use thiserror::Error;

use super::Omission;
use super::join::Piece;
use crate::message::{Block, Content, Role, pair_calls};
use crate::tokens::Encoding;
use crate::tokens::framing::{PER_REPLY, message_cost};
use crate::trace::{ItemId, ItemType};

/// What to leave out. Each cut is made of what the one before left, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    /// Only what is pinned, this position and what follows it.
    pub since: Option<u32>,
    /// Only what is pinned and the newest items whole, so many; of older ones their subject line.
    pub recent: Option<usize>,
    /// Only what is pinned and the newest items that fit, up to the first that does not; in tokens, as a trace's total
    /// counts them.
    pub budget: Option<u64>,
}

/// What may not be cut is more than the budget.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[error("what is pinned takes {pinned} tokens, more than the budget of {budget}")]
pub struct OverBudget {
    /// Tokens of the pinned items, of what belongs with them, and of the reply's opening.
    pub pinned: u64,
    /// What was allowed.
    pub budget: u64,
}

/// What a cut left.
pub(super) struct Kept {
    pub(super) pieces: Vec<Piece>,
    pub(super) dropped: Vec<Omission>,
    pub(super) shortened: Vec<ItemId>,
}

/// Makes the cut. `pieces` are in reading order and stay so.
pub(super) fn cut(pieces: Vec<Piece>, cut: &Cut, encoding: Encoding) -> Result<Kept, OverBudget> {
    let mut kept = Kept { pieces, dropped: Vec::new(), shortened: Vec::new() };
    if let Some(since) = cut.since {
        let whole = kept.pieces.iter().map(|piece| piece.pinned || piece.seq >= since).collect();
        let whole = with_partners(&kept.pieces, whole);
        kept.drop_others(&whole, "older");
    }
    if let Some(recent) = cut.recent {
        let first = kept.pieces.len().saturating_sub(recent);
        let whole = kept.pieces.iter().enumerate().map(|(index, piece)| piece.pinned || index >= first).collect();
        let whole = with_partners(&kept.pieces, whole);
        kept.shorten_others(&whole, encoding);
    }
    if let Some(budget) = cut.budget {
        let whole = newest_that_fit(&kept.pieces, budget)?;
        kept.drop_others(&whole, "budget");
    }
    Ok(kept)
}

fn partners(pieces: &[Piece]) -> Vec<Option<usize>> {
    pair_calls(pieces.iter().map(|piece| &piece.block.content))
}

/// Keeps the other half of every pair of which one is kept.
fn with_partners(pieces: &[Piece], mut whole: Vec<bool>) -> Vec<bool> {
    for (index, partner) in partners(pieces).into_iter().enumerate() {
        if let Some(partner) = partner {
            whole[partner] |= whole[index];
        }
    }
    whole
}

fn newest_that_fit(pieces: &[Piece], budget: u64) -> Result<Vec<bool>, OverBudget> {
    let mut whole = with_partners(pieces, pieces.iter().map(|piece| piece.pinned).collect());
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
            self.dropped.push(Omission { item, seq, item_type, why, reason: None, tokens });
        }
        // What is dropped now was not shortened after all.
        let gone: HashSet<ItemId> = self.dropped.iter().map(|omission| omission.item).collect();
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
            // Told about, no longer said: so neighbours join, whoever said them.
            (piece.item_type, piece.role, piece.name, piece.turn) = (ItemType::freeform(), Role::User, None, None);
        }
    }
}

fn break_signature(piece: &mut Piece) {
    if let Content::Reasoning { signature: Some(signature), .. } = &mut piece.block.content {
        signature.holds = false;
    }
}
