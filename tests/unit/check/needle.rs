//! The forms in which a text is found.

use ::base64::Engine as _;
use ::base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

const MARKER: &str = "[purged: leaked]";

fn replaced(text: &str, bytes: &[u8]) -> String {
    let needle = Needle::new(Some(text.as_bytes()), None);
    String::from_utf8(needle.replace(bytes, MARKER).unwrap_or_else(|| bytes.to_vec())).unwrap()
}

#[test]
fn a_text_is_found_in_each_form() {
    let text = "pass \"wörd\"/'x'";
    for form in [
        text.to_owned(),
        "pass \\\"wörd\\\"/'x'".to_owned(),
        "pass \\\"w\\u00f6rd\\\"/'x'".to_owned(),
        "pass \\\\\\\"wörd\\\\\\\"/'x'".to_owned(),
        "pass \\\"wörd\\\"\\/'x'".to_owned(),
        "pass &quot;wörd&quot;/&#39;x&#39;".to_owned(),
        "pass%20%22w%C3%B6rd%22%2F%27x%27".to_owned(),
        "pass \"wörd\"/'\\''x'\\''".to_owned(),
        // Escaped by two programs, by .NET, by PHP, and in digits of another case.
        "pass \\\\\\\"w\\u00f6rd\\\\\\\"/'x'".to_owned(),
        "pass \\u0022w\\u00F6rd\\u0022/\\u0027x\\u0027".to_owned(),
        "pass \\\"w\\u00f6rd\\\"\\/'x'".to_owned(),
        "pass \\\"w\\u00F6rd\\\"/'x'".to_owned(),
        "pass &#34;wörd&#34;/&#39;x&#39;".to_owned(),
        "pass+%22w%c3%b6rd%22%2f%27x%27".to_owned(),
        "pass \"wörd\"/'\"'\"'x'\"'\"'".to_owned(),
        "pass \"wörd\"/\\'x\\'".to_owned(),
    ] {
        assert_eq!(replaced(text, format!("a {form} b").as_bytes()), format!("a {MARKER} b"), "{form}");
    }
    assert_eq!(replaced("one\ntwo three", b"a one two three b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo three", b"a one\r\ntwo three b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo $x", b"a one\\ntwo $x b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo $x", b"a one\ntwo \\$x b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo", b"{\"a\":\"one\\r\\ntwo\"}"), format!("{{\"a\":\"{MARKER}\"}}"));
    assert_eq!(replaced("one\ntwo three", b"{\"a\":\"one\\ntwo three\"}"), format!("{{\"a\":\"{MARKER}\"}}"));
}

#[test]
fn a_text_is_found_in_hex_and_utf16() {
    let text = "correct-horse";
    let hex = |text: &str| text.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
    assert_eq!(replaced(text, format!("x {} y", hex(text)).as_bytes()), format!("x {} y", hex(MARKER)));
    assert_eq!(
        replaced(text, format!("x {} y", hex(text).to_uppercase()).as_bytes()),
        format!("x {} y", hex(MARKER).to_uppercase())
    );
    let needle = Needle::new(Some(text.as_bytes()), None);
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf16 = |text: &str| text.encode_utf16().flat_map(bytes_of).collect::<Vec<u8>>();
        for (before, after) in [("", ""), ("a ", " b"), ("\u{4e2d}", "\u{4e2d}")] {
            let changed = needle.replace(&utf16(&format!("{before}{text}{after}")), MARKER).unwrap();
            assert_eq!(changed, utf16(&format!("{before}{MARKER}{after}")));
        }
    }
}

#[test]
fn a_text_is_found_in_base64_of_other_forms() {
    let text = "pass \"wörd\"/'x'";
    let needle = Needle::new(Some(text.as_bytes()), None);
    let wide: Vec<u8> = format!("a {text} b").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let json = format!("{{\"a\":\"{}\"}}", text.replace('"', "\\\"").replace('ö', "\\u00f6"));
    for bytes in [wide, json.into_bytes()] {
        let encoded = BASE64_STANDARD.encode(&bytes);
        let changed = needle.replace(encoded.as_bytes(), MARKER).unwrap();
        let decoded = BASE64_STANDARD.decode(&changed).unwrap();
        assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
        assert!(!needle.is_in(&decoded));
    }
}

