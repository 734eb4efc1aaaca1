//! What the extensions for VS Code show of a task.

use std::borrow::Cow;

use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{arguments, freeform, image, reasoning};
use crate::transcript::read::dialect::{Session, add_usage};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Outcome, Output};

/// Kinds that the user wrote, and that the model wrote.
const OF_USER: &str = "task user_feedback user_feedback_diff";
const OF_MODEL: &str = "text completion_result followup plan_mode_respond act_mode_respond new_task";

pub(super) fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
    let kind = record.text("type").and_then(|kind| record.text(&kind)).unwrap_or_default();
    let text = record.text("text").unwrap_or_default();
    let told: Object<'_> = serde_json::from_str(&text).unwrap_or_default();
    if kind == "api_req_started" {
        session.pending_usage = Some(TokenUsage {
            input_tokens: told.count("tokensIn"),
            cache_read_tokens: told.count("cacheReads"),
            cache_write_tokens: told.count("cacheWrites"),
            output_tokens: told.count("tokensOut"),
        });
        return Outcome::Ignored(kind.into_owned());
    }
    let Some(mut builder) = session.begin(None, bytes, output) else { return Outcome::Repeated };
    builder.created = record.time("ts");
    builder.add_meta("partial", record.is_true("partial").then_some(true));
    let id = record.get("ts").map(|at| Cow::Borrowed(at.get()));
    let role =
        if is_listed(&kind, OF_USER) || kind == "text" && !session.started { Role::User } else { Role::Assistant };
    match &*kind {
        "command_output" | "mcp_server_response" if let Some(call) = session.notes.pop() => {
            session.result(&mut builder, Some(call.into()), None, record.get("text"));
        }
        "reasoning" if !text.is_empty() => {
            builder.push(reasoning(None), text.into_owned());
        }
        "tool" | "command" | "use_mcp_server" => {
            let name = told.any_text(&["tool", "toolName"]).unwrap_or_else(|| kind.clone());
            session.notes = id.iter().filter(|_| kind != "tool").map(std::string::ToString::to_string).collect();
            session.call(&mut builder, id, Some(name), arguments(&text));
        }
        kind if is_listed(kind, OF_USER) || is_listed(kind, OF_MODEL) => session.text(&mut builder, role, &text),
        _ if !text.is_empty() => {
            builder.removal = Some(Removal::Interface);
            builder.push(freeform(&kind, None), text.into_owned());
        }
        _ => {}
    }
    for url in record.list("images").into_iter().filter_map(json::text) {
        let (fields, body) = image(&url, role);
        builder.push(fields, body);
    }
    let is_answer = builder.removal.is_none() && role == Role::Assistant;
    if let Some(usage) = session.pending_usage.take_if(|_| is_answer && !builder.entries.is_empty()) {
        add_usage(&mut builder.entries, usage);
    }
    session.finish(builder, &kind, b"", output)
}
