//! Points in time as users write them.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
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
        self.shifted(now, -1)
    }

    /// The instant, with an age counted forward from `now`, as for an expiry.
    pub(crate) fn after(self, now: Time) -> Time {
        self.shifted(now, 1)
    }

    fn shifted(self, now: Time, sign: i64) -> Time {
        match self {
            Self::At(time) => time,
            Self::Seconds(seconds) => {
                let from = Timestamp::from_nanosecond(now.as_nanosecond()).unwrap_or_default();
                let end = from.saturating_add(SignedDuration::from_secs(sign * seconds)).unwrap_or(from);
                end.to_string().parse().unwrap_or(now)
            }
        }
    }
}

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, InvalidMoment> {
        if let Some(time) = parse_time(text) {
            return Ok(Self::At(time));
        }
        let seconds = || {
            let unit = match text.as_bytes().last()? {
                b's' => 1,
                b'm' => 60,
                b'h' => 3600,
                b'd' => 86_400,
                b'w' => 7 * 86_400,
                _ => return None,
            };
            let number = &text[..text.len() - 1];
            let is_number = number.bytes().all(|b| b.is_ascii_digit());
            number.parse().ok().filter(|_| is_number).and_then(|number: i64| number.checked_mul(unit))
        };
        seconds().map(Self::Seconds).ok_or_else(|| InvalidMoment { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_or_an_instant_is_a_moment() {
        let now: Time = "2026-02-10T09:00:00.5Z".parse().unwrap();
        for (text, before, after) in [
            ("30d", "2026-01-11T09:00:00.5Z", "2026-03-12T09:00:00.5Z"),
            ("2w", "2026-01-27T09:00:00.5Z", "2026-02-24T09:00:00.5Z"),
            ("90s", "2026-02-10T08:58:30.5Z", "2026-02-10T09:01:30.5Z"),
            ("2025-11-21T01:00:00+01:00", "2025-11-21T00:00:00Z", "2025-11-21T00:00:00Z"),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.before(now).to_string(), before);
            assert_eq!(moment.after(now).to_string(), after);
        }
        for bad in ["", "d", "30", "-1d", "1.5h", "30 d", "99999999999999999999w", "yesterday", "1й"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
    }
}
