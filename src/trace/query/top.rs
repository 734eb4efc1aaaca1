//! What fills the context: its heaviest items, or groups of items.
//!
//! Tokens are counted. They include those of each item's message, so the shares of all items add up to the total. Items that are
//! left out of the context are not listed.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::size::ContextSize;
use crate::base::string_enum::string_enum;
use crate::git::Repo;
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::item::Direction;
use crate::trace::model::trailers::first_words;
use crate::trace::query::show::about;
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::store::turns::{Turns, is_prompt};
use crate::trace::{Item, ItemEntry, TraceError, TraceName, View};

/// The arguments that say most about a call, the most informative first.
const INFORMATIVE: [&str; 6] = ["command", "pattern", "query", "url", "prompt", "description"];

string_enum! {
    /// What each row of the list is.
    By("unit") {
        Item = "item",
        /// A prompt of the user and everything up to the next.
        Turn = "turn",
        /// The calls and results of a tool.
        Tool = "tool",
        /// The calls and results that concern a file, and artifacts.
        Path = "path",
        /// The items of a type.
        Type = "type",
    }
}

#[derive(Debug)]
pub(crate) struct Top {
    pub by: By,
    /// The tokens of the complete context.
    pub total: u64,
    /// The heaviest first; of equal rows, the one that begins earlier.
    pub rows: Vec<Row>,
}

/// An item, or a group of items. A group has only the label that it is grouped by.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub tokens: u64,
    pub items: usize,
    pub item: Option<ItemEntry>,
    /// The number of steps after that of the item.
    pub age: Option<usize>,
    pub turn: Option<usize>,
    pub item_type: Option<String>,
    /// Whether the item is a call or a result.
    pub direction: Option<&'static str>,
    pub tool: Option<String>,
    pub path: Option<String>,
    /// The first words of the item, or of the prompt of a turn.
    pub text: String,
}

/// Lists the items, or groups of items. Reads every live item.
pub(crate) fn top(repo: &Repo, view: &View, counter: Counter, by: By) -> Result<Top, TraceError> {
    let (mut turns, mut calls, mut prompts) = (Turns::default(), Calls::default(), HashMap::new());
    let (mut rows, mut first_of_row, mut row_of) = (Vec::<Row>::new(), Vec::new(), HashMap::new());
    let mut total = PER_REPLY;
    view.for_each_item(repo, |slot, reading| {
        let (item, is_left_out) = (&reading.item, view.left_out(slot).is_some());
        let index = turns.add(item, is_left_out);
        if is_left_out {
            return Ok(());
        }
        let (place, tokens) = (turns.place(index), item_cost(item, counter));
        total += tokens;
        if is_prompt(item) {
            prompts.entry(place.turn).or_insert_with(|| first_words(&item.body));
        }
        let (tool, path) = calls.tool_and_path(item, place.call);
        let mut row = Row::default();
        match by {
            By::Item => {
                let direction = item.fields.direction.map(Direction::as_str);
                let (item, text) = (Some(slot.clone()), words(item));
                row = Row { item, turn: Some(place.turn), direction, tool, path, text, ..row };
                row.item_type = Some(slot.item_type.to_string());
            }
            By::Turn => row.turn = Some(place.turn),
            By::Tool => row.tool = tool,
            By::Path => row.path = path,
            By::Type => row.item_type = Some(slot.item_type.to_string()),
        }
        let key = match by {
            By::Item => Some(slot.id.to_string()),
            By::Turn => row.turn.map(|turn| turn.to_string()),
            By::Tool => row.tool.clone(),
            By::Path => row.path.clone(),
            By::Type => row.item_type.clone(),
        };
        if let Some(key) = key {
            let number = *row_of.entry(key).or_insert_with(|| {
                rows.push(row);
                first_of_row.push(index);
                rows.len() - 1
            });
            rows[number].tokens += tokens;
            rows[number].items += 1;
        }
        Ok(())
    })?;
    for (row, index) in rows.iter_mut().zip(first_of_row) {
        row.age = row.item.as_ref().map(|_| turns.age(index));
        if by == By::Turn {
            row.text = row.turn.and_then(|turn| prompts.remove(&turn)).unwrap_or_default();
        }
    }
    rows.sort_by_key(|row| Reverse(row.tokens));
    Ok(Top { by, total, rows })
}

