//! Tests of `src/materialize/cut.rs`, in that module.

use proptest::prelude::*;

use super::*;

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
