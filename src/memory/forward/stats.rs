//! Statistics of an agent's forward crumbs.

use serde::Serialize;

use super::crumb::{CrumbStatus, CrumbType, ForwardCrumb, Priority};
use super::error::ForwardError;
use super::json::Counts;
use super::query::{Query, search};
use super::{reads, text};
use crate::git::Repo;
use crate::trace::{AgentName, Time};

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Stats {
    pub lookback_days: u32,
    pub total_crumbs: usize,
    pub crumbs_per_week: f64,
    pub priority_dist: Counts,
    pub type_dist: Counts,
    pub status_dist: Counts,
    pub total_tasks: usize,
    pub avg_tasks_per_crumb: f64,
    /// The part of the tasks that belong to completed forward crumbs, from 0 to 1; `None` without tasks.
    pub completion_rate: Option<f64>,
    /// The mean age at which forward crumbs were first read; `None` if none was read while the setting was on.
    pub avg_hours_until_read: Option<f64>,
}

pub(crate) fn stats(repo: &Repo, agent: &AgentName, days: u32, now: Time) -> Result<Stats, ForwardError> {
    let query = Query { lookback_hours: Some(u64::from(days) * 24), ..Query::all() };
    let crumbs = search(repo, agent, &query, now)?.crumbs;
    let (mut total_tasks, mut completed_tasks) = (0, 0);
    for crumb in &crumbs {
        let tasks = text::tasks(&crumb.text).len();
        total_tasks += tasks;
        completed_tasks += if crumb.metadata.status == CrumbStatus::Completed { tasks } else { 0 };
    }
    let reads = reads::first(repo, agent);
    let age = |crumb: &ForwardCrumb| {
        let seconds = reads.get(&crumb.id)?.as_second() - crumb.metadata.created.as_second();
        usize::try_from(seconds).ok()
    };
    let ages: Vec<usize> = crumbs.iter().filter_map(age).collect();
    let metadata = || crumbs.iter().map(|crumb| &crumb.metadata);
    Ok(Stats {
        lookback_days: days,
        total_crumbs: crumbs.len(),
        crumbs_per_week: ratio(crumbs.len() * 7, days as usize).unwrap_or(0.0),
        priority_dist: Counts::count(Priority::VALUES, metadata().map(|one| one.priority.as_str())),
        type_dist: Counts::count(CrumbType::VALUES, metadata().map(|one| one.crumb_type.as_str())),
        status_dist: Counts::count(CrumbStatus::VALUES, metadata().map(|one| one.status.as_str())),
        total_tasks,
        avg_tasks_per_crumb: ratio(total_tasks, crumbs.len()).unwrap_or(0.0),
        completion_rate: ratio(completed_tasks, total_tasks),
        avg_hours_until_read: ratio(ages.iter().sum(), ages.len() * 3600),
    })
}

/// `part / total`, rounded to three decimal places; `None` if `total` is 0.
fn ratio(part: usize, total: usize) -> Option<f64> {
    let thousandths = (part * 1000 + total / 2).checked_div(total)?;
    Some(f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0)
}
