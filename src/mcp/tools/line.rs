//! `trace_log`, `trace_diff`, `trace_grep`, `trace_branch`, `trace_switch`, `trace_merge`, `trace_compress`: lines of context.

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::mcp::arguments::Arguments;
use crate::mcp::place::Place;
use crate::mcp::tool::{Answer, Effect, Group, Tool};
use crate::merge::Side;
use crate::trace::branch::{create, list, to_json as branch_json};
use crate::trace::compress::{Extent, Request, compress, select as select_items};
use crate::trace::diff::json::{diff_to_json, item_to_json};
use crate::trace::diff::revisions::revisions;
use crate::trace::diff::{Target, between, target};
use crate::trace::grep::{self, Reading};
use crate::trace::item::Role;
use crate::trace::log;
use crate::trace::merge::json::conflict_to_json;
use crate::trace::merge::{FastForward, Options, Outcome, Settlement, merge};
use crate::trace::priority::Record;
use crate::trace::resolve::{Resolver, State, state};
use crate::trace::view::View;
use crate::trace::walk::{Parents, Walk};
use crate::trace::write::{Accounting, Stamp, encoding};
use crate::trace::{Draft, Fields, ItemType, Tip, TraceName, head};

pub(super) const TOOLS: [Tool; 7] = [
    Tool {
        name: "trace_log",
        group: Group::Trace,
        by_default: false,
        description: "See what happened in a trace, newest first, or to one item.",
        effect: Effect::Reads,
        input: r#"{"item": {"type": "string"}, "grep": {"type": "string", "description": "regex on subjects and texts"}, "limit": {"type": "integer", "minimum": 1, "default": 20}, "trace": {"type": "string"}}"#,
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
    let query = log::Query { item, grep: arguments.parsed("grep")?, ..log::Query::default() };
    let limit = arguments.count("limit", 1)?.unwrap_or(20);
    let record = Record::open(&repo)?;
    let mut commits = Vec::new();
    for tip in Walk::new(&repo, tip, Parents::All) {
        if let Some(entry) = log::select(&repo, &query, &record, tip?)? {
            commits.push(log::to_json(&entry));
        }
        if commits.len() >= limit {
            break;
        }
    }
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
            let mut listed = Vec::new();
            for revision in revisions(&repo, &Tip::of_trace(&repo, &name)?, id)? {
                let commit = revision.tip.commit.oid.to_string();
                let item = item_to_json(&repo, &revision.item)?;
                listed.push(json!({ "commit": commit, "at": revision.tip.time().to_string(), "item": item }));
            }
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
    let who = Stamp::take(&repo, place.now())?.committer;
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
    let stamp = Stamp::take(&repo, place.now())?;
    let (result, commit, [added, edited, removed]) =
        match merge(&repo, &name, &stamp, encoding(&repo)?, &theirs, &options)? {
            Outcome::Conflicts(conflicts) => {
                let listed = conflicts.iter().map(|conflict| conflict_to_json(&repo, conflict));
                let listed = listed.collect::<Result<Vec<_>, _>>()?;
                return Ok(json!({ "trace": name.as_str(), "result": "conflicts", "conflicts": listed }).into());
            }
            Outcome::Diverged => bail!("trace `{name}` has commits that `{other}` does not have"),
            Outcome::UpToDate => ("up_to_date", None, [0; 3]),
            Outcome::FastForward(commit) => ("fast_forward", Some(commit), [0; 3]),
            Outcome::Merged(commit, merged) => {
                ("merge", Some(commit), [merged.added.len(), merged.edited.len(), merged.removed.len()])
            }
        };
    let commit = commit.map(|oid| oid.to_string());
    Ok(json!({ "trace": name.as_str(), "result": result, "commit": commit, "added": added, "edited": edited,
        "removed": removed })
    .into())
}

fn run_compress(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let summary = arguments.required("summary")?;
    if summary.trim().is_empty() {
        return Err(anyhow!("argument `summary`: it is empty"));
    }
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let view = View::open(&repo, &name, None)?;
    let encoding = encoding(&repo)?;
    let extent = match (arguments.text("range")?, arguments.count("keep", 0)?) {
        (Some(_), Some(_)) => bail!("argument `range`: give it or `keep`, not both"),
        (Some(range), None) => {
            match Resolver::new(&repo, &name, &view.tip)?.range(range).context("argument `range`")? {
                [first, .., last] => Extent::Between(first.id, last.id),
                [only] => Extent::Between(only.id, only.id),
                [] => Extent::All,
            }
        }
        (None, Some(keep)) => Extent::AllButLast(keep),
        (None, None) => Extent::All,
    };
    let selection = select_items(&repo, &view, encoding, extent, None)?;
    if selection.items.is_empty() {
        return Ok(json!({ "items": 0 }).into());
    }
    let before = view.total(&repo, encoding)?.tokens;
    let mut fields = Fields::new(ItemType::dialogue());
    fields.role = Some(Role::User);
    let summary = Draft { fields, body: summary.as_bytes().to_vec() };
    let request =
        Request { selection: &selection, summary: &summary, subject: None, reason: arguments.text("reason")? };
    let stamp = Stamp::take(&repo, place.now())?;
    let done = compress(&repo, &name, &stamp, Accounting::counting(encoding), &request)?;
    let after = (before + done.cost_in).saturating_sub(done.cost_out);
    Ok(json!({ "id": done.summary.id.to_string(), "seq": done.seq, "items": selection.items.len(),
        "commit": done.commit.to_string(), "tokens": { "before": before, "after": after } })
    .into())
}
