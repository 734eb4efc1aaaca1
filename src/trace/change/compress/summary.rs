//! Writes the summary of a selection within its allowance.

use super::allowance::Allowance;
use super::material::Material;
use super::prompt::{fence, prompt, text_tokens};
use super::rule::by_rule;
use super::select::Selection;
use crate::git::Repo;
use crate::tokens::Counter;
use crate::tokens::framing::message_cost;
use crate::trace::TraceError;
use crate::trace::change::compressor;
use crate::trace::model::types::Types;

/// Ends a summary that was cut.
const CUT: &str = " […]";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    pub text: Vec<u8>,
    /// What the user should know about it.
    pub notice: Option<String>,
}

/// Writes a summary: with the command in `trace.compressor`, or else by rule.
pub(crate) fn write(
    repo: &Repo,
    types: &Types,
    selection: &Selection,
    counter: Counter,
) -> Result<Summary, TraceError> {
    let material = Material::read(repo, types, selection, counter)?;
    match repo.config()?.text(compressor::SETTING)? {
        Some(command) => by_command(repo, &command, prompt(&material, selection.summary), selection.summary, counter),
        None => Ok(Summary {
            text: by_rule(&material, selection.summary, counter),
            notice: Some("the summary was made by a rule, because `trace.compressor` is not set".to_owned()),
        }),
    }
}

/// Runs the command on the prompt. A summary over its allowance is given back once to be shortened, with the figures; if that does
/// not help, the shorter of the two is cut at the end of a sentence.
fn by_command(
    repo: &Repo,
    command: &str,
    prompt: String,
    allowance: Allowance,
    counter: Counter,
) -> Result<Summary, TraceError> {
    let cost = |text: &[u8]| message_cost(counter.count(text), false);
    let mut text = compressor::run(repo, command, prompt)?;
    let mut tokens = cost(&text);
    if tokens > allowance.max {
        // The first answer is still there if this one fails.
        if let Ok(shorter) = compressor::run(repo, command, shorten(&text, tokens, allowance))
            && cost(&shorter) < tokens
        {
            tokens = cost(&shorter);
            text = shorter;
        }
    }
    if tokens <= allowance.max {
        return Ok(Summary { text, notice: None });
    }
    let max = allowance.max;
    let text = cut(&String::from_utf8_lossy(&text), |text| cost(text.as_bytes()) <= max);
    let notice = format!("warning: the summary took {tokens} tokens and was cut, because only {max} fit");
    Ok(Summary { text: text.into_bytes(), notice: Some(notice) })
}

fn shorten(text: &[u8], tokens: u64, allowance: Allowance) -> String {
    let text = String::from_utf8_lossy(text);
    let fence = fence(&text);
    let target = text_tokens(allowance.asked);
    format!(
        "The summary below has {tokens} tokens, but only {} fit. Shorten it to at most {target} tokens. Keep what is needed to \
         continue the work: open tasks, decisions, names, paths, numbers, and errors. Answer with the summary only.\n\n\
         {fence}\n{text}\n{fence}\n",
        allowance.max
    )
}

/// The longest beginning that fits with the mark of a cut: up to the end of a sentence, else of a word, else of a character.
fn cut(text: &str, fits: impl Fn(&str) -> bool) -> String {
    let ends_sentence = |c: char| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…');
    let (mut sentences, mut words, mut characters) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = ' ';
    for (index, c) in text.char_indices() {
        if c == '\n' || c.is_whitespace() && ends_sentence(before) {
            sentences.push(index);
        }
        if c.is_whitespace() {
            words.push(index);
        }
        characters.push(index);
        before = c;
    }
    let with_mark = |end: &usize| format!("{}{CUT}", text[..*end].trim_end());
    let longest = |ends: &[usize]| {
        // Longer texts have more tokens, but for a token or two where the last ones merge.
        let fitting = ends.partition_point(|end| fits(&with_mark(end)));
        ends[..fitting].iter().rev().map(with_mark).find(|text| fits(text) && text.trim_start() != CUT.trim_start())
    };
    let found = [sentences, words, characters].iter().find_map(|ends| longest(ends));
    found.unwrap_or_else(|| CUT.trim_start().to_owned())
}

#[cfg(test)]
#[path = "../../../../tests/unit/trace/summary.rs"]
mod tests;
