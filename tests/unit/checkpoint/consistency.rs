//! Cycles of parents.

use std::collections::BTreeMap;

use crate::memory::checkpoint::validate::cycles;

#[test]
fn only_their_own_ancestors_are_in_a_cycle() {
    let parents = BTreeMap::from([("a", "b"), ("b", "c"), ("c", "b"), ("d", "d"), ("e", "f"), ("g", "a")]);
    let mut found: Vec<_> = cycles(&parents).into_iter().collect();
    found.sort_unstable();
    assert_eq!(found, ["b", "c", "d"]);
}
