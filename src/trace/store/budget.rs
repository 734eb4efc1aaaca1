//! Holding changes against a budget, with what the user wants done past it.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use super::settings;
use super::write::{Accounting, encoding};
use crate::base::error::{Context as _, Result, bail};
use crate::git::Repo;
use crate::tokens::{Budget, BudgetAction, BudgetReport};
use crate::trace::{TraceError, TraceName};

/// The most a trace may count for, and what happens past it.
#[derive(Debug)]
pub(crate) struct BudgetPolicy {
    accounting: Accounting,
    action: BudgetAction,
}

impl BudgetPolicy {
    /// The budget that is given, or else the one of the settings `trace.budget` and `trace.budgetAction`.
    ///
    /// # Errors
    ///
    /// If a setting is not what it should be.
    pub(crate) fn new(repo: &Repo, max_tokens: Option<u64>, action: Option<&str>) -> Result<Self> {
        let max_tokens = match max_tokens {
            Some(max_tokens) => Some(max_tokens),
            None => settings::number(repo, "trace.budget")?,
        };
        let action = match action {
            Some(action) => Some(action.to_owned()),
            None => repo.config()?.text("trace.budgetAction")?,
        };
        let action = action.map_or_else(BudgetAction::default, |text| text.parse().unwrap_or_default());
        let budget = max_tokens.map(|max_tokens| Budget { max_tokens });
        Ok(Self { accounting: Accounting { encoding: encoding(repo)?, budget }, action })
    }

    /// Makes a change under the budget.
    ///
    /// Over it, the change is made all the same with a warning, or refused, or the user's command is run (no lock is held
    /// meanwhile) and the change tried again. `warn` is told of what was
    /// made over the budget.
    ///
    /// # Errors
    ///
    /// [`TraceError::OverBudget`], those of the change, and a command that fails.
    pub(crate) fn run<T>(
        &self,
        warn: impl FnOnce(&str),
        change: impl Fn(Accounting) -> Result<T, TraceError>,
    ) -> Result<T> {
        let refusal = match change(self.accounting) {
            Err(refusal @ TraceError::OverBudget { .. }) => refusal,
            other => return Ok(other?),
        };
        match &self.action {
            BudgetAction::Warn => {
                warn(&format!("warning: {refusal}"));
                Ok(change(Accounting { budget: None, ..self.accounting })?)
            }
            BudgetAction::Reject => Err(refusal.into()),
            BudgetAction::Command(command) => {
                if let TraceError::OverBudget { trace, total, basis, max } = &refusal {
                    let budget = Budget { max_tokens: *max };
                    let report = BudgetReport::new(trace.as_str(), budget, *total, basis);
                    let input = report.map(|report| report.render()).unwrap_or_default();
                    make_room(command, trace, &input)?;
                }
                Ok(change(self.accounting)?)
            }
        }
    }
}

/// Runs the user's command; what it prints goes to stderr, since stdout carries the answer of this one.
fn make_room(command: &str, trace: &TraceName, input: &str) -> Result<()> {
    let failed = || format!("cannot run the budget's command `{command}`");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("GITTRACE_NAME", trace.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::from(io::stderr()))
        .spawn()
        .with_context(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not care for its input may have closed it.
        let _ = stdin.write_all(input.as_bytes());
    }
    let status = child.wait().with_context(failed)?;
    if !status.success() {
        bail!("the budget's command `{command}` failed, so nothing was committed");
    }
    Ok(())
}
