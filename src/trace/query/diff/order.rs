//! The items that moved: those outside the longest common subsequence of both lists.

use crate::trace::{ItemEntry, ItemId};
use std::collections::{HashMap, HashSet};

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
