//! The summary of a selection, written by the user's command within its allowance.

use super::allowance::Allowance;
use crate::tokens::Encoding;
use crate::tokens::framing::message_cost;
use crate::trace::change::compressor::{self, CompressorError};

/// Ends a summary that was cut.
const CUT: &str = " […]";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    pub text: Vec<u8>,
    /// The tokens of the summary before it was cut.
    pub cut_from: Option<u64>,
}

/// Runs the command on the prompt. A summary over its allowance is given back once to be shortened, with the figures; if that does
/// not help, the shorter of the two is cut at the end of a sentence.
pub(crate) fn by_command(
    command: &str,
    prompt: String,
    allowance: Allowance,
    encoding: Encoding,
) -> Result<Summary, CompressorError> {
    let cost = |text: &[u8]| message_cost(encoding.count(text), false);
    let mut text = compressor::run(command, prompt)?;
    let mut tokens = cost(&text);
    if tokens > allowance.max {
        // The first answer is still there if this one fails.
        if let Ok(shorter) = compressor::run(command, shorten(&text, tokens, allowance))
            && cost(&shorter) < tokens
        {
            tokens = cost(&shorter);
            text = shorter;
        }
    }
    if tokens <= allowance.max {
        return Ok(Summary { text, cut_from: None });
    }
    let text = cut(&String::from_utf8_lossy(&text), |text| cost(text.as_bytes()) <= allowance.max);
    Ok(Summary { text: text.into_bytes(), cut_from: Some(tokens) })
}

fn shorten(text: &[u8], tokens: u64, allowance: Allowance) -> String {
    let text = String::from_utf8_lossy(text);
    let fence = super::prompt::fence(&text);
    let target = super::prompt::text_tokens(allowance.asked);
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
