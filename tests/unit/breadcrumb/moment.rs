//! Ages and instants.

use crate::base::time::Time;
use crate::memory::breadcrumb::query::Moment;

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
