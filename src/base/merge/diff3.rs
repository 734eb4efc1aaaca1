//! Cutting three texts into aligned chunks, as diff3 does. Formats merge by these where they know no better unit.

use crate::base::changes::{Change, lines, of_lines};

/// Cuts base, ours, and theirs into chunks that correspond to one another, in order.
///
/// In each chunk at least two texts are equal, or all three differ, which is a conflict. Changes of the two sides that touch
/// are in one chunk, as in git.
pub(crate) fn chunks<'t>(base: &'t str, ours: &'t str, theirs: &'t str) -> Vec<[&'t str; 3]> {
    let [base_lines, our_lines, their_lines] = [base, ours, theirs].map(lines);
    let changes = [of_lines(&base_lines, &our_lines), of_lines(&base_lines, &their_lines)];
    let mut sides = changes.each_ref().map(|changes| PendingChanges { changes, shift: 0 });
    let mut texts = [(base, &base_lines), (ours, &our_lines), (theirs, &their_lines)].map(Cursor::new);
    let mut chunks = Vec::new();
    let next_start = |sides: &[PendingChanges<'_>; 2]| sides.iter().filter_map(PendingChanges::next_start).min();
    while let Some(start) = next_start(&sides) {
        chunks.push(take_until(&mut texts, start, &sides));
        let mut end = start;
        // Each change that is included may extend the chunk, and then touch a change of the other side.
        while next_start(&sides).is_some_and(|next| next <= end) {
            for side in &mut sides {
                end = side.skip_starting_by(end);
            }
        }
        chunks.push(take_until(&mut texts, end, &sides));
    }
    chunks.push(take_until(&mut texts, base_lines.len(), &sides));
    chunks
}

fn take_until<'t>(texts: &mut [Cursor<'t, '_>; 3], base_line: usize, sides: &[PendingChanges<'_>; 2]) -> [&'t str; 3] {
    let [base, ours, theirs] = texts;
    let [our_line, their_line] = sides.each_ref().map(|side| base_line.saturating_add_signed(side.shift));
    [base.take_until(base_line), ours.take_until(our_line), theirs.take_until(their_line)]
}

/// The changes of one side that are not in a chunk yet.
struct PendingChanges<'c> {
    changes: &'c [Change],
    /// Line number in this side minus line number in the base, after the changes that are already in chunks.
    shift: isize,
}

impl PendingChanges<'_> {
    fn next_start(&self) -> Option<usize> {
        self.changes.first().map(|change| change.old.start)
    }

    /// Skips the changes that begin at or before line `end` of the base; returns the line that they reach.
    fn skip_starting_by(&mut self, mut end: usize) -> usize {
        while let [change, rest @ ..] = self.changes
            && change.old.start <= end
        {
            end = end.max(change.old.end);
            self.shift = change.new.end.cast_signed() - change.old.end.cast_signed();
            self.changes = rest;
        }
        end
    }
}

/// A text that is cut up from its start.
struct Cursor<'t, 'l> {
    rest: &'t str,
    lines: &'l [&'t str],
    line: usize,
}

impl<'t, 'l> Cursor<'t, 'l> {
    fn new((text, lines): (&'t str, &'l Vec<&'t str>)) -> Self {
        Self { rest: text, lines, line: 0 }
    }

    fn take_until(&mut self, line: usize) -> &'t str {
        let len = self.lines[self.line..line].iter().map(|line| line.len()).sum();
        self.line = line;
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/base/merge/diff3.rs"]
mod tests;
