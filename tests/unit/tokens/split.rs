//! Tests of the private parts of `src/tokens/split.rs`.

use super::*;

fn pieces(text: &str, next: fn(&[u8], usize) -> usize) -> Vec<&str> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let end = next(text.as_bytes(), at);
        pieces.push(&text[at..end]);
        at = end;
    }
    pieces
}

#[test]
fn words_of_o200k_change_case_once() {
    assert_eq!(pieces("HTTPServer's getURL", o200k), ["HTTPServer's", " get", "URL"]);
    assert_eq!(pieces("中ABC, ABCdef", o200k), ["中", "ABC", ",", " ABCdef"]);
}

#[test]
fn contractions_stay_with_the_word_in_o200k_alone() {
    assert_eq!(pieces("WE'LL it'ſ", o200k), ["WE'LL", " it'ſ"]);
    assert_eq!(pieces("WE'LL it'ſ", cl100k), ["WE", "'LL", " it", "'ſ"]);
    assert_eq!(pieces("WE'LL we'll", p50k), ["WE", "'", "LL", " we", "'ll"]);
}

#[test]
fn marks_precede_a_word_or_belong_to_it() {
    assert_eq!(pieces("\u{301}ABC", o200k), ["\u{301}", "ABC"]);
    assert_eq!(pieces("\u{301}Abc", o200k), ["\u{301}Abc"]);
    assert_eq!(pieces("!\u{301}!\u{301}", o200k), ["!\u{301}", "!\u{301}"]);
    assert_eq!(pieces("a\u{301}b", cl100k), ["a", "\u{301}b"]);
}

#[test]
fn the_last_white_space_belongs_to_the_next_word() {
    assert_eq!(pieces("a   b", o200k), ["a", "  ", " b"]);
    assert_eq!(pieces("a \n  b \n ", o200k), ["a", " \n", " ", " b", " \n", " "]);
    assert_eq!(pieces("a \n  b \n ", cl100k), ["a", " \n", " ", " b", " \n "]);
    assert_eq!(pieces("a\n\nb\n", p50k), ["a", "\n", "\n", "b", "\n"]);
}

#[test]
fn numbers_are_split_into_groups_of_three() {
    assert_eq!(pieces("12345 6", o200k), ["123", "45", " ", "6"]);
    assert_eq!(pieces("12345 6", p50k), ["12345", " 6"]);
}
