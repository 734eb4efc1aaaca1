//! The budget action `compress`: compresses a trace until a change fits.
//!
//! One process at a time compresses a trace. Others that need room wait for it, then try their change again first, so two writers do
//! not pay for two summaries.

use super::{Limit, Scope, Summary, select, write};
use crate::tokens::{Budget, CompressAction};
use crate::trace::error::Addition;
use crate::trace::{Draft, Trace, TraceError};

/// How often a change is tried while other writers take the room that was made for it.
const ROUNDS: usize = 8;

impl Trace<'_> {
    /// Tries a change and compresses the trace while it exceeds the budget. `attempt` receives the number of freed tokens.
    pub(crate) fn make_room<T>(
        &self,
        budget: Budget,
        how: CompressAction,
        mut attempt: impl FnMut(u64) -> Result<T, TraceError>,
    ) -> Result<T, TraceError> {
        let _lock = self.repo().lock_compression(&self.name().refname())?;
        let mut freed = 0;
        for _ in 0..ROUNDS {
            match attempt(freed) {
                Err(TraceError::OverBudget { addition, .. }) => match self.free(budget, how, *addition) {
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

    /// Compresses the trace until a change that adds tokens fits. Returns the number of freed tokens.
    fn free(&self, budget: Budget, how: CompressAction, addition: Addition) -> Result<u64, TraceError> {
        let (repo, encoding, max) = (self.repo(), self.encoding()?, budget.max_tokens);
        let Addition { tokens: added, item: spared } = addition;
        let view = self.view()?;
        let limit = Some(Limit::new(max, how.margin).before_adding(added));
        let scope = Scope { limit, grouping: how.grouping, spared, ..Scope::default() };
        let selection = select(repo, self.name(), &view, encoding, &scope).map_err(|error| match error {
            TraceError::CannotCompress { trace, floor, .. } => TraceError::NoRoom { trace, added, max, floor },
            error => error,
        })?;
        if selection.items.is_empty() {
            return Ok(0);
        }
        let Summary { text, notice } = write(repo, view.types(), &selection, encoding)?;
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
