use proptest::prelude::*;

use super::{CacheChange, CachePrices};

proptest! {
    /// The sum of the costs decides.
    #[test]
    fn a_change_pays_after_the_first_number_of_requests_that_cost_less(
        before in 0..50_000_u64,
        after in 0..50_000_u64,
        equal in 0..=100_u64,
        write in 0.0..3.0,
    ) {
        let equal = before.min(after) * equal / 100;
        let (change, prices) = (CacheChange { before, after, equal }, CachePrices { read: 0.1, write });
        let sum = |count: u64| change.first(prices) + (count - 1) * change.later(prices);
        let is_less = |count: u64| sum(count) < count * change.unchanged(prices);
        match change.pays_after(prices) {
            Some(count) => prop_assert!(is_less(count) && (count == 1 || !is_less(count - 1))),
            None => prop_assert!(!is_less(1_000_000)),
        }
    }
}

#[test]
fn prices_are_two_numbers() {
    let parsed = |text| CachePrices::parse(text).map(|prices| (prices.read, prices.write));
    assert_eq!(parsed("0.25, 1"), Some((0.25, 1.0)));
    for bad in ["", "0.1", "0.1,", "0.1,1,2", "-1,1", "NaN,1", "1,inf", "1e9,1"] {
        assert_eq!(parsed(bad), None, "{bad}");
    }
}
