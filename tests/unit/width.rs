use proptest::prelude::*;

use super::*;

#[test]
fn wide_and_combining_characters_are_measured_and_never_cut() {
    assert_eq!([columns("abc"), columns("日本"), columns("e\u{301}"), columns("👨‍👩‍👧")], [3, 4, 1, 2]);
    assert_eq!(one_line("日本語のテキスト", 7), "日本語…");
    assert_eq!(one_line("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}…");
    assert_eq!(without_middle("claude-code/79e9becd-0b83", 11), "claud…-0b83");
    assert_eq!(without_middle("日本語のテキスト", 8), "日…スト");
    assert_eq!(padded("日本", 6), "日本  ");
}

#[test]
fn a_long_line_keeps_the_surroundings_of_its_first_match() {
    let parts = |line: &str| line.split('|').enumerate().map(|(at, part)| (at % 2 == 1, part.to_owned())).collect();
    let shown = |line: &str, width| {
        let (parts, hidden) = surroundings(parts(line), width);
        (parts.into_iter().map(|(_, part)| part).collect::<String>(), hidden)
    };
    assert_eq!(shown("short |match| here", 40), ("short match here".to_owned(), 0));
    let long = format!("{}|match|{}|match|", "before ".repeat(20), " after".repeat(20));
    assert_eq!(shown(&long, 30), ("…before match after after aft…".to_owned(), 1));
    let at_end = format!("{}|match|", "before ".repeat(20));
    assert_eq!(shown(&at_end, 20), ("…before before match".to_owned(), 0));
}

#[test]
fn a_tab_separates_words_in_a_line_that_is_cut_too() {
    assert_eq!(shortened("one\ttwo\tthree", 9), "one two …");
    assert_eq!(without_middle("one\ttwo\tthree", 9), "one …hree");
}

#[test]
fn a_line_is_broken_at_spaces() {
    assert_eq!(wrapped("  one two three four", 4, 12), "  one two\n    three\n    four");
    assert_eq!(wrapped("averyveryverylongword", 2, 5), "averyveryverylongword");
}

proptest! {
    #[test]
    fn the_surroundings_of_a_match_fit(parts in proptest::collection::vec((any::<bool>(), "[a-z日 ]{0,20}"), 0..6), width in 5_usize..40) {
        let text: String = parts.iter().map(|(_, part)| part.as_str()).collect();
        let matches = parts.iter().any(|(matches, part)| *matches && !part.is_empty());
        let parts: Vec<_> = parts.into_iter().filter(|(matches, part)| !matches || !part.is_empty()).collect();
        let (shown, _) = surroundings(parts, width);
        let shown: String = shown.into_iter().map(|(_, part)| part).collect();
        prop_assert!(columns(&shown) <= width || !matches);
        prop_assert!(columns(&text) > width || shown == text);
    }

    #[test]
    fn a_shortened_text_fits(text in "\\PC{0,40}", width in 1_usize..30) {
        prop_assert!(columns(&one_line(&text, width)) <= width);
        prop_assert!(columns(&without_middle(&text, width)) <= width);
        prop_assert_eq!(without_middle(&text, columns(&text)), text);
    }
}
