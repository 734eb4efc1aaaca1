//! Queries: which breadcrumbs to list, and in what order.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::record::{Record, instant};
use crate::base::time::Time;

/// Which breadcrumbs to list. The default is all that are in reading, by key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// What their keys start with.
    pub prefix: String,
    /// The task that found them out.
    pub task_id: Option<i64>,
    /// Last set before this instant; a time that cannot be read is before any.
    pub updated_before: Option<Time>,
    /// Last set after this instant.
    pub updated_after: Option<Time>,
    /// Whether those that expired are listed.
    pub expired: Expired,
    /// What they are sorted by.
    pub sort: Sort,
    /// In which direction.
    pub order: Order,
    /// How many at most.
    pub limit: Option<usize>,
}

/// What breadcrumbs are sorted by; where that is the same, by key, upwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sort {
    /// The bytes of their keys.
    #[default]
    Key,
    /// When they were first set.
    Created,
    /// When they were last set.
    Updated,
}

/// In which direction breadcrumbs are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// Least or oldest first.
    #[default]
    Ascending,
    /// Greatest or newest first.
    Descending,
}

/// What becomes of breadcrumbs that expired and were not pruned yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Expired {
    /// They are left out, as in all reading.
    #[default]
    Hidden,
    /// They are listed with the others.
    Shown,
}

impl Query {
    /// Whether a record is asked for at the time `now`.
    #[must_use]
    pub fn matches(&self, record: &Record<'_>, now: Time) -> bool {
        record.key.starts_with(&self.prefix)
            && self.task_id.is_none_or(|id| record.task_id == Some(id))
            && self.updated_before.is_none_or(|before| record.updated().is_none_or(|updated| updated < before))
            && self.updated_after.is_none_or(|after| record.updated().is_some_and(|updated| updated > after))
            && (self.expired == Expired::Shown || !record.is_expired(now))
    }

    /// Puts records, sorted by key, in the order asked for and cuts them to the limit.
    pub(crate) fn arrange(&self, records: &mut Vec<Record<'static>>) {
        match (self.sort, self.order) {
            (Sort::Key, Order::Ascending) => {}
            (Sort::Key, Order::Descending) => records.reverse(),
            (sort, order) => {
                let time =
                    |record: &Record<'_>| if sort == Sort::Created { record.created() } else { record.updated() };
                match order {
                    Order::Ascending => records.sort_by_cached_key(time),
                    Order::Descending => records.sort_by_cached_key(|record| std::cmp::Reverse(time(record))),
                }
            }
        }
        records.truncate(self.limit.unwrap_or(usize::MAX));
    }
}

/// Why a text names no moment.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is neither an age, such as 30d, 12h, 45m, 90s or 2w, nor a time, such as 2026-02-10T09:00:00Z")]
pub(crate) struct BadMoment {
    /// The text as it was given.
    pub text: String,
}

/// A moment as people write it: an age before now (`30d`), or an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// So many seconds ago.
    Ago(i64),
    /// An instant.
    At(Time),
}

impl Moment {
    /// The instant, seen from `now`.
    #[must_use]
    pub(crate) fn before(self, now: Time) -> Time {
        self.shifted(now, i64::checked_neg)
    }

    /// The instant, seen from `now`, with an age counted forward: what `30d` means to an expiry.
    #[must_use]
    pub(crate) fn after(self, now: Time) -> Time {
        self.shifted(now, Some)
    }

    fn shifted(self, now: Time, direction: impl Fn(i64) -> Option<i64>) -> Time {
        match self {
            Self::At(time) => time,
            Self::Ago(seconds) => {
                let by = SignedDuration::from_secs(direction(seconds).unwrap_or(0));
                let from = Timestamp::from_nanosecond(now.as_nanosecond()).unwrap_or_default();
                let end = from.saturating_add(by).unwrap_or(from);
                end.to_string().parse().unwrap_or(now)
            }
        }
    }
}

impl FromStr for Moment {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Self, BadMoment> {
        let bad = || BadMoment { text: text.to_owned() };
        if let Some(time) = instant(text) {
            return Ok(Self::At(time));
        }
        let unit = match text.as_bytes().last() {
            Some(b's') => 1,
            Some(b'm') => 60,
            Some(b'h') => 3600,
            Some(b'd') => 86_400,
            Some(b'w') => 7 * 86_400,
            _ => return Err(bad()),
        };
        let number = &text[..text.len() - 1];
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        number.parse().ok().and_then(|number: i64| number.checked_mul(unit)).map(Self::Ago).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_instants_are_moments() {
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
