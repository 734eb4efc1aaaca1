//! `trace_branch`, `trace_switch`, `trace_merge`, `trace_compress`, `trace_clean`: lines of context.

use crate::trace::store::settings::cache_prices;
use serde_json::{Value, json};

use crate::app::cli::Effects;
use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::base::error::{Context as _, Result, bail};
use crate::base::merge::Side;
use crate::clean::{Choice, Parameters, Plan, Session, branch_name};
use crate::trace::Draft;
use crate::trace::change::branch::{Listed, list, to_json as branch_json};
use crate::trace::change::compress::{self, Extent, Scope, select};
use crate::trace::change::compressor::is_blank;
use crate::trace::change::merge::json::outcome_to_json;
use crate::trace::change::merge::{FastForward, Options, Settlement};
use crate::trace::query::find::{Order, Wanted};
use crate::trace::query::select::{self as items, Among, ItemFilter};
use crate::trace::query::size::ContextSize;
use crate::trace::store::foreign::require_signed_if_foreign;
use crate::trace::store::head;
use crate::trace::store::priority::Before;
use crate::trace::store::resolve::{State, state};
use crate::trace::store::view::View;
use crate::trace::sync::refuse_unapplied;
use crate::trace::{Tip, TraceError, TraceName};

tools! {
    trace_branch: Adds, "Start a new trace from another one or an earlier state; without a name, list the traces.";
    r#"{
        "name": "string", "start": "string: trace, commit, item or time", "cursor": "integer: `next` of the last answer",
        "trace": "string"
    }"# => r#"{"created!": {"type": ["string", "null"]}, "commit": "string", "traces": "array", "next": {"type": ["integer", "null"]}}"#;

    trace_switch: Sets, "Make another trace the current one.";
    r#"{"name!": "string"}"# => r#"{"trace!": "string"}"#;

    trace_merge: Adds, "Bring another trace into this one. Conflicts change nothing: settle them with a strategy.";
    r#"{"other!": "string", "strategy": ["ours", "theirs", "newest"], "trace": "string"}"# => r#"{
        "trace!": "string", "result!": ["up_to_date", "fast_forward", "merge", "conflicts"],
        "commit": {"type": ["string", "null"]}, "added": "integer", "edited": "integer", "removed": "integer",
        "conflicts": "array"
    }"#;

    trace_compress: Replaces, "Replace older items by your summary of them; pinned ones stay, and the originals can be brought back.";
    r#"{
        "summary!": "string", "keep": {"type": "integer", "minimum": 0, "description": "newest items left alone"},
        "range": "string: FIRST..LAST in place of keep", "reason": "string", "trace": "string"
    }"# => r#"{
        "id": "string", "seq": "integer", "items!": "integer: replaced", "commit": "string", "tokens": "object"
    }"#;

    trace_clean: Adds, "See what presets would cut from a long session, such as old results; with `apply`, cut it on a new trace.";
    r#"{
        "presets": {"type": "array", "items": {"type": "string"},
            "description": "safe, default, aggressive, or single presets; default if absent"},
        "keep": {"type": "integer", "minimum": 0, "description": "newest steps left alone"},
        "apply": "boolean", "trace": "string"
    }"# => r#"{
        "trace!": {"type": ["string", "null"], "description": "the new trace"}, "commit!": {"type": ["string", "null"]},
        "items!": "integer: cut", "before!": "integer: tokens", "after!": "integer", "saved!": "integer", "unit": "string",
        "window": {"type": ["integer", "null"]}, "percent_before": {"type": ["integer", "null"]},
        "percent_after_at_most": {"type": ["integer", "null"]}, "keep": "integer", "presets!": "array"
    }"#;
}

