//! Tests of the private parts of `src/app/install/config/lines.rs`.

use super::*;

#[test]
fn a_value_on_several_lines_and_the_values_of_others_are_left() {
    let keys = ["merge.trace.name", "merge.trace.driver"];
    let text = b"[merge \"trace\"]\n\tname = a\\\nb\n\tnames = c\n[merge \"trace2\"]\n\tname = d\n[merge \"trace\"]\n\tDriver=e\n";
    let rest = without(text, &keys, &[]).unwrap();
    assert_eq!(rest, &text[..text.len() - "[merge \"trace\"]\n\tDriver=e\n".len()]);
}

#[test]
fn a_new_file_is_not_needed_without_us() {
    let text = b"[merge \"trace\"]\n\tname = a\n";
    assert_eq!(without(text, &["merge.trace.name"], &["file:new"]), None);
    assert_eq!(without(text, &["merge.trace.name"], &[]), Some(Vec::new()));
    assert_eq!(state(None), ["file:new"]);
}
