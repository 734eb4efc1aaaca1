//! Tiers: how recent a session is, and so how far its entries are compressed.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Tier {
    /// One of the last five sessions, or a future one. Its entries are not compressed.
    Hot,
    /// The sixth to the fifteenth session: compressed to one line per session.
    Warm,
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
