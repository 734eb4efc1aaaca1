//! The lines of a store's text, and their keys.

use crate::memory::breadcrumb::store::lines::{Lines, find_key, numbered};

#[test]
fn keys_are_found_in_any_spelling() {
    for (line, key) in [
        (r#"{"key":"a.b","value":"v"}"#, Some("a.b")),
        (r#"{"key": "a.b", "value": "v"}"#, Some("a.b")),
        (r#"{ "key":"a.b","value":"v"}"#, Some("a.b")),
        (r#"{"value":"v","key":"a.b"}"#, Some("a.b")),
        (r#"{"key":"\u0061.b","value":"v"}"#, Some("a.b")),
        (r#"{"key":"a.b","val"#, Some("a.b")),
        (r#"{"key":"a.b"#, None),
        (r#"{"value":"v"}"#, None),
        ("[1]", None),
    ] {
        assert_eq!(find_key(line.as_bytes()).as_deref(), key.map(str::as_bytes), "{line}");
    }
}

#[test]
fn blank_lines_and_a_byte_order_mark_are_skipped() {
    let lines = Lines::new(b"\xef\xbb\xbf\n{\"key\":\"b\",\"value\":\"\"}\r\n \t\r\n{\"key\":\"a\",\"value\":\"\"}");
    assert!(lines.has_bom && !lines.is_sorted);
    assert_eq!(lines.lines.len(), 2);
    assert!(lines.lines[0].text.ends_with(b"\r"));
    assert_eq!(lines.lines[1].key.as_deref(), Some(b"a".as_slice()));
}

#[test]
fn lines_have_numbers_and_offsets() {
    let seen = |text: &[u8]| numbered(text).map(|(number, line)| (number, line.len())).collect::<Vec<_>>();
    assert_eq!(seen("\u{feff}a\n\nlong\nb\r\nc".as_bytes()), [(1, 1), (3, 4), (4, 2), (5, 1)]);
    for (text, count) in [("", 0), ("\n", 0), ("a", 1), ("\u{feff}", 0), ("a\nb", 2), ("\u{feff}\nab\n", 1)] {
        assert_eq!(seen(text.as_bytes()).len(), count, "{text:?}");
    }
    let text = b"\xef\xbb\xbf\nx\n\nyz\n";
    for line in Lines::new(text).lines {
        assert_eq!((&text[line.span()], text[line.end() - 1]), (line.text, b'\n'));
    }
}
