//! Tests of `src/trace/change/compress/summary.rs`, in that module.

use proptest::prelude::*;

use super::*;

fn cut_to(text: &str, len: usize) -> String {
    cut(text, |text| text.chars().count() <= len)
}

#[test]
fn a_cut_ends_with_a_sentence_if_one_fits() {
    let text =
        "The build failed, because version 1.2 lacks a header. It was installed.\nThe tests pass! Next: release.";
    assert_eq!(
        cut_to(text, 91),
        "The build failed, because version 1.2 lacks a header. It was installed.\nThe tests pass! […]"
    );
    assert_eq!(cut_to(text, 80), "The build failed, because version 1.2 lacks a header. It was installed. […]");
    assert_eq!(cut_to(text, 60), "The build failed, because version 1.2 lacks a header. […]");
    assert_eq!(cut_to(text, 30), "The build failed, because […]");
    assert_eq!(cut_to(text, 6), "Th […]");
    assert_eq!(cut_to(text, 1), "[…]");
}

proptest! {
    #[test]
    fn a_cut_text_fits(text in "([a-zé ]{1,9}[.!] ?\n?|文。){0,80}", max in 20..60_u64) {
        let fits = |text: &str| message_cost(Counter::DEFAULT.count(text.as_bytes()), false) <= max;
        let text = cut(&text, fits);
        prop_assert!(fits(&text), "{text:?}");
        prop_assert!(text.ends_with("[…]"));
    }
}
