//! Tests of the private parts of `src/base/escape.rs`.

use super::*;

#[test]
fn what_acts_unseen_is_shown() {
    let text = "a\u{202e}b\u{2066}c\u{200b}d\u{feff}\u{e0041}";
    assert_eq!(Plain(text).to_string(), r"a\u{202e}b\u{2066}c\u{200b}d\u{feff}\u{e0041}");
    assert_eq!(escaped(text), r"a\u202eb\u2066c\u200bd\ufeff\udb40\udc41");
    assert_eq!(Plain("a\n\tb").to_string(), r"a\n\tb");
}

#[test]
fn joiners_stay_where_a_script_needs_them() {
    let needed = "👩\u{200d}💻 می\u{200c}خواهم é\n\t";
    assert!(matches!(escaped(needed), Cow::Borrowed(_)));
    assert_eq!(escaped("ad\u{200d}min\u{200c}"), r"ad\u200dmin\u200c");
    let shown: serde_json::Value = serde_json::from_str(&escaped("{\"a\":\"\u{e0041}\"}")).unwrap();
    assert_eq!(shown["a"], "\u{e0041}", "escaped JSON stays JSON");
}
