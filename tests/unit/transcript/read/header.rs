//! Tests of `src/transcript/read/header.rs`, in that module.

use super::*;

#[test]
fn hostile_text_becomes_harmless() {
    assert_eq!(one_line("a\nid: 0", 80).as_deref(), Some("a\u{fffd}id: 0"));
    assert_eq!(one_line("", 80), None);
    assert_eq!(one_line("äöü", 2).as_deref(), Some("äö"));
    assert_eq!(id("toolu_01").as_deref(), Some("toolu_01"));
    assert_ne!(id("a\n"), id("a\r"));
    assert_eq!(thread("a1b2c3"), "a1b2c3");
    assert_eq!(thread("../../x").len(), 12);
    assert_eq!(subject("call Bash", " a\n\n b\u{1b}[31m"), "call Bash: a b [31m");
    assert_eq!(subject("x", &"é".repeat(500)).chars().count(), 72);
}
