//! Holding commits against a budget.

use crate::app::cli::{Context, Result};
use crate::trace::store::budget::BudgetPolicy;

/// The budget of this command.
#[derive(clap::Args, Debug)]
pub(crate) struct BudgetArgs {
    /// Token budget of the trace [default: `trace.budget`, or none]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// What to do if a commit exceeds the budget: warn, reject, or run a command that may free tokens
    /// [default: `trace.budgetAction`, or warn]
    #[arg(long, value_name = "ACTION")]
    budget_action: Option<String>,
}

impl BudgetArgs {
    pub(crate) fn policy(&self, context: &Context) -> Result<Option<BudgetPolicy>> {
        Ok(BudgetPolicy::new(context.repo()?, self.budget, self.budget_action.as_deref())?)
    }
}
