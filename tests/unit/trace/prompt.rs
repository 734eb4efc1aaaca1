//! Prompts that compress.

use crate::trace::model::types::prompt::{Group, fill};

#[test]
fn numbers_and_items_are_inserted_once() {
    let group = Group { count: 3, tokens: 900, target: 80, items: "a {count} b" };
    assert_eq!(fill("{count} of {tokens} to {target}: {items} {x} {", &group), "3 of 900 to 80: a {count} b {x} {");
    assert_eq!(fill("Shorten {count}.", &group), "Shorten 3.\n\na {count} b");
}
