//! The budget of a trace, and the action if a change exceeds it.

use super::settings;
use crate::base::process::ProcessError;
use crate::git::Repo;
use crate::tokens::{Budget, BudgetAction, BudgetReport, CleanAction};
use crate::trace::{ItemId, Trace, TraceError, TraceName};

/// A variable that is set for the command in `trace.compressor`.
pub(crate) const IN_COMPRESSOR: &str = "GITTRACE_IN_COMPRESSOR";

/// The maximum number of tokens in a trace, and the action above it.
#[derive(Clone, Debug)]
pub(crate) struct BudgetPolicy {
    pub budget: Budget,
    pub action: BudgetAction,
    pub cleaner: Cleaner,
}

/// Cuts in a trace what presets select. The room `clean` has it, which is above this one.
pub(crate) type Cleaner = fn(&Trace<'_>, &CleanAction, Need) -> Result<Cut, TraceError>;

/// The purpose of a cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// If fewer tokens than this would be saved, nothing is cut.
    pub tokens: u64,
    /// This item stays.
    pub spared: Option<ItemId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// This many tokens were saved.
    Done(u64),
    /// Nothing was cut, because no more than this many would be saved.
    TooLittle(u64),
}

impl BudgetPolicy {
    /// The given budget and action; the settings `trace.budget` and `trace.budgetAction` replace what is not given. `None` if
    /// there is no budget.
    pub(crate) fn new(
        repo: &Repo,
        max_tokens: Option<u64>,
        action: Option<&str>,
        cleaner: Cleaner,
    ) -> Result<Option<Self>, TraceError> {
        let max_tokens = max_tokens.map_or_else(|| settings::number(repo, "trace.budget"), |max| Ok(Some(max)))?;
        let config = repo.config()?;
        let action = action.map_or_else(|| config.text("trace.budgetAction"), |action| Ok(Some(action.to_owned())))?;
        let mut action = action.map_or_else(BudgetAction::default, |text| text.parse().unwrap_or_default());
        if matches!(action, BudgetAction::Clean(_) | BudgetAction::Compress(_)) && repo.env().is_set(IN_COMPRESSOR) {
            // It would wait for the compression that runs the command.
            action = BudgetAction::Warn;
        }
        Ok(max_tokens.map(|max_tokens| Self { budget: Budget { max_tokens }, action, cleaner }))
    }
}

/// Runs the user's command, which may make room in `trace`. Its output goes to stderr, because stdout is for ours.
pub(crate) fn make_room(
    repo: &Repo,
    command: &str,
    trace: &TraceName,
    budget: Budget,
    total: u64,
    basis: &str,
) -> Result<(), TraceError> {
    let input = BudgetReport::new(trace.as_str(), budget, total, basis).map(|report| report.render());
    let mut shell = repo.shell(command);
    let shell = shell.env("GITTRACE_NAME", trace.as_str()).input(input.unwrap_or_default()).stdout_to_stderr();
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Err(ProcessError::Start { source, .. }) => {
            Err(TraceError::BudgetCommand { command: command.to_owned(), source })
        }
        Ok(_) | Err(_) => Err(TraceError::BudgetCommandFailed { command: command.to_owned() }),
    }
}
