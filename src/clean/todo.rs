//! A plan as a list in an editor, one line per item, like that of `git rebase -i`.
//!
//! ```text
//! cut  3fa9c1d2  4812  edited-reads  Read src/app.go 1-200
//! keep 77b0e1aa  2210  -             Read src/main.go
//! ```
//!
//! A line that is removed keeps its item.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;

use super::plan::{Action, Plan, Row};
use crate::base::error::Diagnostic;
use crate::trace::ItemId;
use crate::trace::model::trailers::one_line;

/// Smaller items are listed only if they are selected.
const MIN: u64 = 100;
/// The fewest digits that name an item.
const MIN_ID: usize = 4;
/// The longest target, in characters.
const MAX_TARGET: usize = 60;

const HELP: &str = "\
#
# cut:    put a stub in place of the content; of a call, of its long arguments
# trim:   keep the first and the last lines
# delete: delete thinking, or a call with its results
# keep:   change nothing
# summarize: put one summary in place of the item and of those next to it that are marked too
#
# The newest items are last. A removed line keeps its item. If the list is empty, nothing is done.
";

/// Why a list is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum BadTodo {
    #[error("line {line}: unknown action `{}`: expected one of {}", word.escape_debug(), Action::VALUES.join(", "))]
    Action { line: usize, word: String },
    #[error("line {line}: no item of the list has the id `{}`", id.escape_debug())]
    Item { line: usize, id: String },
    #[error("line {line}: item {item} is listed twice")]
    Twice { line: usize, item: ItemId },
    #[error("line {line}: item {item} cannot be {}", past(*action))]
    Impossible { line: usize, item: ItemId, action: Action },
}

impl Diagnostic for BadTodo {
    fn hint(&self) -> Option<String> {
        Some("nothing was changed; run the command again".to_owned())
    }
}

fn past(action: Action) -> &'static str {
    match action {
        Action::Cut => "cut, or that saves nothing",
        Action::Trim => "trimmed, or that saves nothing",
        Action::Delete => "deleted",
        Action::Summarize => "summarized",
        Action::Keep => "kept",
    }
}

impl Plan {
    /// The list, with a comment that explains it.
    pub(crate) fn todo(&self) -> String {
        let rows: Vec<&Row> = self.listed().map(|index| &self.rows[index]).collect();
        let width = rows.iter().map(|row| row.entry.tokens.to_string().len()).max().unwrap_or(0);
        // The most usual actions have six letters at most.
        let verb = rows.iter().map(|row| row.action.as_str().len()).max().unwrap_or(0).max(6);
        let mut list = String::new();
        for row in rows {
            let preset = row.preset.map_or("-", |preset| preset.as_str());
            let entry = &row.entry;
            let kind = entry.tool().unwrap_or_else(|| entry.slot.item_type.as_str());
            let target: String = one_line(&entry.target()).chars().take(MAX_TARGET).collect();
            let (action, id) = (row.action, entry.slot.id.short());
            let line =
                format!("{action:<verb$} {id}  {:>width$}  {preset:<13}  {} {target}", entry.tokens, one_line(kind));
            list.push_str(line.trim_end());
            list.push('\n');
        }
        list + HELP
    }

    /// Marks the rows as the list says. Returns whether the list has a line.
    pub(crate) fn follow(&mut self, list: &str) -> Result<bool, BadTodo> {
        let mut wanted: HashMap<usize, (usize, Action)> = HashMap::new();
        let listed: Vec<usize> = self.listed().collect();
        let id_of = |index: &usize| self.rows[*index].entry.slot.id.to_string();
        let by_id: BTreeMap<String, usize> = listed.iter().map(|index| (id_of(index), *index)).collect();
        for (number, text) in list.lines().enumerate() {
            let (line, mut words) = (number + 1, text.split_whitespace());
            let Some(word) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let Ok(action) = word.parse() else { return Err(BadTodo::Action { line, word: word.to_owned() }) };
            let id = words.next().unwrap_or_default();
            let mut found = by_id.range(id.to_owned()..).take_while(|(other, _)| other.starts_with(id));
            let (Some((_, index)), None) = (found.next().filter(|_| id.len() >= MIN_ID), found.next()) else {
                return Err(BadTodo::Item { line, id: id.to_owned() });
            };
            if wanted.insert(*index, (line, action)).is_some() {
                return Err(BadTodo::Twice { line, item: self.rows[*index].entry.slot.id });
            }
        }
        let is_empty = wanted.is_empty();
        let mut wanted: Vec<(usize, usize, Action)> = listed
            .into_iter()
            .map(|index| wanted.remove(&index).map_or((index, 0, Action::Keep), |(line, action)| (index, line, action)))
            .collect();
        // A deletion takes the other half of the pair with it, also if that half is to be kept.
        wanted.sort_by_key(|(.., action)| action.takes_pair());
        for (index, line, action) in wanted {
            if self.rows[index].action != action && !self.mark(index, action) {
                return Err(BadTodo::Impossible { line, item: self.rows[index].entry.slot.id, action });
            }
        }
        Ok(!is_empty)
    }

    /// The indexes of the rows in the list.
    fn listed(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|index| {
            let row = &self.rows[*index];
            let may_change = [Action::Cut, Action::Delete].iter().any(|action| self.allows(*index, *action));
            row.action != Action::Keep || (row.entry.tokens >= MIN && may_change)
        })
    }
}
