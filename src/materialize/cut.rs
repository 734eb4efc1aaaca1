//! Cutting: less than the whole, for want of room.
//!
//! What is pinned is never cut, and a call never parts from its result: a pair is kept whole where either half is. A thought
//! after the first cut loses the proof that what it was signed over is still there.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::Omission;
use super::join::Piece;
use crate::message::{Block, Content, Role, pair_calls};
use crate::tokens::Encoding;
use crate::tokens::framing::{PER_REPLY, message_cost};
use crate::trace::{ItemId, ItemType};

/// What to leave out. Each cut is made of what the one before left, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
    pub(super) left_out: Vec<Omission>,
    pub(super) shortened: Vec<ItemId>,
}

/// Makes the cut. `pieces` are in reading order and stay so.
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

/// Which item is the other half of which, before anything was cut: what was shortened does not show it any more.
struct Pairs(HashMap<ItemId, ItemId>);

impl Pairs {
    fn of(pieces: &[Piece]) -> Self {
        let partners = pair_calls(pieces.iter().map(|piece| &piece.block.content));
        let pairs =
            pieces.iter().zip(partners).filter_map(|(piece, partner)| Some((piece.item, pieces[partner?].item)));
        Self(pairs.collect())
    }

    /// The place of each piece's other half, where it has one that is still there.
    fn among(&self, pieces: &[Piece]) -> Vec<Option<usize>> {
        let halves = pieces.iter().enumerate().filter(|(_, piece)| self.0.contains_key(&piece.item));
        let places: HashMap<ItemId, usize> = halves.map(|(index, piece)| (piece.item, index)).collect();
        pieces.iter().map(|piece| places.get(self.0.get(&piece.item)?).copied()).collect()
    }

    /// Keeps the other half of every pair of which one is kept.
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
        // What is dropped now was not shortened after all.
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
            // Told about, no longer said: so neighbours join, whoever said them.
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a model or a tool says at a position: a word, a call, or a result, of one of two call ids.
    fn piece(index: usize, kind: u8, pinned: bool) -> Piece {
        let call_id = format!("c{}", kind % 2);
        let (item_type, role, content) = match kind {
            0 => (ItemType::dialogue(), Role::User, Content::Text("words".to_owned())),
            1 | 2 => (
                ItemType::tool_io(),
                Role::Assistant,
                Content::ToolCall { call_id, name: None, arguments: String::new() },
            ),
            _ => {
                let content = Content::ToolResult { call_id, name: None, status: None, text: String::new() };
                (ItemType::tool_io(), Role::Tool, content)
            }
        };
        Piece {
            item: format!("{index:016x}").parse().unwrap(),
            item_type,
            role,
            name: None,
            turn: None,
            block: Block { content, known_tokens: None },
            seq: u32::try_from(index).unwrap(),
            order: 0,
            pinned,
            aggregates: true,
            tokens: 10,
            subject: Some("a line".to_owned()),
        }
    }

    proptest! {
        /// Whatever the cut: what is pinned stays whole, a call and its result stay or go together, the budget holds.
        #[test]
        fn no_cut_takes_what_is_pinned_or_parts_a_pair(
            kinds in prop::collection::vec((0..5_u8, prop::bool::weighted(0.2)), 1..14),
            since in prop::option::of(0..14_u32),
            recent in prop::option::of(0..6_usize),
            budget in prop::option::of(0..160_u64),
        ) {
            let pieces: Vec<Piece> =
                kinds.iter().enumerate().map(|(index, (kind, pinned))| piece(index, *kind, *pinned)).collect();
            let kept = match cut(pieces.clone(), &Cut { since, recent, budget }, Encoding::default()) {
                Ok(kept) => kept,
                Err(OverBudget { pinned, budget }) => {
                    prop_assert!(pinned > budget);
                    return Ok(());
                }
            };
            let state = |index: usize| {
                let item = pieces[index].item;
                (kept.pieces.iter().any(|piece| piece.item == item), kept.shortened.contains(&item))
            };
            let partners = pair_calls(pieces.iter().map(|piece| &piece.block.content));
            for (index, piece) in pieces.iter().enumerate() {
                prop_assert!(!piece.pinned || state(index) == (true, false));
                if let Some(partner) = partners[index] {
                    prop_assert_eq!(state(index), state(partner));
                }
            }
            let used = PER_REPLY + kept.pieces.iter().map(|piece| piece.tokens).sum::<u64>();
            prop_assert!(budget.is_none_or(|budget| used <= budget));
            prop_assert_eq!(kept.pieces.len() + kept.left_out.len(), pieces.len());
        }
    }
}
