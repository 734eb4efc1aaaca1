//! A summary without a model: counts of tool calls, and the subjects of the other items.
//!
//! ```text
//! Summary by rule: 40 items, 7 lines omitted
//! called grep 10 times, 5 failures; paths: src/lib.rs, src/main.rs
//! #12 dialogue user: Where is the limit set?
//! ```

use super::allowance::{Allowance, MIN_SUMMARY};
use super::material::Material;
use crate::tokens::Counter;
use crate::tokens::framing::message_cost;

/// How every summary by rule begins.
pub(crate) const START: &str = "Summary by rule: ";
const COUNTS: &str = "called ";

/// The lines of a summary by rule that are not counts.
pub(super) fn lines_of(text: &str) -> Option<impl Iterator<Item = &str>> {
    let lines = text.strip_prefix(START)?.lines().skip(1);
    Some(lines.filter(|line| !line.starts_with(COUNTS)))
}

/// Lists as much as the allowance admits: the tools that were called most, then what the user said, then the rest; newest first.
pub(crate) fn by_rule(material: &Material, allowance: Allowance, counter: Counter) -> Vec<u8> {
    let count = |text: &str| counter.count(text.as_bytes());
    let max = allowance.asked.max(MIN_SUMMARY);
    let tools = material.tools.lines();
    let lines: Vec<&str> =
        tools.iter().map(String::as_str).chain(material.lines.iter().map(|line| line.text.as_str())).collect();
    let subjects =
        || material.lines.iter().enumerate().rev().map(|(index, line)| (tools.len() + index, line.is_of_user));
    let of_user = |wanted| subjects().filter(move |(_, is_of_user)| *is_of_user == wanted).map(|(index, _)| index);
    let mut kept: Vec<usize> = Vec::new();
    let mut left = max.saturating_sub(message_cost(count(&head(material.count, lines.len())), false));
    for index in (0..tools.len()).chain(of_user(true)).chain(of_user(false)) {
        // The sum over the lines is at least the count of the text, because no token has both a line break and a letter.
        let Some(rest) = left.checked_sub(count(lines[index]) + 1) else { continue };
        left = rest;
        kept.push(index);
    }
    loop {
        let mut shown = kept.clone();
        shown.sort_unstable();
        let mut text = head(material.count, lines.len() - shown.len());
        for index in shown {
            text.push('\n');
            text.push_str(lines[index]);
        }
        if message_cost(count(&text), false) <= max || kept.pop().is_none() {
            return text.into_bytes();
        }
    }
}

fn head(items: usize, omitted: usize) -> String {
    match omitted {
        0 => format!("{START}{items} items"),
        _ => format!("{START}{items} items, {omitted} lines omitted"),
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/trace/rule.rs"]
mod tests;
