//! The items that moved: those outside the longest common subsequence of both lists.

use std::collections::{HashMap, HashSet};

use crate::trace::model::id::ItemId;
use crate::trace::model::tree::ItemEntry;

/// The items of both lists whose order among the common items changed.
///
/// Of several longest subsequences, chooses the one with most unchanged positions. Takes O(n log n) time.
pub(crate) fn moved(before: &[ItemEntry], after: &[ItemEntry]) -> HashSet<ItemId> {
    let places: HashMap<ItemId, (usize, u32)> =
        before.iter().enumerate().map(|(index, slot)| (slot.id, (index, slot.seq))).collect();
    let common: Vec<(ItemId, usize, bool)> = after
        .iter()
        .filter_map(|slot| places.get(&slot.id).map(|(index, seq)| (slot.id, *index, *seq == slot.seq)))
        .collect();
    let mut best = Best::new(before.len());
    let mut came_from: Vec<Option<usize>> = Vec::with_capacity(common.len());
    for (number, (_, index, stays)) in common.iter().enumerate() {
        let run = best.up_to(*index);
        came_from.push(run.last);
        best.put(*index, Run { len: run.len + 1, stay: run.stay + usize::from(*stays), last: Some(number) });
    }
    let mut moved: HashSet<ItemId> = common.iter().map(|(id, _, _)| *id).collect();
    let mut last = best.up_to(before.len()).last;
    while let Some(number) = last {
        moved.remove(&common[number].0);
        last = came_from[number];
    }
    moved
}

/// A common subsequence, identified by its last item.
#[derive(Clone, Copy, Default)]
struct Run {
    len: usize,
    stay: usize,
    last: Option<usize>,
}

/// A Fenwick tree over the positions: the best subsequence that ends before each.
struct Best(Vec<Run>);

impl Best {
    fn new(places: usize) -> Self {
        Self(vec![Run::default(); places + 1])
    }

    /// The best subsequence that ends before `place`.
    fn up_to(&self, place: usize) -> Run {
        let mut best = Run::default();
        let mut node = place;
        while node > 0 {
            best = better(best, self.0[node]);
            node &= node - 1;
        }
        best
    }

    fn put(&mut self, place: usize, run: Run) {
        let mut node = place + 1;
        while node < self.0.len() {
            self.0[node] = better(self.0[node], run);
            node += node & node.wrapping_neg();
        }
    }
}

fn better(one: Run, other: Run) -> Run {
    if (other.len, other.stay) > (one.len, one.stay) { other } else { one }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::git::Oid;
    use crate::trace::ItemType;

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
        assert_eq!(
            moved_ids(&slots(&[1, 2], &[1, 2]), &slots(&[2, 1], &[2, 3])),
            ["1"],
            "the one with another position"
        );
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
}
