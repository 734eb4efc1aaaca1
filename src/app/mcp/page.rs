//! A text in pages: each answer has as much of it as the budget of tokens allows, and a cursor for the rest.
//!
//! A cursor is `COMMIT+OFFSET`: the tip of the trace when the first page was read, so that what is committed meanwhile does not
//! move the text, and the number of bytes that were read. Where a text depends on other states too, `COMMIT` is longer by the first
//! digits of their commits, and a cursor is refused if one of them has moved.

use std::str::FromStr;

use super::answer::Answer;
use crate::base::error::{Context as _, Result, bail};
use crate::git::Oid;
use crate::tokens::Counter;
use crate::trace::Tip;

/// The tokens of a page if the call does not name a budget.
pub(crate) const DEFAULT_BUDGET: u64 = 4_000;
/// Below this, the notes leave no room for a text.
pub(crate) const MIN_BUDGET: u64 = 100;
/// The most bytes of a page per token. Text of few, long tokens makes a page shorter than its budget.
const MAX_BYTES_PER_TOKEN: usize = 12;
/// The digits of an oid in a cursor: enough for any repository.
const CURSOR_DIGITS: usize = 12;
/// The digits of each other state in a cursor, which are only compared.
const STATE_DIGITS: usize = 8;

pub(crate) struct Page {
    budget: u64,
    counter: Counter,
    /// Bytes of the text that belong to earlier pages.
    skipped: usize,
    /// The states, apart from the tip, that the cursor names, and those that the text depends on.
    given_states: Option<String>,
    states: String,
    /// What the page may contain.
    text: String,
    /// Bytes of the text that were written so far.
    written: usize,
    /// Whether some of the text has no room.
    full: bool,
}

impl Page {
    pub(crate) fn new(budget: u64, counter: Counter, cursor: Option<&Cursor>) -> Self {
        let skipped = cursor.map_or(0, |cursor| cursor.offset);
        let given_states = cursor.map(|cursor| cursor.states.clone());
        let (states, text) = (String::new(), String::new());
        Self { budget, counter, skipped, given_states, states, text, written: 0, full: false }
    }

    /// Notes the commits, apart from the tip, that the text depends on. Fails if the cursor names others.
    pub(crate) fn depends_on(&mut self, commits: &[Oid]) -> Result<()> {
        self.states = commits.iter().map(|commit| commit.to_string()[..STATE_DIGITS].to_owned()).collect();
        if self.given_states.as_ref().is_some_and(|given| *given != self.states) {
            bail!("argument `cursor`: one of the states has changed since the first page");
        }
        Ok(())
    }

    /// Whether nothing that is written now is part of the page.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    fn max_len(&self) -> usize {
        usize::try_from(self.budget).unwrap_or(usize::MAX).saturating_mul(MAX_BYTES_PER_TOKEN)
    }

    pub(crate) fn write(&mut self, text: &str) {
        let start = self.skipped.saturating_sub(self.written).min(text.len());
        let rest = &text[char_boundary(text, start)..];
        self.written += text.len();
        if !self.full {
            let end = char_boundary(rest, self.max_len() - self.text.len());
            self.text.push_str(&rest[..end]);
            self.full = end < rest.len();
        }
    }

    /// The page, or `nothing` if there is no text. `tip` is the state that the cursor of the next page names.
    pub(crate) fn finish(self, tip: &Tip, nothing: &str) -> Result<Answer> {
        let count = |text: &str| self.counter.count(text.as_bytes());
        if self.written == 0 {
            return Ok(Answer::Text(vec![nothing.to_owned()]));
        }
        if self.text.is_empty() {
            bail!("argument `cursor`: the text ends after {} bytes", self.written);
        }
        let text = self.text.as_str();
        if !self.full && count(text) <= self.budget {
            return Ok(Answer::Text(vec![self.text]));
        }
        let mut commit = tip.commit.oid.to_string();
        commit.truncate(CURSOR_DIGITS);
        commit += &self.states;
        let rest = |text: &str| format!("[more: call again with cursor `{commit}+{}`]", self.skipped + text.len());
        let page = prefix(text, self.budget.saturating_sub(count(&rest(text)) + 2), self.counter);
        Ok(Answer::Text(vec![page.to_owned(), rest(page)]))
    }
}

/// The texts that `make` makes within a budget. What surrounds the content of these texts counts too, so `make` gets a smaller
/// budget until all of them fit.
pub(crate) fn fit(budget: u64, counter: Counter, make: impl Fn(u64) -> Result<Vec<String>>) -> Result<Answer> {
    let mut allowed = budget;
    loop {
        let texts = make(allowed).with_context(|| format!("argument `budget`: {budget} tokens are too few"))?;
        let tokens: u64 = texts.iter().map(|text| counter.count(text.as_bytes())).sum();
        if tokens <= budget {
            return Ok(Answer::Text(texts));
        }
        if allowed == 0 {
            bail!("argument `budget`: the least answer has {tokens} tokens, more than the budget of {budget}");
        }
        allowed = (allowed * budget / tokens).min(allowed - 1);
    }
}

/// The first part of `text` with at most `max` tokens, at least a character. It ends at a line end if one is near.
pub(crate) fn prefix(text: &str, max: u64, counter: Counter) -> &str {
    let fits = |part: &str| counter.count(part.as_bytes()) <= max;
    let mut end = text.len();
    while end > 1 && !fits(&text[..end]) {
        let tokens = counter.count(&text.as_bytes()[..end]);
        let wanted = usize::try_from(end as u64 * max / tokens).unwrap_or(end);
        end = char_boundary(text, wanted.min(end - 1));
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    let part = &text[..end.max(first)];
    let line_end = part.rfind('\n').map_or(0, |found| found + 1);
    if part.len() < text.len() && line_end > part.len() / 4 * 3 { &part[..line_end] } else { part }
}

/// The last character boundary up to `index`.
pub(crate) fn char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}

#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub(crate) commit: Option<String>,
    states: String,
    pub(crate) offset: usize,
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (commit, offset) = text.split_once('+').ok_or("expected a cursor from an earlier answer")?;
        let offset = offset.parse().map_err(|_| "expected a cursor from an earlier answer")?;
        let is_oid = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_oid && !commit.is_empty() {
            return Err("expected a cursor from an earlier answer");
        }
        let (commit, states) = commit.split_at(commit.len().min(CURSOR_DIGITS));
        Ok(Self { commit: is_oid.then(|| commit.to_owned()), states: states.to_owned(), offset })
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/mcp/page.rs"]
mod tests;
