//! Positions of the keys of frontmatter and of its errors.

use serde_json::Value;

use crate::memory::checkpoint::document::frontmatter::{Frontmatter, FrontmatterError};

#[test]
fn parsing_is_linear_in_the_number_of_keys() {
    let keys: Vec<String> = (0..20_000).map(|n| format!("k{n}: é\n")).collect();
    let text = format!("---\n{}---\n", keys.concat());
    let front = Frontmatter::parse(&text, 0).unwrap();
    assert_eq!(front.entries.len(), 20_000);
    assert!(front.entries.iter().all(|entry| text[entry.span.clone()] == entry.key));
}

#[test]
fn keys_have_positions() {
    let text = "\u{feff}---\r\ncheckpoint: chk-a\r\ncreated: 2025-12-17T14:00:00Z\r\nparent:\r\n---\r\nrest";
    let front = Frontmatter::parse(text, 3).unwrap();
    assert_eq!(front.text("checkpoint"), Some("chk-a"));
    assert_eq!(front.text("created"), Some("2025-12-17T14:00:00Z"));
    assert_eq!(front.entry("parent").unwrap().value, Value::Null);
    for entry in &front.entries {
        assert_eq!(text[entry.span.clone()], entry.key);
    }
    assert_eq!(&text[front.end..], "rest");
}

#[test]
fn errors_have_positions() {
    for (text, code, span) in [
        ("# Title\n", "no-frontmatter", 0..0),
        ("", "no-frontmatter", 0..0),
        ("---\na: b\n", "unclosed-frontmatter", 0..3),
        ("---\n- a\n- b\n---\n", "not-a-mapping", 4..4),
        ("---\nplain\n---\n", "not-a-mapping", 4..4),
    ] {
        let error = Frontmatter::parse(text, 0).unwrap_err();
        assert_eq!((error.code, error.span), (code, span), "{text:?}");
    }
    assert_eq!(Frontmatter::parse("---\n---\n", 0).unwrap().entries, []);
    for (text, place) in [("---\na: b\nc: [d\n---\n", 9), ("---\na: b\na: c\n---\n", 9)] {
        let FrontmatterError { span, code, message, .. } = Frontmatter::parse(text, 0).unwrap_err();
        assert_eq!(code, "bad-yaml");
        assert!(span.start >= place && !message.contains('\n'), "{span:?} {message}");
    }
}