fn trace_branch(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let name: Option<TraceName> = arguments.parsed("name")?;
    let (repo, current) = (context.repo()?, arguments.trace(context)?);
    let Some(name) = name else {
        let by_name = Wanted { order: Order::Name, ..Wanted::default() };
        let listed = list(repo, by_name.traces(repo)?.collect())?;
        let to_json = |trace: Result<Listed, TraceError>| trace.map(|trace| branch_json(&trace, trace.name == current));
        let traces = listed.map(to_json).collect::<Result<Vec<Value>, _>>()?;
        let counter = context.counter()?;
        let cost = |trace: &Value| counter.count(trace.to_string().as_bytes());
        let (traces, next) = arguments.entries(traces, usize::MAX, cost)?;
        return Ok(json!({ "created": null, "traces": traces, "next": next }).into());
    };
    let from = arguments.text("start")?;
    let start = match from {
        Some(spec) => state(repo, &current, spec).context("argument `start`")?,
        None => State::of_trace(repo, &current)?,
    };
    let oid = context.open(&name)?.start_at(start.tip.commit.oid, from.unwrap_or(current.as_str()))?;
    Ok(json!({ "created": name.as_str(), "commit": oid.to_string() }).into())
}

fn trace_switch(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let name: TraceName = arguments.required_parsed("name")?;
    let repo = context.repo()?;
    Tip::of_trace(repo, &name).context("argument `name`")?;
    head::switch(repo, &name, &context.mover())?;
    Ok(json!({ "trace": name.as_str() }).into())
}

fn trace_merge(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let other = arguments.required("other")?;
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let theirs = state(repo, &name, other).context("argument `other`")?.tip;
    let settlement = Settlement { strategy: arguments.parsed("strategy")?, ..Settlement::default() };
    let subject = format!("merge {other}");
    let options =
        Options { settlement, fast_forward: FastForward::Allowed, first: Side::Ours, arrange: None, subject: &subject };
    require_signed_if_foreign(repo, || format!("`{other}`"), theirs.commit.oid)?;
    refuse_unapplied(repo, &name, theirs.commit.oid)?;
    let before = Before::read(repo)?;
    let outcome = context.open(&name)?.merge(&theirs, &options)?;
    let answer = outcome_to_json(repo, &name, &outcome)?;
    Ok(Effects::of(repo, name, &before)?.add_to(answer).into())
}

fn trace_compress(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let summary = arguments.required("summary")?;
    if is_blank(summary.as_bytes()) {
        return Err(TraceError::BlankSummary).context("argument `summary`");
    }
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let view = View::open(repo, &name, None)?;
    let (range, keep) = (arguments.text("range")?, arguments.integer("keep", 0)?);
    if range.is_some() && keep.is_some() {
        bail!("argument `range`: give it or `keep`, not both");
    }
    let only = range.map(|range| {
        let names: Vec<&str> = range.split_whitespace().collect();
        items::select(repo, &name, &view.tip, &names, &ItemFilter::default(), Among::Live).context("argument `range`")
    });
    let only = only.transpose()?;
    let scope =
        Scope { extent: keep.map_or(Extent::All, Extent::AllButLast), only: only.as_deref(), ..Scope::default() };
    let selection = select(repo, &name, &view, context.counter()?, &scope)?;
    if selection.items.is_empty() {
        return Ok(json!({ "items": 0 }).into());
    }
    let summary = Draft::dialogue(summary.as_bytes().to_vec());
    let reason = arguments.reason(context)?;
    let done = context.open(&name)?.compress(&selection, summary, None, reason.as_deref())?;
    Ok(compress::to_json(&name, &selection, &done).into())
}

fn trace_clean(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let presets = arguments.texts("presets")?;
    let presets: Result<Vec<Choice>, _> = presets.iter().map(|preset| preset.parse()).collect();
    let parameters = Parameters::new(&presets.context("argument `presets`")?, arguments.integer("keep", 0)?);
    let (repo, name) = (context.repo()?, arguments.trace(context)?);
    let view = View::open(repo, &name, None)?;
    let plan = Plan::new(Session::read(repo, &view, context.counter()?)?, parameters);
    let size = ContextSize::of(repo, &view, plan.counter(), None)?;
    let done = if arguments.is_set("apply")? {
        plan.apply(&context.open(&branch_name(repo, &name)?)?, Some(&view.tip))?
    } else {
        None
    };
    let mut answer = plan.to_json(&size, done.as_ref());
    // `trace_diff` shows the items.
    answer["items"] = plan.changed().count().into();
    answer["trace"] = done.map(|done| done.name.to_string()).into();
    let prices = cache_prices(repo)?;
    let notes = (plan.saved() > 0).then(|| plan.note(prices));
    Ok(Answer::with_warnings(answer, notes.as_slice()))
}
