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

#[test]
fn values_are_what_yaml_says() {
    let text = "---\na: ~\nb: true\nc: 3\nd: -0.5\ne: '3'\nf: !!str 3\ng: 2025-12-17T14:00:00Z\nh: [x, {y: z}]\ni:\n  - j\nk: >\n  two\n  lines\n---\n";
    let front = Frontmatter::parse(text, 0).unwrap();
    let values: Vec<Value> = front.entries.into_iter().map(|entry| entry.value).collect();
    insta::assert_snapshot!(Value::Array(values), @r#"[null,true,3,-0.5,"3","3","2025-12-17T14:00:00Z",["x",{"y":"z"}],["j"],"two lines\n"]"#);
}

#[test]
fn what_is_not_one_mapping_without_aliases_is_refused() {
    for (yaml, refusal) in [
        ("a: &x [1]\nb: *x\n", "aliases are not supported; write the value itself"),
        ("a: {b: 1, b: 2}\n", "the key `b` occurs twice"),
        ("? [a]\n: b\n", "a key is not a text"),
        ("a: b\n...\nc: d\n", "there is more than one document"),
    ] {
        let error = Frontmatter::parse(&format!("---\n{yaml}---\n"), 0).unwrap_err();
        assert_eq!(error.message, format!("the frontmatter is not YAML: {refusal}"));
    }
    let deep = format!("---\na: {}\n---\n", "[".repeat(100_000));
    assert_eq!(Frontmatter::parse(&deep, 0).unwrap_err().code, "bad-yaml");
}