#[test]
fn scanning_takes_linear_time() {
    // A break after each character, and a form that begins at each group.
    let text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let needle = Needle::new(Some(text.as_bytes()), None);
    let bytes = "Y\nW\r\nF\\nh".repeat(200_000).into_bytes();
    let start = std::time::Instant::now();
    assert!(needle.is_in(&bytes));
    assert!(!needle.is_in(&needle.replace(&bytes, MARKER).unwrap()));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_pattern_is_replaced_and_matches_nothing_empty() {
    let needle = Needle::new(None, Some(Regex::new("key-[0-9]*|x*").unwrap()));
    assert_eq!(needle.replace(b"a key-12 key-3", MARKER).unwrap(), format!("a {MARKER} {MARKER}").into_bytes());
    assert!(!needle.is_in(b"abc"));
    assert!(needle.replace(b"abc", MARKER).is_none());
}

#[test]
fn a_subject_that_was_cut_off_within_the_text_loses_its_beginning() {
    let needle = Needle::new(Some(b"correct-horse-battery"), None);
    let cut = |subject| needle.replace_cut(subject, MARKER);
    assert_eq!(cut("dialogue user: it is correct-ho…").as_deref(), Some("dialogue user: it is [purged: leaked]"));
    assert_eq!(cut("dialogue user: it is correct-horse-battery"), None);
    assert_eq!(cut("dialogue user: it is cor…"), None);
}

proptest! {
    /// Around the text, the decoded data stays as it was.
    #[test]
    fn base64_stays_valid(before in prop::collection::vec(any::<u8>(), 0..20), after in prop::collection::vec(any::<u8>(), 0..20), text in "[a-zA-Z0-9 ]{10,30}") {
        let needle = Needle::new(Some(text.as_bytes()), None);
        let data = [&before, text.as_bytes(), &after].concat();
        for (encoded, decode) in [
            (BASE64_STANDARD.encode(&data), &BASE64_STANDARD),
            (BASE64_URL_SAFE_NO_PAD.encode(&data), &BASE64_URL_SAFE_NO_PAD),
        ] {
            prop_assert!(needle.is_in(encoded.as_bytes()));
            let changed = needle.replace(encoded.as_bytes(), MARKER).unwrap();
            prop_assert!(!needle.is_in(&changed));
            let decoded = decode.decode(&changed).unwrap();
            prop_assert!(decoded.starts_with(&before));
            prop_assert!(decoded.ends_with(&after));
            prop_assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
            prop_assert!(memchr::memmem::find(&decoded, text.as_bytes()).is_none());
        }
    }

    /// Line breaks, also escaped and with an indent, divide it anywhere.
    #[test]
    fn base64_on_several_lines_is_found(
        before in prop::collection::vec(any::<u8>(), 0..80),
        after in prop::collection::vec(any::<u8>(), 0..80),
        text in "[a-zA-Z0-9 ]{10,30}",
        width in prop::sample::select(vec![4, 16, 60, 64, 76]),
        line_break in prop::sample::select(vec!["\n", "\r\n", "\\n", "\\r\\n", "\n  "]),
    ) {
        let needle = Needle::new(Some(text.as_bytes()), None);
        let encoded = BASE64_STANDARD.encode([&before, text.as_bytes(), &after].concat());
        let lines: Vec<&str> = encoded.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let written = format!("data: {}.", lines.join(line_break));
        prop_assert!(needle.is_in(written.as_bytes()));
        let changed = needle.replace(written.as_bytes(), MARKER).unwrap();
        prop_assert!(!needle.is_in(&changed));
        let changed = String::from_utf8(changed).unwrap();
        let data = changed.strip_prefix("data: ").and_then(|data| data.strip_suffix('.')).unwrap();
        let decoded = BASE64_STANDARD.decode(data.replace(line_break, "")).unwrap();
        prop_assert!(decoded.starts_with(&before));
        prop_assert!(decoded.ends_with(&after));
        prop_assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
        prop_assert!(memchr::memmem::find(&decoded, text.as_bytes()).is_none());
    }
}
