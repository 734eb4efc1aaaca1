//! Tests of `src/materialize/cut.rs`, in that module.

use proptest::prelude::*;

use super::*;
use crate::message::{Block, Content, Message, Role};
use crate::trace::ItemType;

/// A text, a call, or a result with one of two call ids.
fn piece(index: usize, kind: u8, pinned: bool) -> Piece {
    let call_id = format!("c{}", kind % 2);
    let (item_type, role, content) = match kind {
        0 => (ItemType::dialogue(), Role::User, Content::Text("words".to_owned())),
        1 | 2 => {
            (ItemType::tool_io(), Role::Assistant, Content::ToolCall { call_id, name: None, arguments: String::new() })
        }
        _ => {
            let content = Content::ToolResult { call_id, name: None, status: None, text: String::new() };
            (ItemType::tool_io(), Role::Tool, content)
        }
    };
    Piece {
        item: format!("{index:016x}").parse().unwrap(),
        item_type,
        message: Message { role, name: None, blocks: vec![Block { content, known_tokens: None }] },
        turn: None,
        seq: u32::try_from(index).unwrap(),
        order: 0,
        pinned,
        aggregates: true,
        tokens: 10,
        subject: Some("a line".to_owned()),
        partner: None,
        shortened: false,
    }
}

proptest! {
    /// Every cut keeps pinned items complete, keeps or omits pairs together, and stays within the budget.
    #[test]
    fn no_cut_omits_pinned_items_or_splits_a_pair(
        kinds in prop::collection::vec((0..5_u8, prop::bool::weighted(0.2)), 1..14),
        since in prop::option::of(0..14_u32),
        recent in prop::option::of(0..6_usize),
        budget in prop::option::of(0..160_u64),
    ) {
        let pieces: Vec<Piece> =
            kinds.iter().enumerate().map(|(index, (kind, pinned))| piece(index, *kind, *pinned)).collect();
        let mut kept = pieces.clone();
        let omitted = match cut(&mut kept, &Cut { since, recent, budget }, Counter::default()) {
            Ok(omitted) => omitted,
            Err(OverBudget { pinned, budget }) => {
                prop_assert!(pinned > budget);
                return Ok(());
            }
        };
        let state = |index: usize| {
            let item = pieces[index].item;
            let found = kept.iter().find(|piece| piece.item == item);
            (found.is_some(), found.is_some_and(|piece| piece.shortened))
        };
        let partners = pair_calls(pieces.iter().map(Piece::content));
        for (index, piece) in pieces.iter().enumerate() {
            prop_assert!(!piece.pinned || state(index) == (true, false));
            if let Some(partner) = partners[index] {
                prop_assert_eq!(state(index), state(partner));
            }
        }
        let used = PER_REPLY + kept.iter().map(|piece| piece.tokens).sum::<u64>();
        prop_assert!(budget.is_none_or(|budget| used <= budget));
        prop_assert_eq!(kept.len() + omitted.len(), pieces.len());
    }
}
