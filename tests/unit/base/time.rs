//! Tests of the private parts of `src/base/time.rs`.

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
fn a_clock_that_was_set_back_does_not_reverse_the_order() {
    let earlier: Time = "2026-02-10T09:00:00Z".parse().unwrap();
    let set_back: Time = "2026-02-09T09:00:00Z".parse().unwrap();
    assert_eq!(set_back.after(Some(earlier)).to_string(), "2026-02-10T09:00:00.000000001Z");
    assert_eq!(earlier.after(Some(set_back)), earlier);
}

#[test]
fn times_after_one_from_the_future_differ_by_clock() {
    let earlier: Time = "2026-03-01T10:00:00Z".parse().unwrap();
    let after = |clock: &str| clock.parse::<Time>().unwrap().apart_after(Some(earlier));
    let (one, other) = (after("2026-03-01T09:50:00.000123456Z"), after("2026-03-01T09:50:01Z"));
    assert!(one > earlier && other > earlier && one != other);
    assert!(one.as_nanosecond() - earlier.as_nanosecond() <= 1_000_000);
    let later: Time = "2026-03-01T10:00:01Z".parse().unwrap();
    assert_eq!(later.apart_after(Some(earlier)), later);
}
