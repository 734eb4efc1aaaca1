//! Texts line by line, with the words marked that differ within a line.

use std::time::{Duration, Instant};

use similar::{ChangeTag, DiffOp, TextDiff};

/// How long is looked for the shortest difference; after that, any will do.
const PATIENCE: Duration = Duration::from_secs(1);

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is in both texts.
    Kept,
    /// It is in the old text only.
    Removed,
    /// It is in the new text only.
    Added,
}

impl Fate {
    /// The sign it has in a diff.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// A line of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// What became of it.
    pub fate: Fate,
    /// Its text without the line end, in parts; `true` marks those that differ from the line it replaces or that replaces it.
    pub parts: Vec<(bool, String)>,
    /// Whether it ends in a line end.
    pub ended: bool,
}

/// Lines that belong together: what differs, and what is around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// The number of the first line of the old text, from 1, and how many lines there are.
    pub old: (usize, usize),
    /// The same of the new text.
    pub new: (usize, usize),
    /// The lines.
    pub lines: Vec<Line>,
}

/// What differs between two texts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineDiff {
    /// In order.
    pub hunks: Vec<Hunk>,
    /// How many lines only the new text has.
    pub added: usize,
    /// How many lines only the old text has.
    pub removed: usize,
    /// Whether one of two texts ends in a line end and the other does not. That neither does is usual for what is said.
    pub ends_differ: bool,
}

/// The lines of a text with their ends. Only `\n` ends a line, as in git.
#[must_use]
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'o, 'n>(old: &[&'o str], new: &[&'n str]) -> TextDiff<'o, 'n, str> {
    TextDiff::configure().timeout(PATIENCE).diff_slices(old, new)
}

/// Compares two texts and keeps `context` lines around what differs.
#[must_use]
pub fn diff(old: &str, new: &str, context: usize) -> LineDiff {
    let both = !old.is_empty() && !new.is_empty();
    let ends_differ = both && old.ends_with('\n') != new.ends_with('\n');
    let (old, new) = (split(old), split(new));
    let diff = compare(&old, &new);
    let deadline = Instant::now() + PATIENCE;
    let mut answer = LineDiff { ends_differ, ..LineDiff::default() };
    // The library doubles the context; more lines than there are ask for all of them.
    for group in diff.grouped_ops(context.min(old.len() + new.len())) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old, new) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let mut lines = Vec::new();
        for op in &group {
            match op {
                DiffOp::Delete { old_len, .. } => answer.removed += old_len,
                DiffOp::Insert { new_len, .. } => answer.added += new_len,
                DiffOp::Replace { old_len, new_len, .. } => {
                    answer.removed += old_len;
                    answer.added += new_len;
                }
                DiffOp::Equal { .. } => {}
            }
            for change in diff.iter_inline_changes_deadline(op, Some(deadline)) {
                let fate = match change.tag() {
                    ChangeTag::Equal => Fate::Kept,
                    ChangeTag::Delete => Fate::Removed,
                    ChangeTag::Insert => Fate::Added,
                };
                // The library takes a lone carriage return for a line end too.
                let ended = change.values().last().is_some_and(|(_, value)| value.ends_with('\n'));
                lines.push(Line { fate, parts: parts(change.values()), ended });
            }
        }
        answer.hunks.push(Hunk { old: span(&old), new: span(&new), lines });
    }
    answer
}

/// As git counts: from 1, and 0 before an empty text.
fn span(range: &std::ops::Range<usize>) -> (usize, usize) {
    (if range.is_empty() { range.start } else { range.start + 1 }, range.len())
}

fn parts(values: &[(bool, &str)]) -> Vec<(bool, String)> {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for (marked, value) in values {
        let text = value.strip_suffix('\n').unwrap_or(value);
        match parts.last_mut() {
            Some(last) if last.0 == *marked => last.1.push_str(text),
            _ if text.is_empty() => {}
            _ => parts.push((*marked, text.to_owned())),
        }
    }
    parts
}

/// The pairs of lines that are the same in both texts, by their numbers from 0.
#[must_use]
pub fn same_lines(old: &str, new: &str) -> Vec<(usize, usize)> {
    let (old, new) = (split(old), split(new));
    let diff = compare(&old, &new);
    let mut pairs = Vec::new();
    for op in diff.ops() {
        if let DiffOp::Equal { old_index, new_index, len } = *op {
            pairs.extend((old_index..old_index + len).zip(new_index..new_index + len));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        fn with_all_context_both_texts_can_be_read_back(old in "[ab \r\n]{0,12}", new in "[ab \r\n]{0,12}") {
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
}
