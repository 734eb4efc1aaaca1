//! The lines of the list: turns, and the items of those that are open.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::clean::{Action, Plan};

/// The order of turns, and of the items in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Reading,
    /// The most tokens first.
    Tokens,
    /// The newest first.
    Age,
}

impl Order {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Reading => Self::Tokens,
            Self::Tokens => Self::Age,
            Self::Age => Self::Reading,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reading => "in order",
            Self::Tokens => "most tokens first",
            Self::Age => "newest first",
        }
    }
}

/// A line: a turn or a row of the plan, by index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    Turn(usize),
    Item(usize),
}

/// A turn: the rows from a prompt up to the next.
#[derive(Debug)]
pub(super) struct Turn {
    pub number: usize,
    pub rows: Range<usize>,
    pub tokens: u64,
}

/// The turns of a plan, in reading order.
pub(super) fn turns(plan: &Plan) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, row) in plan.rows.iter().enumerate() {
        let (number, tokens) = (row.entry.place.turn, row.entry.tokens);
        match turns.last_mut().filter(|turn| turn.number == number) {
            Some(turn) => {
                turn.rows.end = index + 1;
                turn.tokens += tokens;
            }
            None => turns.push(Turn { number, rows: index..index + 1, tokens }),
        }
    }
    turns
}

/// The lines in an order.
pub(super) fn lines(plan: &Plan, turns: &[Turn], open: &BTreeSet<usize>, order: Order) -> Vec<Line> {
    let sorted = |mut indexes: Vec<usize>, tokens: &dyn Fn(usize) -> u64| {
        match order {
            Order::Reading => {}
            Order::Tokens => indexes.sort_by_key(|index| Reverse(tokens(*index))),
            Order::Age => indexes.reverse(),
        }
        indexes
    };
    let mut lines = Vec::new();
    for turn in sorted((0..turns.len()).collect(), &|turn| turns[turn].tokens) {
        lines.push(Line::Turn(turn));
        if open.contains(&turn) {
            let rows = sorted(turns[turn].rows.clone().collect(), &|row| plan.rows[row].entry.tokens);
            lines.extend(rows.into_iter().map(Line::Item));
        }
    }
    lines
}

/// What `space` does to a row that is kept: the first of these that is possible.
pub(super) fn usual_cut(plan: &Plan, row: usize) -> Option<Action> {
    [Action::Cut, Action::Delete].into_iter().find(|action| plan.allows(row, *action))
}
