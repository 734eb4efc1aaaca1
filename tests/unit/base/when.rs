//! Tests of the private parts of `src/base/when.rs`.

use jiff::civil;
use proptest::prelude::*;

use super::*;

fn clock(zone: TimeZone) -> Clock {
    // A Tuesday.
    Clock { now: "2026-02-10T09:00:00.5Z".parse().unwrap(), zone }
}

fn before(text: &str) -> String {
    text.parse::<When>().unwrap().before(&clock(TimeZone::UTC)).unwrap().to_string()
}

#[test]
fn the_forms_that_git_documents_are_times_of_the_past() {
    for (text, expected) in [
        ("now", "2026-02-10T09:00:00.5Z"),
        ("today", "2026-02-10T00:00:00Z"),
        ("yesterday", "2026-02-09T00:00:00Z"),
        ("yesterday noon", "2026-02-09T12:00:00Z"),
        ("noon yesterday", "2026-02-09T12:00:00Z"),
        ("2 days ago", "2026-02-08T09:00:00.5Z"),
        ("2.days.ago", "2026-02-08T09:00:00.5Z"),
        ("1 year 2 months ago", "2024-12-10T09:00:00.5Z"),
        ("last month", "2026-01-10T09:00:00.5Z"),
        ("last friday", "2026-02-06T00:00:00Z"),
        ("last Tuesday at 3pm", "2026-02-03T15:00:00Z"),
        ("tue", "2026-02-10T00:00:00Z"),
        ("midnight", "2026-02-10T00:00:00Z"),
        ("noon", "2026-02-09T12:00:00Z"),
        ("tea", "2026-02-09T17:00:00Z"),
        ("8:15", "2026-02-10T08:15:00Z"),
        ("12:30am", "2026-02-10T00:30:00Z"),
        ("2026-02-01", "2026-02-01T00:00:00Z"),
        ("2026-02-01 14:00", "2026-02-01T14:00:00Z"),
        ("2026-02-01T14:00:05", "2026-02-01T14:00:05Z"),
        ("2026-02-01T14:00:00+02:00", "2026-02-01T12:00:00Z"),
        ("Sun, 01 Feb 2026 14:00:00 +0200", "2026-02-01T12:00:00Z"),
        ("@1770000000", "2026-02-02T02:40:00Z"),
        ("@1770000000 +0100", "2026-02-02T02:40:00Z"),
        ("1770000000 +0100", "2026-02-02T02:40:00Z"),
        ("2026-02-01 14:00:00 +0200", "2026-02-01T12:00:00Z"),
        ("Sun Feb 1 14:00:00 2026 +0200", "2026-02-01T12:00:00Z"),
        ("2026.02.01", "2026-02-01T00:00:00Z"),
        ("02/01/2026", "2026-02-01T00:00:00Z"),
        ("01.02.2026 14:00", "2026-02-01T14:00:00Z"),
        ("30d", "2026-01-11T09:00:00.5Z"),
        ("2w", "2026-01-27T09:00:00.5Z"),
        ("90s", "2026-02-10T08:58:30.5Z"),
    ] {
        assert_eq!(before(text), expected, "{text}");
    }
}

#[test]
fn an_expiry_is_in_the_future() {
    for (text, expected) in [
        ("30d", "2026-03-12T09:00:00.5Z"),
        ("2 weeks", "2026-02-24T09:00:00.5Z"),
        ("tomorrow", "2026-02-11T00:00:00Z"),
        ("friday", "2026-02-13T00:00:00Z"),
        ("8:15", "2026-02-11T08:15:00Z"),
        ("noon", "2026-02-10T12:00:00Z"),
        ("1 hour ago", "2026-02-10T08:00:00.5Z"),
    ] {
        let when: When = text.parse().unwrap();
        assert_eq!(when.after(&clock(TimeZone::UTC)).unwrap().to_string(), expected, "{text}");
    }
}

