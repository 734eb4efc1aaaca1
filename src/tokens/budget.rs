//! Budgets: the maximum number of tokens in a trace, and the action if a commit exceeds it.

use std::{convert::Infallible, str::FromStr};

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// In tokens; a total of exactly this many is within the budget.
    pub max_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Within { left: u64 },
    Over { by: u64 },
}

impl Budget {
    pub(crate) const fn judge(self, total_tokens: u64) -> Verdict {
        match self.max_tokens.checked_sub(total_tokens) {
            Some(left) => Verdict::Within { left },
            None => Verdict::Over { by: total_tokens - self.max_tokens },
        }
    }
}

/// The action for a commit that exceeds the budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum BudgetAction {
    #[default]
    Warn,
    /// Do not commit.
    Reject,
    /// Run this shell command, which may free tokens, and check again.
    Command(String),
}

impl FromStr for BudgetAction {
    type Err = Infallible;

    /// Parses `warn` or `reject`, ignoring case as git's settings do. Any other text is a command; an empty one is the default.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        Ok(match text {
            "" => Self::default(),
            _ if text.eq_ignore_ascii_case("warn") => Self::Warn,
            _ if text.eq_ignore_ascii_case("reject") => Self::Reject,
            command => Self::Command(command.to_owned()),
        })
    }
}

/// The standard input of a [`BudgetAction::Command`]: a JSON object on one line.
///
/// ```text
/// {"trace":"main","current":12345,"max":10000,"over":2345,"source":"o200k_base"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BudgetReport<'a> {
    pub trace: &'a str,
    pub current: u64,
    pub max: u64,
    pub over: u64,
    /// The encoding of `current`, or `reported` if it is based on a provider's figure.
    pub source: &'a str,
}

impl<'a> BudgetReport<'a> {
    /// `None` within the budget.
    pub(crate) fn new(trace: &'a str, budget: Budget, total_tokens: u64, source: &'a str) -> Option<Self> {
        let Verdict::Over { by } = budget.judge(total_tokens) else { return None };
        Some(Self { trace, current: total_tokens, max: budget.max_tokens, over: by, source })
    }

    pub(crate) fn render(&self) -> String {
        let mut line = serde_json::to_string(self).expect("no map with odd keys, no number that is not finite");
        line.push('\n');
        line
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/budget.rs"]
mod tests;
