//! The plan of a run: what happens to each item. A person, or a screen, may change it row by row.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::preset::{Parameters, Preset};
use super::rules::{Replacement, claim};
use super::session::{Entry, Session};
use super::stub::{short_arguments, stub, trimmed};
use super::summarize::Replaced;
use crate::base::string_enum::string_enum;
use crate::tokens::Counter;
use crate::tokens::cache::{CacheChange, CachePrices};
use crate::trace::ItemId;
use crate::trace::query::size::ContextSize;

string_enum! {
    /// What happens to an item.
    Action("action") {
        /// A stub takes its place. Of a call, long arguments are replaced.
        Cut = "cut",
        /// The first and the last lines stay.
        Trim = "trim",
        /// It is deleted, a call together with its results.
        Delete = "delete",
        /// One summary takes the place of it and of the items next to it that are marked too.
        Summarize = "summarize",
        Keep = "keep",
    }
}

/// Below this many saved tokens, a lost prompt cache costs more than the cut saves.
pub(crate) const WORTH: u64 = 5_000;

impl Action {
    /// Whether it happens to a call and its results together.
    pub(crate) fn takes_pair(self) -> bool {
        matches!(self, Self::Delete | Self::Summarize)
    }
}

/// An item and what happens to it.
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) action: Action,
    /// The preset that selected it; `None` if none did or a person did.
    pub(crate) preset: Option<Preset>,
    pub(super) replacement: Option<Rc<Replacement>>,
    /// The tokens afterwards.
    pub(crate) after: u64,
    /// What the presets selected, and the tokens afterwards.
    planned: (Action, Option<Preset>, Option<Rc<Replacement>>, u64),
}

/// A plan for a run of `clean`: a row for each item of the context, in reading order.
pub(crate) struct Plan {
    pub(crate) rows: Vec<Row>,
    pub(crate) parameters: Parameters,
    pub(crate) before: u64,
    /// The summaries, once they are written.
    pub(super) summaries: Vec<Replaced>,
    session: Session,
    /// The rows of each call: the call, its results, and the images in them. Read only to mark rows.
    pairs: OnceCell<HashMap<usize, Vec<usize>>>,
}

/// The part of a plan that one preset selects.
pub(crate) struct Share {
    pub(crate) preset: Option<Preset>,
    pub(crate) items: usize,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl Plan {
    /// Lets the presets select.
    pub(crate) fn new(mut session: Session, parameters: Parameters) -> Self {
        let before = session.tokens();
        let entries = std::mem::take(&mut session.entries);
        let rows = entries.into_iter().map(|entry| Row {
            after: entry.tokens,
            planned: (Action::Keep, None, None, entry.tokens),
            entry,
            action: Action::Keep,
            preset: None,
            replacement: None,
        });
        let rows = rows.collect();
        let mut plan = Self {
            rows,
            parameters: parameters.clone(),
            before,
            summaries: Vec::new(),
            session,
            pairs: OnceCell::new(),
        };
        plan.select(parameters);
        plan
    }

    /// Lets other presets select. Changes that a person made are lost; [`Plan::marks`] lists them.
    pub(crate) fn select(&mut self, parameters: Parameters) {
        let presets = parameters.in_order();
        for row in &mut self.rows {
            row.planned = match claim(&self.session, &row.entry, &presets, parameters.keep) {
                None => (Action::Keep, None, None, row.entry.tokens),
                Some((preset, replacement, after)) => {
                    let action = match (&replacement, preset) {
                        (Replacement::Nothing, _) => Action::Delete,
                        (Replacement::Text(_), Preset::Oversize) => Action::Trim,
                        (Replacement::Text(_), _) => Action::Cut,
                    };
                    (action, Some(preset), Some(Rc::new(replacement)), after)
                }
            };
            row.reset();
        }
        self.parameters = parameters;
    }

    /// The rows that a person changed, with their actions. Those that change the other half of a pair too are first.
    pub(crate) fn marks(&self) -> Vec<(usize, Action)> {
        let changed = self.rows.iter().enumerate().filter(|(_, row)| row.action != row.planned.0);
        let mut marks: Vec<_> = changed.map(|(index, row)| (index, row.action)).collect();
        marks.sort_by_key(|(_, action)| !action.takes_pair());
        marks
    }

    /// The counter of all its figures.
    pub(crate) fn counter(&self) -> Counter {
        self.session.counter
    }

    /// The tokens of the context afterwards.
    pub(crate) fn after(&self) -> u64 {
        let saved: u64 = self.changed().map(Row::saved).sum();
        self.before - saved + self.summary_tokens()
    }

    pub(crate) fn saved(&self) -> u64 {
        self.before.saturating_sub(self.after())
    }

    /// Whether it saves more than losing the provider's prompt cache once costs.
    pub(crate) fn is_worthwhile(&self) -> bool {
        self.saved() >= WORTH
    }

    /// What the user should know before a cut.
    pub(crate) fn note(&self, prices: CachePrices) -> String {
        let mut rows = self.rows.iter();
        let equal = rows.by_ref().take_while(|row| row.action == Action::Keep).map(|row| row.entry.tokens).sum();
        let Some(turn) = self.changed().next().map(|row| row.entry.place.turn) else { return String::new() };
        let little = if self.is_worthwhile() { "" } else { " saves fewer than 5,000 tokens and" };
        let change = CacheChange { before: self.before, after: self.after(), equal };
        let pays = match change.pays_after(prices) {
            Some(1) => "pays off at once".to_owned(),
            Some(count) => format!("pays off after {count} requests"),
            None => "never pays off".to_owned(),
        };
        format!("note: this{little} drops the provider's prompt cache from turn {turn} on; the cut {pays}")
    }

    /// The size of the context afterwards, as `status` computes it for the result.
    pub(crate) fn size_after(&self, size: &ContextSize) -> u64 {
        size.size.tokens.saturating_sub(self.saved())
    }

    /// The rows that are not kept.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.action != Action::Keep)
    }

