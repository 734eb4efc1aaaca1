//! `trace_log`, `trace_diff`, `trace_grep`, `trace_branch`, `trace_switch`, `trace_merge`, `trace_compress`: lines of context.

use serde_json::{Value, json};

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::base::error::{Context as _, Result, bail};
use crate::base::merge::Side;
use crate::trace::Draft;
use crate::trace::change::branch::{create, list, to_json as branch_json};
use crate::trace::change::compress::{self, Extent, Request, select};
use crate::trace::change::merge::json::outcome_to_json;
use crate::trace::change::merge::{FastForward, Options, Settlement};
use crate::trace::query::code::CodeRange;
use crate::trace::query::diff::json::{diff_to_json, revision_to_json};
use crate::trace::query::diff::revisions::revisions;
use crate::trace::query::diff::{Target, between, target};
use crate::trace::query::grep::{self, Reading};
use crate::trace::query::log;
use crate::trace::store::head;
use crate::trace::store::resolve::{Resolver, State, state};
use crate::trace::store::settings::encoding;
use crate::trace::store::signature::Signature;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceName};

pub(crate) const TOOLS: [Tool; 7] = [
    Tool {
        name: "trace_log",
        group: Group::Trace,
        by_default: false,
        description: "See what happened in a trace, newest first, or to one item.",
        effect: Effect::Reads,
        input: r#"{"item": {"type": "string"}, "grep": {"type": "string", "description": "regex on subjects and texts"}, "code": {"type": "string", "description": "A..B: only what led from code commit A to B"}, "limit": {"type": "integer", "minimum": 1, "default": 20}, "trace": {"type": "string"}}"#,
        required: &[],
        output: r#"{"commits": {"type": "array", "items": {"type": "object", "required": ["commit", "at", "subject", "items"]}}}"#,
        answered: &["commits"],
        run: run_log,
    },
    Tool {
        name: "trace_diff",
        group: Group::Trace,
        by_default: false,
        description: "Compare two states by item; one item gives its revisions; none, the last commit.",
        effect: Effect::Reads,
        input: r#"{"states": {"type": "array", "items": {"type": "string"}, "description": "0-2 traces, commits, times; or one item"}, "trace": {"type": "string"}}"#,
        required: &[],
        output: r#"{"items": {"type": "array"}, "revisions": {"type": "array"}}"#,
        answered: &[],
        run: run_diff,
    },
    Tool {
        name: "trace_grep",
        group: Group::Trace,
        by_default: false,
        description: "Search the texts of a trace, also those of its history.",
        effect: Effect::Reads,
        input: r#"{"pattern": {"type": "string"}, "fixed": {"type": "boolean"}, "ignore_case": {"type": "boolean"}, "type": {"type": "string"}, "history": {"type": "boolean"}, "limit": {"type": "integer", "minimum": 1, "default": 100}, "trace": {"type": "string"}}"#,
        required: &["pattern"],
        output: r#"{"hits": {"type": "array", "items": {"type": "object", "required": ["id", "seq", "lines"]}}, "total": {"type": "integer"}}"#,
        answered: &["hits", "total"],
        run: run_grep,
    },
    Tool {
        name: "trace_branch",
        group: Group::Trace,
        by_default: false,
        description: "Start a new trace from another one or an earlier state; without a name, list the traces.",
        effect: Effect::Adds,
        input: r#"{"name": {"type": "string"}, "start": {"type": "string", "description": "trace, commit, item or time"}, "trace": {"type": "string"}}"#,
        required: &[],
        output: r#"{"created": {"type": ["string", "null"]}, "commit": {"type": "string"}, "traces": {"type": "array"}}"#,
        answered: &["created"],
        run: run_branch,
    },
    Tool {
        name: "trace_switch",
        group: Group::Trace,
        by_default: false,
        description: "Make another trace the current one.",
        effect: Effect::Sets,
        input: r#"{"name": {"type": "string"}}"#,
        required: &["name"],
        output: r#"{"trace": {"type": "string"}}"#,
        answered: &["trace"],
        run: run_switch,
    },
    Tool {
        name: "trace_merge",
        group: Group::Trace,
        by_default: false,
        description: "Bring another trace into this one. Conflicts change nothing: settle them with a strategy.",
        effect: Effect::Adds,
        input: r#"{"other": {"type": "string"}, "strategy": {"enum": ["ours", "theirs", "newest"]}, "trace": {"type": "string"}}"#,
        required: &["other"],
        output: r#"{"trace": {"type": "string"}, "result": {"enum": ["up_to_date", "fast_forward", "merge", "conflicts"]}, "commit": {"type": ["string", "null"]}, "added": {"type": "integer"}, "edited": {"type": "integer"}, "removed": {"type": "integer"}, "conflicts": {"type": "array"}}"#,
        answered: &["trace", "result"],
        run: run_merge,
    },
    Tool {
        name: "trace_compress",
        group: Group::Trace,
        by_default: false,
        description: "Replace older items by your summary of them; pinned ones stay, and the originals can be brought back.",
        effect: Effect::Replaces,
        input: r#"{"summary": {"type": "string"}, "keep": {"type": "integer", "minimum": 0, "description": "newest items left alone"}, "range": {"type": "string", "description": "FIRST..LAST in place of keep"}, "reason": {"type": "string"}, "trace": {"type": "string"}}"#,
        required: &["summary"],
        output: r#"{"id": {"type": "string"}, "seq": {"type": "integer"}, "items": {"type": "integer", "description": "replaced"}, "commit": {"type": "string"}, "tokens": {"type": "object"}}"#,
        answered: &["items"],
        run: run_compress,
    },
];

