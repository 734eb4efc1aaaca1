//! Tests of `src/trace/change/compress/allowance.rs`, in that module.

use proptest::prelude::*;

use super::*;

#[test]
fn a_limit_leaves_its_margin_free() {
    assert_eq!(Limit::new(1000, 10), Limit { max: 1000, goal: 900 });
    assert_eq!(Limit::new(1000, 0).goal, 1000);
    assert_eq!(Limit::new(u64::MAX, 100).goal, 0);
    assert_eq!(Limit::new(1000, 10).before_adding(50), Limit { max: 950, goal: 850 });
    assert_eq!(Limit::new(1000, 10).before_adding(950), Limit { max: 50, goal: 0 });
    assert_eq!(Limit::new(1000, 10).before_adding(1001), Limit { max: 0, goal: 0 });
}

#[test]
fn a_small_excess_takes_few_items() {
    let forty = [18; 40];
    let fitted = fit(723, &forty, Limit::new(700, 10), None).unwrap();
    assert_eq!(fitted, Fit { taken: 11, summary: Allowance { max: 105, asked: 79 } });
    assert_eq!(fit(723, &forty, Limit::new(700, 0), None).unwrap().taken, 3);
}

#[test]
fn a_large_excess_leaves_room_for_its_summary() {
    let fitted = fit(12_243, &[122; 100], Limit::new(1000, 10), None).unwrap();
    assert_eq!(fitted, Fit { taken: 100, summary: Allowance { max: 857, asked: 685 } });
}

#[test]
fn a_summary_that_is_written_already_counts_as_it_is() {
    let limit = Limit::new(100, 0);
    assert_eq!(fit(150, &[50, 50, 50], limit, Some(40)).unwrap().taken, 2);
    assert_eq!(fit(150, &[50, 50, 50], limit, Some(101)), Err(Unfit::Summary { max: 100 }));
    assert_eq!(fit(150, &[], limit, Some(1)), Err(Unfit::Kept { kept: 150 }));
}

proptest! {
    #[test]
    fn every_limit_above_the_floor_can_be_met(
        costs in prop::collection::vec(1..3000_u64, 0..60),
        pinned in 3..3000_u64,
        max in 0..100_000_u64,
        margin in 0..=90_u8,
        given in prop::option::of(4..2000_u64),
    ) {
        let total = pinned + costs.iter().sum::<u64>();
        let limit = Limit::new(max, margin);
        match fit(total, &costs, limit, given) {
            Ok(Fit { taken, summary }) => {
                let kept = total - costs[..taken].iter().sum::<u64>();
                prop_assert!(kept + summary.max <= limit.max);
                prop_assert!(summary.asked <= summary.max && summary.asked > 3 && summary.max >= given.unwrap_or(MIN_SUMMARY));
                if pinned + given.unwrap_or(MIN_SUMMARY) <= limit.goal {
                    prop_assert!(kept + given.unwrap_or(summary.max) <= limit.goal, "the margin is free");
                }
                // One item less would not reach the goal with a summary in proportion.
                let cost: u64 = costs[..taken - 1].iter().sum();
                prop_assert!(taken == 1 || total - cost + given.unwrap_or_else(|| share(cost)) > limit.goal);
            }
            Err(Unfit::Kept { kept }) => {
                prop_assert_eq!(kept, pinned);
                prop_assert!(costs.is_empty() || kept + MIN_SUMMARY > max);
            }
            Err(Unfit::Summary { max }) => {
                prop_assert!(given.unwrap() > max && pinned + max == limit.max);
            }
        }
    }
}