#[test]
fn a_time_without_a_zone_is_local() {
    let paris = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    for (text, expected) in [
        ("yesterday", "2026-02-08T23:00:00Z"),
        ("2026-07-01 14:00", "2026-07-01T12:00:00Z"),
        // The clock was put forward from 2:00 to 3:00.
        ("2026-03-29 02:30", "2026-03-29T01:30:00Z"),
        ("2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z"),
    ] {
        let when: When = text.parse().unwrap();
        assert_eq!(when.before(&clock(paris.clone())).unwrap().to_string(), expected, "{text}");
    }
}

#[test]
fn text_that_is_not_understood_is_an_error_and_not_now() {
    for bad in [
        "",
        " ",
        "at",
        "d",
        "30",
        "-1d",
        "P2D",
        "last",
        "last fryday",
        "fr",
        "13pm",
        "0am",
        "25:00",
        "1:2:3:4",
        "2026-02-30",
        "2026-2-1",
        "2026/02/01",
        "31/01/2026",
        "1770000000 0100",
        "12345 +0100",
        "Mon Feb 1 14:00:00 2026 +0200",
        "2026-02-01T",
        "2026-02-01T14",
        "2026-02-01 2026-02-02",
        "noon noon",
        "2 days 03:00:00",
        "2 days ago noon",
        "@",
        "@1.5",
        "@x",
        "@99999999999999999999",
        "99999999999999999999w",
        "1й",
        "yesterdy",
        "never",
        "1770000000",
        "\u{1b}[2J",
    ] {
        let error = bad.parse::<When>().map(|when| when.to_string()).expect_err(bad);
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
}

fn any_day() -> impl Strategy<Value = Day> {
    let weekday = || prop::sample::select(WEEKDAYS.map(|(weekday, _)| weekday).to_vec());
    prop_oneof![
        (1970..2100_i16, 1..=12_i8, 1..=28_i8).prop_map(|(y, m, d)| Day::Date(civil::date(y, m, d))),
        prop::sample::select(vec![Day::Yesterday, Day::Today, Day::Tomorrow]),
        weekday().prop_map(Day::Weekday),
        weekday().prop_map(Day::Last),
    ]
}

fn any_when() -> impl Strategy<Value = When> {
    let time = || {
        (0..24_i8, 0..60_i8, 0..60_i8, prop::sample::select(vec![0, 5_000_000]))
            .prop_map(|(h, m, s, ns)| civil::time(h, m, s, ns))
    };
    let span = (0..90_i32, 0..90_i32, 0..90_i32, any::<bool>()).prop_map(|(months, days, hours, ago)| {
        let span = Span::new().months(months).days(days).hours(hours);
        When::Span(if ago { span.negate() } else { span })
    });
    prop_oneof![
        (0..4_102_444_800_i64).prop_map(|seconds| When::At(Time::from_second(seconds))),
        span,
        (prop::option::of(any_day()), time()).prop_map(|(day, time)| When::Local(day, Some(time))),
        any_day().prop_map(|day| When::Local(Some(day), None)),
    ]
}

proptest! {
    #[test]
    fn what_is_rendered_is_read_back(when in any_when()) {
        let text = when.to_string();
        let again: When = text.parse().map_err(|error| TestCaseError::fail(format!("{when:?}: {error}")))?;
        prop_assert_eq!(&again.to_string(), &text);
        let clock = clock(TimeZone::UTC);
        prop_assert_eq!(again.before(&clock), when.before(&clock));
        prop_assert_eq!(again.after(&clock), when.after(&clock));
    }

    #[test]
    fn any_text_is_a_time_or_an_error(text in "\\PC{0,20}|[0-9dhmst:. @-]{0,24}|(last|noon|at|2026-02-01|[0-9]{1,3}|days|ago| ){0,8}") {
        if let Ok(when) = text.parse::<When>() {
            let _ = (when.before(&clock(TimeZone::UTC)), when.after(&clock(TimeZone::UTC)));
        }
    }
}
