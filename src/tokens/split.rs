//! Splitting text into pieces that are merged separately.
//!
//! The successive matches of an encoding's pattern, a regular expression, are the pieces. The functions here find the end of a
//! match without a regex engine, because each alternative of a pattern is a few runs of character classes. Each function shows
//! its pattern from tiktoken-rs.
//!
//! `text` is always valid UTF-8, and `at` a character boundary before its end.

use super::class::{CASELESS, LETTER, LOWER, MARK, NEWLINE, NUMBER, PUNCTUATION, UPPER, WHITE, class_at, skip};

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const WORD_HEAD: u8 = UPPER | CASELESS | MARK;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const WORD_TAIL: u8 = LOWER | CASELESS | MARK;

/// Finds the end of the piece at `at` in `o200k_base` and `o200k_harmony`.
///
/// ```text
///   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// | \p{N}{1,3}
/// |  ?[^\s\p{L}\p{N}]+[\r\n/]*
/// | \s*[\r\n]+
/// | \s+(?!\S)
/// | \s+
/// ```
#[inline]
pub(super) fn o200k(text: &[u8], at: usize) -> usize {
    let (class, length) = class_at(text, at);
    if class & LETTER != 0 {
        return word(text, at);
    }
    if class & NUMBER != 0 {
        return numbers(text, at);
    }
    if class & NEWLINE == 0 {
        let after = at + length;
        if class_at(text, after).0 & (LETTER | MARK) != 0 {
            // A mark may precede a word or belong to it. It precedes the word unless only upper case follows: then the first
            // alternative needs a tail, and takes the mark as its tail.
            if class & MARK != 0 && tail_end(text, after).is_none() {
                return contraction(text, after).unwrap_or(after);
            }
            return word(text, after);
        }
        if class & MARK != 0 {
            return contraction(text, after).unwrap_or(after);
        }
        if let Some(end) = punctuation(text, at) {
            return skip_breaks(text, end);
        }
    }
    white_space(text, at, Newlines::EndRun)
}

fn word(text: &[u8], at: usize) -> usize {
    let end = tail_end(text, at).unwrap_or_else(|| skip(text, at, WORD_HEAD));
    contraction(text, end).unwrap_or(end)
}

/// End of `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`, if it matches at `at`.
#[inline]
fn tail_end(text: &[u8], mut at: usize) -> Option<usize> {
    // The head is greedy and then backtracks until a tail is left: the last caseless letter or mark.
    let mut last_of_both = None;
    loop {
        let (class, length) = class_at(text, at);
        if class & LOWER != 0 {
            return Some(skip(text, at + length, WORD_TAIL));
        }
        if class & WORD_HEAD == 0 {
            return last_of_both;
        }
        at += length;
        if class & WORD_TAIL != 0 {
            last_of_both = Some(at);
        }
    }
}

/// Finds the end of the piece at `at` in `cl100k_base`.
///
/// ```text
///   '(?i:[sdmt]|ll|ve|re)
/// | [^\r\n\p{L}\p{N}]?+\p{L}++
/// | \p{N}{1,3}+
/// |  ?[^\s\p{L}\p{N}]++[\r\n]*+
/// | \s++$
/// | \s*[\r\n]
/// | \s+(?!\S)
/// | \s
/// ```
#[inline]
pub(super) fn cl100k(text: &[u8], at: usize) -> usize {
    let (class, length) = class_at(text, at);
    if class & LETTER != 0 {
        return skip(text, at + length, LETTER);
    }
    if class & NUMBER != 0 {
        return numbers(text, at);
    }
    if class & NEWLINE == 0 {
        if let Some(end) = contraction(text, at) {
            return end;
        }
        let (next_class, next_length) = class_at(text, at + length);
        if next_class & LETTER != 0 {
            return skip(text, at + length + next_length, LETTER);
        }
        if let Some(end) = punctuation(text, at) {
            return skip(text, end, NEWLINE);
        }
    }
    white_space(text, at, Newlines::EndRunInside)
}

/// Finds the end of the piece at `at` in `p50k_base` and `r50k_base`.
///
/// ```text
/// '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s
/// ```
#[inline]
pub(super) fn p50k(text: &[u8], at: usize) -> usize {
    if let Some(end) = contraction(text, at)
        && text[at + 1..end].iter().all(u8::is_ascii_lowercase)
    {
        return end;
    }
    let start = if text[at] == b' ' { at + 1 } else { at };
    let (class, length) = class_at(text, start);
    for set in [LETTER, NUMBER, PUNCTUATION] {
        if class & set != 0 {
            return skip(text, start + length, set);
        }
    }
    white_space(text, at, Newlines::LikeOthers)
}

/// End of `\p{N}{1,3}` at `at`, where there is a number.
fn numbers(text: &[u8], mut at: usize) -> usize {
    for _ in 0..3 {
        let (class, length) = class_at(text, at);
        if class & NUMBER == 0 {
            break;
        }
        at += length;
    }
    at
}

/// End of ` ?[^\s\p{L}\p{N}]+`, if it matches at `at`.
#[inline]
fn punctuation(text: &[u8], at: usize) -> Option<usize> {
    let start = if text[at] == b' ' { at + 1 } else { at };
    let end = skip(text, start, PUNCTUATION);
    (end > start).then_some(end)
}

/// End of `[\r\n/]*`.
#[inline]
fn skip_breaks(text: &[u8], at: usize) -> usize {
    let breaks = text[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count();
    at + breaks
}

/// End of `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, if it matches at `at`.
///
/// Ignoring case, the long s (U+017F) is an s too. None of the other letters has a third form.
#[inline]
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"'")?;
    let length = match *rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 1,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] | [0xc5, 0xbf, ..] => 2,
        _ => return None,
    };
    Some(at + 1 + length)
}

/// The effect of newlines in white space.
#[derive(Clone, Copy, PartialEq)]
enum Newlines {
    EndRun,
    /// The same, unless the text ends with the white space: then the white space is one piece.
    EndRunInside,
    LikeOthers,
}

/// End of the white space at `at`. If it has several characters, the last one belongs to the next word.
#[inline]
fn white_space(text: &[u8], at: usize, newlines: Newlines) -> usize {
    let (mut end, mut last_start, mut line_end) = (at, at, None);
    loop {
        let (class, length) = class_at(text, end);
        if class & WHITE == 0 {
            break;
        }
        last_start = end;
        end += length;
        if class & NEWLINE != 0 {
            line_end = Some(end);
        }
    }
    let at_text_end = end == text.len();
    match line_end {
        Some(line_end) if newlines == Newlines::EndRun => line_end,
        Some(line_end) if newlines == Newlines::EndRunInside && !at_text_end => line_end,
        _ if at_text_end || last_start == at => end,
        _ => last_start,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/split.rs"]
mod tests;
