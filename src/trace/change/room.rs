//! The budget actions `clean` and `compress`: free tokens in a trace until a change fits.
//!
//! One process at a time frees tokens of a trace. Others that need room wait for it, then try their change again first, so two writers
//! do not pay for two summaries.

use super::compress::{Limit, Scope, Selection, Summary, select, write};
use crate::tokens::{BudgetAction, CompressAction};
use crate::trace::error::Addition;
use crate::trace::store::budget_policy::{BudgetPolicy, Cut, Need};
use crate::trace::{Draft, Trace, TraceError, View};

/// How often a change is tried while other writers take the room that was made for it.
const ROUNDS: usize = 8;

impl Trace<'_> {
    /// Tries a change and frees tokens while it exceeds the budget. `attempt` receives the number of freed tokens.
    pub(crate) fn make_room<T>(
        &self,
        policy: &BudgetPolicy,
        mut attempt: impl FnMut(u64) -> Result<T, TraceError>,
    ) -> Result<T, TraceError> {
        let _lock = self.repo().lock_compression(&self.name().refname())?;
        let mut freed = 0;
        for _ in 0..ROUNDS {
            match attempt(freed) {
                Err(TraceError::OverBudget { total, addition, .. }) => match self.free(policy, total, *addition) {
                    Ok(tokens) => freed += tokens,
                    // Another command removed an item meanwhile.
                    Err(TraceError::Changed { .. }) => {}
                    Err(error) => return Err(error),
                },
                result => return result,
            }
        }
        attempt(freed)
    }

    /// Frees tokens until a change fits that would make the trace as large as `total`. Returns their number.
    fn free(&self, policy: &BudgetPolicy, total: u64, addition: Addition) -> Result<u64, TraceError> {
        let max = policy.budget.max_tokens;
        let cut = |how, tokens| (policy.cleaner)(self, how, Need { tokens, spared: addition.item });
        match &policy.action {
            BudgetAction::Clean(how) => match cut(how, total.saturating_sub(max))? {
                Cut::Done(freed) => Ok(freed),
                Cut::TooLittle(saved) => {
                    let (trace, added) = (self.name().clone(), addition.tokens);
                    Err(TraceError::TooLittleToCut { trace, added, max, saved, needed: total.saturating_sub(saved) })
                }
            },
            BudgetAction::Compress(how) => {
                let limit = Limit::new(max, how.margin);
                let Some(clean) = &how.clean else { return self.summarize(how, limit, addition) };
                match cut(clean, total.saturating_sub(limit.goal))? {
                    Cut::Done(freed) => Ok(freed),
                    Cut::TooLittle(0) => self.summarize(how, limit, addition),
                    Cut::TooLittle(_) => {
                        // Without room for a summary, nothing is cut either.
                        self.summarized(how, limit, addition)?;
                        let freed = match cut(clean, 0)? {
                            Cut::Done(freed) => freed,
                            Cut::TooLittle(_) => 0,
                        };
                        Ok(freed + self.summarize(how, limit, addition)?)
                    }
                }
            }
            BudgetAction::Warn | BudgetAction::Reject | BudgetAction::Command(_) => Ok(0),
        }
    }

    /// The items that a summary would replace, so that a change that adds tokens fits.
    fn summarized(
        &self,
        how: &CompressAction,
        limit: Limit,
        addition: Addition,
    ) -> Result<(View, Selection), TraceError> {
        let Addition { tokens: added, item: spared } = addition;
        let (view, max) = (self.view()?, limit.max);
        let limit = Some(limit.before_adding(added));
        let scope = Scope { limit, grouping: how.grouping, spared, ..Scope::default() };
        let selection = select(self.repo(), self.name(), &view, self.counter()?, &scope);
        let selection = selection.map_err(|error| match error {
            TraceError::CannotCompress { trace, floor, .. } => TraceError::NoRoom { trace, added, max, floor },
            error => error,
        })?;
        Ok((view, selection))
    }

    /// Replaces items with a summary. Returns the number of freed tokens.
    fn summarize(&self, how: &CompressAction, limit: Limit, addition: Addition) -> Result<u64, TraceError> {
        let (view, selection) = self.summarized(how, limit, addition)?;
        if selection.items.is_empty() {
            return Ok(0);
        }
        let Summary { text, notice } = write(self.repo(), view.types(), &selection, self.counter()?)?;
        let unlimited = self.clone().with_budget(None);
        let done = unlimited.compress(&selection, Draft::dialogue(text), None, Some("over budget"))?;
        let (before, after, id) = (selection.total, done.after(selection.total), done.summary.id);
        if let Some(notice) = notice {
            self.warn(&notice);
        }
        self.warn(&format!(
            "compressed {} items of trace `{}` for its budget: {before} → {after} tokens; `git trace expand {id}` restores them",
            selection.items.len(),
            self.name(),
        ));
        Ok(before.saturating_sub(after))
    }
}
