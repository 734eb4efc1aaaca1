//! Shortening texts by rule.

use crate::memory::crumb::compress::shorten::shorten;

#[test]
fn short_texts_stay_and_long_texts_share_the_rest() {
    assert_eq!(shorten(&["a", "", "b c"], 20), "a; b c");
    assert_eq!(shorten(&["one two three four five six", "seven"], 30), "one two three four…; seven");
    let long = "word ".repeat(100);
    let texts = vec![long.trim(); 20];
    let short = shorten(&texts, 120);
    assert!(short.starts_with("(15 more) word word word word…; ") && short.chars().count() <= 120, "{short}");
    assert_eq!(shorten(&["nothing-to-cut-at-in-here"], 10), "nothing-t…");
}

#[test]
fn no_text_exceeds_its_limit() {
    for limit in 1..60 {
        for texts in [&["ünï cödé — x"; 3][..], &["abc def ghi jkl mno pqr stu vwx"], &["a"; 40]] {
            let short = shorten(texts, limit);
            assert!(short.chars().count() <= limit || texts.len() == 40, "{limit}: {short}");
        }
    }
}
