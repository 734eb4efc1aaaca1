//! Times as people write them in checkpoints.

use crate::trace::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timestamp {
    pub time: Time,
    pub has_zone: bool,
}

impl Timestamp {
    /// Parses RFC 3339 with or without a zone. Without a zone the time is UTC; a date alone is midnight.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let zoned = text.parse().ok();
        let time = zoned.or_else(|| Time::of_civil(text.parse().ok()?))?;
        Some(Self { time, has_zone: zoned.is_some() })
    }
}
