//! `forward_crumbs_get` and `forward_crumb_leave`, with the names and shapes of the Forward Crumb Protocol.

use crate::app::context::Context;
use crate::app::mcp::arguments::{Arguments, wrong};
use crate::app::mcp::tool::Answer;
use crate::base::error::{Context as _, Diagnostic as _, Result, bail};
use crate::memory::forward::json::{self, CrumbList};
use crate::memory::forward::{
    self, CrumbContent, CrumbStatus, ForwardError, NewCrumb, Query, QueryResult, query_time, resolve_agent, text,
};
use crate::trace::TraceName;

tools! {
    forward_crumbs_get: Reads, "Read the notes that your earlier sessions left for you, newest first, with their unfinished tasks.";
    r#"{
        "lookback_hours": {"type": "integer", "minimum": 0, "default": 168},
        "priority_filter": ["HIGH", "MEDIUM", "LOW"],
        "crumb_type": ["orientation", "technical", "emotional", "task"],
        "limit": {"type": "integer", "minimum": 1, "default": 10},
        "status_filter": {"enum": ["active", "completed", "superseded"], "default": "active"}
    }"# => r#"{
        "success!": "boolean", "key_references!": "object", "summary!": "object",
        "crumbs!": {"type": "array", "items": {"type": "object", "required": ["id", "text", "metadata"]}},
        "most_recent!": {"type": ["object", "null"]},
        "unfinished_tasks!": {"type": "array", "items": {"type": "string"}}
    }"#;

    forward_crumb_leave: Adds, "Leave a note for your next session before this one ends: what happened, what is open. Lists may also \
        be JSON text.";
    r#"{
        "session_summary!": "string: 1-3 sentences",
        "key_discoveries": {"type": ["array", "string"], "items": {"type": "string"}},
        "emotional_state": {"type": ["object", "string"], "description": "e.g. {\"L\": 2.1}"},
        "unfinished_business": {"type": ["array", "string"], "items": {"type": "string"}},
        "references": {"type": ["object", "string"], "description": "ids by kind, e.g. {\"thread_ids\": [\"t1\"]}"},
        "if_disoriented": {"type": ["array", "string"], "items": {"type": "string"}},
        "priority": {"enum": ["HIGH", "MEDIUM", "LOW"], "default": "MEDIUM"},
        "crumb_type": {"enum": ["orientation", "technical", "emotional", "task"], "default": "orientation"},
        "parent_crumb": "string: id of the note that this one continues"
    }"# => r#"{"success!": "boolean", "id!": "string", "text!": "string", "metadata!": "object"}"#;
}

fn forward_crumbs_get(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = context.repo()?;
    let query = Query {
        lookback_hours: Some(arguments.integer("lookback_hours", 0)?.unwrap_or(168)),
        priority: arguments.parsed("priority_filter")?,
        crumb_type: arguments.parsed("crumb_type")?,
        status: Some(arguments.parsed("status_filter")?.unwrap_or(CrumbStatus::Active)),
        expired: false,
        limit: arguments.integer("limit", 1)?.unwrap_or(10),
    };
    let Some(agent) = resolve_agent(repo, None)? else {
        // The shape is the same without an agent; an empty answer contains no name.
        let value = serde_json::to_value(CrumbList::new(&"nobody".parse()?, &[], &[]))?;
        let hint = ForwardError::NoAgent.hint().unwrap_or_default();
        let warnings = vec![format!("warning: no agent is configured, so there are no forward crumbs\nhint: {hint}")];
        return Ok(Answer { value, text: None, warnings });
    };
    let QueryResult { crumbs, damaged } = forward::search(repo, &agent, &query, query_time(repo, context.now())?)?;
    let warnings =
        damaged.iter().map(|one| format!("warning: forward crumb {}: skipped: {}", one.path, one.cause)).collect();
    Ok(Answer { value: serde_json::to_value(CrumbList::new(&agent, &crumbs, &damaged))?, text: None, warnings })
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
    let added = forward::add(&context.open(&TraceName::of_agent(&agent))?, &agent, &new)?;
    let warnings = text::short_task_warning(&new.content, &added.text).into_iter().collect();
    Ok(Answer { value: json::added_to_json(&agent, &added)?, text: None, warnings })
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
