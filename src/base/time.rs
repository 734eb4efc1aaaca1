//! Instants, to the nanosecond, in UTC.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// An instant in UTC with nanoseconds; its text is RFC 3339 with trailing zeros trimmed and `Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(Timestamp);

/// Why a text is not a time.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not a time: RFC 3339 with a zone is, such as 2026-02-10T09:00:00Z")]
pub struct BadTime {
    /// The text as it was given.
    pub text: String,
}

impl Time {
    /// The system's clock, read once. Only porcelain calls this.
    #[must_use]
    pub fn now() -> Self {
        Self(Timestamp::now())
    }

    /// The instant `seconds` after 1970-01-01T00:00:00Z, held within the years a time can name.
    #[must_use]
    pub fn from_second(seconds: i64) -> Self {
        let bounded = seconds.clamp(Timestamp::MIN.as_second() + 1, Timestamp::MAX.as_second());
        Self(Timestamp::from_second(bounded).unwrap_or_default())
    }

    /// Whole seconds since 1970, as git's commits hold.
    #[must_use]
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// Nanoseconds since 1970.
    #[must_use]
    pub fn as_nanosecond(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// The instant so many hours of 3,600 seconds earlier, whatever clocks on walls did meanwhile; none before year -9999.
    #[must_use]
    pub fn hours_earlier(self, hours: u64) -> Option<Self> {
        let seconds = i64::try_from(hours).ok()?.checked_mul(3600)?;
        self.0.checked_sub(SignedDuration::from_secs(seconds)).ok().map(Self)
    }

    /// What a clock on a wall in UTC shows.
    #[must_use]
    pub fn civil(self) -> DateTime {
        Offset::UTC.to_datetime(self.0)
    }

    /// The instant at which a clock on a wall in UTC shows this.
    #[must_use]
    pub fn of_civil(shown: DateTime) -> Option<Self> {
        Offset::UTC.to_timestamp(shown).ok().map(Self)
    }

    /// This instant, or the nanosecond after `earlier` where that is later: what keeps a line of times in order.
    #[must_use]
    pub fn after(self, earlier: Option<Self>) -> Self {
        match earlier {
            Some(earlier) if earlier >= self => {
                Self(Timestamp::from_nanosecond(earlier.as_nanosecond() + 1).unwrap_or(Timestamp::MAX))
            }
            _ => self,
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Time {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        text.parse().map(Self).map_err(|_| BadTime { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_keeps_nanoseconds_and_trims_zeros() {
        for (text, rendered) in [
            ("2026-02-10T09:00:00.125000001Z", "2026-02-10T09:00:00.125000001Z"),
            ("2026-02-10T09:00:00.1250Z", "2026-02-10T09:00:00.125Z"),
            ("2026-02-10T11:00:00+02:00", "2026-02-10T09:00:00Z"),
        ] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), rendered);
        }
        for bad in ["", "yesterday", "2026-02-30T00:00:00Z", "2026-02-10T09:00:00"] {
            assert!(bad.parse::<Time>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_clock_set_back_does_not_turn_the_line_around() {
        let earlier: Time = "2026-02-10T09:00:00Z".parse().unwrap();
        let set_back: Time = "2026-02-09T09:00:00Z".parse().unwrap();
        assert_eq!(set_back.after(Some(earlier)).to_string(), "2026-02-10T09:00:00.000000001Z");
        assert_eq!(earlier.after(Some(set_back)), earlier);
    }
}
