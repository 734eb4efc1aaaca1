//! Moments as people write them: `yesterday`, `2 days ago`, `last friday 14:00`, `noon`, `2026-03-01 14:00`, RFC 3339, RFC 2822, and
//! `@1770000000`.
//!
//! - A date without a time is midnight. A time without a zone is local.
//! - Git reads text that it does not understand as now. Here it is an error.
//! - Files contain RFC 3339 only; see [`Time`].

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time as TimeOfDay, Weekday};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _, Zoned};
use thiserror::Error;

use super::error::Diagnostic;
use super::time::Time;

/// As in git, a smaller number is not a time.
const LEAST_EPOCH_DIGITS: usize = 9;

/// The time that a command sees, and the local time zone.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub now: Time,
    pub zone: TimeZone,
}

/// A moment, which may depend on the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    At(Time),
    /// If negative, before now; else the option decides whether it is the age of the past or the distance of the future.
    Span(Span),
    Local(Option<Day>, Option<TimeOfDay>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Day {
    Date(Date),
    Yesterday,
    Today,
    Tomorrow,
    /// The nearest one, today included.
    Weekday(Weekday),
    /// The nearest one before today.
    Last(Weekday),
}

/// A text that is not a moment, or a moment that no calendar has.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error(
    "invalid time `{}`: expected a time such as `yesterday`, `2 days ago`, `last friday`, `noon`, `2026-03-01`, `2026-03-01 14:00`, \
     `2026-02-10T09:00:00Z`, or `@1770000000`", text.escape_debug()
)]
pub(crate) struct InvalidWhen {
    pub text: String,
}

impl Diagnostic for InvalidWhen {}

