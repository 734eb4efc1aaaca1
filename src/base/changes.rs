//! Where two texts differ, piece by piece, as git finds it: Myers' algorithm with git's bounds for texts that differ much,
//! and of places that are equally right the one that git would show.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput};

/// How far is looked, piece by piece, to settle where changes stand: a tenth of a second.
const MOST_STEPS: usize = 1 << 29;
/// How many words of two texts are compared; of more, nobody looks at the marks.
const MOST_WORDS: usize = 1 << 17;

/// Pieces of the old text for which others stand in the new one, by their numbers from 0. One of both may be empty. Between two
/// changes is a piece at least that both texts have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// The lines of a text with their ends. Only `\n` ends a line, as in git.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What differs between lines, in order. Costs what differs, to the power of one and a half at worst.
pub(crate) fn of_lines(old: &[&str], new: &[&str]) -> Vec<Change> {
    let input = numbered(old, new);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    // To settle where they stand, the library looks from each of them through all that follows.
    let one_sided = diff.hunks().filter(|hunk| hunk.is_pure_insertion() || hunk.is_pure_removal()).count();
    if one_sided * (old.len() + new.len()) < MOST_STEPS {
        diff.postprocess_lines(&input);
    }
    changes(&diff)
}

/// What differs between words, in order; none of so many that nobody reads them. Costs as [`of_lines`].
pub(crate) fn of_words(old: &[&str], new: &[&str]) -> Option<Vec<Change>> {
    let few = old.len() + new.len() < MOST_WORDS;
    few.then(|| changes(&Diff::compute(Algorithm::Myers, &numbered(old, new))))
}

fn numbered<'t>(old: &[&'t str], new: &[&'t str]) -> InternedInput<&'t str> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    input
}

fn changes(diff: &Diff) -> Vec<Change> {
    let wide = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Change { old: wide(hunk.before), new: wide(hunk.after) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_came_is_one_change_from_its_first_line() {
        let old = lines("fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n");
        let new = lines("fn a() {\n    one();\n}\n\nfn x() {\n    three();\n}\n\nfn b() {\n    two();\n}\n");
        // As `git diff` has it. Four other places are as short, from the end of `a` on.
        assert_eq!(of_lines(&old, &new), [Change { old: 4..4, new: 4..8 }]);
        assert_eq!(of_lines(&new, &old), [Change { old: 4..8, new: 4..4 }]);
        assert_eq!(of_lines(&[], &old), [Change { old: 0..0, new: 0..7 }]);
        assert_eq!(of_lines(&old, &old), []);
    }
}
