//! Text of others on a page of `git trace view` and on a terminal.

use proptest::prelude::*;
use serde_json::{Value, json};

use std::borrow::Cow;

use maud::html;

use crate::app::ui::escaped;
use crate::app::view::html::{finish, json as script, number};

fn put(text: &str) -> String {
    finish(html! { (text) })
}

#[test]
fn invisible_characters_are_shown() {
    assert_eq!(put("a\u{1b}[31m"), "a<span class=\"hid\">U+001B</span>[31m");
    let shown = "x<span class=\"hid\">U+E0041</span><span class=\"hid\">U+202E</span>";
    assert_eq!(put("x\u{e0041}\u{202e}"), shown);
    assert_eq!(put("👩\u{200d}💻 é\n\t"), "👩\u{200d}💻 é\n\t");
    assert_eq!([0, 999, 1_234_567].map(number), ["0", "999", "1,234,567"]);
}

#[test]
fn attributes_and_the_title_hold_no_elements() {
    let text = "\u{202e}";
    assert_eq!(finish(html! { title { (text) } }), "<title>U+202E</title>");
    assert_eq!(finish(html! { a id=(text) {} }), r#"<a id="U+202E"></a>"#);
}

#[test]
fn a_terminal_gets_no_control_characters() {
    assert_eq!(escaped("a\u{1b}[31m\u{9b}2J\r\u{202e}b\n\tc"), "a\\u001b[31m\\u009b2J\\u000d\\u202eb\n\tc");
    assert!(matches!(escaped("plain — text"), Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn no_text_becomes_markup(hostile in "(</script>|<!--|\"|'|&lt;|&|\u{0}|\u{2028}|[a<>= ]){0,12}") {
        let attr = finish(html! { a id=(hostile) {} });
        let attr = attr.strip_prefix("<a id=\"").and_then(|attr| attr.strip_suffix("\"></a>")).unwrap();
        prop_assert!(!attr.contains(['<', '>', '"', '\0', '\u{2028}']), "{attr}");
        let (before, after) = ("<span class=\"hid\">", "</span>");
        prop_assert_eq!(put(&hostile).replace(before, "").replace(after, ""), attr);
        let value = json!({ "text": hostile });
        let json = script(&value).into_string();
        prop_assert!(!json.contains(['<', '>', '&', '\u{2028}']), "{json}");
        prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
    }
}
