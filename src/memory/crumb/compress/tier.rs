//! Tiers: how recent a session is, and so how far its entries are compressed.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Tier {
    /// One of the last five sessions, or a future one. Its entries are not compressed.
    Hot,
    /// The sixth to the fifteenth session: compressed to one line per session.
    Warm,
    /// All earlier sessions: compressed to one line.
    Cold,
}

impl Tier {
    /// The tier of session `of` in a file at session `now`, by the rank `now` − `of` + 1.
    pub(crate) fn of(of: u64, now: u64) -> Self {
        match now.saturating_sub(of) {
            0..=4 => Self::Hot,
            5..=14 => Self::Warm,
            _ => Self::Cold,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
