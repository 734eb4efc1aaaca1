//! Budgets: the maximum number of tokens in a trace, and the action if a commit exceeds it.

use std::{convert::Infallible, str::FromStr};

use serde::Serialize;

use crate::base::string_enum::string_enum;

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
    /// Cut what presets select.
    Clean(CleanAction),
    /// Replace items with a summary until the change fits.
    Compress(CompressAction),
    /// Run this shell command, which may free tokens, and check again.
    Command(String),
}

string_enum! {
    /// The unit that is compressed at a time to meet a limit.
    #[derive(Default)]
    Grouping("grouping") {
        /// Single items by type, as `compressOrder` says; a call with its results.
        #[default]
        Type = "type",
        /// Complete tasks, the one that was active least recently first.
        Task = "task",
    }
}

/// What [`BudgetAction::Clean`] cuts, as the options of `git trace clean`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CleanAction {
    /// Names of presets, with commas between them.
    pub presets: Option<String>,
    pub keep: Option<usize>,
}

/// How [`BudgetAction::Compress`] compresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompressAction {
    /// The percentage of the budget to leave free.
    pub margin: u8,
    pub grouping: Grouping,
    /// What presets cut first; a summary is written only if that is not enough.
    pub clean: Option<CleanAction>,
}

impl Default for CompressAction {
    fn default() -> Self {
        Self { margin: DEFAULT_MARGIN, grouping: Grouping::default(), clean: None }
    }
}

/// The percentage of a limit that a compression leaves free.
pub(crate) const DEFAULT_MARGIN: u8 = 10;
pub(crate) const MAX_MARGIN: u8 = 90;

/// Parses `clean` and `compress`, which options of these commands may follow.
fn parse_room(text: &str) -> Option<BudgetAction> {
    let mut words = text.split_whitespace();
    let command = words.next()?.to_ascii_lowercase();
    let (mut clean, mut compress) = (CleanAction::default(), CompressAction::default());
    while let Some(option) = words.next() {
        let value = words.next()?;
        match (&*command, option) {
            (_, "--preset") => clean.presets = Some(value.to_owned()),
            ("clean", "--keep") => clean.keep = Some(value.parse().ok()?),
            ("compress", "--margin") => {
                compress.margin = value.parse().ok().filter(|margin| *margin <= MAX_MARGIN)?;
            }
            ("compress", "--group") => compress.grouping = value.parse().ok()?,
            _ => return None,
        }
    }
    match &*command {
        "clean" => Some(BudgetAction::Clean(clean)),
        "compress" => {
            let clean = Some(clean).filter(|clean| clean.presets.is_some());
            Some(BudgetAction::Compress(CompressAction { clean, ..compress }))
        }
        _ => None,
    }
}

impl FromStr for BudgetAction {
    type Err = Infallible;

    /// Parses `warn`, `reject`, or `clean` and `compress` with their options, ignoring case as git's settings do. Any other text is a
    /// command; an empty one is the default.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        Ok(match text {
            "" => Self::default(),
            _ if text.eq_ignore_ascii_case("warn") => Self::Warn,
            _ if text.eq_ignore_ascii_case("reject") => Self::Reject,
            command => parse_room(command).unwrap_or_else(|| Self::Command(command.to_owned())),
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
