//! The hooks in the text of an agent's settings.

use serde_json::{Map, Value};

use crate::app::install::json_text::{JsonText, Position};

/// The events that have hooks. Comments are refused: agents do not read them.
fn events(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let mut settings: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("it is not a JSON object: {error}"))?;
    match settings.remove("hooks") {
        None => Ok(Map::new()),
        Some(Value::Object(events)) => Ok(events),
        Some(_) => Err("`hooks` is not a JSON object".to_owned()),
    }
}

fn groups<'e>(events: &'e Map<String, Value>, event: &str) -> Result<&'e [Value], String> {
    match events.get(event) {
        None => Ok(&[]),
        Some(Value::Array(groups)) => Ok(groups),
        Some(_) => Err(format!("`hooks.{event}` is not a list")),
    }
}

/// The hooks of an entry in the list of an event, which some agents group.
fn hooks(entry: &Value) -> &[Value] {
    entry["hooks"].as_array().map_or(std::slice::from_ref(entry), Vec::as_slice)
}

fn command(hook: &Value) -> Option<&str> {
    hook["command"].as_str().or_else(|| hook["bash"].as_str())
}

pub(crate) fn commands(text: &str, event: &str) -> Result<Vec<String>, String> {
    let events = events(text)?;
    let commands = groups(&events, event)?.iter().flat_map(hooks).filter_map(command);
    Ok(commands.map(str::to_owned).collect())
}

/// The text with an entry at the end of the list of an event.
pub(crate) fn with(text: &str, event: &str, entry: &str) -> Result<String, String> {
    groups(&events(text)?, event)?;
    let member = format!("\"{event}\": [\n      {entry}\n    ]");
    let settings = JsonText::new(text);
    let text = settings.with(&["hooks", event], Position::Last, entry, 6);
    let text = text.or_else(|| settings.with(&["hooks"], Position::Last, &member, 4));
    let text = text.or_else(|| settings.with(&[], Position::Last, &format!("\"hooks\": {{\n    {member}\n  }}"), 2));
    text.ok_or_else(|| "the hooks cannot be added".to_owned())
}

/// More commands of git-trace than `install` ever wrote.
const MAX_OWN: usize = 100;

/// The text without the commands that `is_ours` accepts, of one event or of all. Parts that become empty are removed too.
pub(crate) fn without(text: &str, event: Option<&str>, is_ours: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let mut text = text.to_owned();
    // Each removal reads the text again.
    for _ in 0..MAX_OWN {
        match without_one(&text, event, is_ours)? {
            Some(next) => text = next,
            None => return Ok(text),
        }
    }
    Err(format!("it has more than {MAX_OWN} commands of git-trace; remove them by hand"))
}

fn without_one(text: &str, only: Option<&str>, is_ours: &dyn Fn(&str) -> bool) -> Result<Option<String>, String> {
    let events = events(text)?;
    for event in events.keys().filter(|event| only.is_none_or(|only| only == event.as_str())) {
        let groups = groups(&events, event)?;
        for (number, group) in groups.iter().enumerate() {
            let is_our_hook = |hook: &Value| command(hook).is_some_and(is_ours);
            let Some(hook) = hooks(group).iter().position(is_our_hook) else { continue };
            let (number, hook) = (number.to_string(), hook.to_string());
            let path = ["hooks", event, &number, "hooks", &hook];
            // The largest part that contains nothing else.
            let len = match (hooks(group).len(), groups.len(), events.len()) {
                (2.., ..) => 5,
                (_, 2.., _) => 3,
                (_, _, 2..) => 2,
                _ => 1,
            };
            return Ok(JsonText::new(text).without(&path[..len]));
        }
    }
    Ok(None)
}
