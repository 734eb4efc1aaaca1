//! Points in time as users write them.

use std::str::FromStr;

use thiserror::Error;

use crate::base::time::Time;
use crate::memory::breadcrumb::record::parse_time;

/// An age relative to now (`30d`), or an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    Seconds(i64),
    At(Time),
}

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error(
    "invalid time `{text}`: expected an age such as 30d, 12h, 45m, 90s, or 2w, or a time such as 2026-02-10T09:00:00Z"
)]
pub(crate) struct InvalidMoment {
    pub text: String,
}

impl Moment {
    /// The instant, with an age counted back from `now`.
    pub(crate) fn before(self, now: Time) -> Time {
        match self {
            Self::At(time) => time,
            Self::Seconds(seconds) => now.plus_seconds(-seconds),
        }
    }

    /// The instant, with an age counted forward from `now`, as for an expiry.
    pub(crate) fn after(self, now: Time) -> Time {
        match self {
            Self::At(time) => time,
            Self::Seconds(seconds) => now.plus_seconds(seconds),
        }
    }
}

const UNITS: [(&str, i64); 5] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 7 * 86_400)];

fn parse_age(text: &str) -> Option<i64> {
    let number_len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(number_len);
    let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    number.parse::<i64>().ok()?.checked_mul(seconds)
}

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, InvalidMoment> {
        let moment = parse_time(text).map(Self::At).or_else(|| parse_age(text).map(Self::Seconds));
        moment.ok_or_else(|| InvalidMoment { text: text.to_owned() })
    }
}
