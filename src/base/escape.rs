//! Text of files and of others as it is shown: characters that act without being seen become escapes.
//!
//! These are control characters, which a terminal obeys; characters that change the direction of text, which make a line read
//! as something else; and characters without a width, in which instructions for a model can be hidden. A joiner or a variation
//! selector is shown as it is after a character that is not ASCII, because scripts and emoji need it there.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Whether a character acts on text without being seen. Line breaks and tabs do too.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{feff}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The characters of a text, each with whether it must be escaped.
pub(crate) fn marked(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut previous, mut chars) = (' ', text.chars().peekable());
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let is_stray = match c {
            _ if is_selector(c) && previous.is_ascii() => chars.peek() != Some(&KEY),
            _ if is_selector(c) => is_joiner(previous) || is_selector(previous),
            _ => is_joiner(c) && (previous.is_ascii() || is_joiner(previous)),
        };
        previous = c;
        Some((c, is_stray || is_unprintable(c)))
    })
}

/// The end of the emoji of a key, such as that of 1, which begins with the digit and a selector.
const KEY: char = '\u{20e3}';

fn is_joiner(c: char) -> bool {
    matches!(c, NON_JOINER | '\u{200d}')
}

/// Whether a character selects a variation of the one before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Whether a name has characters that act without being seen. A joiner or a selector may follow an emoji or a mark, but a letter or digit only if
/// it changes how that looks: the name would look like another one.
pub(crate) fn has_unprintable(name: &str) -> bool {
    let chars: Vec<char> = name.chars().chain(['/']).collect();
    let is_hidden = |chars: &[char]| {
        let (one, next, after) = (chars[0], chars[1], chars[2]);
        let is_seen = match next {
            NON_JOINER if joins_next(one) && joins_previous(after) => true,
            _ if is_joiner(next) => is_virama(after),
            _ => one.is_ascii_digit() && next == '\u{fe0f}' && after == KEY,
        };
        one.is_alphanumeric() && (is_joiner(next) || is_selector(next)) && !is_seen
    };
    marked(name).any(|(_, is_unprintable)| is_unprintable) || chars.windows(3).any(is_hidden)
}

/// Keeps two letters from being joined, as Persian spelling wants it in many words.
const NON_JOINER: char = '\u{200c}';

/// The sign of Indic scripts by which a letter loses its vowel. A joiner before it, as in Bengali, decides which of two is written small.
fn is_virama(c: char) -> bool {
    matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    )
}

/// Whether it is an Arabic letter that is joined to the next one, of joining type D in `ArabicShaping.txt` of the Unicode data.
fn joins_next(c: char) -> bool {
    matches!(c, '\u{620}' | '\u{626}' | '\u{628}' | '\u{62a}'..='\u{62e}' | '\u{633}'..='\u{63f}' | '\u{641}'..='\u{647}')
        || matches!(c, '\u{649}' | '\u{64a}' | '\u{66e}' | '\u{66f}' | '\u{678}'..='\u{687}' | '\u{69a}'..='\u{6bf}' | '\u{6c1}')
        || matches!(c, '\u{6c2}' | '\u{6cc}' | '\u{6ce}' | '\u{6d0}' | '\u{6d1}' | '\u{6fa}'..='\u{6fc}' | '\u{6ff}')
}

/// Whether it is an Arabic letter that is joined to the one before it, of type D or R.
fn joins_previous(c: char) -> bool {
    joins_next(c)
        || matches!(c, '\u{622}'..='\u{625}' | '\u{627}' | '\u{629}' | '\u{62f}'..='\u{632}' | '\u{648}' | '\u{671}'..='\u{673}')
        || matches!(c, '\u{675}'..='\u{677}' | '\u{688}'..='\u{699}' | '\u{6c0}' | '\u{6c3}'..='\u{6cb}' | '\u{6cd}' | '\u{6cf}')
        || matches!(c, '\u{6d2}' | '\u{6d3}' | '\u{6d5}' | '\u{6ee}' | '\u{6ef}')
}

/// `text` as a terminal and a model may be given it: with line breaks and tabs, and every other unprintable character as an
/// escape of JSON, so that escaped JSON stays JSON.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | 0x20..0x7f)) {
        return Cow::Borrowed(text);
    }
    let is_escaped = |(c, is_unprintable): (char, bool)| is_unprintable && !matches!(c, '\n' | '\t');
    if !marked(text).any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for (c, is_unprintable) in marked(text) {
        if is_escaped((c, is_unprintable)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(visible, "\\u{unit:04x}");
            }
        } else {
            visible.push(c);
        }
    }
    Cow::Owned(visible)
}

/// A message as a terminal and a model may be given it. Lines after the first one are indented, so that a name with a line break
/// begins no other message.
pub(crate) fn message(text: &str) -> String {
    let text = escaped(text);
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    let indent = |line: &str| if line.starts_with([' ', '\t']) { "\n" } else { "\n  " };
    lines.fold(first, |all, line| all + indent(line) + line)
}

/// A text as one word of a command for a shell. A clone may contain any name, and users paste the commands that messages suggest.
pub(crate) fn shell_word(text: impl fmt::Display) -> String {
    let text = text.to_string();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+');
    if text.bytes().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A text as part of one line: line breaks and tabs are escaped too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (c, is_unprintable) in marked(self.0) {
            if is_unprintable { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/base/escape.rs"]
mod tests;
