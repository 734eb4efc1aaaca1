//! Tests of the private parts of `src/git/zone.rs`.

use super::*;

fn offset(zone: &str, now: &str) -> String {
    let env = Env::capture([("TZ".into(), zone.into())]);
    local_offset(&env, now.parse().unwrap())
}

#[test]
fn a_zone_is_read_from_its_file() {
    assert_eq!(offset("UTC", "2026-02-10T09:00:00Z"), "+0000");
    if Path::new(ZONES).join("Europe/Paris").exists() {
        assert_eq!(offset("Europe/Paris", "2026-02-10T09:00:00Z"), "+0100");
        assert_eq!(offset("Europe/Paris", "2026-07-10T09:00:00Z"), "+0200");
        assert_eq!(offset("America/St_Johns", "2026-02-10T09:00:00Z"), "-0330");
    }
}

#[test]
fn only_a_plain_name_is_looked_for() {
    for name in ["UTC", "Europe/Paris", "America/Argentina/La_Rioja"] {
        assert!(is_zone_name(name), "{name}");
    }
    for other in ["CET-1CEST", "UTC0", ":Europe/Paris", "/etc/passwd", "Europe/../../../etc/passwd"] {
        assert!(!is_zone_name(other), "{other}");
    }
}
