//! `trace_commit`, `trace_materialize`, `trace_status`: the context in daily use.

use std::cell::RefCell;

use serde_json::{Map, Value};

use crate::app::context::Context;
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::tool::Answer;
use crate::base::error::{Result, bail};
use crate::materialize::envelope::{MessageFormat, envelope, render};
use crate::materialize::{Cut, Options, materialize};
use crate::trace::Tip;
use crate::trace::change::commit::{self, NewItem};
use crate::trace::model::item::ItemType;
use crate::trace::model::level::Level;
use crate::trace::query::status::{nothing_yet_json, to_json};
use crate::trace::store::budget_policy::BudgetPolicy;
use crate::trace::store::settings;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;

tools! {
    trace_commit: Adds, "Record an item of context at the end of the trace. An instruction whose name is live replaces it.";
    r#"{
        "text!": "string",
        "type": {"type": "string", "default": "dialogue",
            "description": "instruction, dialogue, tool_io, reasoning, artifact, output, freeform or custom"},
        "role": ["user", "assistant", "system", "tool"],
        "name": "string: of the instruction, speaker or tool",
        "direction": {"enum": ["call", "result"], "description": "of tool_io"},
        "call_id": "string", "reply_to": "string", "subject": "string",
        "priority": ["skip", "normal", "pinned"], "reason": "string",
        "fields": "object: others: status, kind, path, language, meta, usage",
        "trace": "string"
    }"# => r#"{
        "id!": "string", "seq!": "integer", "op!": "string", "revision!": "integer",
        "commit": "string: absent: unchanged", "tokens": "integer"
    }"#;

    trace_materialize: Reads, "Get the trace as messages for a model, now or as it was, complete or cut to a budget.";
    r#"{
        "trace": "string",
        "as_of": "string: commit, item or time",
        "format": {"enum": ["messages", "openai", "responses", "anthropic", "gemini", "text"], "default": "messages"},
        "budget": {"type": "integer", "minimum": 1, "description": "tokens; pinned items stay, then the newest"},
        "recent": {"type": "integer", "minimum": 0, "description": "items in full; older ones as a line"},
        "aggregate": {"enum": ["join", "none"], "default": "join"}
    }"# => r#"{
        "trace!": "string", "commit": "string: absent: no commit yet", "at": "string", "format": "string",
        "messages!": {"type": ["array", "object", "string"]}, "items!": "array: ids behind each message",
        "tokens!": "object", "left_out!": "array", "changed!": "array"
    }"#;

    trace_status: Reads, "See how large the trace is: items by type and priority, tokens and the budget.";
    r#"{"trace": "string"}"# => r#"{
        "trace!": "string", "items!": "integer", "commit": "string", "tokens": "object", "by_type": "object",
        "by_priority": "object"
    }"#;
}

fn trace_commit(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
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
        bail!("argument `reason` gives the reason for `priority`, which is missing");
    }
    let entry = NewItem::from_json(&object)?;
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let (budget, warnings) = (BudgetPolicy::new(repo, None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let trace = Trace::open(repo, name).with_budget(budget).with_warnings(&warn);
    let committed = trace.commit(entry)?;
    Ok(Answer { value: commit::to_json(&committed), text: None, warnings: warnings.into_inner() })
}

fn trace_materialize(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let formats = [
        ("messages", MessageFormat::Messages),
        ("openai", MessageFormat::OpenAi),
        ("responses", MessageFormat::Responses),
        ("anthropic", MessageFormat::Anthropic),
        ("gemini", MessageFormat::Gemini),
        ("text", MessageFormat::Text),
    ];
    let format = arguments.choice("format", formats)?;
    let options = Options {
        one_message_an_item: arguments.choice("aggregate", [("join", false), ("none", true)])?,
        cut: Cut { since: None, recent: arguments.integer("recent", 0)?, budget: arguments.integer("budget", 1)? },
        ..Options::default()
    };
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let view = context.find_view(&name, arguments.text("as_of")?)?;
    let encoding = context.encoding()?;
    let materialized = view.as_ref().map(|view| materialize(repo, view, &options, encoding)).transpose()?;
    let materialized = materialized.unwrap_or_default();
    let rendered = render(format, &materialized, None)?;
    let text = String::from_utf8_lossy(&rendered.content).into_owned();
    let value = serde_json::to_value(envelope(repo, &name, view.as_ref(), &materialized, rendered, encoding)?)?;
    let damaged = materialized.damaged.iter();
    let warnings = damaged.map(|(path, damage)| format!("warning: item file `{path}` is damaged: {damage}")).collect();
    Ok(Answer { value, text: Some(text), warnings })
}

fn trace_status(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    if arguments.text("trace")?.is_none() && Tip::find(repo, &name)?.is_none() {
        return Ok(nothing_yet_json(&name).into());
    }
    let view = View::open(repo, &name, None)?;
    let total = view.total(repo, context.encoding()?)?;
    Ok(to_json(&name, &view, total, settings::number(repo, "trace.budget")?).into())
}
