//! Tiers.

use crate::memory::crumb::Tier;

#[test]
fn ranks_meet_at_their_boundaries() {
    for now in [1_u64, 5, 6, 15, 16, 30, 222, u64::MAX] {
        for of in (now.saturating_sub(40)..=now.saturating_add(3)).chain([0, 1]) {
            let expected = match i128::from(now) - i128::from(of) + 1 {
                ..=5 => Tier::Hot,
                6..=15 => Tier::Warm,
                _ => Tier::Cold,
            };
            assert_eq!(Tier::of(of, now), expected, "session {of} at {now}");
        }
    }
    let tiers: Vec<_> = (1..=30).map(|of| Tier::of(of, 30)).collect();
    assert!(tiers[25..].iter().all(|tier| *tier == Tier::Hot));
    assert!(tiers[15..25].iter().all(|tier| *tier == Tier::Warm));
    assert!(tiers[..15].iter().all(|tier| *tier == Tier::Cold));
}
