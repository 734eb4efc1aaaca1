//! The lines of `log --graph`: a column for each line of development, as git draws them.

use crate::git::Oid;

/// Draws commits. No parent may be drawn before its child.
#[derive(Default)]
pub(super) struct Graph {
    /// The commit that each column leads to.
    columns: Vec<Oid>,
}

impl Graph {
    /// The width of the drawing to the left of the next commit.
    pub(super) fn width(&self, commit: Oid, parents: usize) -> usize {
        2 * (self.columns.len() + usize::from(!self.columns.contains(&commit)) + parents.saturating_sub(1))
    }

    /// The lines of a commit with the drawing before them, and the lines that join columns.
    pub(super) fn draw(&mut self, commit: Oid, parents: &[Oid], text: &str) -> Vec<String> {
        let width = self.width(commit, parents.len());
        let at = self.columns.iter().position(|column| *column == commit).unwrap_or_else(|| {
            self.columns.push(commit);
            self.columns.len() - 1
        });
        let mut node = vec!['|'; self.columns.len()];
        node[at] = '*';
        let mut drawn = vec![row(&node)];
        self.lead_on(at, parents, &mut drawn);
        let straight = row(&vec!['|'; self.columns.len()]);
        let mut drawn = drawn.into_iter();
        let beside = |line: &str| {
            let drawn = drawn.next().unwrap_or_else(|| straight.clone());
            format!("{drawn:<width$}{line}").trim_end().to_owned()
        };
        let mut lines: Vec<String> = text.lines().map(beside).collect();
        lines.extend(drawn);
        lines
    }

    /// Replaces a commit by its parents, and joins the columns that lead to the same commit.
    fn lead_on(&mut self, at: usize, parents: &[Oid], drawn: &mut Vec<String>) {
        let Some((first, others)) = parents.split_first() else {
            self.columns.remove(at);
            if at < self.columns.len() {
                drawn.push(joined(at, at, self.columns.len(), ' '));
            }
            return;
        };
        self.columns[at] = *first;
        for parent in others {
            self.columns.insert(at + 1, *parent);
            let left = row(&vec!['|'; at + 1]);
            drawn.push(left + "\\ ".repeat(self.columns.len() - at - 1).trim_end());
        }
        while let Some((left, right)) = self.twins() {
            self.columns.remove(right);
            drawn.push(joined(left, right, self.columns.len(), '|'));
        }
    }

    /// The first two columns that lead to the same commit.
    fn twins(&self) -> Option<(usize, usize)> {
        let first = |right: usize| self.columns[..right].iter().position(|column| *column == self.columns[right]);
        (1..self.columns.len()).find_map(|right| Some((first(right)?, right)))
    }
}

/// Columns without a space after the last.
fn row(columns: &[char]) -> String {
    columns.iter().map(char::to_string).collect::<Vec<_>>().join(" ")
}

/// The line on which the column `right` turns to the column `left`, and the ones after it move to the left, so that `count` are left.
fn joined(left: usize, right: usize, count: usize, at_left: char) -> String {
    let mut line: Vec<char> = vec![' '; 2 * count + 2];
    for column in 0..right {
        line[2 * column] = '|';
    }
    if left == right {
        // The column ended.
        line[2 * left] = at_left;
    } else {
        for column in left..right {
            line[2 * column + 1] = '_';
        }
        line[2 * right - 1] = '/';
    }
    for column in right..count {
        line[2 * column + 1] = '/';
    }
    line.iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
#[path = "../../../../../tests/unit/log_graph.rs"]
mod tests;
