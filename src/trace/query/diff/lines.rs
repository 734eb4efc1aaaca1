//! Differences of texts by line, with marks on the words that differ.

use std::ops::Range;

use crate::base::changes::{self, Change};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Kept,
    Removed,
    Added,
}

impl Fate {
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub fate: Fate,
    /// Its text without the line end, in parts; `true` marks words that differ from the line on the other side.
    pub parts: Vec<(bool, String)>,
    pub ended: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hunk {
    /// The number of the first line in the old text, from 1, and the number of lines.
    pub old: (usize, usize),
    pub new: (usize, usize),
    pub lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LineDiff {
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
    /// Whether exactly one text ends in a line end. Messages usually have none on both sides.
    pub ends_differ: bool,
}

/// Compares two texts and keeps `context` lines around each change.
pub(crate) fn diff(old: &str, new: &str, context: usize) -> LineDiff {
    let both = !old.is_empty() && !new.is_empty();
    let ends_differ = both && old.ends_with('\n') != new.ends_with('\n');
    let (old, new) = (changes::lines(old), changes::lines(new));
    let changes = changes::of_lines(&old, &new);
    let mut answer = LineDiff { ends_differ, ..LineDiff::default() };
    let near = |one: &Change, next: &Change| next.old.start - one.old.end <= context.saturating_mul(2);
    for group in changes.chunk_by(near) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = context.min(first.old.start);
        let after = context.min(old.len() - last.old.end);
        let mut lines = Vec::new();
        let mut at = first.old.start - before;
        for change in group {
            lines.extend(old[at..change.old.start].iter().map(|line| kept(line)));
            push_change(&mut lines, &old[change.old.clone()], &new[change.new.clone()]);
            answer.removed += change.old.len();
            answer.added += change.new.len();
            at = change.old.end;
        }
        lines.extend(old[at..at + after].iter().map(|line| kept(line)));
        answer.hunks.push(Hunk {
            old: span(first.old.start - before..last.old.end + after),
            new: span(first.new.start - before..last.new.end + after),
            lines,
        });
    }
    answer
}

fn kept(text: &str) -> Line {
    line(Fate::Kept, text, [(false, text)])
}

fn line<'t>(fate: Fate, text: &str, words: impl IntoIterator<Item = (bool, &'t str)>) -> Line {
    Line { fate, parts: parts(words), ended: text.ends_with('\n') }
}

/// Adds removed lines and the lines that replace them. No words are marked if less than half of them are unchanged.
fn push_change(lines: &mut Vec<Line>, old: &[&str], new: &[&str]) {
    let [old_words, new_words] = [old, new].map(|lines| lines.iter().flat_map(|line| words(line)).collect::<Vec<_>>());
    let mut changes = changes::of_words(&old_words, &new_words).unwrap_or_default();
    let count = |words: &[&str]| words.iter().filter(|word| !is_space(word)).count();
    let (before, after) = (count(&old_words), count(&new_words));
    let went: usize = changes.iter().map(|change| count(&old_words[change.old.clone()])).sum();
    if 4 * (before - went) < before + after {
        changes.clear();
    }
    push_marked(lines, Fate::Removed, old, changes.iter().map(|change| change.old.clone()));
    push_marked(lines, Fate::Added, new, changes.iter().map(|change| change.new.clone()));
}

/// Adds the lines of one side, with marked words given by their numbers.
fn push_marked(lines: &mut Vec<Line>, fate: Fate, texts: &[&str], marks: impl Iterator<Item = Range<usize>>) {
    let mut marks = marks.flatten().peekable();
    let mut at = 0;
    for text in texts {
        let marked = words(text).map(|word| {
            at += 1;
            (marks.next_if_eq(&(at - 1)).is_some(), word)
        });
        lines.push(line(fate, text, marked));
    }
}

fn is_space(word: &str) -> bool {
    word.starts_with(char::is_whitespace)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest.chars().next()?;
        let space = is_space(rest);
        let len = rest.find(|char: char| char.is_whitespace() != space).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        rest = after;
        Some(word)
    })
}

/// Numbers lines as git does: from 1, and 0 before an empty text.
fn span(range: Range<usize>) -> (usize, usize) {
    (if range.is_empty() { range.start } else { range.start + 1 }, range.len())
}

fn parts<'t>(values: impl IntoIterator<Item = (bool, &'t str)>) -> Vec<(bool, String)> {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for (marked, value) in values {
        let text = value.strip_suffix('\n').unwrap_or(value);
        match parts.last_mut() {
            Some(last) if last.0 == marked => last.1.push_str(text),
            _ if text.is_empty() => {}
            _ => parts.push((marked, text.to_owned())),
        }
    }
    parts
}

/// The pairs of equal lines, by their numbers from 0.
pub(crate) fn same_lines(old: &str, new: &str) -> Vec<(usize, usize)> {
    let (old, new) = (changes::lines(old), changes::lines(new));
    let mut pairs = Vec::new();
    let mut same = (0, 0);
    for change in changes::of_lines(&old, &new) {
        pairs.extend((same.0..change.old.start).zip(same.1..));
        same = (change.old.end, change.new.end);
    }
    pairs.extend((same.0..old.len()).zip(same.1..));
    pairs
}
