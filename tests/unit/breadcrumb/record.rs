//! Records: their spelling, their meaning, their times, and which of two wins.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample;

use crate::memory::breadcrumb::Record;
use crate::memory::breadcrumb::record::{parse_plain, parse_time};

fn parse(line: &str) -> Record<'_> {
    Record::parse(line.as_bytes()).unwrap()
}

#[test]
fn unknown_members_keep_their_spelling() {
    let line =
        r#"{"pi":3.14000,"key":"a.b","big":123456789012345678901234567890,"value":"v","o":{"z":1,"a":[ 2 ]},"pi":1e2}"#;
    insta::assert_snapshot!(
        parse(line).render(),
        @r#"{"key":"a.b","value":"v","pi":3.14000,"big":123456789012345678901234567890,"o":{"z":1,"a":[ 2 ]},"pi":1e2}"#
    );
}

#[test]
fn spelling_does_not_change_the_meaning() {
    let plain = parse(r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[1,2]}}"#);
    for same in [
        r#"{ "o":{"a":[1, 2] ,"b":"\u0078"},"value":"a\u0026b","key":"\u006b","created_at":"2025-12-21T12:00:00.000+02:00"}"#,
        r#"{"key":"k","value":"a&b","task_id":null,"created_at":"2025-12-21T10:00:00.0000000001Z","o":{"b":"x","a":[1,2]}}"#,
    ] {
        assert!(plain.means_same(&parse(same)), "{same}");
        assert_eq!(plain.canonical(), parse(same).canonical());
    }
    for other in [
        r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:01Z","o":{"b":"x","a":[1,2]}}"#,
        r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[2,1]}}"#,
        r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z","o":{"b":"x","a":[1.0,2]}}"#,
        r#"{"key":"k","value":"a&b","created_at":"2025-12-21T10:00:00Z"}"#,
    ] {
        assert!(!plain.means_same(&parse(other)), "{other}");
        assert_ne!(plain.canonical(), parse(other).canonical());
    }
}

#[test]
fn only_complete_times_with_a_zone_are_valid() {
    for (text, read) in [
        ("2025-12-21T10:00:00Z", Some("2025-12-21T10:00:00Z")),
        ("2025-12-21t10:00:00.5z", Some("2025-12-21T10:00:00.5Z")),
        ("2025-12-21T10:00:00.1234567899999-01:30", Some("2025-12-21T11:30:00.123456789Z")),
        ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
        ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z")),
        ("0000-01-01T00:00:00+01:00", None),
        ("2025-12-21T10:00:00", None),
        ("2025-12-21T10:00Z", None),
        ("2025-12-21 10:00:00Z", None),
        ("2025-12-21T10:00:00.Z", None),
        ("2025-12-21T10:00:00Z[UTC]", None),
        ("2025-12-21T10:00:00+0200", None),
        ("2025-02-30T10:00:00Z", None),
        ("20251221T100000Z", None),
        ("now", None),
        ("", None),
        ("ééééééééééééé", None),
    ] {
        assert_eq!(parse_time(text).map(|time| time.to_string()).as_deref(), read, "{text}");
    }
}

#[test]
fn the_later_instant_wins_and_then_the_greater_text() {
    let later_as_text = parse(r#"{"key":"k","value":"a","updated_at":"2025-12-21T10:00:00+02:00"}"#);
    let later = parse(r#"{"key":"k","value":"a","updated_at":"2025-12-21T09:00:00Z"}"#);
    let unreadable = parse(r#"{"key":"k","value":"z","updated_at":"tomorrow"}"#);
    let none = parse(r#"{"key":"k","value":"a"}"#);
    assert_eq!(later.precedence(&later_as_text), Ordering::Greater);
    assert_eq!(later_as_text.precedence(&unreadable), Ordering::Greater);
    assert_eq!(unreadable.precedence(&none), unreadable.canonical().cmp(&none.canonical()));
    assert_eq!(none.precedence(&none), Ordering::Equal);
}

/// Lines near those that the fast parser knows.
fn near_plain() -> impl Strategy<Value = String> {
    let text = || prop_oneof![6 => "[a-z._ é]{0,5}", 1 => Just("a\\\"b".to_owned()), 1 => Just("\t".to_owned()), 1 => "\\PC{0,3}"];
    let number = prop_oneof![
        Just("0"),
        Just("7"),
        Just("-3"),
        Just("007"),
        Just("1.5"),
        Just("99999999999999999999"),
        Just("null")
    ];
    let member = prop_oneof![
        number.prop_map(|number| format!(",\"task_id\":{number}")),
        (sample::select(vec!["created_at", "updated_at", "expires_at", "Key", "n"]), text())
            .prop_map(|(name, text)| format!(",\"{name}\":\"{text}\"")),
        Just(",\"created_at\":null".to_owned()),
        Just(" ".to_owned()),
    ];
    let end = sample::select(vec!["}", "}\n", "}\r", "}\r\n", "} ", "", "}x", ",}"]);
    (text(), text(), vec(member, 0..4), end).prop_map(|(key, value, members, end)| {
        format!("{{\"key\":\"{key}\",\"value\":\"{value}\"{}{end}", members.concat())
    })
}

proptest! {
    /// The fast parser answers only what the parser of JSON does.
    #[test]
    fn plain_lines_are_parsed_as_json(line in near_plain()) {
        if let Some(plain) = parse_plain(&line) {
            prop_assert_eq!(format!("{plain:?}"), format!("{:?}", serde_json::from_str::<Record<'_>>(&line).unwrap()));
        }
    }

    /// The zone keeps the second parser from being used.
    #[test]
    fn times_in_utc_are_those_with_a_zone(
        date in "(000[01]|1969|2000|2025|9999)-[01][0-9]-[0-3][0-9]", time in "[0-2][0-9]:[0-6][0-9]:[0-6][0-9]", fraction in "(\\.[0-9]{0,11})?",
    ) {
        prop_assert_eq!(parse_time(&format!("{date}T{time}{fraction}Z")), parse_time(&format!("{date}T{time}{fraction}+00:00")));
    }

    #[test]
    fn what_we_write_is_plain(
        key in "[a-z._]{1,8}", value in "[a-z é:/?=]{0,8}", task_id in proptest::option::of(0..i64::MAX), expires in any::<bool>(),
    ) {
        let time = || Some("2025-12-21T10:00:00.948003136Z".into());
        let expires_at = if expires { time() } else { None };
        let record = Record { task_id, created_at: time(), updated_at: time(), expires_at, ..Record::new(key, value) };
        let line = record.render();
        prop_assert_eq!(format!("{:?}", parse_plain(&line)), format!("{:?}", Some(record)));
    }
}
