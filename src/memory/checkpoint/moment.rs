//! Times as people write them into checkpoints.

use jiff::civil::DateTime;

use crate::trace::Time;

/// A time, and whether it was written with its zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    /// The instant; without a zone it is read as UTC.
    pub time: Time,
    /// Whether a zone was given.
    pub has_zone: bool,
}

impl Moment {
    /// Reads RFC 3339, or the same without a zone; a date alone is its midnight.
    #[must_use]
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
mod tests {
    use super::*;

    #[test]
    fn a_time_without_a_zone_is_utc() {
        for (text, time, has_zone) in [
            ("2025-12-17T14:00:00Z", "2025-12-17T14:00:00Z", true),
            ("2025-12-17T15:00:00+01:00", "2025-12-17T14:00:00Z", true),
            ("2025-12-17T14:00:00", "2025-12-17T14:00:00Z", false),
            ("2025-12-17 14:00", "2025-12-17T14:00:00Z", false),
            ("2025-12-17", "2025-12-17T00:00:00Z", false),
        ] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!((moment.time.to_string().as_str(), moment.has_zone), (time, has_zone), "{text}");
        }
        for bad in ["", "yesterday", "2025-13-01", "2025-12-17T25:00:00", "9999-99-99T00:00:00Z"] {
            assert_eq!(Moment::parse(bad), None, "{bad}");
        }
    }
}
