//! `trace_commit`, `trace_materialize`, `trace_status`: the context in daily use.

use std::cell::RefCell;

use serde_json::{Map, Value};

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::base::error::{Result, bail};
use crate::materialize::envelope::{MessageFormat, envelope, render};
use crate::materialize::{Cut, Options, materialize};
use crate::trace::change::commit::{self, NewItem};
use crate::trace::model::item::ItemType;
use crate::trace::model::level::Level;
use crate::trace::query::status::{nothing_yet_json, to_json};
use crate::trace::store::budget::BudgetPolicy;
use crate::trace::store::settings;
use crate::trace::store::settings::encoding;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceName};

pub(crate) const TOOLS: [Tool; 3] = [
    Tool {
        name: "trace_commit",
        group: Group::Trace,
        by_default: true,
        description: "Record an item of context at the end of the trace. An instruction whose name is live replaces it.",
        effect: Effect::Adds,
        input: r#"{
            "text": {"type": "string"},
            "type": {"type": "string", "default": "dialogue",
                "description": "instruction, dialogue, tool_io, reasoning, artifact, output, freeform or custom"},
            "role": {"enum": ["user", "assistant", "system", "tool"]},
            "name": {"type": "string", "description": "of the instruction, speaker or tool"},
            "direction": {"enum": ["call", "result"], "description": "of tool_io"},
            "call_id": {"type": "string"},
            "reply_to": {"type": "string"},
            "subject": {"type": "string"},
            "priority": {"enum": ["skip", "normal", "pinned"]},
            "reason": {"type": "string"},
            "fields": {"type": "object", "description": "others: status, kind, path, language, meta, usage"},
            "trace": {"type": "string"}
        }"#,
        required: &["text"],
        output: r#"{
            "id": {"type": "string"},
            "seq": {"type": "integer"},
            "op": {"type": "string"},
            "revision": {"type": "integer"},
            "commit": {"type": "string", "description": "absent: unchanged"},
            "tokens": {"type": "integer"}
        }"#,
        answered: &["id", "seq", "op", "revision"],
        run: run_commit,
    },
    Tool {
        name: "trace_materialize",
        group: Group::Trace,
        by_default: true,
        description: "Get the trace as messages for a model, now or as it was, whole or cut to a budget.",
        effect: Effect::Reads,
        input: r#"{
            "trace": {"type": "string"},
            "as_of": {"type": "string", "description": "commit, item or RFC 3339 time"},
            "format": {"enum": ["messages", "openai", "responses", "anthropic", "gemini", "text"], "default": "messages"},
            "budget": {"type": "integer", "minimum": 1, "description": "tokens; pinned items stay, then the newest"},
            "recent": {"type": "integer", "minimum": 0, "description": "items in full; older ones as a line"},
            "aggregate": {"enum": ["join", "none"], "default": "join"}
        }"#,
        required: &[],
        output: r#"{
            "trace": {"type": "string"},
            "commit": {"type": "string"},
            "at": {"type": "string"},
            "format": {"type": "string"},
            "messages": {"type": ["array", "object", "string"]},
            "items": {"type": "array", "description": "ids behind each message"},
            "tokens": {"type": "object"},
            "left_out": {"type": "array"},
            "changed": {"type": "array"}
        }"#,
        answered: &["trace", "commit", "messages", "items", "tokens", "left_out", "changed"],
        run: run_materialize,
    },
    Tool {
        name: "trace_status",
        group: Group::Trace,
        by_default: true,
        description: "See how large the trace is: items by type and priority, tokens beside the budget.",
        effect: Effect::Reads,
        input: r#"{"trace": {"type": "string"}}"#,
        required: &[],
        output: r#"{
            "trace": {"type": "string"},
            "items": {"type": "integer"},
            "commit": {"type": "string"},
            "tokens": {"type": "object"},
            "by_type": {"type": "object"},
            "by_priority": {"type": "object"}
        }"#,
        answered: &["trace", "items"],
        run: run_status,
    },
];

fn run_commit(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    const TEXTS: [&str; 8] = ["text", "type", "role", "name", "direction", "call_id", "reply_to", "subject"];
    let mut object: Map<String, Value> = arguments.object("fields")?;
    for name in TEXTS.into_iter().chain(["reason"]) {
        if let Some(text) = arguments.text(name)? {
            object.insert(name.to_owned(), text.into());
        }
    }
    arguments.parsed::<ItemType>("type")?;
    if let Some(level) = arguments.parsed::<Level>("priority")? {
        object.insert("priority".to_owned(), level.as_str().into());
    } else if object.contains_key("reason") {
        bail!("argument `reason`: it says why an item has its priority, so `priority` is missing");
    }
    let entry = NewItem::from_json(&object)?;
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let (budget, warnings) = (BudgetPolicy::new(&repo, None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let trace = Trace::open(&repo, name).with_budget(budget).with_warnings(&warn);
    let committed = trace.commit(entry)?;
    Ok(Answer { value: commit::to_json(&committed), text: None, warnings: warnings.into_inner() })
}

fn run_materialize(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let format = match arguments.text("format")? {
        None | Some("messages") => MessageFormat::Messages,
        Some("openai") => MessageFormat::OpenAi,
        Some("responses") => MessageFormat::Responses,
        Some("anthropic") => MessageFormat::Anthropic,
        Some("gemini") => MessageFormat::Gemini,
        Some("text") => MessageFormat::Text,
        Some(_) => {
            bail!("argument `format`: messages, openai, responses, anthropic, gemini or text is expected")
        }
    };
    let options = Options {
        one_message_an_item: match arguments.text("aggregate")? {
            None | Some("join") => false,
            Some("none") => true,
            Some(_) => bail!("argument `aggregate`: join or none is expected"),
        },
        cut: Cut { since: None, recent: arguments.count("recent", 0)?, budget: arguments.integer("budget", 1)? },
        ..Options::default()
    };
    let repo = place.repo()?;
    let name: TraceName = place.trace(&repo, arguments.parsed("trace")?)?;
    let view = View::open(&repo, &name, arguments.text("as_of")?)?;
    let encoding = encoding(&repo)?;
    let materialized = materialize(&repo, &view, &options, encoding)?;
    let rendered = render(format, &materialized, None)?;
    let text = String::from_utf8_lossy(&rendered.content).into_owned();
    let value = serde_json::to_value(envelope(&repo, &name, &view, &materialized, rendered, encoding)?)?;
    let damaged = materialized.damaged.iter();
    let warnings = damaged.map(|(path, damage)| format!("warning: item file `{path}` is damaged: {damage}")).collect();
    Ok(Answer { value, text: Some(text), warnings })
}

fn run_status(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = place.repo()?;
    let named = arguments.parsed::<TraceName>("trace")?;
    let is_named = named.is_some();
    let name = place.trace(&repo, named)?;
    if !is_named && Tip::find(&repo, &name)?.is_none() {
        return Ok(nothing_yet_json(&name).into());
    }
    let view = View::open(&repo, &name, None)?;
    let total = view.total(&repo, encoding(&repo)?)?;
    Ok(to_json(&name, &view, total, settings::number(&repo, "trace.budget")?).into())
}
