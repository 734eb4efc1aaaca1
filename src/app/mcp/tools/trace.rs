//! `trace_commit`, `trace_materialize`, `trace_status`: the context in daily use.

use std::cell::RefCell;

use serde_json::{Map, Value};

use crate::app::context::Context;
use crate::app::mcp::answer::{Answer, warning_lines};
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::page::fit;
use crate::base::error::{Result, bail};
use crate::git::short_oid;
use crate::materialize::envelope::{MessageFormat, Rendered, render};
use crate::materialize::{Cut, Materialized, Options, materialize};
use crate::trace::Tip;
use crate::trace::change::commit::{self, NewItem};
use crate::trace::model::item::ItemType;
use crate::trace::model::level::Level;
use crate::trace::query::size::ContextSize;
use crate::trace::query::status::{nothing_yet_json, to_json};
use crate::trace::store::settings;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;

/// The tokens of a materialized trace if the call does not name a budget: more, and some clients cut the answer.
const MATERIALIZE_BUDGET: u64 = 10_000;

tools! {
    trace_commit: Adds, "Record an item of context at the end of the trace. An instruction whose name is live replaces it.";
    r#"{
        "text!": "string",
        "type": {"type": "string", "default": "dialogue",
            "description": "instruction, dialogue, tool_io, reasoning, artifact, output, freeform or custom"},
        "role": ["user", "assistant", "system", "tool"],
        "name": "string: instruction, speaker or tool",
        "direction": {"enum": ["call", "result"], "description": "of tool_io"},
        "call_id": "string", "reply_to": "string", "subject": "string",
        "priority": ["skip", "normal", "pinned"], "reason": "string",
        "fields": "object: others: status, kind, path, language, meta, usage",
        "trace": "string"
    }"# => r#"{
        "id!": "string", "seq!": "integer", "op!": "string", "revision!": "integer",
        "commit": "string", "tokens": "integer"
    }"#;

    trace_materialize: Reads, "Get the trace as messages for a model, now or as it was, complete or cut to a budget.";
    r#"{
        "trace": "string",
        "as_of": "string: commit, item or time",
        "format": {"enum": ["messages", "openai", "responses", "anthropic", "gemini", "text"], "default": "messages"},
        "budget": {"type": "integer", "minimum": 100, "default": 10000,
            "description": "pinned items stay, then the newest"},
        "recent": {"type": "integer", "minimum": 0, "description": "items in full; older ones as a line"},
        "aggregate": {"enum": ["join", "none"], "default": "join"}
    }"#;

    trace_status: Reads, "See how large the trace is: items by type and priority, tokens and the budget.";
    r#"{"trace": "string"}"# => r#"{
        "trace!": "string", "items!": "integer", "tokens": "object"
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
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let entry = NewItem::from_json(&object, &settings::usage(repo)?)?;
    let (budget, warnings) = (context.budget(None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let trace = Trace::open(repo, name).with_budget(budget).with_warnings(&warn);
    let committed = trace.commit(entry)?;
    Ok(Answer::with_warnings(commit::to_json(&committed), &warnings.into_inner()))
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
    let one_message_an_item = arguments.choice("aggregate", [("join", false), ("none", true)])?;
    let recent = arguments.integer("recent", 0)?;
    let budget = arguments.budget(MATERIALIZE_BUDGET)?;
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let counter = context.counter()?;
    let Some(view) = context.find_view(&name, arguments.text("as_of")?)? else {
        let nothing = render(format, &Materialized::default(), None)?.content;
        return Ok(Answer::Text(vec![text(&nothing, &format!("[trace {name} has no items]"))]));
    };
    let state = format!("[trace {name} at {}]", short_oid(view.tip.commit.oid));
    fit(budget, counter, |allowed| {
        let cut = Cut { since: None, recent, budget: Some(allowed) };
        let options = Options { one_message_an_item, cut, ..Options::default() };
        let materialized = materialize(repo, &view, &options, counter)?;
        let rendered = render(format, &materialized, None)?;
        let notes = [left_out(&materialized), changed(&rendered)].into_iter().flatten();
        let damaged = materialized.damaged.iter();
        let damaged: Vec<_> =
            damaged.map(|(path, damage)| format!("warning: item file `{path}` is damaged: {damage}")).collect();
        Ok([text(&rendered.content, &state)].into_iter().chain(notes).chain(warning_lines(&damaged)).collect())
    })
}

/// Messages, and a line that names their state. Gemini CLI takes a text that is nothing but JSON for structured content, and refuses
/// an array.
fn text(messages: &[u8], state: &str) -> String {
    format!("{}\n{state}", String::from_utf8_lossy(messages).trim_end_matches('\n'))
}

/// Says which items the budget cuts off, and where to read them.
fn left_out(materialized: &Materialized) -> Option<String> {
    let cut: Vec<_> = materialized.left_out.iter().filter(|omission| omission.why == "budget").collect();
    let (first, last) = (cut.iter().map(|one| one.seq).min()?, cut.iter().map(|one| one.seq).max()?);
    let tokens: u64 = cut.iter().map(|one| one.tokens).sum();
    let count = cut.len();
    Some(format!("[left out to fit: {count} items, #{first} to #{last}, {tokens} tokens; `as_of` #{last} shows them]"))
}

/// Says how many blocks the format cannot express as they are.
fn changed(rendered: &Rendered) -> Option<String> {
    let count = rendered.adjustments.len();
    (count > 0).then(|| format!("[adapted to the format: {count} blocks]"))
}

fn trace_status(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    if arguments.text("trace")?.is_none() && Tip::find(repo, &name)?.is_none() {
        return Ok(nothing_yet_json(&name).into());
    }
    let view = View::open(repo, &name, None)?;
    let size = ContextSize::of(repo, &view, context.counter()?, None)?;
    Ok(to_json(&name, &view, &size, settings::number(repo, "trace.budget")?).into())
}
