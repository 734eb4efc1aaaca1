//! Three texts, part by part: what is left where a format has nothing more to say.

use crate::base::changes::{Change, lines, of_lines};

/// Cuts three texts (base, ours, theirs) into parts that belong to one another, in order. In each part at least two texts are
/// the same, or all three differ, which is a conflict. Changes of the two sides that touch are one part, as in git.
pub(crate) fn parts<'t>(base: &'t str, ours: &'t str, theirs: &'t str) -> Vec<[&'t str; 3]> {
    let [base_lines, our_lines, their_lines] = [base, ours, theirs].map(lines);
    let changes = [of_lines(&base_lines, &our_lines), of_lines(&base_lines, &their_lines)];
    let mut sides = changes.each_ref().map(|changes| Side { changes, ahead: 0 });
    let mut texts = [(base, &base_lines), (ours, &our_lines), (theirs, &their_lines)].map(Cut::new);
    let mut parts = Vec::new();
    let next = |sides: &[Side<'_>; 2]| sides.iter().filter_map(Side::next).min();
    while let Some(start) = next(&sides) {
        parts.push(cut(&mut texts, start, &sides));
        let mut end = start;
        // What reaches further may touch a change of the other side.
        while next(&sides).is_some_and(|next| next <= end) {
            for side in &mut sides {
                end = side.pass(end);
            }
        }
        parts.push(cut(&mut texts, end, &sides));
    }
    parts.push(cut(&mut texts, base_lines.len(), &sides));
    parts
}

fn cut<'t>(texts: &mut [Cut<'t, '_>; 3], base_line: usize, sides: &[Side<'_>; 2]) -> [&'t str; 3] {
    let [base, ours, theirs] = texts;
    [base.until(base_line), ours.until(sides[0].line(base_line)), theirs.until(sides[1].line(base_line))]
}

/// What one side changed, from the first change that was not passed.
struct Side<'c> {
    changes: &'c [Change],
    /// By how many lines it is ahead of the base behind the last change that was passed.
    ahead: isize,
}

impl Side<'_> {
    /// The line of the base at which the next change begins.
    fn next(&self) -> Option<usize> {
        self.changes.first().map(|change| change.old.start)
    }

    /// Passes the changes that begin at a line of the base or before it; the line to which that reaches.
    fn pass(&mut self, mut end: usize) -> usize {
        while let [change, rest @ ..] = self.changes
            && change.old.start <= end
        {
            end = end.max(change.old.end);
            self.ahead = change.new.end.cast_signed() - change.old.end.cast_signed();
            self.changes = rest;
        }
        end
    }

    /// The line that stands where the base has this one.
    fn line(&self, base_line: usize) -> usize {
        base_line.saturating_add_signed(self.ahead)
    }
}

/// A text that is cut from its start.
struct Cut<'t, 'l> {
    rest: &'t str,
    lines: &'l [&'t str],
    at: usize,
}

impl<'t, 'l> Cut<'t, 'l> {
    fn new((text, lines): (&'t str, &'l Vec<&'t str>)) -> Self {
        Self { rest: text, lines, at: 0 }
    }

    /// Cuts off what is before a line.
    fn until(&mut self, line: usize) -> &'t str {
        let len = self.lines[self.at..line].iter().map(|line| line.len()).sum();
        self.at = line;
        let (part, rest) = self.rest.split_at(len);
        self.rest = rest;
        part
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changes_apart_are_parts_and_changes_that_touch_are_one() {
        let base = "a\nb\nc\nd\ne\n";
        let differing = |ours, theirs| -> Vec<[&str; 3]> {
            parts(base, ours, theirs)
                .into_iter()
                .filter(|[base, ours, theirs]| base != ours || base != theirs)
                .collect()
        };
        assert_eq!(differing("A\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n"), [["a\n", "A\n", "a\n"], ["c\n", "c\n", "C\n"]]);
        assert_eq!(differing("a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n"), [["b\nc\n", "B\nc\n", "b\nC\n"]]);
        assert_eq!(differing("a\nb\nc\nd\nmine\ne\n", "a\nb\nc\nd\nyours\ne\n"), [["", "mine\n", "yours\n"]]);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_texts_from_either_side_and_one_change_alone_is_no_conflict(
            texts in proptest::array::uniform3("([abc]\n){0,8}[ab]?"),
        ) {
            let [base, ours, theirs] = texts.each_ref().map(String::as_str);
            let parts = parts(base, ours, theirs);
            for (at, text) in texts.iter().enumerate() {
                prop_assert_eq!(&parts.iter().map(|part| part[at]).collect::<String>(), text);
            }
            let conflict = |[base, ours, theirs]: &[&str; 3]| base != ours && base != theirs && ours != theirs;
            let mirrored = super::parts(base, theirs, ours);
            prop_assert_eq!(mirrored.into_iter().map(|[base, theirs, ours]| [base, ours, theirs]).collect::<Vec<_>>(), parts.clone());
            if base == ours || base == theirs || ours == theirs {
                prop_assert!(!parts.iter().any(conflict));
            }
        }
    }
}
