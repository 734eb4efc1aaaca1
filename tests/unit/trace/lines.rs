//! Differences by line.

use proptest::prelude::*;

use crate::trace::query::diff::lines::{Fate, diff};

#[test]
fn words_that_differ_are_marked_and_context_is_kept() {
    let diff = diff("a\nb\nc\nthe limit is ten\ne\n", "a\nb\nc\nthe limit is twelve\ne\n", 1);
    let [hunk] = diff.hunks.as_slice() else { panic!("{diff:?}") };
    assert_eq!((hunk.old, hunk.new, diff.added, diff.removed), ((3, 3), (3, 3), 1, 1));
    let marked: Vec<&str> =
        hunk.lines.iter().flat_map(|line| &line.parts).filter(|part| part.0).map(|part| part.1.as_str()).collect();
    assert_eq!(marked, ["ten", "twelve"]);
}

proptest! {
    #[test]
    fn a_diff_with_all_context_contains_both_texts(old in "[ab \r\n]{0,12}", new in "[ab \r\n]{0,12}") {
        let diff = diff(&old, &new, usize::MAX);
        let side = |without: Fate| -> String {
            let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.fate != without);
            lines.map(|line| {
                let text: String = line.parts.iter().map(|part| part.1.as_str()).collect();
                text + if line.ended { "\n" } else { "" }
            }).collect()
        };
        if old != new {
            prop_assert_eq!(side(Fate::Added), old);
            prop_assert_eq!(side(Fate::Removed), new);
        }
    }
}
