//! Tests of the private parts of `src/base/finding.rs`.

use super::*;

#[test]
fn a_finding_is_one_line_without_control_characters() {
    let text = "a\nolá prority";
    let finding = Finding {
        span: 7..14,
        position: LineIndex::new(text.as_bytes()).position(7),
        code: "unknown-key",
        weight: Weight::Error,
        message: "`pro\u{1b}[2J\nrity` is not a key".to_owned(),
        remedy: "write `priority`".to_owned(),
    };
    insta::assert_snapshot!(
        finding.in_file("memory/auth.crumb"),
        @r"memory/auth.crumb:2:5: unknown-key: `pro\u{1b}[2J\nrity` is not a key; write `priority`"
    );
    insta::assert_snapshot!(
        serde_json::to_string(&finding).unwrap(),
        @r#"{"span":{"start":7,"end":14},"line":2,"column":5,"code":"unknown-key","weight":"error","message":"`pro\u001b[2J\nrity` is not a key","remedy":"write `priority`"}"#
    );
}

#[test]
fn positions_count_characters_and_lines() {
    let index = LineIndex::new(b"\xffab\n\nx");
    let places = [0, 1, 3, 4, 5, 6, 99].map(|offset| {
        let Position { line, column } = index.position(offset);
        (line, column)
    });
    assert_eq!(places, [(1, 1), (1, 2), (1, 4), (2, 1), (3, 1), (3, 2), (3, 2)]);
}
