//! Times as people write them in checkpoints.

use jiff::civil::DateTime;

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
        if let Ok(time) = text.parse() {
            return Some(Self { time, has_zone: true });
        }
        let civil: DateTime = text.parse().ok()?;
        let time = format!("{civil}Z").parse().ok()?;
        Some(Self { time, has_zone: false })
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/checkpoint/timestamp.rs"]
mod tests;
