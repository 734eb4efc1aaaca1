//! What two purges left of a text is joined.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::check::purge::needle::Needle;
use crate::trace::model::item::Direction;
use crate::trace::{Draft, Fields, ItemType};

const M: &str = "[purged: both]";

fn joined(one: &str, other: &str) -> String {
    let joined = join_text(one, other, M);
    assert_eq!(joined, join_text(other, one, M), "the order does not matter");
    joined
}

#[test]
fn only_what_both_forms_have_stays() {
    for (one, other, expected) in [
        ("same", "same", "same"),
        ("a [purged: x] b two c", "a one b [purged: y] c", "a [purged: x] b [purged: y] c"),
        ("[purged: x] b two", "one b [purged: y]", "[purged: x] b [purged: y]"),
        ("[purged: x]", "a one b", "[purged: x]"),
        ("[purged: x]", "a one [purged: x]", "[purged: x]"),
        ("[purged: x] b", "[purged: x] a one b", "[purged: x] [purged: both]b"),
        ("a [purged: x] c", "a [purged: y] c", "a [purged: x][purged: y] c"),
        // Both removed a part of the same words.
        ("a [purged: x]two c", "a one[purged: y] c", "a [purged: x][purged: y] c"),
        // No purge explains this.
        ("a one b", "a two b", "a [purged: both] b"),
        ("a [purged: x] c d", "a one e f", "a [purged: both]"),
        ("", "one", "[purged: both]"),
    ] {
        assert_eq!(joined(one, other), expected, "{one} / {other}");
    }
}

#[test]
fn keys_that_become_equal_are_told_apart() {
    let call = |body: &str| {
        let direction = Some(Direction::Call);
        let fields = Fields { direction, ..Fields::new(ItemType::tool_io()) };
        Item::new("0be7719d3a2f61c8".parse().unwrap(), Draft { fields, body: body.into() })
    };
    let target = Target::new([].into(), Needle::default(), "both").unwrap();
    let (one, other) = (call(r#"{"[purged: x]":1,"two":2}"#), call(r#"{"one":1,"[purged: x]":2}"#));
    for (one, other) in [(&one, &other), (&other, &one)] {
        let joined = join_items(one, other, &target).unwrap();
        assert_eq!(String::from_utf8(joined.body).unwrap(), r#"{"[purged: x]":1,"[purged: x][purged: both]":2}"#);
    }
}

#[test]
fn the_id_of_a_record_that_one_purge_removed_stays_removed() {
    let source = Source::new("mail", "ann@example.org-17", 0);
    let of = |source: Source, body: &str| {
        let fields = Fields { source: Some(source), ..Fields::new(ItemType::dialogue()) };
        Item::new("0be7719d3a2f61c8".parse().unwrap(), Draft { fields, body: body.into() })
    };
    let target = Target::new([].into(), Needle::default(), "both").unwrap();
    let (one, other) = (of(source.clone(), "a [purged: x]"), of(source.without_record(), "a one"));
    for (one, other) in [(&one, &other), (&other, &one)] {
        let joined = join_items(one, other, &target).unwrap();
        assert_eq!(joined.fields.source, Some(source.without_record()));
        assert_eq!(joined.body, b"a [purged: x]");
    }
}

#[test]
fn metadata_is_joined_by_key() {
    for (one, other, expected) in [
        (json!({"a": "[purged: x]", "b": "1"}), json!({"a": "one", "b": "1"}), json!({"a": "[purged: x]", "b": "1"})),
        (json!({"a": "[purged: x] 2"}), json!({"a": "1 [purged: y]"}), json!({"a": "[purged: x] [purged: y]"})),
        (json!({"a": [1, "[purged: x]"]}), json!({"a": ["[purged: y]", 2]}), json!({"a": M})),
        (json!({"a": ["[purged: x]", 2]}), json!({"a": ["1", 2]}), json!({"a": ["[purged: x]", 2]})),
        (json!({"[purged: x]-k": "1", "b": 2}), json!({"a-k": "1", "b": 2}), json!({"[purged: x]-k": "1", "b": 2})),
        (json!({"[purged: x]": 1, "two": 2}), json!({"[purged: x]": 2, "one": 1}), json!({"[purged: x]": M, M: M})),
        (json!({"a": "1"}), json!({"a": "1", "b": "[purged: x]"}), json!({"a": "1", M: M})),
        // One purge removed the item.
        (json!({}), json!({"a": "[purged: x]"}), json!({})),
    ] {
        let meta = |json: &Value| json.as_object().unwrap().clone();
        for (one, other) in [(&one, &other), (&other, &one)] {
            assert_eq!(Value::from(join_meta(&meta(one), &meta(other), M)), expected, "{one} / {other}");
        }
    }
}

#[test]
fn joining_takes_linear_time() {
    let one = "[purged: x] a ".repeat(50_000);
    let other = "a b ".repeat(100_000);
    let start = std::time::Instant::now();
    assert!(joined(&one, &other).contains(M));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

proptest! {
    /// Neither removed text remains, and all else does if the texts do not touch.
    #[test]
    fn neither_text_remains(words in prop::collection::vec("[a-z]{1,2}", 0..30), spots in prop::collection::vec(0..3_usize, 30)) {
        let (one, other) = ("SECRET one", "OTHER-SECRET");
        let parts = words.iter().zip(&spots).map(|(word, spot)| format!("{word} {} ", ["-", one, other][*spot]));
        let original = parts.collect::<Vec<_>>().concat();
        let without = |text: &str, reason: &str| original.replace(text, reason);
        let result = joined(&without(one, "[purged: x]"), &without(other, "[purged: y]"));
        prop_assert_eq!(result, original.replace(other, "[purged: y]").replace(one, "[purged: x]"));
    }

    #[test]
    fn any_two_texts_are_joined(one in "[ab \\[\\]]{0,12}(\\[purged: [xy]\\][ab ]{0,4}){0,4}", other in "[ab \\[\\]]{0,12}(\\[purged: [xy]\\][ab ]{0,4}){0,4}") {
        let result = joined(&one, &other);
        for part in result.split("[purged: both]").flat_map(|part| part.split("[purged: x]")).flat_map(|part| part.split("[purged: y]")) {
            prop_assert!(one.contains(part) && other.contains(part), "{part}");
        }
    }
}
