//! The local time zone, from the environment and the system.

use std::fs;
use std::path::{Component, Path};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::env::Env;
use crate::base::worktree_path::check_regular;

const LOCAL_ZONE: &str = "/etc/localtime";
const ZONES: &str = "/usr/share/zoneinfo";

/// The zone that `TZ` names, else the system's.
pub(super) fn local_zone(env: &Env) -> TimeZone {
    // To find a zone by name, jiff lists every folder of the system's zones, which took a fifth of the time of a commit. Reading
    // the file of the zone is enough; jiff handles unusual cases.
    let known = zone_from_file(env).or_else(|| undated_rule(env));
    known.unwrap_or_else(|| if names_device(env) { TimeZone::UTC } else { TimeZone::system() })
}

/// The zone of a rule without the dates of its summer time, such as `CET-1CEST`, which jiff does not read. The C library takes those of
/// the United States.
fn undated_rule(env: &Env) -> Option<TimeZone> {
    let rule = env.text("TZ").filter(|rule| TimeZone::posix(rule).is_err() && !Path::new(ZONES).join(rule).exists())?;
    TimeZone::posix(&format!("{rule},M3.2.0,M11.1.0")).ok()
}

/// Whether `TZ` is the path of something that is no regular file: reading it might never end.
fn names_device(env: &Env) -> bool {
    env.os("TZ")
        .and_then(|zone| zone.to_str())
        .is_some_and(|zone| check_regular(Path::new(zone.trim_start_matches(':'))).is_err())
}

/// The offset from UTC in force at `now`, as `+hhmm`.
pub(super) fn local_offset(env: &Env, now: Timestamp) -> String {
    let minutes = local_zone(env).to_offset(now).seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// The zone that `TZ` names, else the system's, if it has a file in the usual place.
fn zone_from_file(env: &Env) -> Option<TimeZone> {
    if env.text("TZDIR").is_some() {
        return None;
    }
    let file = match env.text("TZ") {
        Some(name) if is_zone_name(name) => Path::new(ZONES).join(name),
        None if !env.is_set("TZ") => Path::new(LOCAL_ZONE).to_path_buf(),
        _ => return None,
    };
    TimeZone::tzif("local", &fs::read(file).ok()?).ok()
}

/// Whether `TZ` is a name such as `Europe/Paris`, and not a rule (`CET-1CEST`), a path, or a `:` form.
fn is_zone_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'_'));
    plain && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
#[path = "../../tests/unit/git/zone.rs"]
mod tests;