const WEEKDAYS: [(Weekday, &str); 7] = [
    (Weekday::Monday, "monday"),
    (Weekday::Tuesday, "tuesday"),
    (Weekday::Wednesday, "wednesday"),
    (Weekday::Thursday, "thursday"),
    (Weekday::Friday, "friday"),
    (Weekday::Saturday, "saturday"),
    (Weekday::Sunday, "sunday"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Toward {
    Past,
    Future,
}

impl When {
    /// The moment in the past that is meant: `30d` is 30 days ago, and `noon` the latest noon.
    pub(crate) fn before(&self, clock: &Clock) -> Result<Time, InvalidWhen> {
        self.resolve(clock, Toward::Past)
    }

    /// The moment in the future that is meant, as for an expiry: `30d` is in 30 days, and `noon` the next noon.
    pub(crate) fn after(&self, clock: &Clock) -> Result<Time, InvalidWhen> {
        self.resolve(clock, Toward::Future)
    }

    fn resolve(&self, clock: &Clock, toward: Toward) -> Result<Time, InvalidWhen> {
        let out_of_range = || InvalidWhen { text: self.to_string() };
        let now = clock.now.in_zone(&clock.zone);
        let today = now.date();
        let date_and_time = match *self {
            Self::At(time) => return Ok(time),
            Self::Span(span) => {
                let span = if toward == Toward::Past && span.is_positive() { span.negate() } else { span };
                return now.checked_add(span).map(Time::of_zoned).map_err(|_| out_of_range());
            }
            Self::Local(Some(day), time) => {
                day.date(today, toward).map(|date| date.to_datetime(time.unwrap_or_default()))
            }
            Self::Local(None, time) => {
                let time = time.unwrap_or_default();
                let days = match toward {
                    Toward::Past if time > now.time() => -1,
                    Toward::Future if time < now.time() => 1,
                    _ => 0,
                };
                today.checked_add(days.days()).map(|date| date.to_datetime(time)).ok()
            }
        };
        let zoned = date_and_time.and_then(|it: DateTime| it.to_zoned(clock.zone.clone()).ok());
        zoned.map(Time::of_zoned).ok_or_else(out_of_range)
    }
}

impl Day {
    fn date(self, today: Date, toward: Toward) -> Option<Date> {
        let nth = if toward == Toward::Past { -1 } else { 1 };
        match self {
            Self::Date(date) => Some(date),
            Self::Yesterday => today.yesterday().ok(),
            Self::Tomorrow => today.tomorrow().ok(),
            Self::Today => Some(today),
            Self::Weekday(weekday) if today.weekday() == weekday => Some(today),
            Self::Weekday(weekday) => today.nth_weekday(nth, weekday).ok(),
            Self::Last(weekday) => today.nth_weekday(-1, weekday).ok(),
        }
    }
}

impl FromStr for When {
    type Err = InvalidWhen;

    fn from_str(text: &str) -> Result<Self, InvalidWhen> {
        let trimmed = text.trim();
        let at = epoch(trimmed)
            .or_else(|| trimmed.parse::<Time>().ok())
            .or_else(|| rfc2822::parse(trimmed).ok().map(Time::of_zoned))
            .or_else(|| printed_by_git(trimmed));
        let found = at.map(Self::At).or_else(|| {
            let words = words(trimmed);
            local(&words).or_else(|| span(&words).map(Self::Span))
        });
        found.ok_or_else(|| InvalidWhen { text: text.to_owned() })
    }
}

/// Reads a time as `git log` prints it, `2026-02-01 14:00:00 +0200` or `Sun Feb 1 14:00:00 2026 +0200`.
fn printed_by_git(text: &str) -> Option<Time> {
    let forms = ["%Y-%m-%d %H:%M:%S %z", "%a %b %d %H:%M:%S %Y %z"];
    forms.iter().find_map(|form| Zoned::strptime(form, text).ok().map(Time::of_zoned))
}

/// Reads `@<seconds>`, also with a zone, and `<seconds> <zone>`, as in git's commits.
fn epoch(text: &str) -> Option<Time> {
    let (seconds, zone) = match text.strip_prefix('@') {
        Some(seconds) => seconds.split_once(' ').unwrap_or((seconds, "+0000")),
        None => text.split_once(' ').filter(|(seconds, _)| seconds.len() >= LEAST_EPOCH_DIGITS)?,
    };
    let has_zone = zone.len() == 5 && zone.starts_with(['+', '-']) && zone[1..].bytes().all(|b| b.is_ascii_digit());
    let is_number = seconds.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    let timestamp = Timestamp::from_second(seconds.parse().ok()?).ok()?;
    (has_zone && is_number).then(|| Time::from_second(timestamp.as_second()))
}

/// The words in lowercase. As in git, a dot between words is a space: `2.days.ago`.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    let mut spaced = String::with_capacity(lower.len());
    let mut before = None;
    let mut rest = lower.chars().peekable();
    while let Some(c) = rest.next() {
        let is_space = c == '.' && (is_letter(before) || is_letter(rest.peek().copied()));
        spaced.push(if is_space { ' ' } else { c });
        before = Some(c);
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Reads a day and a time of day, in any order, or one of them.
fn local(words: &[String]) -> Option<When> {
    let (mut day, mut time) = (None, None);
    let mut words = words.iter().map(String::as_str).filter(|word| *word != "at").peekable();
    words.peek()?;
    while let Some(word) = words.next() {
        let (its_day, its_time) = match (word, words.peek().copied()) {
            ("yesterday", _) => (Some(Day::Yesterday), None),
            ("today", _) => (Some(Day::Today), None),
            ("tomorrow", _) => (Some(Day::Tomorrow), None),
            ("last", Some(name)) => {
                let last = Day::Last(weekday(name)?);
                words.next();
                (Some(last), None)
            }
            _ => match (weekday(word), time_of_day(word)) {
                (Some(weekday), _) => (Some(Day::Weekday(weekday)), None),
                (_, Some(time)) => (None, Some(time)),
                _ => {
                    let (date, time) = word.split_once('t').map_or((word, None), |(date, time)| (date, Some(time)));
                    let time = time
                        .map(|time| time_of_day(time).filter(|_| time.contains(':')))
                        .map_or(Some(None), |it| it.map(Some))?;
                    (Some(Day::Date(date_of(date)?)), time)
                }
            },
        };
        if (its_day.is_some() && day.is_some()) || (its_time.is_some() && time.is_some()) {
            return None;
        }
        (day, time) = (its_day.or(day), its_time.or(time));
    }
    Some(When::Local(day, time))
}

fn weekday(name: &str) -> Option<Weekday> {
    let is_name = |full: &str| name == full || (name.len() >= 3 && full.starts_with(name));
    WEEKDAYS.into_iter().find(|(_, full)| is_name(full)).map(|(weekday, _)| weekday)
}

/// Reads `YYYY-MM-DD`, and as git does `YYYY.MM.DD`, `MM/DD/YYYY`, and `DD.MM.YYYY`.
fn date_of(text: &str) -> Option<Date> {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let [year, month, day] = match shape.as_str() {
        "0000-00-00" | "0000.00.00" => [0..4, 5..7, 8..10],
        "00/00/0000" => [6..10, 0..2, 3..5],
        "00.00.0000" => [6..10, 3..5, 0..2],
        _ => return None,
    };
    Date::new(text[year].parse().ok()?, text[month].parse().ok()?, text[day].parse().ok()?).ok()
}

/// Reads `noon`, `midnight`, `tea`, `14:00`, `14:00:05`, `3pm`, and `3:30pm`.
fn time_of_day(text: &str) -> Option<TimeOfDay> {
    let hour = match text {
        "midnight" => 0,
        "noon" => 12,
        "tea" => 17,
        _ => {
            let half = text
                .strip_suffix("am")
                .map(|hour| (hour, 0))
                .or_else(|| text.strip_suffix("pm").map(|hour| (hour, 12)));
            let Some((clock, offset)) = half else { return clock_time(text) };
            let time = if clock.contains(':') {
                clock_time(clock)?
            } else {
                TimeOfDay::new(clock.parse().ok()?, 0, 0, 0).ok()?
            };
            return (1..=12)
                .contains(&time.hour())
                .then(|| time.with().hour(time.hour() % 12 + offset).build().ok())?;
        }
    };
    TimeOfDay::new(hour, 0, 0, 0).ok()
}

fn clock_time(text: &str) -> Option<TimeOfDay> {
    let (hour, rest) = text.split_once(':')?;
    let is_plain = (1..=2).contains(&hour.len()) && text.bytes().all(|b| b.is_ascii_digit() || b":.".contains(&b));
    is_plain.then(|| format!("{hour:0>2}:{rest}").parse().ok())?
}

/// Reads `2 days ago`, `1 year 2 months ago`, `last week`, `now`, and a distance such as `30d`.
fn span(words: &[String]) -> Option<Span> {
    let text = match words {
        [word] if word == "now" => return Some(Span::new()),
        [word, unit] if word == "last" && unit.bytes().all(|b| b.is_ascii_alphabetic()) => format!("1 {unit} ago"),
        words => words.join(" "),
    };
    // Not what jiff also accepts: `-2d`, `P2D`, and `2d 03:00:00`.
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(':');
    is_plain.then(|| text.parse().ok())?
}

/// Text that [`When`] reads back as the same moment.
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => time.fmt(f),
            Self::Span(span) => write!(f, "{span:#}"),
            Self::Local(Some(day), Some(time)) => write!(f, "{day} {time}"),
            Self::Local(Some(day), None) => day.fmt(f),
            Self::Local(None, time) => time.unwrap_or_default().fmt(f),
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |wanted: Weekday| WEEKDAYS.into_iter().find(|(weekday, _)| *weekday == wanted).map_or("", |(_, name)| name);
        match *self {
            Self::Date(date) => date.fmt(f),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Today => f.write_str("today"),
            Self::Tomorrow => f.write_str("tomorrow"),
            Self::Weekday(weekday) => f.write_str(name(weekday)),
            Self::Last(weekday) => write!(f, "last {}", name(weekday)),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/base/when.rs"]
mod tests;
