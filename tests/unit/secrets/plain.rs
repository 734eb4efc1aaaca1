//! Tests of the private parts of `src/secrets/plain.rs`.

use proptest::prelude::*;

use super::*;

#[test]
fn color_codes_and_escapes_are_decoded() {
    for (source, expected) in [
        ("a\x1b[1;31mb\x1b[Kc", "abc"),
        (r"a\u001b[32mb\x1b[0mc\033[md\e[1me", "abcde"),
        (r"\u003d\/\\/\\\n", "=//\n"),
        (r#"{\\\"a\\\":\"b\"}"#, r#"{"a":"b"}"#),
        ("a%3Db%00%2", "a=b%00%2"),
        (r"C:\dir\b", r"C:\dir\b"),
        ("\\", "\\"),
        ("\x1b", "\x1b"),
    ] {
        let plain = plain(source.as_bytes()).map_or(source.into(), |plain| String::from_utf8(plain.text).unwrap());
        assert_eq!(plain, expected, "{source}");
    }
}

#[test]
fn a_place_has_no_part_of_an_escape_and_no_color_code_at_its_ends() {
    let source = b"x\x1b[31mab\\/c\x1b[0m\\\"y";
    let plain = plain(source).unwrap();
    assert_eq!(plain.text, b"xab/c\"y");
    assert_eq!(&source[plain.in_source(&(1..5))], b"ab\\/c");
    assert_eq!(&source[plain.in_source(&(0..1))], b"x");
    assert_eq!(&source[plain.in_source(&(5..7))], b"\\\"y");
}

proptest! {
    #[test]
    fn places_are_in_order(source in "([a-c%3D\\\\nu0]|\\x1b\\[[0-9]m|\\\\u00[0-9a-f]{2}){0,40}") {
        let Some(plain) = plain(source.as_bytes()) else { return Ok(()) };
        let mut end = 0;
        for at in 0..plain.text.len() {
            let place = plain.in_source(&(at..at + 1));
            prop_assert!(end <= place.start && place.start < place.end && place.end <= source.len());
            prop_assert!(place.len() > 1 || source.as_bytes()[place.start] == plain.text[at]);
            end = place.end;
        }
    }
}
