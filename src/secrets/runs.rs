//! Kinds of characters, and the runs of them in a text.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Digit,
    Hex,
    Capitals,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// As `Word`, with dots.
    Dotted,
    /// As `Word`, with `/`, `@`, `=`, `+`, `.`, `~`.
    Path,
    /// Letters, digits, `+`, `/`, `=`.
    Base64,
    /// The characters of a password without quotes.
    Password,
}

impl Class {
    pub(super) fn has(self, b: u8) -> bool {
        match self {
            Self::Digit => b.is_ascii_digit(),
            Self::Hex => b.is_ascii_hexdigit(),
            Self::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Word => is_word(b),
            Self::Dotted => is_word(b) || b == b'.',
            Self::Path => is_word(b) || matches!(b, b'/' | b'@' | b'=' | b'+' | b'.' | b'~'),
            Self::Base64 => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='),
            Self::Password => {
                b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b'|')
            }
        }
    }
}

pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// Whether a word starts at `at`.
pub(super) fn starts_a_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| !is_word(text[before]))
}

/// The last run of each class that was measured: another start in it must not read the rest of it again.
pub(super) struct Runs<'t> {
    pub(super) text: &'t [u8],
    known: [Range<usize>; Class::Password as usize + 1],
}

impl<'t> Runs<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, known: std::array::from_fn(|_| 0..0) }
    }

    /// The run of `class` that starts at `from`; empty if none does.
    pub(super) fn run(&mut self, class: Class, from: usize) -> &'t [u8] {
        let known = &mut self.known[class as usize];
        if !known.contains(&from) {
            let len = self.text[from..].iter().take_while(|b| class.has(**b)).count();
            *known = from..from + len;
        }
        &self.text[from..known.end.max(from)]
    }
}
