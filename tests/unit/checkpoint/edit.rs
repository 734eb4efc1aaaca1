//! Edits of frontmatter.

use crate::memory::checkpoint::Document;
use crate::memory::checkpoint::document::edit::set_key;

#[test]
fn setting_a_key_changes_nothing_else() {
    let cases = [
        ("---\na: b\nstatus: active # why\nc: d\n---\nx", "---\na: b\nstatus: current # why\nc: d\n---\nx"),
        ("---\nstatus: \"a # b\"\n---\n", "---\nstatus: current\n---\n"),
        ("---\r\na: b\r\nstatus: active\r\n---\r\nx", "---\r\na: b\r\nstatus: current\r\n---\r\nx"),
        ("---\na: b\n---\nstatus: x", "---\na: b\nstatus: current\n---\nstatus: x"),
        ("---\nstatus:\n# note\n---\n", "---\nstatus: current\n# note\n---\n"),
    ];
    for (before, after) in cases {
        assert_eq!(set_key(&Document::parse(before), "status", "current").as_deref(), Ok(after), "{before:?}");
    }
    for bad in
        ["---\n{status: active}\n---\n", "---\n{a: b}\n---\n", "---\nstatus:\n  active\n---\n", "---\n- a\n---\n", "x"]
    {
        assert!(set_key(&Document::parse(bad), "status", "current").is_err(), "{bad:?}");
    }
}
