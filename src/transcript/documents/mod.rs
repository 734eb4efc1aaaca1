//! Writes traces as documents for people, evaluators, and fine-tuning. No agent resumes from these.
//!
//! Each format has a file with one function, which gets the items that are not left out, each call with its results. A format that
//! cannot express something leaves it out; nothing is invented.

mod atif;
mod chat;
mod markdown;

use std::collections::HashMap;

use serde_json::json;
use serde_json::value::RawValue;

use crate::base::string_enum::string_enum;
use crate::git::Repo;
use crate::trace::model::calls::Calls;
use crate::trace::model::item::Role;
use crate::trace::model::types::own_role;
use crate::trace::store::total::Reading;
use crate::trace::{Item, TraceError, TraceName, View};

string_enum! {
    /// The format of a document.
    Document {
        Markdown = "markdown",
        Atif = "atif",
        Sharegpt = "sharegpt",
        Chatml = "chatml",
    }
}

/// An item, and the results of the call that it is.
pub(super) struct Entry {
    pub item: Item,
    pub results: Vec<Item>,
}

impl Document {
    /// Whether a document is one line, so that a file may contain several.
    pub(crate) fn is_line(self) -> bool {
        matches!(self, Self::Sharegpt | Self::Chatml)
    }

    /// The trace as a document; empty if it has nothing that the format can express.
    pub(crate) fn write(self, repo: &Repo, name: &TraceName, view: &View) -> Result<String, TraceError> {
        let mut items = Vec::new();
        view.for_each_item(repo, |slot, Reading { item, .. }| {
            items.extend(view.left_out(slot).is_none().then_some(item));
            Ok::<_, TraceError>(())
        })?;
        let entries = entries(items);
        if entries.is_empty() {
            return Ok(String::new());
        }
        Ok(match self {
            Self::Markdown => markdown::write(name, &entries),
            Self::Atif => atif::write(name, &entries),
            Self::Sharegpt => chat::sharegpt(&entries),
            Self::Chatml => chat::chatml(&entries),
        })
    }
}

/// The items in their order, each result with its call. A result without a call is a separate entry.
fn entries(items: Vec<Item>) -> Vec<Entry> {
    let mut calls = Calls::default();
    let mut place_of_call = HashMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for item in items {
        if let Some(number) = calls.number_of(&item) {
            match place_of_call.get(&number).filter(|_| item.fields.is_result()) {
                Some(place) => {
                    let entry: &mut Entry = &mut entries[*place];
                    entry.results.push(item);
                    continue;
                }
                None if item.fields.is_call() => _ = place_of_call.insert(number, entries.len()),
                None => {}
            }
        }
        entries.push(Entry { item, results: Vec::new() });
    }
    entries
}

/// Who a message is from. An item of the model has no other role.
fn role(item: &Item) -> Role {
    let said = own_role(&item.fields);
    let meta = || item.fields.meta.get("role")?.as_str()?.parse().ok();
    match item.fields.item_type.as_str() {
        "instruction" => Role::System,
        "reasoning" | "output" => Role::Assistant,
        "tool_io" if item.fields.is_call() => Role::Assistant,
        _ => said.or_else(meta).unwrap_or(Role::User),
    }
}

/// The name of the tool of a call or a result.
fn tool(item: &Item) -> &str {
    item.fields.name.as_deref().unwrap_or("unknown")
}

/// The arguments of a call as a JSON object, verbatim. Those that are no object are one argument.
fn arguments(call: &Item) -> Box<RawValue> {
    let own = serde_json::from_slice::<&RawValue>(&call.body).ok().filter(|own| own.get().starts_with('{'));
    let own = own.map_or_else(
        || json!({ "input": String::from_utf8_lossy(&call.body) }).to_string(),
        |own| own.get().to_owned(),
    );
    RawValue::from_string(own).expect("it is JSON")
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/documents.rs"]
mod tests;