/// The tool and the path of each call, which its results share.
#[derive(Default)]
struct Calls(HashMap<usize, (Option<String>, Option<String>)>);

impl Calls {
    fn tool_and_path(&mut self, item: &Item, call: Option<usize>) -> (Option<String>, Option<String>) {
        let path = item.path_or_argument();
        let Some(call) = call else { return (None, path) };
        let own = (item.fields.name.clone(), path);
        let (tool, path) = self.0.entry(call).or_insert_with(|| own.clone());
        (own.0.or_else(|| tool.clone()), own.1.or_else(|| path.clone()))
    }
}

/// The first words of an item, or of the most informative argument of a call. The path of a call is listed apart.
fn words(item: &Item) -> String {
    let arguments = || serde_json::from_slice::<Map<String, Value>>(&item.body).ok();
    let Some(arguments) = arguments().filter(|_| item.fields.is_call()) else { return first_words(&item.body) };
    match INFORMATIVE.iter().find_map(|name| arguments.get(*name)?.as_str()) {
        Some(text) => first_words(text.as_bytes()),
        None if item.path_or_argument().is_some() => String::new(),
        None => first_words(&item.body),
    }
}

/// The tokens of a row as a percentage of the window, to a tenth, if the window is known.
pub(crate) fn window_percent(size: &ContextSize, row: &Row) -> Option<f64> {
    Some(tenths(row.tokens, size.window.as_ref()?.tokens))
}

fn tenths(part: u64, total: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a tenth of a percent is shown")]
    let percent = part as f64 * 100.0 / total as f64;
    (percent * 10.0).round() / 10.0
}

impl Top {
    /// The tokens of a row as a percentage of the total, to a tenth.
    pub(crate) fn percent(&self, row: &Row) -> f64 {
        tenths(row.tokens, self.total)
    }

    /// The first `rows` as JSON. Labels that a row does not have are omitted, and what depends on the window if it is not known.
    pub(crate) fn to_json(
        &self,
        repo: &Repo,
        view: &View,
        name: &TraceName,
        (size, counter): (&ContextSize, Counter),
        rows: usize,
    ) -> Result<Value, TraceError> {
        let rows = self.rows.iter().take(rows).map(|row| self.row_to_json(repo, view, (size, counter), row));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut object = json!({ "trace": name.as_str(), "by": self.by.as_str(), "tokens": self.total,
            "encoding": size.counter.to_string(), "rows": rows });
        if let Some(window) = &size.window {
            object["window"] = window.tokens.into();
            object["window_percent"] = size.percent(size.size.tokens).into();
        }
        Ok(object)
    }

    fn row_to_json(
        &self,
        repo: &Repo,
        view: &View,
        (size, counter): (&ContextSize, Counter),
        row: &Row,
    ) -> Result<Value, TraceError> {
        let mut object = Map::new();
        if let Some(slot) = &row.item {
            object = about(slot, &read_item(repo, slot)?, view.level(slot).level(), counter);
            // The answer has the encoding of all rows.
            object.remove("encoding");
        }
        let mut put = |key: &str, value: Option<Value>| object.extend(value.map(|value| (key.to_owned(), value)));
        put("tokens", Some(row.tokens.into()));
        put("percent", Some(self.percent(row).into()));
        put("window_percent", window_percent(size, row).map(Value::from));
        put("items", row.item.is_none().then_some(row.items.into()));
        put("turn", row.turn.map(Value::from));
        put("age", row.age.map(Value::from));
        put("type", row.item_type.clone().map(Value::from));
        put("direction", row.direction.map(Value::from));
        put("tool", row.tool.clone().map(Value::from));
        put("path", row.path.clone().map(Value::from));
        put("text", Some(row.text.clone().into()).filter(|_| matches!(self.by, By::Item | By::Turn)));
        Ok(Value::Object(object))
    }
}
