//! The total of a trace while it is changed: the only place where totals are computed.
//!
//! A total includes skipped items. A provider's report does not, so their cost is added to it. Readers subtract it again.

use crate::git::Repo;
use crate::tokens::Counter;
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::trailers::{Basis, Counted, Total};
use crate::trace::{Tip, TraceError, View};

/// A trace with more positions has our own count in each commit.
const LISTED_MAX: u32 = 64;

/// The size of the context according to a provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Usage {
    #[default]
    Unsaid,
    /// A provider reported this many tokens for the complete context.
    Reported(u64),
    /// The total of the complete tree, in an export of the same trace, and our own count of it.
    Exported { total: u64, counted: u64 },
    /// The last report no longer describes what the trace contains.
    Void,
}

impl Usage {
    /// A report of zero, as of a message that no model made, says nothing.
    pub(crate) fn reported(tokens: u64) -> Self {
        if tokens == 0 { Self::Unsaid } else { Self::Reported(tokens) }
    }

    /// The report, if tokens were removed since.
    pub(crate) fn minus(self, tokens: u64) -> Self {
        match self {
            Self::Reported(reported) => Self::Reported(reported.saturating_sub(tokens)),
            other => other,
        }
    }
}

/// A total that follows each change since a base state.
pub(crate) struct RunningTotal<'r> {
    repo: &'r Repo,
    counter: Counter,
    base: Option<Tip>,
    view: Option<View>,
    /// `None` until it is needed: a tip without our trailers is counted item by item.
    total: Option<Total>,
    /// Our own count of the base, once it is known; may read every item.
    counted: Option<u64>,
    /// Our own count of the items added since the base, minus those removed.
    change: i64,
    /// The part of `change` that is not in `total` yet.
    pending: i64,
    /// The part of `change` that belongs to skipped items.
    skipped_change: i64,
    /// The cost of the base's skipped items, once it is known.
    skipped: Option<u64>,
}

impl<'r> RunningTotal<'r> {
    pub(crate) fn new(repo: &'r Repo, counter: Counter, base: Option<&Tip>) -> Self {
        Self {
            repo,
            counter,
            base: base.cloned(),
            view: None,
            total: None,
            counted: None,
            change: 0,
            pending: 0,
            skipped_change: 0,
            skipped: base.is_none().then_some(0),
        }
    }

    pub(crate) fn add(&mut self, cost: u64, is_skipped: bool) {
        self.move_by(cost.cast_signed(), is_skipped);
    }

    pub(crate) fn subtract(&mut self, cost: u64, is_skipped: bool) {
        self.move_by(-cost.cast_signed(), is_skipped);
    }

    fn move_by(&mut self, cost: i64, is_skipped: bool) {
        self.change += cost;
        self.pending += cost;
        self.skipped_change += if is_skipped { cost } else { 0 };
    }

    /// Replaces the totals by those that were computed elsewhere, from the items themselves.
    pub(crate) fn replace(&mut self, total: Total, counted: u64) {
        (self.total, self.pending) = (Some(total), 0);
        (self.counted, self.change) = (Some(counted), 0);
    }

    /// The total of the tree as it is now.
    pub(crate) fn total(&mut self, usage: Usage) -> Result<Total, TraceError> {
        let total = match usage {
            Usage::Unsaid => {
                let Total { tokens, basis } = self.before()?;
                Total { tokens: tokens.saturating_add_signed(self.pending), basis }
            }
            Usage::Reported(tokens) => {
                let skipped = self.skipped_in_base()?.saturating_add_signed(self.skipped_change);
                Total { tokens: tokens.saturating_add(skipped), basis: Basis::Reported }
            }
            Usage::Exported { .. } | Usage::Void => {
                let tokens = self.counted()?.tokens;
                match usage {
                    Usage::Exported { total, counted } if counted == tokens => {
                        Total { tokens: total, basis: Basis::Reported }
                    }
                    // Lines were removed or changed, or the report is void.
                    _ => Total { tokens, basis: Basis::Counted(self.counter.id()) },
                }
            }
        };
        (self.total, self.pending) = (Some(total), 0);
        Ok(total)
    }

    /// The total before the change.
    pub(crate) fn before(&mut self) -> Result<Total, TraceError> {
        if let Some(total) = self.total {
            return Ok(total);
        }
        let total = match &self.base {
            Some(tip) => tip.total(self.repo, self.counter)?,
            None => Total { tokens: PER_REPLY, basis: Basis::Counted(self.counter.id()) },
        };
        if total.basis != Basis::Reported {
            self.counted = Some(total.tokens);
        }
        self.total = Some(total);
        Ok(total)
    }

    /// What the base's skipped items cost. Reads them, once.
    pub(crate) fn skipped_in_base(&mut self) -> Result<u64, TraceError> {
        if self.skipped.is_none() {
            let (repo, counter) = (self.repo, self.counter);
            self.skipped = self.base_view()?.map(|view| view.left_out_cost(repo, counter)).transpose()?;
        }
        Ok(self.skipped.unwrap_or_default())
    }

    /// The base has no item that is left out.
    pub(crate) fn has_none_skipped(&mut self) {
        self.skipped = Some(0);
    }

    /// What the skipped items cost now, if that is known without reading any.
    pub(crate) fn known_skipped(&self) -> Option<u64> {
        Some(self.skipped?.saturating_add_signed(self.skipped_change))
    }

    pub(crate) fn base_view(&mut self) -> Result<Option<&View>, TraceError> {
        if self.view.is_none()
            && let Some(tip) = &self.base
        {
            self.view = Some(View::at(self.repo, tip.clone(), None)?);
        }
        Ok(self.view.as_ref())
    }

    /// Our own count, if the total does not say it, and in traces that are too long to search them for images each time; see
    /// [`Tip::said_count`].
    pub(crate) fn trailer(&mut self, total: Total, next_seq: u32) -> Result<Option<Counted>, TraceError> {
        let counted = self.counted()?;
        let before = self.base.as_ref().map(|tip| tip.trailers.counted.is_some() && tip.is_ours());
        let is_needed = total.basis == Basis::Reported || next_seq >= LISTED_MAX || before.unwrap_or_default();
        Ok(is_needed.then_some(counted))
    }

    /// Our own count of the tree as it is now.
    pub(crate) fn counted(&mut self) -> Result<Counted, TraceError> {
        self.before()?;
        if self.counted.is_none()
            && let Some(tip) = &self.base
        {
            self.counted = Some(tip.counted(self.repo, self.counter)?);
        }
        let tokens = self.counted.unwrap_or(PER_REPLY).saturating_add_signed(self.change);
        Ok(Counted { tokens, counter: self.counter.id() })
    }
}