fn run_log(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let tip = Tip::of_trace(&repo, &name)?;
    let item = match arguments.text("item")? {
        Some(spec) => Some(Resolver::new(&repo, &name, &tip)?.item(spec).context("argument `item`")?),
        None => None,
    };
    let code = arguments.text("code")?.map(|spec| CodeRange::resolve(&repo, spec)).transpose();
    let code = code.context("argument `code`")?;
    let query = log::Query { item, grep: arguments.parsed("grep")?, code, ..log::Query::default() };
    let limit = arguments.count("limit", 1)?.unwrap_or(20);
    let entries = log::entries(&repo, &query, tip)?.take(limit);
    let commits = entries.map(|entry| Ok(log::to_json(&entry?))).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "commits": commits }).into())
}

fn run_diff(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let states = arguments.texts("states")?;
    if states.len() > 2 {
        bail!("argument `states`: two at most are expected, not {}", states.len());
    }
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    match target(&repo, &name, &states).context("argument `states`")? {
        Target::States(states) => {
            let (before, after) = *states;
            Ok(diff_to_json(&repo, &between(&repo, before, after, encoding(&repo)?)?)?.into())
        }
        Target::Item(id) => {
            let revisions = revisions(&repo, &Tip::of_trace(&repo, &name)?, id)?;
            let listed = revisions.iter().map(|revision| revision_to_json(&repo, revision));
            let listed = listed.collect::<Result<Vec<_>, _>>()?;
            Ok(json!({ "revisions": listed }).into())
        }
    }
}

fn run_grep(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let tip = Tip::of_trace(&repo, &name)?;
    let reading = Reading { fixed: arguments.is_set("fixed")?, ignore_case: arguments.is_set("ignore_case")? };
    let query = grep::Query::new(arguments.required("pattern")?, reading, arguments.parsed("type")?);
    let query = query.context("argument `pattern`")?;
    let limit = arguments.count("limit", 1)?.unwrap_or(100);
    let (mut hits, mut total): (Vec<Value>, usize) = (Vec::new(), 0);
    let mut take = |commit: Option<&Tip>, hit: &grep::Hit| {
        total += 1;
        if hits.len() < limit {
            hits.push(grep::to_json(commit, hit));
        }
    };
    if arguments.is_set("history")? {
        grep::history(&repo, &tip, &query, |commit, hit| take(Some(commit), &hit))?;
    } else {
        grep::live(&repo, &tip, &query, |hit| take(None, &hit))?;
    }
    Ok(json!({ "hits": hits, "total": total }).into())
}

fn run_branch(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let name: Option<TraceName> = arguments.parsed("name")?;
    let repo = place.repo()?;
    let current = place.trace(&repo, arguments.parsed("trace")?)?;
    let Some(name) = name else {
        let listed = list(&repo, encoding(&repo)?)?;
        let traces: Vec<Value> = listed.iter().map(|trace| branch_json(trace, trace.name == current)).collect();
        return Ok(json!({ "created": null, "traces": traces }).into());
    };
    let from = arguments.text("start")?;
    let start = match from {
        Some(spec) => state(&repo, &current, spec).context("argument `start`")?,
        None => State::of_trace(&repo, &current)?,
    };
    let who = Signature::take(&repo, place.now())?.committer;
    create(&repo, &name, &who, start.tip.commit.oid, from.unwrap_or(current.as_str()))?;
    Ok(json!({ "created": name.as_str(), "commit": start.tip.commit.oid.to_string() }).into())
}

fn run_switch(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let name: TraceName = arguments.parsed("name")?.context("argument `name` is missing")?;
    let repo = place.repo()?;
    Tip::of_trace(&repo, &name).context("argument `name`")?;
    head::switch(&repo, &name)?;
    Ok(json!({ "trace": name.as_str() }).into())
}

fn run_merge(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let other = arguments.required("other")?;
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let theirs = state(&repo, &name, other).context("argument `other`")?.tip;
    let settlement = Settlement { strategy: arguments.parsed("strategy")?, ..Settlement::default() };
    let subject = format!("merge {other}");
    let options = Options { settlement, fast_forward: FastForward::Allowed, first: Side::Ours, subject: &subject };
    let outcome = place.open(&repo, name.clone())?.merge(&theirs, &options)?;
    Ok(outcome_to_json(&repo, &name, &outcome)?.into())
}

fn run_compress(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let summary = arguments.required("summary")?;
    if summary.trim().is_empty() {
        bail!("argument `summary`: it is empty");
    }
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let view = View::open(&repo, &name, None)?;
    let encoding = encoding(&repo)?;
    let extent = match (arguments.text("range")?, arguments.count("keep", 0)?) {
        (Some(_), Some(_)) => bail!("argument `range`: give it or `keep`, not both"),
        (Some(range), None) => {
            let resolver = Resolver::new(&repo, &name, &view.tip)?;
            Extent::of_range(resolver.range(range).context("argument `range`")?)
        }
        (None, Some(keep)) => Extent::AllButLast(keep),
        (None, None) => Extent::All,
    };
    let selection = select(&repo, &view, encoding, extent, None)?;
    if selection.items.is_empty() {
        return Ok(json!({ "items": 0 }).into());
    }
    let before = view.total(&repo, encoding)?.tokens;
    let summary = Draft::dialogue(summary.as_bytes().to_vec());
    let request =
        Request { selection: &selection, summary: &summary, subject: None, reason: arguments.text("reason")? };
    let done = place.open(&repo, name.clone())?.compress(&request)?;
    Ok(compress::to_json(&name, selection.items.len(), &done, before).into())
}
