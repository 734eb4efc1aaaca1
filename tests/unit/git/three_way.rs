//! Tests of the private parts of `src/git/three_way.rs`.

use super::*;

fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let merged = merge_lines(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap();
    merged.map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn lines_apart_merge_and_lines_that_clash_do_not() {
    assert_eq!(merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
    assert_eq!(merged("a\n", "b\n", "c\n"), None);
    assert_eq!(merged("a", "b", "a").as_deref(), Some("b"));
    assert_eq!(merged("", "same", "same").as_deref(), Some("same"));
    assert_eq!(merged("a\0", "b\0", "c\0"), None);
}
