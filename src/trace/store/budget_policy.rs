//! The budget of a trace, and the action if a change exceeds it.

use super::settings;
use crate::base::process::{Process, ProcessError};
use crate::git::Repo;
use crate::tokens::{Budget, BudgetAction, BudgetReport};
use crate::trace::{TraceError, TraceName};

/// A variable that is set for the command in `trace.compressor`.
pub(crate) const IN_COMPRESSOR: &str = "GITTRACE_IN_COMPRESSOR";

/// The maximum number of tokens in a trace, and the action above it.
#[derive(Clone, Debug)]
pub(crate) struct BudgetPolicy {
    pub budget: Budget,
    pub action: BudgetAction,
}

impl BudgetPolicy {
    /// The given budget and action; the settings `trace.budget` and `trace.budgetAction` replace what is not given. `None` if
    /// there is no budget.
    pub(crate) fn new(repo: &Repo, max_tokens: Option<u64>, action: Option<&str>) -> Result<Option<Self>, TraceError> {
        let max_tokens = max_tokens.map_or_else(|| settings::number(repo, "trace.budget"), |max| Ok(Some(max)))?;
        let config = repo.config()?;
        let action = action.map_or_else(|| config.text("trace.budgetAction"), |action| Ok(Some(action.to_owned())))?;
        let mut action = action.map_or_else(BudgetAction::default, |text| text.parse().unwrap_or_default());
        if matches!(action, BudgetAction::Compress(_)) && repo.env().is_set(IN_COMPRESSOR) {
            // It would wait for the compression that runs the command.
            action = BudgetAction::Warn;
        }
        Ok(max_tokens.map(|max_tokens| Self { budget: Budget { max_tokens }, action }))
    }
}

/// Runs the user's command, which may make room in `trace`. Its output goes to stderr, because stdout is for ours.
pub(crate) fn make_room(
    command: &str,
    trace: &TraceName,
    budget: Budget,
    total: u64,
    basis: &str,
) -> Result<(), TraceError> {
    let input = BudgetReport::new(trace.as_str(), budget, total, basis).map(|report| report.render());
    let mut shell = Process::shell(command);
    let shell = shell.env("GITTRACE_NAME", trace.as_str()).input(input.unwrap_or_default()).stdout_to_stderr();
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Err(ProcessError::Start { source, .. }) => {
            Err(TraceError::BudgetCommand { command: command.to_owned(), source })
        }
        Ok(_) | Err(_) => Err(TraceError::BudgetCommandFailed { command: command.to_owned() }),
    }
}
