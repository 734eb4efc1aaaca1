//! A message in the shape of Chat Completions, and in the shapes that others derived from it.
//!
//! ```text
//! {"role":"assistant","content":"…","tool_calls":[{"id":"c1","function":{"name":"grep","arguments":"{…}"}}]}
//! {"type":"ai","content":"…","tool_calls":[{"id":"c1","name":"grep","args":{…}}]}
//! {"role":"assistant","content":"…","tool_calls":[{"id":"c1","function":"grep","arguments":{…}}]}
//! {"role":"tool","tool_call_id":"c1","content":"…"}
//! ```

use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform, reasoning};
use crate::transcript::read::dialect::{Session, role};
use crate::transcript::read::object::Object;

/// Adds the reasoning, the content, and the calls of a message; `None` if its role is unknown.
pub(crate) fn add(session: &mut Session, builder: &mut EntryBuilder, message: &Object<'_>) -> Option<()> {
    add_as(session, builder, message, role(&message.any_text(&["role", "type"])?)?)
}

/// The same for a message whose role is known; `None` if it is a result that does not tell its call.
pub(crate) fn add_as(
    session: &mut Session,
    builder: &mut EntryBuilder,
    message: &Object<'_>,
    role: Role,
) -> Option<()> {
    let content = message.get("content");
    if role == Role::Tool {
        let by_status = message.text("status").map(|status| status == "error");
        let failed = if message.get("error").is_some() { Some(true) } else { by_status };
        return session.result(builder, message.text("tool_call_id"), failed, content);
    }
    add_reasoning(builder, message);
    if let Some(content) = content {
        session.content(builder, role, content);
    }
    add_calls(session, builder, message);
    Some(())
}

pub(super) fn add_reasoning(builder: &mut EntryBuilder, message: &Object<'_>) {
    if let Some(thought) = message.any_text(&["reasoning_content", "reasoning"]).filter(|thought| !thought.is_empty()) {
        builder.push(reasoning(None), thought.into_owned());
    }
}

pub(super) fn add_calls(session: &mut Session, builder: &mut EntryBuilder, message: &Object<'_>) {
    let mut calls = message.list("tool_calls");
    if calls.is_empty() {
        // LangChain repeats them here.
        calls = message.object("additional_kwargs").list("tool_calls");
    }
    for raw in calls {
        let call = Object::of(raw);
        let function = call.object("function");
        let name = function.text("name").or_else(|| call.any_text(&["name", "function"]));
        let arguments = call_arguments(function.get("arguments").or_else(|| call.any(&["args", "arguments"])));
        if session.call(builder, call.text("id"), name, arguments).is_none() {
            builder.push(freeform("tool_call", Some(Role::Assistant)), raw.get());
        }
    }
}
