//! Times in UTC with nanoseconds.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, Zoned};
use thiserror::Error;

/// A time in UTC with nanoseconds. Its text form is RFC 3339 with `Z`, without trailing zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(Timestamp);

/// A text that is not a time.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid time `{text}`: expected RFC 3339 with a zone, such as 2026-02-10T09:00:00Z")]
pub struct BadTime {
    /// The invalid text.
    pub text: String,
}

impl Time {
    /// Reads the system clock. Only the command line calls this.
    pub fn now() -> Self {
        Self(Timestamp::now())
    }

    /// The time `seconds` after 1970-01-01T00:00:00Z, limited to the supported years.
    pub fn from_second(seconds: i64) -> Self {
        let bounded = seconds.clamp(Timestamp::MIN.as_second() + 1, Timestamp::MAX.as_second());
        Self(Timestamp::from_second(bounded).unwrap_or_default())
    }

    /// Seconds since 1970, as in git's commits.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// Nanoseconds since 1970.
    pub fn as_nanosecond(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// The time of [`Self::as_nanosecond`]; `None` outside of the supported years.
    pub(crate) fn from_nanosecond(nanoseconds: i128) -> Option<Self> {
        Timestamp::from_nanosecond(nanoseconds).ok().map(Self)
    }

    /// Whether a clock may show it: from 1970, where git's commits begin, to the end of 2100.
    pub(crate) fn is_plausible(self) -> bool {
        const END: i64 = 4_133_980_800;
        (0..END).contains(&self.as_second())
    }

    /// The time this many hours of 3,600 seconds earlier; `None` before the year -9999.
    pub fn hours_earlier(self, hours: u64) -> Option<Self> {
        let seconds = i64::try_from(hours).ok()?.checked_mul(3600)?;
        self.0.checked_sub(SignedDuration::from_secs(seconds)).ok().map(Self)
    }

    /// The date and time of day in UTC.
    pub fn civil(self) -> DateTime {
        Offset::UTC.to_datetime(self.0)
    }

    /// The time with this date and time of day in UTC.
    pub fn of_civil(shown: DateTime) -> Option<Self> {
        Offset::UTC.to_timestamp(shown).ok().map(Self)
    }

    pub(crate) fn in_zone(self, zone: &TimeZone) -> Zoned {
        self.0.to_zoned(zone.clone())
    }

    #[expect(clippy::needless_pass_by_value, reason = "a mapping function")]
    pub(crate) fn of_zoned(zoned: Zoned) -> Self {
        Self(zoned.timestamp())
    }

    /// This time, or the nanosecond after `earlier` if that is later. Keeps the times of a trace in order.
    #[must_use]
    pub fn after(self, earlier: Option<Self>) -> Self {
        self.moved_after(earlier, 0)
    }

    /// As [`Self::after`], but up to a millisecond later: two clones that write what follows the same time hardly ever take the same
    /// one.
    #[must_use]
    pub(crate) fn apart_after(self, earlier: Option<Self>) -> Self {
        const MILLISECOND: i128 = 1_000_000;
        // A time from the environment has no fraction of a second.
        let spread = (self.as_nanosecond() + i128::from(self.as_second())).rem_euclid(MILLISECOND);
        self.moved_after(earlier, spread)
    }

    fn moved_after(self, earlier: Option<Self>, spread: i128) -> Self {
        match earlier {
            Some(earlier) if earlier >= self => {
                let at = Timestamp::from_nanosecond(earlier.as_nanosecond() + 1 + spread);
                Self(at.unwrap_or(Timestamp::MAX))
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
#[path = "../../tests/unit/base/time.rs"]
mod tests;
