//! Holding commits against a budget.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::Session;
use crate::tokens::{Budget, BudgetAction, BudgetReport};
use crate::trace::settings;
use crate::trace::write::{Accounting, encoding};
use crate::trace::{TraceError, TraceName};

/// The budget of this command.
#[derive(clap::Args, Debug)]
pub(super) struct BudgetArgs {
    /// Most tokens that the trace may count for [default: `trace.budget`, or none]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,

    /// What happens to a commit that goes over it: warn, reject, or a command that may make room
    /// [default: `trace.budgetAction`, or warn]
    #[arg(long, value_name = "ACTION")]
    budget_action: Option<String>,
}

/// The most a trace may count for, and what happens past it.
pub(super) struct Guard {
    accounting: Accounting,
    action: BudgetAction,
}

impl Guard {
    /// Reads the budget from flags and settings.
    pub(super) fn new(session: &Session, args: Option<&BudgetArgs>) -> Result<Self> {
        let config = session.repo.config()?;
        let budget = match args.and_then(|args| args.budget) {
            Some(max_tokens) => Some(Budget { max_tokens }),
            None => settings::number(&session.repo, "trace.budget")?.map(|max_tokens| Budget { max_tokens }),
        };
        let action = match args.and_then(|args| args.budget_action.clone()) {
            Some(action) => Some(action),
            None => config.text("trace.budgetAction")?,
        };
        let action = action.map_or_else(BudgetAction::default, |text| text.parse().unwrap_or_default());
        Ok(Self { accounting: Accounting { encoding: encoding(&session.repo)?, budget }, action })
    }

    /// Makes a change under the budget.
    ///
    /// Over it, the change is made all the same with a warning, or refused, or the user's command is run (no lock is held
    /// meanwhile) and the change tried again.
    pub(super) fn run<T>(&self, session: &Session, change: impl Fn(Accounting) -> Result<T, TraceError>) -> Result<T> {
        let refusal = match change(self.accounting) {
            Err(refusal @ TraceError::OverBudget { .. }) => refusal,
            other => return Ok(other?),
        };
        match &self.action {
            BudgetAction::Warn => {
                session.ui.note(&format!("warning: {refusal}"));
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
    anyhow::ensure!(status.success(), "the budget's command `{command}` failed, so nothing was committed");
    Ok(())
}
