//! How the command line and the MCP server answer a search.

use serde_json::{Value, json};

use crate::base::escape::shell_word;
use crate::memory::recall::{Entry, Hit};
use crate::trace::Time;
use crate::trace::model::trailers::one_line;

/// The command that prints the complete entry.
pub(crate) fn command(entry: &Entry) -> String {
    entry.command().iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

pub(crate) fn label(entry: &Entry) -> String {
    one_line(&entry.label())
}

pub(crate) fn to_json(hit: &Hit) -> Value {
    let entry = &hit.entry;
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    json!({
        "kind": entry.kind.as_str(),
        "place": entry.place,
        "id": given(&entry.id),
        "agent": given(&entry.agent),
        "key": given(&entry.key),
        "section": given(&entry.section),
        "time": entry.time.map(|time| Time::from_second(time).to_string()),
        "score": (f64::from(hit.score) * 1000.0).round() / 1000.0,
        "snippet": hit.snippet.text,
        "command": command(entry),
    })
}
