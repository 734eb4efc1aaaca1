//! Figures of an agent's crumbs.

use serde::Serialize;

use super::crumb::{CrumbStatus, CrumbType, Priority};
use super::error::ForwardError;
use super::json::Counts;
use super::read::{Query, get};
use super::text;
use crate::git::Repo;
use crate::trace::{AgentName, Time};

/// What an agent's crumbs of some days come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Stats {
    /// How many days were looked at.
    pub lookback_days: u32,
    /// How many crumbs were left in them, expired ones included.
    pub total_crumbs: usize,
    /// How many that is a week.
    pub crumbs_per_week: f64,
    /// How many matter how much.
    pub priority_dist: Counts,
    /// How many are about what.
    pub type_dist: Counts,
    /// How many are active, completed, superseded.
    pub status_dist: Counts,
    /// How many tasks they named.
    pub total_tasks: usize,
    /// How many that is a crumb; 0 without one.
    pub avg_tasks_per_crumb: f64,
    /// How many of the tasks stood in crumbs that are completed, from 0 to 1; none without tasks.
    pub completion_rate: Option<f64>,
}

/// Counts the crumbs that `agent` left in the last `days`.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn stats(repo: &Repo, agent: &AgentName, days: u32, now: Time) -> Result<Stats, ForwardError> {
    let query = Query { lookback_hours: Some(u64::from(days) * 24), ..Query::all() };
    let found = get(repo, agent, &query, now)?;
    let mut stats = Stats {
        lookback_days: days,
        total_crumbs: found.crumbs.len(),
        crumbs_per_week: ratio(found.crumbs.len() * 7, days as usize).unwrap_or(0.0),
        priority_dist: Counts::of(Priority::VALUES),
        type_dist: Counts::of(CrumbType::VALUES),
        status_dist: Counts::of(CrumbStatus::VALUES),
        total_tasks: 0,
        avg_tasks_per_crumb: 0.0,
        completion_rate: None,
    };
    let mut completed = 0;
    for crumb in &found.crumbs {
        let about = &crumb.about;
        stats.priority_dist.add(about.priority.as_str());
        stats.type_dist.add(about.crumb_type.as_str());
        stats.status_dist.add(about.status.as_str());
        let tasks = text::tasks(&crumb.text).len();
        stats.total_tasks += tasks;
        completed += if about.status == CrumbStatus::Completed { tasks } else { 0 };
    }
    stats.avg_tasks_per_crumb = ratio(stats.total_tasks, stats.total_crumbs).unwrap_or(0.0);
    stats.completion_rate = ratio(completed, stats.total_tasks);
    Ok(stats)
}

/// `part / whole` to three digits; none of nothing.
fn ratio(part: usize, whole: usize) -> Option<f64> {
    let thousandths = (part * 1000 + whole / 2).checked_div(whole)?;
    Some(f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0)
}
