//! Tests of the private parts of `src/base/changes.rs`.

use super::*;

#[test]
fn an_added_function_is_one_change_that_starts_at_its_first_line() {
    let old = lines("fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n");
    let new = lines("fn a() {\n    one();\n}\n\nfn x() {\n    three();\n}\n\nfn b() {\n    two();\n}\n");
    // As `git diff` shows it. Four other positions give a change of the same length.
    assert_eq!(of_lines(&old, &new), [Change { old: 4..4, new: 4..8 }]);
    assert_eq!(of_lines(&new, &old), [Change { old: 4..8, new: 4..4 }]);
    assert_eq!(of_lines(&[], &old), [Change { old: 0..0, new: 0..7 }]);
    assert_eq!(of_lines(&old, &old), []);
}
