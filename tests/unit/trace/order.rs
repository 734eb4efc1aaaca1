//! Which items moved.

use proptest::prelude::*;

use crate::git::Oid;
use crate::trace::ItemEntry;
use crate::trace::ItemType;
use crate::trace::query::diff::order::moved;

fn slots(ids: &[u8], seqs: &[u32]) -> Vec<ItemEntry> {
    let slot = |(id, seq): (&u8, &u32)| ItemEntry {
        seq: *seq,
        id: format!("{id:016x}").parse().unwrap(),
        item_type: ItemType::dialogue(),
        blob: Oid::parse(&"1".repeat(40), crate::git::ObjectFormat::Sha1).unwrap(),
        path: String::new(),
    };
    ids.iter().zip(seqs).map(slot).collect()
}

fn moved_ids(before: &[ItemEntry], after: &[ItemEntry]) -> Vec<String> {
    let mut moved: Vec<String> = moved(before, after).into_iter().map(|id| id.to_string()).collect();
    moved.sort();
    moved.iter().map(|id| id.trim_start_matches('0').to_owned()).collect()
}

#[test]
fn added_and_removed_items_move_nothing() {
    let before = slots(&[1, 2, 3, 4], &[0, 1, 2, 3]);
    assert!(moved_ids(&before, &slots(&[9, 1, 3, 4, 8], &[0, 5, 7, 8, 9])).is_empty());
    assert_eq!(moved_ids(&before, &slots(&[2, 3, 4, 1], &[1, 2, 3, 4])), ["1"]);
    assert_eq!(moved_ids(&slots(&[1, 2], &[1, 2]), &slots(&[2, 1], &[2, 3])), ["1"], "the one with another position");
}

proptest! {
    #[test]
    fn the_unmoved_items_are_the_longest_common_subsequence(order in Just((0_u8..7).collect::<Vec<_>>()).prop_shuffle()) {
        let seqs: Vec<u32> = (0..7).collect();
        let (before, after) = (slots(&(0..7).collect::<Vec<_>>(), &seqs), slots(&order, &seqs));
        let moved = moved(&before, &after);
        let kept: Vec<u8> = order.iter().copied().filter(|id| !moved.contains(&before[usize::from(*id)].id)).collect();
        prop_assert!(kept.is_sorted());
        let longest = (0_u32..128).filter_map(|mask| {
            let chosen: Vec<u8> = order.iter().copied().filter(|id| mask & (1 << id) != 0).collect();
            chosen.is_sorted().then_some(chosen.len())
        });
        prop_assert_eq!(Some(kept.len()), longest.max());
    }
}
