//! `trace_log`, `trace_diff`, `trace_top`, `trace_undo`: the history of a trace, and its result.

use std::fmt::Write as _;

use crate::app::cli::{diff_text, print_top, reverse_latest};
use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::ui::{minute, one_line};
use crate::base::error::{Context as _, Result, bail};
use crate::git::short_oid;
use crate::trace::change::undo::{History, reverse, to_json};
use crate::trace::query::code::CodeRange;
use crate::trace::query::diff::revisions::revisions;
use crate::trace::query::diff::{Target, between, target};
use crate::trace::query::log;
use crate::trace::query::select::Among;
use crate::trace::query::size::ContextSize;
use crate::trace::query::top::{By, top};
use crate::trace::store::resolve::State;
use crate::trace::store::view::View;

/// The most characters of a subject or reason in a line of `trace_log`.
const SUBJECT_LEN: usize = 200;
/// The most items that a line of `trace_log` names.
const NAMED: usize = 3;

tools! {
    trace_log: Reads, "See what happened in a trace, newest first, or to one item.";
    r#"{
        "item": "string", "grep": "string: regex on subjects and texts",
        "code": "string: A..B: only what led from code commit A to B",
        "budget": {"type": "integer", "minimum": 100, "default": 4000}, "cursor": "string", "trace": "string"
    }"#;

    trace_diff: Reads, "Compare two states by item; one item gives its revisions; none, the last commit.";
    r#"{
        "states": {"type": "array", "items": {"type": "string"}, "description": "0-2 traces, commits, times; or one item"},
        "budget": {"type": "integer", "minimum": 100, "default": 4000}, "cursor": "string", "trace": "string"
    }"#;

    trace_top: Reads, "Find what fills the context, heaviest first.";
    r#"{
        "by": {"enum": ["item", "turn", "tool", "path", "type"], "default": "item"},
        "budget": {"type": "integer", "minimum": 100, "default": 4000}, "cursor": "string", "trace": "string"
    }"#;

    trace_undo: Replaces, "Undo the last operation in this worktree, or an earlier one; a second call undoes the one before.";
    r#"{"operation": "string: id"}"# => r#"{"operations!": "array", "changes!": "array"}"#;
}

fn trace_log(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip, mut page) = arguments.page(context)?;
    let items = match arguments.text("item")? {
        Some(_) => Some(arguments.items(context, &name, &tip, Among::LiveOrNamed)?.into_iter().collect()),
        None => None,
    };
    let code = arguments.text("code")?.map(|spec| CodeRange::resolve(repo, spec)).transpose();
    let code = code.context("argument `code`")?;
    let query = log::Query { items, grep: arguments.parsed("grep")?, code, ..log::Query::default() };
    let range = log::Range { tips: vec![tip.clone()], without: None };
    for entry in log::entries(repo, &query, &range)? {
        page.write(&line(&entry?));
        if page.is_full() {
            break;
        }
    }
    page.finish(&tip, "nothing matches")
}

/// A commit as a line: `3f9a1c2 2026-11-22 21:05 edit #1 dialogue 5b1c…: the subject (the reason)`.
fn line(entry: &log::Entry) -> String {
    let log::Entry { tip, touched, .. } = entry;
    let op = tip.trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    let mut line = format!("{} {} {op}", short_oid(tip.commit.oid), minute(tip.time()));
    for change in touched.iter().take(NAMED) {
        let slot = change.entry();
        let _ = write!(line, " #{} {} {}", slot.seq, slot.item_type, slot.id);
    }
    if touched.len() > NAMED {
        let _ = write!(line, " and {} more", touched.len() - NAMED);
    }
    let _ = write!(line, ": {}", one_line(tip.commit.subject(), SUBJECT_LEN));
    if let Some(reason) = &tip.trailers.reason {
        let _ = write!(line, " ({})", one_line(reason, SUBJECT_LEN));
    }
    line + "\n"
}

fn trace_top(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, _, tip, mut page) = arguments.page(context)?;
    let view = View::at(repo, tip.clone(), None)?;
    let counter = context.counter()?;
    let top = top(repo, &view, counter, arguments.parsed("by")?.unwrap_or(By::Item))?;
    print_top(context, &top, &ContextSize::of(repo, &view, counter, None)?, usize::MAX)?;
    page.write(&context.ui.take());
    page.finish(&tip, "")
}

fn trace_undo(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let Some(spec) = arguments.text("operation")? else {
        return reverse_latest(context, 1, "undo", |originals, reversed| Ok(to_json(originals, reversed).into()));
    };
    let history = History::read(context.repo()?)?;
    let operation = history.find(spec).context("argument `operation`")?;
    let reversed = reverse(context.repo()?, &context.signature()?, &history, &[operation], "undo")?;
    Ok(to_json(&history.originals(operation), &reversed).into())
}

fn trace_diff(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let states = arguments.texts("states")?;
    if states.len() > 2 {
        bail!("argument `states`: expected at most two, not {}", states.len());
    }
    let (repo, name, tip, mut page) = arguments.page(context)?;
    let style = diff_text::Style { context: 3, words: false };
    // Now is when the first page was read.
    let now = || Ok(State { tip: tip.clone(), at: None, refname: None });
    match target(repo, &name, now, &states).context("argument `states`")? {
        Target::States(states) => {
            let (before, after) = *states;
            let commits: Vec<_> = before.iter().chain([&after]).map(|state| state.tip.commit.oid).collect();
            page.depends_on(&commits)?;
            let diff = between(repo, before, after, context.counter()?)?;
            page.write(&(diff.summary() + "\n"));
            for item in &diff.items {
                if page.is_full() {
                    break;
                }
                diff_text::item(context, item, style)?;
                page.write(&format!("\n{}", context.ui.take()));
            }
        }
        Target::Item(id) => {
            for revision in revisions(repo, &tip, id)? {
                if page.is_full() {
                    break;
                }
                diff_text::item(context, &revision.item, style)?;
                let (oid, at) = (revision.tip.commit.oid, revision.tip.time());
                page.write(&format!("commit {oid} {at}\n{}\n", context.ui.take()));
            }
        }
    }
    page.finish(&tip, "nothing differs")
}
