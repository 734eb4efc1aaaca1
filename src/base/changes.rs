//! The differences between two texts, by line or by word.
//!
//! Myers' algorithm with the bounds that git sets for texts that differ a lot. No clock is involved, so the same two texts
//! always give the same changes.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices, diff_ratio};

/// Texts with more words than this are not compared by word: nobody reads that many marks.
const MAX_WORDS: usize = 1 << 17;

/// A range of the old text and the range of the new text that replaces it, by numbers from 0. One of the two may be empty.
/// At least one unchanged line or word separates two changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// How alike two words are, from 0 to 1: the share of characters that both have in this order.
pub(crate) fn likeness(one: &str, other: &str) -> f32 {
    // As texts of one character, as lines are compared: the algorithm is large, and is compiled for each type.
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split_inclusive(|_| true).collect(), other.split_inclusive(|_| true).collect());
    if is_swap(&one, &other) {
        return SWAPPED;
    }
    diff_ratio(&capture_diff_slices(Algorithm::Myers, &one, &other), one.len(), other.len())
}

fn is_swap(one: &[&str], other: &[&str]) -> bool {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    match (one.get(same..), other.get(same..)) {
        (Some([a, b, rest @ ..]), Some([c, d, other @ ..])) => (a, b, rest) == (d, c, other),
        _ => false,
    }
}

/// How alike a suggestion is at least.
const ALIKE: f32 = 0.7;
/// How alike words are that differ by two neighbors in the other order, as `lgo` and `log` do.
const SWAPPED: f32 = 0.9;

/// The word that may be meant by one that is not among these.
pub(crate) fn most_alike<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let alike =
        words.into_iter().map(|other| (likeness(word, other), other)).filter(|(likeness, _)| *likeness >= ALIKE);
    alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, word)| word)
}

/// Lines with their ends. Only `\n` ends a line, as in git.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

pub(crate) fn of_lines(old: &[&str], new: &[&str]) -> Vec<Change> {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changed.map(|op| Change { old: op.old_range(), new: op.new_range() }).collect()
}

/// `None` if there are too many words to read.
pub(crate) fn of_words(old: &[&str], new: &[&str]) -> Option<Vec<Change>> {
    (old.len() + new.len() < MAX_WORDS).then(|| of_lines(old, new))
}

#[cfg(test)]
#[path = "../../tests/unit/base/changes.rs"]
mod tests;
