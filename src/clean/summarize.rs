//! Parts of a session that a person chose to be summarized: each run of marked items becomes one summary.

use super::plan::{Action, Plan};
use crate::git::Repo;
use crate::tokens::framing::message_cost;
use crate::trace::change::compress::{Scope, Selection, Summary, expected, prepare, select, write};
use crate::trace::{Draft, ItemId, TraceError, TraceName, View};

/// A summary, and the items that it replaces.
pub(crate) struct Replaced {
    pub(super) selection: Selection,
    pub(super) summary: Draft,
    tokens: u64,
}

impl Plan {
    /// Has the summaries written, as `git trace compress` does, before anything is changed. Returns what the user should know.
    pub(crate) fn summarize(&mut self, repo: &Repo, name: &TraceName, view: &View) -> Result<Vec<String>, TraceError> {
        let (counter, mut notices) = (self.counter(), Vec::new());
        let mut summaries = Vec::new();
        for (ids, _) in self.runs() {
            let scope = Scope { only: Some(&ids), ..Scope::default() };
            let selection = select(repo, name, view, counter, &scope)?;
            let Summary { text, notice } = write(repo, view.types(), &selection, counter)?;
            let tokens = message_cost(counter.count(&text), false);
            let mut summary = Draft::dialogue(text);
            prepare(repo, &selection, &mut summary)?;
            summaries.push(Replaced { selection, summary, tokens });
            notices.extend(notice);
        }
        notices.dedup();
        self.summaries = summaries;
        Ok(notices)
    }

    /// The tokens of the summaries. Before they are written, this is what they will probably take.
    pub(super) fn summary_tokens(&self) -> u64 {
        if self.summaries.is_empty() {
            return self.runs().into_iter().map(|(_, cost)| expected(cost)).sum();
        }
        self.summaries.iter().map(|summary| summary.tokens).sum()
    }

    /// The items of each run, and their tokens.
    fn runs(&self) -> Vec<(Vec<ItemId>, u64)> {
        let runs = self.rows.chunk_by(|one, next| one.action == next.action);
        let runs = runs.filter(|run| run[0].action == Action::Summarize);
        let items = |run: &[super::plan::Row]| run.iter().map(|row| row.entry.slot.id).collect();
        runs.map(|run| (items(run), run.iter().map(|row| row.entry.tokens).sum())).collect()
    }
}
