//! Tests of the private parts of `src/tokens/class.rs`.

use super::*;

#[test]
fn each_class_has_its_characters() {
    for (class, characters) in [
        (UPPER, "AZÀΩЖǅ𝔸"),
        (LOWER, "azßſωж"),
        (CASELESS, "ªʰ中あ한א𠀀"),
        (MARK, "\u{301}\u{20dd}\u{fe0f}"),
        (NUMBER, "09²½Ⅷ٣"),
        (SPACE, " \t\u{b}\u{c}\u{85}\u{a0}\u{2028}\u{3000}"),
        (NEWLINE, "\r\n"),
        (OTHER, "!_\0\u{7f}€\u{200d}👍\u{fffd}\u{e000}\u{10ffff}"),
    ] {
        for character in characters.chars() {
            let text = character.to_string();
            assert_eq!(class_at(text.as_bytes(), 0), (class, text.len()), "{character:?}");
        }
    }
}

#[test]
fn the_end_has_no_class() {
    assert_eq!(class_at(b"a", 1), (0, 0));
    assert_eq!(skip("aÄ中!".as_bytes(), 0, LETTER), 6);
}
