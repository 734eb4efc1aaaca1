//! Tests of `src/transcript/read/object.rs`, in that module.

use super::*;

#[test]
fn members_are_lenient() {
    let object: Object<'_> =
        serde_json::from_str(r#"{"a":null,"b":1,"b":"\ud83dx","c":{"d":[1,2]},"e":true,"f":"x","f":null}"#).unwrap();
    assert_eq!((object.has("a"), object.get("a").is_none()), (true, true));
    assert_eq!(object.text("b").unwrap(), "\u{fffd}x");
    assert_eq!(object.object("c").list("d").len(), 2);
    assert!(object.object("b").is_empty() && object.is_true("e") && object.text("f").is_none());
    let many = format!("{{{}\"z\":1}}", "\"a\":0,".repeat(200_000));
    assert!(!serde_json::from_str::<Object<'_>>(&many).unwrap().has("z"));
}

#[test]
fn times_are_texts_or_numbers_of_any_unit() {
    let of = |text: &str| time(serde_json::from_str(text).unwrap()).map(|time| time.to_string());
    let expected = Some("2026-02-20T14:24:37Z".to_owned());
    for text in ["\"2026-02-20T14:24:37Z\"", "1771597477", "1771597477000", "\"1771597477000000000\""] {
        assert_eq!(of(text), expected, "{text}");
    }
    for text in ["\"soon\"", "null", "{}", "1e300", "-1e300", "\"NaN\""] {
        assert_eq!(of(text), None, "{text}");
    }
}
