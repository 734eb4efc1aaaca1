//! Tests of `src/transcript/read/json.rs`, in that module.

use super::*;

view! {
    /// A view for these tests.
    Sample { kind = "type", body }
}

fn sample(json: &str) -> Sample<'_> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_last_member_of_a_name_counts_whatever_its_type() {
    let view = sample(r#"{"type":1,"b\u006fdy":{"a":[1, 2]},"other":[{}],"ty\ud800":0,"type":"x"}"#);
    assert_eq!(text(view.kind.unwrap()).unwrap(), "x");
    assert_eq!(view.body.unwrap().get(), r#"{"a":[1, 2]}"#);
    assert!(text(view.body.unwrap()).is_none());
    assert!(sample(r#"{"type":null}"#).kind.is_none());
    assert!(serde_json::from_str::<Sample<'_>>("[]").is_err());
}

#[test]
fn half_a_surrogate_pair_becomes_one_replacement_character() {
    let view = sample(r#"{"type":"a\ud83db\udc00","body":"\ud83d\ude00 ä\n"}"#);
    assert_eq!(text(view.kind.unwrap()).unwrap(), "a\u{fffd}b\u{fffd}");
    assert_eq!(text(view.body.unwrap()).unwrap(), "😀 ä\n");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{{\"body\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(sample(&deep).body.unwrap().get().len(), 200_000);
}

#[test]
fn values_and_content_are_found_beside_halves_of_pairs() {
    let said = r#"{"text":"\ud83d x","other":"\\ud83d \ud83d\ude00"}"#;
    let found: serde_json::Value = value(said.as_bytes()).unwrap();
    assert_eq!(found, serde_json::json!({ "text": "\u{fffd} x", "other": "\\ud83d 😀" }));
    assert!(value::<serde_json::Value>(b"{\"text\":\"\\ud83d").is_err());
    assert!(has_content(said.as_bytes()));
    assert!(has_content(format!("{{\"text\":{}1{}}}", "[".repeat(1000), "]".repeat(1000)).as_bytes()));
    assert!(!has_content(br#"{"text":" ","content":[{"text":null},{"other":"x"},1],"parts":{}}"#));
}