    /// The presets that select something, in their order, and what a person selects.
    pub(crate) fn shares(&self) -> Vec<Share> {
        let presets = Preset::ALL.into_iter().map(Some).chain([None]);
        let shares = presets.map(|preset| {
            let rows = || self.changed().filter(move |row| row.preset == preset);
            let (before, after) = (rows().map(|row| row.entry.tokens).sum(), rows().map(|row| row.after).sum::<u64>());
            let summaries = if preset.is_none() { self.summary_tokens() } else { 0 };
            Share { preset, items: rows().count(), before, after: after + summaries }
        });
        shares.filter(|share| share.items > 0).collect()
    }

    /// Whether an action is possible for a row. A cut that saves nothing is not.
    pub(crate) fn allows(&self, index: usize, action: Action) -> bool {
        let entry = &self.rows[index].entry;
        let (is_call, is_result) = (entry.item.fields.is_call(), entry.item.fields.is_result());
        let is_old_reasoning = entry.slot.item_type.as_str() == "reasoning" && entry.place.turn < self.session.turns;
        match action {
            Action::Keep => true,
            action if self.rows[index].planned.0 == action => true,
            _ if entry.is_fixed => false,
            Action::Cut => {
                (is_result || is_call || entry.image().is_some()) && shorter(entry, action, &self.session).is_some()
            }
            Action::Trim => is_result && shorter(entry, action, &self.session).is_some(),
            Action::Delete => is_old_reasoning || is_call || is_result,
            Action::Summarize => true,
        }
    }

    /// Lets the presets decide again what happens to a row.
    pub(crate) fn unmark(&mut self, index: usize) {
        self.rows[index].reset();
    }

    /// Changes what happens to a row. A call and its results are deleted or summarized together, and kept together afterwards.
    ///
    /// Returns whether the action is possible; if not, nothing changes.
    pub(crate) fn mark(&mut self, index: usize, action: Action) -> bool {
        if !self.allows(index, action) {
            return false;
        }
        let takes_pair = action.takes_pair() || self.rows[index].action.takes_pair();
        if let Some(call) = self.rows[index].entry.place.call.filter(|_| takes_pair) {
            let members = self.pairs.get_or_init(|| pairs(&self.rows)).get(&call).cloned().unwrap_or_default();
            if action.takes_pair() && members.iter().any(|member| self.rows[*member].entry.is_fixed) {
                return false;
            }
            let all = if action.takes_pair() { action } else { Action::Keep };
            for member in members {
                self.rows[member].set(all, &self.session);
            }
        }
        self.rows[index].set(action, &self.session);
        true
    }
}

/// The rows of each call, with its results and the images in them.
fn pairs(rows: &[Row]) -> HashMap<usize, Vec<usize>> {
    let calls: HashMap<ItemId, usize> =
        rows.iter().filter_map(|row| Some((row.entry.slot.id, row.entry.place.call?))).collect();
    let mut pairs: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        let entry = &row.entry;
        let is_part = matches!(entry.slot.item_type.as_str(), "artifact" | "freeform");
        let of_result = || calls.get(&entry.item.fields.reply_to.filter(|_| is_part)?).copied();
        if let Some(call) = entry.place.call.or_else(of_result) {
            pairs.entry(call).or_default().push(index);
        }
    }
    pairs
}

impl Row {
    /// The content afterwards; `None` if it is kept or deleted.
    pub(crate) fn content_after(&self) -> Option<&[u8]> {
        match self.replacement.as_deref()? {
            Replacement::Text(text) => Some(text),
            Replacement::Nothing => None,
        }
    }

    /// Does again what the presets selected.
    fn reset(&mut self) {
        (self.action, self.preset, self.replacement, self.after) = self.planned.clone();
    }

    fn set(&mut self, action: Action, session: &Session) {
        if self.planned.0 == action {
            return self.reset();
        }
        (self.action, self.preset) = (action, None);
        let entry = &self.entry;
        let replaced = match action {
            Action::Keep => None,
            Action::Delete | Action::Summarize => Some((Replacement::Nothing, 0)),
            Action::Cut | Action::Trim => shorter(entry, action, session),
        };
        self.after = replaced.as_ref().map_or(entry.tokens, |(_, tokens)| *tokens);
        self.replacement = replaced.map(|(replacement, _)| Rc::new(replacement));
    }

    /// The tokens that its action saves. Only a repeated reminder goes even if the rest of its text has as many tokens.
    pub(crate) fn saved(&self) -> u64 {
        self.entry.tokens.saturating_sub(self.after)
    }
}

/// The replacement by which a person cuts an item, and its tokens; `None` if it would save nothing.
fn shorter(entry: &Entry, action: Action, session: &Session) -> Option<(Replacement, u64)> {
    let text = match action {
        Action::Trim => trimmed(entry, session.counter)?,
        _ if entry.item.fields.is_call() => short_arguments(entry)?,
        _ => stub(entry, ""),
    };
    let replacement = Replacement::Text(text);
    let tokens = session.tokens_of(entry, &replacement);
    (tokens < entry.tokens).then_some((replacement, tokens))
}
