//! Times as people write them.

use crate::memory::checkpoint::Timestamp;

#[test]
fn a_time_without_a_zone_is_utc() {
    for (text, time, has_zone) in [
        ("2025-12-17T14:00:00Z", "2025-12-17T14:00:00Z", true),
        ("2025-12-17T15:00:00+01:00", "2025-12-17T14:00:00Z", true),
        ("2025-12-17T14:00:00", "2025-12-17T14:00:00Z", false),
        ("2025-12-17 14:00", "2025-12-17T14:00:00Z", false),
        ("2025-12-17", "2025-12-17T00:00:00Z", false),
    ] {
        let moment = Timestamp::parse(text).unwrap();
        assert_eq!((moment.time.to_string().as_str(), moment.has_zone), (time, has_zone), "{text}");
    }
    for bad in ["", "yesterday", "2025-13-01", "2025-12-17T25:00:00", "9999-99-99T00:00:00Z"] {
        assert_eq!(Timestamp::parse(bad), None, "{bad}");
    }
}
