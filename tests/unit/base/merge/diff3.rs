//! Tests of the private parts of `src/base/merge/diff3.rs`.

use proptest::prelude::*;

use super::*;

#[test]
fn separate_changes_are_separate_chunks_and_touching_changes_are_one() {
    let base = "a\nb\nc\nd\ne\n";
    let differing = |ours, theirs| -> Vec<[&str; 3]> {
        chunks(base, ours, theirs).into_iter().filter(|[base, ours, theirs]| base != ours || base != theirs).collect()
    };
    assert_eq!(differing("A\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n"), [["a\n", "A\n", "a\n"], ["c\n", "c\n", "C\n"]]);
    assert_eq!(differing("a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n"), [["b\nc\n", "B\nc\n", "b\nC\n"]]);
    assert_eq!(differing("a\nb\nc\nd\nmine\ne\n", "a\nb\nc\nd\nyours\ne\n"), [["", "mine\n", "yours\n"]]);
}

proptest! {
    #[test]
    fn chunks_join_to_the_texts_and_a_change_on_one_side_is_not_a_conflict(
        texts in proptest::array::uniform3("([abc]\n){0,8}[ab]?"),
    ) {
        let [base, ours, theirs] = texts.each_ref().map(String::as_str);
        let chunks = chunks(base, ours, theirs);
        for (at, text) in texts.iter().enumerate() {
            prop_assert_eq!(&chunks.iter().map(|chunk| chunk[at]).collect::<String>(), text);
        }
        let conflict = |[base, ours, theirs]: &[&str; 3]| base != ours && base != theirs && ours != theirs;
        let mirrored = super::chunks(base, theirs, ours);
        prop_assert_eq!(mirrored.into_iter().map(|[base, theirs, ours]| [base, ours, theirs]).collect::<Vec<_>>(), chunks.clone());
        if base == ours || base == theirs || ours == theirs {
            prop_assert!(!chunks.iter().any(conflict));
        }
    }
}
