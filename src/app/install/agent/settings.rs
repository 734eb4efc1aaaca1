//! Changing the hooks in a settings file without touching the rest of its text.
//!
//! The text is read as JSON only to learn where its pieces stand; what is put in or taken out is cut at those places.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

type Members<'t> = BTreeMap<String, &'t RawValue>;

/// One group of hooks under an event.
#[derive(Deserialize)]
struct Group<'t> {
    #[serde(borrow, default)]
    hooks: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
struct Hook {
    command: Option<String>,
}

/// Where a piece of the text stands.
fn span(text: &str, piece: &RawValue) -> Range<usize> {
    let start = piece.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + piece.get().len()
}

fn members<'t>(text: &'t str, what: &str) -> Result<Members<'t>, String> {
    serde_json::from_str(text).map_err(|error| format!("{what} is not a JSON object: {error}"))
}

fn hooks_of(text: &str) -> Result<Option<&RawValue>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(members(text, "it")?.get("hooks").copied())
}

fn events_of(text: &str) -> Result<Members<'_>, String> {
    hooks_of(text)?.map_or_else(|| Ok(Members::new()), |hooks| members(hooks.get(), "`hooks`"))
}

fn groups_of<'t>(event: &str, groups: &'t RawValue) -> Result<Vec<&'t RawValue>, String> {
    serde_json::from_str(groups.get()).map_err(|error| format!("`hooks.{event}` is not a list: {error}"))
}

fn hooks_in(group: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str::<Group<'_>>(group.get()).map(|group| group.hooks).unwrap_or_default()
}

fn command_of(hook: &RawValue) -> Option<String> {
    serde_json::from_str::<Hook>(hook.get()).ok()?.command
}

/// The commands that an event has.
pub(crate) fn commands(text: &str, event: &str) -> Result<Vec<String>, String> {
    let events = events_of(text)?;
    let Some(groups) = events.get(event) else { return Ok(Vec::new()) };
    Ok(groups_of(event, groups)?.into_iter().flat_map(hooks_in).filter_map(command_of).collect())
}

/// The text with a command added to an event.
pub(crate) fn with(text: &str, event: &str, command: &str, timeout: u32) -> Result<String, String> {
    let command = serde_json::Value::from(command);
    let group =
        format!("{{ \"hooks\": [{{ \"type\": \"command\", \"command\": {command}, \"timeout\": {timeout} }}] }}");
    let Some(hooks) = hooks_of(text)? else {
        let member = format!("\"hooks\": {{\n    \"{event}\": [\n      {group}\n    ]\n  }}");
        if text.trim().is_empty() {
            return Ok(format!("{{\n  {member}\n}}\n"));
        }
        let start = text.len() - text.trim_start().len();
        return Ok(append(text, start..text.trim_end().len(), &member, 2));
    };
    if let Some(groups) = members(hooks.get(), "`hooks`")?.get(event) {
        groups_of(event, groups)?;
        return Ok(append(text, span(text, groups), &group, 6));
    }
    let member = format!("\"{event}\": [\n      {group}\n    ]");
    Ok(append(text, span(text, hooks), &member, 4))
}

/// Puts a piece at the end of a list or object.
fn append(text: &str, container: Range<usize>, piece: &str, indent: usize) -> String {
    let end = container.end - 1;
    let inside = text[container.start + 1..end].trim_end();
    let at = container.start + 1 + inside.len();
    let comma = if inside.trim().is_empty() { "" } else { "," };
    // The closing bracket keeps the line it had, or gets one.
    let rest = &text[at..];
    let closing = if rest[..end - at].contains('\n') { String::new() } else { format!("\n{}", " ".repeat(indent - 2)) };
    format!("{}{comma}\n{}{piece}{closing}{rest}", &text[..at], " ".repeat(indent))
}

/// The text without the commands that `ours` tells, of one event or of all; what is empty then goes too.
pub(crate) fn without(text: &str, event: Option<&str>, ours: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let mut text = text.to_owned();
    while let Some(next) = without_one(&text, event, ours)? {
        text = next;
    }
    Ok(text)
}

fn without_one(text: &str, only: Option<&str>, ours: &dyn Fn(&str) -> bool) -> Result<Option<String>, String> {
    let Some(hooks) = hooks_of(text)? else { return Ok(None) };
    let events = members(hooks.get(), "`hooks`")?;
    for (event, groups) in events.iter().filter(|(event, _)| only.is_none_or(|only| only == event.as_str())) {
        let all = groups_of(event, groups)?;
        for (number, group) in all.iter().enumerate() {
            let inner = hooks_in(group);
            let is_ours = |hook: &&RawValue| command_of(hook).is_some_and(|command| ours(&command));
            let Some(mine) = inner.iter().position(is_ours) else { continue };
            if inner.len() > 1 {
                return Ok(Some(cut(text, &spans(text, &inner), mine)));
            }
            if all.len() > 1 {
                return Ok(Some(cut(text, &spans(text, &all), number)));
            }
            // The event has nothing else, and where there is no other event, neither have the hooks.
            let whole = if events.len() > 1 { text_of_member(hooks.get(), event) } else { None };
            return Ok(Some(match whole {
                Some(member) => {
                    let base = span(text, hooks).start;
                    cut_member(text, base + member.start..base + member.end)
                }
                None => match text_of_member(text, "hooks") {
                    Some(member) => cut_member(text, member),
                    None => return Ok(None),
                },
            }));
        }
    }
    Ok(None)
}

fn spans(text: &str, pieces: &[&RawValue]) -> Vec<Range<usize>> {
    pieces.iter().map(|piece| span(text, piece)).collect()
}

/// Cuts one of several elements out, with the comma that parts it from the next or the one before.
fn cut(text: &str, elements: &[Range<usize>], number: usize) -> String {
    let range = match (number.checked_sub(1).and_then(|before| elements.get(before)), elements.get(number + 1)) {
        (Some(before), _) => before.end..elements[number].end,
        (None, Some(next)) => elements[number].start..next.start,
        (None, None) => elements[number].clone(),
    };
    format!("{}{}", &text[..range.start], &text[range.end..])
}

/// Where a member, its name included, stands in the text of an object. Of a name that occurs twice the last counts.
fn text_of_member(object: &str, name: &str) -> Option<Range<usize>> {
    let value = span(object, serde_json::from_str::<Members<'_>>(object).ok()?.get(name)?);
    let before = object[..value.start].trim_end().strip_suffix(':')?.trim_end();
    let start = before.strip_suffix('"')?.rfind('"')?;
    Some(start..value.end)
}

/// Cuts a member out of its object, with a comma before or behind it.
fn cut_member(text: &str, member: Range<usize>) -> String {
    let (before, behind) = (&text[..member.start], &text[member.end..]);
    if let Some(kept) = before.trim_end().strip_suffix(',') {
        return format!("{kept}{behind}");
    }
    match behind.trim_start().strip_prefix(',') {
        Some(kept) => format!("{before}{}", kept.trim_start()),
        None => format!("{}{}", before.trim_end(), behind.trim_start()),
    }
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
