//! Trajectories of mini-swe-agent: one JSON document, `.traj.json`.
//!
//! ```text
//! {"info":{"mini_version":"1.13.4","config":{"model":{"model_name":"…"}},…},
//!  "messages":[{"role":"assistant","content":"THOUGHT: …\n\n```bash\nls\n```","extra":{"response":{…}}},
//!              {"role":"user","content":"<returncode>0</returncode>\n<output>\n…</output>"}],
//!  "trajectory_format":"mini-swe-agent-1"}
//! ```
//!
//! - In format 1, the only fenced block of an answer is a call of `bash`, and the next message is its result. Format 1.1 has the calls
//!   and results of the API, with the same tool.
//! - There are no ids. A message's source is its content and the number of its occurrence. Usage is in the model's response.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform};
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_dialect::<MiniSweAgent>("mini-swe-agent");

pub(crate) struct MiniSweAgent;

impl Dialect for MiniSweAgent {
    const FORMAT: &'static str = "mini-swe-agent";
    const LIST: Option<&'static str> = Some("messages");

    fn certainty(record: &Object<'_>) -> Certainty {
        let is_named = record.text("trajectory_format").is_some_and(|name| name.starts_with("mini-swe-agent"));
        if is_named || record.object("info").has("mini_version") { Certainty::Sure } else { Certainty::No }
    }

    fn session<'a>(_: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.object("info").object("config").object("environment").text("cwd")
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let Some(raw) = record.get("messages") else {
            session.set_model(record.object("info").object("config").object("model").text("model_name"));
            let known = ["info", "trajectory_format"].into_iter().find(|name| record.has(name));
            return known.map_or_else(
                || Outcome::Unknown("(another member)".to_owned()),
                |name| Outcome::Ignored(name.to_owned()),
            );
        };
        let message = Object::of(raw);
        let (extra, content) = (message.object("extra"), message.get("content"));
        let Some(mut builder) = session.begin(None, raw.get().as_bytes(), output) else { return Outcome::Repeated };
        let response = extra.object("response");
        builder.created = extra.time("timestamp").or_else(|| response.time("created"));
        match message.text("role").and_then(|word| role(&word)) {
            Some(Role::Assistant) => answer(session, &mut builder, &message, &response),
            Some(Role::Tool) => result(session, &mut builder, message.text("tool_call_id"), &extra, content),
            Some(Role::User) if session.has_open_call() => result(session, &mut builder, None, &extra, content),
            Some(role) => content.iter().for_each(|content| session.content(&mut builder, role, content)),
            // How the run ended, for the user.
            None => {
                builder.removal = Some(Removal::Interface);
                let kind = message.any_text(&["role", "type"]).filter(|kind| !kind.is_empty());
                builder.push(freeform(kind.as_deref().unwrap_or("message"), None), raw.get());
            }
        }
        session.finish(builder, "message", raw.get().as_bytes(), output)
    }
}

fn answer(session: &mut Session, builder: &mut EntryBuilder, message: &Object<'_>, response: &Object<'_>) {
    session.set_model(response.text("model"));
    builder.add_meta("model", session.model.clone());
    session.thoughts(builder, message);
    let calls = message.list("tool_calls");
    match message.text("content").filter(|_| calls.is_empty()) {
        Some(text) => match command(&text) {
            Some((command, around)) => {
                session.text(builder, Role::Assistant, &around);
                let arguments = json!({ "command": command }).to_string().into_bytes();
                session.call(builder, None, Some("bash".into()), arguments);
            }
            None => session.text(builder, Role::Assistant, &text),
        },
        None => {
            message.get("content").iter().for_each(|content| session.content(builder, Role::Assistant, content));
        }
    }
    for raw in calls {
        let call = Object::of(raw);
        let function = call.object("function");
        let arguments = call_arguments(function.get("arguments"));
        if session.call(builder, call.text("id"), function.text("name"), arguments).is_none() {
            builder.push(freeform("tool_call", Some(Role::Assistant)), raw.get());
        }
    }
    let usage = response.object("usage");
    let cached = usage.object("prompt_tokens_details").count("cached_tokens");
    let [prompt, answer] = ["prompt_tokens", "completion_tokens"].map(|name| usage.count(name));
    add_usage(&mut builder.entries, TokenUsage::of_prompt(prompt, cached, answer));
}

/// Adds a result. The program tells the model how the command ended.
fn result(
    session: &mut Session,
    builder: &mut EntryBuilder,
    id: Option<Cow<'_, str>>,
    extra: &Object<'_>,
    content: Option<&RawValue>,
) {
    let text = content
        .and_then(|content| json::text(content).or_else(|| Object::of(json::list(content)?.first()?).text("text")));
    let told = text.and_then(|text| {
        let code = text.trim_start().strip_prefix("<returncode>")?.split_once("</returncode>")?.0;
        code.trim().parse::<i64>().ok()
    });
    let code = extra.get("returncode").and_then(|code| code.get().parse().ok()).or(told);
    session.result(builder, id, code.map(|code| code != 0), content);
}

/// The command in the only fenced block, and the text around it.
fn command(text: &str) -> Option<(&str, String)> {
    const FENCES: [&str; 2] = ["```bash\n", "```mswea_bash_command\n"];
    let (at, fence) = FENCES.iter().find_map(|fence| Some((text.find(fence)?, fence)))?;
    let (command, after) = text[at + fence.len()..].split_once("\n```")?;
    let is_only = !FENCES.iter().any(|fence| after.contains(fence));
    let around = format!("{}\n{}", text[..at].trim_end(), after.trim());
    is_only.then(|| (command, around.trim().to_owned()))
}
