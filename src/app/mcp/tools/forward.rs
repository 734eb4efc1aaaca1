//! `forward_crumbs_get` and `forward_crumb_leave`, with the names and shapes of the Forward Crumb Protocol.

use std::cell::RefCell;

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::{Arguments, wrong};
use crate::base::error::{Context as _, Diagnostic as _, Result, bail};
use crate::memory::forward::json::{self, CrumbList};
use crate::memory::forward::{
    self, CrumbContent, CrumbStatus, ForwardCrumb, ForwardError, NewCrumb, Query, QueryResult, query_time,
    resolve_agent, text,
};
use crate::trace::TraceName;

tools! {
    forward_crumbs_get: Reads, "Read the notes that your earlier sessions left for you, newest first, with their unfinished tasks.";
    r#"{
        "lookback_hours": {"type": "integer", "minimum": 0, "default": 168},
        "priority_filter": ["HIGH", "MEDIUM", "LOW"],
        "crumb_type": ["orientation", "technical", "emotional", "task"],
        "limit": {"type": "integer", "minimum": 1, "default": 10},
        "status_filter": {"enum": ["active", "completed", "superseded"], "default": "active"},
        "cursor": "integer: `next`"
    }"# => r#"{
        "success!": "boolean", "crumbs!": "array", "unfinished_tasks!": "array", "summary!": "object", "next": "integer"
    }"#;

    forward_crumb_leave: Adds, "Leave a note for your next session before this one ends: what happened, what is open. Lists may also \
        be JSON text.";
    r#"{
        "session_summary!": "string: 1-3 sentences",
        "key_discoveries": {"type": ["array", "string"], "items": {"type": "string"}},
        "emotional_state": {"type": ["object", "string"], "description": "e.g. {\"L\": 2.1}"},
        "unfinished_business": {"type": ["array", "string"], "items": {"type": "string"}},
        "references": {"type": ["object", "string"], "description": "ids by kind"},
        "if_disoriented": {"type": ["array", "string"], "items": {"type": "string"}},
        "priority": {"enum": ["HIGH", "MEDIUM", "LOW"], "default": "MEDIUM"},
        "crumb_type": {"enum": ["orientation", "technical", "emotional", "task"], "default": "orientation"},
        "parent_crumb": "string: id of the note it continues"
    }"# => r#"{"success!": "boolean", "id!": "string", "text!": "string", "metadata!": "object"}"#;
}

fn forward_crumbs_get(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = context.repo()?;
    let limit: usize = arguments.integer("limit", 1)?.unwrap_or(10);
    let query = Query {
        lookback_hours: Some(arguments.integer("lookback_hours", 0)?.unwrap_or(168)),
        priority: arguments.parsed("priority_filter")?,
        crumb_type: arguments.parsed("crumb_type")?,
        status: Some(arguments.parsed("status_filter")?.unwrap_or(CrumbStatus::Active)),
        expired: false,
        limit: arguments.integer::<usize>("cursor", 0)?.unwrap_or(0).saturating_add(limit).saturating_add(1),
    };
    let Some(agent) = resolve_agent(repo, None)? else {
        // The shape is the same without an agent; an empty answer contains no name.
        let value = serde_json::to_value(CrumbList::new(&"nobody".parse()?, &[], &[]))?;
        let hint = ForwardError::NoAgent.hint().unwrap_or_default();
        let warnings = vec![format!("warning: no agent is configured, so there are no forward crumbs\nhint: {hint}")];
        return Ok(Answer::with_warnings(value, &warnings));
    };
    let now = query_time(repo, context.now())?;
    let QueryResult { crumbs, mut damaged, .. } = forward::search(repo, &agent, &query, now)?;
    let mut warnings = forward::future_warnings(&crumbs, now);
    let skipped = damaged.iter().map(|one| format!("warning: forward crumb {}: skipped: {}", one.path, one.cause));
    warnings.extend(skipped);
    // The warnings name them.
    damaged.clear();
    let counter = context.counter()?;
    // The list repeats parts of the text of each crumb, and all of the first.
    let cost = |crumb: &ForwardCrumb| 2 * counter.count(crumb.text.as_bytes()) + 100;
    let (crumbs, next) = arguments.entries(crumbs, limit, cost)?;
    let mut value = serde_json::to_value(CrumbList::new(&agent, &crumbs, &damaged))?;
    if let Some(next) = next {
        value["next"] = next.into();
    }
    Ok(Answer::with_warnings(value, &warnings))
}

fn forward_crumb_leave(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let summary = arguments.required("session_summary")?;
    if summary.trim().is_empty() {
        bail!("argument `session_summary`: it is empty; summarize what happened in a line or more");
    }
    let emotional = arguments.object("emotional_state")?;
    let mut new = NewCrumb::new(CrumbContent {
        summary: summary.to_owned(),
        discoveries: arguments.texts("key_discoveries")?,
        emotional: emotional.into_iter().map(|(name, value)| (name, json::value_to_text(&value))).collect(),
        unfinished: arguments.texts("unfinished_business")?,
        references: references(arguments)?,
        if_disoriented: arguments.texts("if_disoriented")?,
    });
    new.priority = arguments.parsed("priority")?.unwrap_or(new.priority);
    new.crumb_type = arguments.parsed("crumb_type")?.unwrap_or(new.crumb_type);
    let repo = context.repo()?;
    let agent = resolve_agent(repo, None)?.ok_or(ForwardError::NoAgent)?;
    if let Some(parent) = arguments.text("parent_crumb")? {
        new.parent = Some(forward::resolve(repo, &agent, parent).context("argument `parent_crumb`")?.id);
    }
    let warnings = RefCell::new(Vec::new());
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let added = forward::add(&context.open(&TraceName::of_agent(&agent))?.with_warnings(&warn), &agent, &new)?;
    let mut warnings = warnings.into_inner();
    warnings.extend(text::short_task_warning(&new.content, &added.text));
    Ok(Answer::with_warnings(json::added_to_json(&agent, &added)?, &warnings))
}

/// Ids by kind: an array, or a string with commas between them.
fn references(arguments: &Arguments<'_>) -> Result<Vec<(String, Vec<String>)>> {
    let kinds = arguments.object("references")?.into_iter().map(|(kind, ids)| {
        if ids.is_array() || ids.is_string() {
            Ok((kind, json::parse_ids(&ids)))
        } else {
            Err(wrong("references", "ids by kind, each a string or an array of strings", &ids))
        }
    });
    kinds.collect()
}
