//! Conversations for fine-tuning, one line each. Thoughts and files are left out.

use serde_json::{Value, json};

use super::{Entry, arguments, role, tool};
use crate::trace::Item;
use crate::trace::model::item::Role;

/// The text of an item that is said to somebody; `None` for thoughts and files.
fn said(item: &Item) -> Option<&str> {
    let is_said = matches!(item.fields.item_type.as_str(), "instruction" | "dialogue" | "output" | "freeform");
    item.text().filter(|text| is_said && !text.trim().is_empty())
}

/// `{"conversations":[{"from":"human","value":"…"},…],"system":"…"}`, as `LLaMA-Factory` and others read it. Neighboring texts of one
/// speaker are one turn.
pub(super) fn sharegpt(entries: &[Entry]) -> String {
    let mut turns: Vec<(&str, String)> = Vec::new();
    let mut system = String::new();
    for Entry { item, results } in entries {
        if item.fields.is_call() {
            let call = format!("{{\"name\":{},\"arguments\":{}}}", json!(tool(item)), arguments(item));
            turns.push(("function_call", call));
            let answers = results.iter().map(|result| String::from_utf8_lossy(&result.body).into_owned());
            turns.push(("observation", answers.collect::<Vec<_>>().join("\n\n")));
            continue;
        }
        let Some(text) = said(item) else { continue };
        let from = match role(item) {
            Role::System => {
                append(&mut system, text);
                continue;
            }
            Role::User => "human",
            Role::Assistant => "gpt",
            Role::Tool => "observation",
        };
        match turns.last_mut().filter(|(last, _)| *last == from) {
            Some((_, before)) => append(before, text),
            None => turns.push((from, text.to_owned())),
        }
    }
    if turns.is_empty() {
        return String::new();
    }
    let turns: Vec<Value> = turns.into_iter().map(|(from, value)| json!({ "from": from, "value": value })).collect();
    let mut line = json!({ "conversations": turns });
    if !system.is_empty() {
        line["system"] = system.into();
    }
    format!("{line}\n")
}

fn append(text: &mut String, next: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(next);
}

/// `{"messages":[{"role":"user","content":"…"},…]}`, with calls as in Chat Completions. `git trace import openai` reads it.
pub(super) fn chatml(entries: &[Entry]) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for Entry { item, results } in entries {
        if item.fields.is_call() {
            let id = item.fields.call_id.clone().unwrap_or_else(|| item.id.to_string());
            let function = json!({ "name": tool(item), "arguments": arguments(item).get() });
            let call = json!({ "id": id, "type": "function", "function": function });
            messages.push(json!({ "role": "assistant", "tool_calls": [call] }));
            let answers = results.iter().map(|result| {
                json!({ "role": "tool", "tool_call_id": id, "content": String::from_utf8_lossy(&result.body) })
            });
            messages.extend(answers);
        } else if let Some(text) = said(item) {
            messages.push(json!({ "role": role(item).as_str(), "content": text }));
        }
    }
    if messages.is_empty() { String::new() } else { format!("{}\n", json!({ "messages": messages })) }
}
