//! How large the context of a trace is, and how full its model's window: the one place that puts counted and reported tokens
//! together. `status` shows it; anything else that needs a size or a percentage of the window, such as a hook, asks here.
//!
//! - *Counted*: our own count of the items in the context. Lists and differences use it on both sides.
//! - *Reported*: what a provider said about one request, shown with the item that it was reported for.
//! - *Size*: the last report plus what was counted since, minus what was removed since; without a report, the count. Budgets and
//!   percentages use it.
//! - *Overhead*: size minus counted: system prompt, tool definitions, another tokenizer. It stays the same until the next report.

use serde_json::{Value, json};

use crate::git::Repo;
use crate::tokens::window::window_of_model;
use crate::tokens::{Counter, CounterId, TokenUsage};
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::store::{settings, total};
use crate::trace::{ItemId, TraceError, View};

/// How many of the newest items are searched for the last report and the model.
pub(crate) const SEARCHED: usize = 64;

#[derive(Debug)]
pub(crate) struct ContextSize {
    pub counter: CounterId,
    pub counted: u64,
    pub size: Total,
    /// The last report, if the size is based on one and its item is among the newest.
    pub report: Option<Report>,
    pub window: Option<Window>,
}

/// A provider's report, and the last item of that request and its response.
#[derive(Debug)]
pub(crate) struct Report {
    pub item: ItemId,
    pub seq: u32,
    pub usage: TokenUsage,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub tokens: u64,
    /// The model that has it, unless the user or the session gave the figure.
    pub model: Option<String>,
}

impl ContextSize {
    /// Measures the context of a view. `window`: what the user gave; else `trace.window`, else what the session says, else the window
    /// of the model that it names.
    ///
    /// Reads the items that are left out, and a few of the newest.
    pub(crate) fn of(repo: &Repo, view: &View, counter: Counter, window: Option<u64>) -> Result<Self, TraceError> {
        Self::with_left_out(repo, view, view.left_out_cost(repo, counter)?, counter, window)
    }

    /// As [`Self::of`], but `view` lists only the newest items, and the cost of all items that are left out is known.
    pub(crate) fn with_left_out(
        repo: &Repo,
        view: &View,
        left_out: u64,
        counter: Counter,
        window: Option<u64>,
    ) -> Result<Self, TraceError> {
        let Total { tokens, basis } = view.tip.total(repo, counter)?;
        let counted = match basis {
            Basis::Counted(_) => tokens,
            Basis::Reported => view.tip.counted(repo, counter)?,
        };
        let given = window.map_or_else(|| settings::number(repo, "trace.window"), |window| Ok(Some(window)))?;
        let mut window = given.map(|tokens| Window { tokens, model: None });
        let (mut report, mut has_model) = (None, false);
        for slot in view.slots.iter().rev().filter(|slot| view.left_out(slot).is_none()).take(SEARCHED) {
            let is_decided = window.is_some() && (report.is_some() || basis != Basis::Reported);
            // An older item would name the window of a model that is no longer used.
            if is_decided || (report.is_some() && has_model) {
                break;
            }
            // A lost item is not a reason to fail here.
            let Ok(item) = total::read_item(repo, slot) else { continue };
            if report.is_none() {
                let usage = item.reported_usage();
                report = usage.map(|usage| Report { item: slot.id, seq: slot.seq, usage });
            }
            window = window.or_else(|| item.window().map(|tokens| Window { tokens, model: None }));
            let model = item.fields.meta.get("model").and_then(Value::as_str);
            // The agent wrote a message with a model in angle brackets itself.
            let model = model.filter(|model| !has_model && !model.starts_with('<'));
            has_model |= model.is_some();
            window =
                window.or_else(|| Some(Window { tokens: window_of_model(model?)?, model: model.map(str::to_owned) }));
        }
        Ok(Self {
            counter: counter.id(),
            counted: counted.saturating_sub(left_out),
            size: Total { tokens: tokens.saturating_sub(left_out), basis },
            report: report.filter(|_| basis == Basis::Reported),
            window: window.filter(|window| window.tokens > 0),
        })
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.size.basis == Basis::Reported
    }

    /// Size minus counted; `None` without a report.
    pub(crate) fn overhead(&self) -> Option<i64> {
        self.is_reported().then(|| self.size.tokens.cast_signed().saturating_sub(self.counted.cast_signed()))
    }

    /// The percentage of the window that this many tokens take; `None` if the window is not known.
    pub(crate) fn percent(&self, tokens: u64) -> Option<u64> {
        let window = self.window.as_ref()?.tokens;
        let percent = (u128::from(tokens) * 100 + u128::from(window) / 2) / u128::from(window);
        Some(u64::try_from(percent).unwrap_or(u64::MAX))
    }

    /// As `≈ 22%`, or `22%` if no provider reported a size; then [`Self::omission`] says what it does not contain.
    pub(crate) fn percent_text(&self, tokens: u64) -> Option<String> {
        let percent = self.percent(tokens)?;
        Some(if self.is_reported() { format!("≈ {percent}%") } else { format!("{percent}%") })
    }

    /// The mark of a percentage of the window that is of the items only, because no provider reported a size.
    pub(crate) fn omission(&self) -> &'static str {
        if self.window.is_some() && !self.is_reported() { ", content only" } else { "" }
    }

    /// The members of `tokens` in the JSON of `status`.
    pub(crate) fn to_json(&self) -> Value {
        let mut tokens = self.size.to_json();
        tokens["counted"] = self.counted.into();
        tokens["encoding"] = self.counter.to_string().into();
        if let Some(overhead) = self.overhead() {
            tokens["overhead"] = overhead.into();
        }
        if let Some(Report { item, seq, usage }) = &self.report {
            tokens["reported"] =
                json!({ "item": item.to_string(), "seq": seq, "total": usage.context_tokens(), "usage": usage });
        }
        if let Some(Window { tokens: window, model }) = &self.window {
            tokens["window"] = (*window).into();
            tokens["percent"] = self.percent(self.size.tokens).into();
            tokens["content_only"] = (!self.is_reported()).into();
            if let Some(model) = model {
                tokens["model"] = model.as_str().into();
            }
        }
        tokens
    }
}
