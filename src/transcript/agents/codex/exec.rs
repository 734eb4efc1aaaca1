//! What `codex exec --json` prints. The same run is stored as a rollout, which has more.
//!
//! ```text
//! {"type":"thread.started","thread_id":"019b…"}
//! {"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","status":"in_progress",…}}
//! {"type":"item.completed","item":{"id":"item_0","type":"command_execution","aggregated_output":"…","exit_code":0,…}}
//! {"type":"turn.completed","usage":{"input_tokens":76296,"cached_input_tokens":57728,"output_tokens":2682}}
//! ```
//!
//! - The stream has no prompts, times, models, or folder. `thread_id` is the id of the session in the rollout; nothing else is shared.
//! - Ids of items begin again with each run. So an item's source is its thread, its record, and the number of its occurrence, and a
//!   call has the id of its item.
//! - A tool has the type of its item as its name, if the stream does not tell another.
//! - The usage is the sum of a turn's requests. It is stored with the last item of the turn, but is not the size of the context.

use std::borrow::Cow;

use serde_json::json;

use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform, reasoning};
use crate::transcript::read::dialect::{Dialect, Session, store_usage};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_dialect::<CodexExec>("Codex exec");

const TOOLS: &str = "command_execution file_change mcp_tool_call collab_tool_call web_search";

pub(crate) struct CodexExec;

impl Dialect for CodexExec {
    const FORMAT: &'static str = "codex-exec";

    fn certainty(record: &Object<'_>) -> Certainty {
        let item = record.object("item");
        match record.text("type").as_deref() {
            Some("thread.started") if record.has("thread_id") => Certainty::Sure,
            Some("item.started" | "item.updated" | "item.completed") if item.has("id") && item.has("type") => {
                Certainty::Likely
            }
            Some("turn.completed") if record.object("usage").has("input_tokens") => Certainty::Likely,
            Some("turn.failed") if record.object("error").has("message") => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("thread_id")
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let kind = record.text("type").unwrap_or_default();
        match &*kind {
            "thread.started" => {
                let thread = record.text("thread_id").unwrap_or_default();
                session.enter_session(&thread, output);
                session.notes = vec![thread.into_owned(), output.end_offset.to_string()];
            }
            "turn.started" => output.awaits_usage = true,
            "turn.completed" | "turn.failed" => {
                let usage = record.object("usage");
                let [prompt, cached, answer] =
                    ["input_tokens", "cached_input_tokens", "output_tokens"].map(|name| usage.count(name));
                store_usage(&mut output.entries, TokenUsage::of_prompt(prompt, cached, answer));
                output.awaits_usage = false;
            }
            _ => {}
        }
        if is_listed(&kind, "thread.started turn.started turn.completed item.plan.delta") {
            return Outcome::Ignored(kind.into_owned());
        }
        let thread = session.notes.first().cloned().unwrap_or_default();
        let source = [thread.as_bytes(), b"\n", bytes].concat();
        let Some(raw) = record.get("item").filter(|_| kind.starts_with("item.")) else {
            if !is_listed(&kind, "turn.failed error request_user_input") {
                return Outcome::Unknown(kind.into_owned());
            }
            let Some(mut builder) = session.begin(None, &source, output) else { return Outcome::Repeated };
            builder.removal = Some(Removal::Interface);
            let text = record.text("message").or_else(|| record.object("error").text("message"));
            builder
                .push(freeform(&kind, None), text.map_or_else(|| bytes.into(), |text| text.into_owned().into_bytes()));
            return session.finish(builder, &kind, bytes, output);
        };

        let item = Object::of(raw);
        let tool = item.text("type").unwrap_or_default();
        let name = if tool.is_empty() { kind.to_string() } else { format!("{kind}/{tool}") };
        let is_done = kind == "item.completed";
        let starts = kind == "item.started" && is_listed(&tool, TOOLS) && item.text("query").as_deref() != Some("");
        if !is_done && !starts && tool != "todo_list" {
            return Outcome::Ignored(name);
        }
        let Some(mut builder) = session.begin(None, &source, output) else { return Outcome::Repeated };
        let text = item.any_text(&["text", "message"]).unwrap_or_default();
        match &*tool {
            "agent_message" => {
                builder.add_meta("phase", item.text("phase").map(Cow::into_owned));
                session.text(&mut builder, Role::Assistant, &text);
            }
            "reasoning" if !text.is_empty() => {
                builder.push(reasoning(None), text.into_owned());
            }
            "error" => {
                builder.removal = Some(Removal::Interface);
                builder.push(freeform("error", None), text.into_owned());
            }
            tool if is_listed(tool, TOOLS) => {
                let run = session.notes.get(1).map_or("", String::as_str);
                let id = format!("{run}/{}", item.text("id").unwrap_or_default());
                if starts || !session.knows_call(&id) {
                    call(session, &mut builder, &id, &item);
                }
                if is_done {
                    answer(session, &mut builder, &id, &item);
                }
            }
            _ => {
                // The states of a list before the last are of use only to the user.
                builder.removal = (!is_done).then_some(Removal::Interface);
                builder.push(freeform(if tool.is_empty() { "item" } else { &tool }, Some(Role::Assistant)), raw.get());
            }
        }
        session.finish(builder, &name, bytes, output)
    }
}

fn call(session: &mut Session, builder: &mut EntryBuilder, id: &str, item: &Object<'_>) {
    let tool = item.text("type").unwrap_or_default();
    let own = item.text("tool");
    let name: Cow<'_, str> = match (item.text("server"), own) {
        // The name by which the model calls it.
        (Some(server), Some(own)) => format!("mcp__{server}__{own}").into(),
        (None, Some(own)) => own,
        _ => tool,
    };
    let members = ["command", "changes", "query", "action", "prompt", "receiver_thread_ids"];
    let members: serde_json::Map<_, _> = members
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), serde_json::from_str(item.get(name)?.get()).ok()?)))
        .collect();
    let arguments =
        item.get("arguments").map_or_else(|| json!(members).to_string().into(), |own| call_arguments(Some(own)));
    session.call(builder, Some(id.into()), Some(name), arguments);
    if let Some(call) = builder.entries.last_mut() {
        call.draft.fields.call_id = Some(call.id.to_string());
    }
}

fn answer(session: &mut Session, builder: &mut EntryBuilder, id: &str, item: &Object<'_>) {
    let failed = item.text("status").map(|status| status != "completed");
    let result = item.object("result");
    let content = item.any(&["error", "aggregated_output", "agents_states"]);
    let content = content.or_else(|| item.get("result").filter(|_| result.get("structured_content").is_some()));
    let exit = item.get("exit_code").and_then(|code| code.get().parse::<i64>().ok());
    builder.add_meta("exit_code", exit);
    session.result(builder, Some(id.into()), failed, content.or_else(|| result.get("content")));
    for answer in builder.entries.iter_mut().filter(|entry| entry.draft.fields.is_result()) {
        answer.draft.fields.call_id = answer.draft.fields.reply_to.map(|call| call.to_string());
    }
}
