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

/// The groups of hooks of an event.
fn groups<'e>(events: &'e Map<String, Value>, event: &str) -> Result<&'e [Value], String> {
    match events.get(event) {
        None => Ok(&[]),
        Some(Value::Array(groups)) => Ok(groups),
        Some(_) => Err(format!("`hooks.{event}` is not a list")),
    }
}

fn hooks(group: &Value) -> &[Value] {
    group["hooks"].as_array().map_or(&[], Vec::as_slice)
}

/// The commands of an event.
pub(crate) fn commands(text: &str, event: &str) -> Result<Vec<String>, String> {
    let events = events(text)?;
    let commands = groups(&events, event)?.iter().flat_map(hooks).filter_map(|hook| hook["command"].as_str());
    Ok(commands.map(str::to_owned).collect())
}

/// The text with a command added to an event.
pub(crate) fn with(text: &str, event: &str, command: &str, timeout: u32) -> Result<String, String> {
    groups(&events(text)?, event)?;
    let command = Value::from(command);
    let group =
        format!("{{ \"hooks\": [{{ \"type\": \"command\", \"command\": {command}, \"timeout\": {timeout} }}] }}");
    let member = format!("\"{event}\": [\n      {group}\n    ]");
    let settings = JsonText::new(text);
    let text = settings.with(&["hooks", event], Position::Last, &group, 6);
    let text = text.or_else(|| settings.with(&["hooks"], Position::Last, &member, 4));
    let text = text.or_else(|| settings.with(&[], Position::Last, &format!("\"hooks\": {{\n    {member}\n  }}"), 2));
    text.ok_or_else(|| "the hooks cannot be added".to_owned())
}

/// The text without the commands that `is_ours` accepts, of one event or of all. What is empty then is removed too.
pub(crate) fn without(text: &str, event: Option<&str>, is_ours: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let mut text = text.to_owned();
    while let Some(next) = without_one(&text, event, is_ours)? {
        text = next;
    }
    Ok(text)
}

fn without_one(text: &str, only: Option<&str>, is_ours: &dyn Fn(&str) -> bool) -> Result<Option<String>, String> {
    let events = events(text)?;
    for event in events.keys().filter(|event| only.is_none_or(|only| only == event.as_str())) {
        let groups = groups(&events, event)?;
        for (number, group) in groups.iter().enumerate() {
            let is_our_hook = |hook: &Value| hook["command"].as_str().is_some_and(is_ours);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const COMMAND: &str = "git-trace hook claude-code";

    fn ours(command: &str) -> bool {
        command == COMMAND
    }

    fn added(text: &str) -> String {
        let text = with(text, "Stop", COMMAND, 30).unwrap();
        with(&text, "SessionEnd", COMMAND, 30).unwrap()
    }

    #[test]
    fn a_new_file_reads_well() {
        let expected = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"x\", \
                        \"timeout\": 30 }] }\n    ]\n  }\n}\n";
        assert_eq!(with("", "Stop", "x", 30).unwrap(), expected);
    }

    #[test]
    fn what_is_there_stays_as_it_stands() {
        let texts = [
            "{}",
            "{ }\n",
            "{\"permissions\":{\"allow\":[\"Bash\"]}}",
            "{\n\t\"z\": 1.0,\n\t\"a\": \"\\u00e9\"\n}\n",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"Stop\": []}}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say \\\"done\\\"\"}]}],\"PreToolUse\":[]},\"x\":2}",
        ];
        for text in texts {
            let new = added(text);
            let (old, new_value): (Value, Value) =
                (serde_json::from_str(text).unwrap(), serde_json::from_str(&new).unwrap());
            assert_eq!(commands(&new, "Stop").unwrap().last().unwrap(), COMMAND);
            for (name, value) in old.as_object().unwrap().iter().filter(|(name, _)| *name != "hooks") {
                assert_eq!(new_value[name], *value);
            }
            // What we put in is a piece of its own: the old text is there, piece by piece.
            let mut rest = new.chars();
            assert!(
                text.trim_end().chars().filter(|c| !c.is_whitespace()).all(|c| rest.any(|other| other == c)),
                "{new}"
            );
            let taken = without(&new, None, &ours).unwrap();
            let back: Value = serde_json::from_str(&taken).unwrap();
            let groups = |value: &Value| value["hooks"]["Stop"].as_array().map_or(0, Vec::len);
            assert_eq!(groups(&back), groups(&old), "{taken}");
            assert!(!taken.contains(COMMAND));
        }
    }

    #[test]
    fn what_cannot_be_added_to_is_refused() {
        for text in ["[]", "{", "{\"hooks\":[]}", "{\"hooks\":{\"Stop\":{}}}", "// no\n{}"] {
            assert!(with(text, "Stop", COMMAND, 30).is_err(), "{text}");
        }
    }

    #[test]
    fn ours_goes_and_others_stay_in_one_group() {
        let text = json!({"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": COMMAND}, {"command": "b"}]}]}})
            .to_string();
        let taken = without(&text, None, &ours).unwrap();
        assert_eq!(commands(&taken, "Stop").unwrap(), ["a", "b"]);
        let alone = json!({"a": 1, "hooks": {"Stop": [{"hooks": [{"command": COMMAND}]}]}, "z": 2}).to_string();
        assert_eq!(without(&alone, None, &ours).unwrap(), "{\"a\":1,\"z\":2}");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "[{}\\[\\]\",: a\n]{0,40}|\\{\"hooks\":\\{\"Stop\":\\[[{}\"hoks:,]{0,10}\\]\\}\\}") {
            if let Ok(new) = with(&text, "Stop", COMMAND, 30) {
                prop_assert!(serde_json::from_str::<Value>(&new).is_ok(), "{}", new);
                prop_assert!(without(&new, None, &ours).is_ok());
            }
        }
    }
}
