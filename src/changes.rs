//! Where two texts differ, piece by piece, as git finds it: Myers' algorithm with git's bounds for texts that differ much,
//! and of places that are equally right the one that git would show.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput};

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

/// What differs between lines, in order.
pub(crate) fn of_lines(old: &[&str], new: &[&str]) -> Vec<Change> {
    find(old, new, Diff::postprocess_lines)
}

/// What differs between words, in order.
pub(crate) fn of_words(old: &[&str], new: &[&str]) -> Vec<Change> {
    find(old, new, Diff::postprocess_no_heuristic)
}

fn find<'t>(old: &[&'t str], new: &[&'t str], settle: fn(&mut Diff, &InternedInput<&'t str>)) -> Vec<Change> {
    // More than that the library cannot number, and would stop the program.
    if old.len() + new.len() >= i32::MAX as usize {
        return vec![Change { old: 0..old.len(), new: 0..new.len() }];
    }
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    settle(&mut diff, &input);
    let wide = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Change { old: wide(hunk.before), new: wide(hunk.after) }).collect()
}
