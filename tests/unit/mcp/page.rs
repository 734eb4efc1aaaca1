use super::*;

#[test]
fn nothing_follows_a_character_that_has_no_room() {
    let mut page = Page::new(MIN_BUDGET, Counter::default(), None);
    let room = page.max_len();
    page.write(&"x".repeat(room - 1));
    assert!(!page.is_full());
    page.write("é");
    assert!(page.is_full());
    page.write("y");
    assert_eq!(page.text, "x".repeat(room - 1));
}

#[test]
fn a_text_that_fills_a_page_is_complete() {
    let mut page = Page::new(MIN_BUDGET, Counter::default(), None);
    let room = page.max_len();
    page.write(&" ".repeat(room));
    page.write("");
    assert!(!page.is_full());
    page.write("y");
    assert!(page.is_full());
}
