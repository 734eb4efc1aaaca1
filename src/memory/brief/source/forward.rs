//! What the agent's forward crumbs say: how the last session ended, and what is still open.

use std::collections::HashSet;

use super::cause;
use crate::git::Repo;
use crate::memory::brief::Request;
use crate::memory::brief::section::{Kind, Section};
use crate::memory::forward::crumb::Damaged;
use crate::memory::forward::{Crumb, Query, get, text};
use crate::trace::Time;

/// How many crumbs are looked at; their tasks would not fit long before.
const FORWARD_CRUMBS: usize = 30;

/// Reads the active crumbs whose time is not over, however long ago they were left: a task stays open until somebody says
/// otherwise. Tasks of those that matter more come first, and of these the newest.
pub(crate) fn read(
    repo: &Repo,
    request: &Request,
    now: Time,
    warnings: &mut Vec<String>,
) -> Result<Vec<Section>, String> {
    let Some(agent) = &request.agent else { return Ok(Vec::new()) };
    let query = Query { lookback_hours: None, limit: FORWARD_CRUMBS, ..Query::default() };
    let mut found = get(repo, agent, &query, now).map_err(|error| cause(&error))?;
    warnings.extend(found.damaged.iter().map(|Damaged { path, cause, .. }| format!("forward crumb {path}: {cause}")));
    let last_session = found.crumbs.first().map(last_session);
    found.crumbs.sort_by_key(|crumb| crumb.about.priority);
    let mut tasks = Section::new(Kind::Tasks);
    let mut seen = HashSet::new();
    for crumb in &found.crumbs {
        for task in text::tasks(&crumb.text) {
            if seen.insert(task.clone()) {
                tasks.push(&task, &format!(" ({}, {})", crumb.about.priority, crumb.id.short()));
            }
        }
    }
    Ok(last_session.into_iter().chain([tasks]).collect())
}

fn last_session(newest: &Crumb) -> Section {
    let mut section = Section::new(Kind::LastSession);
    let content = text::parse(&newest.text).map(|(_, content)| content);
    let summary = content.as_ref().map_or(newest.text.as_str(), |content| content.summary.as_str());
    section.push(summary, &format!(" ({})", newest.id.short()));
    for line in content.iter().flat_map(|content| &content.if_disoriented) {
        section.push(line, "");
    }
    section
}
