//! A text without the escapes that hide its words: color codes, escapes of JSON, percent-encoding.
//!
//! The rules read the plain text, and a [`Secret`](super::Secret) has the place in the source. An escape belongs to a place
//! completely or not at all, so JSON stays JSON if its secrets are replaced.

use super::runs::is_word;
use crate::base::decoded::{Decoded, Meaning, control_sequence};

/// The most backslashes of one escape.
const MAX_SLASHES: usize = 32;

/// A byte that belongs to no word.
const SEPARATOR: u8 = 0xff;

/// `None` if the source is plain.
pub(super) fn plain(source: &[u8]) -> Option<Decoded> {
    decode(source, Meaning::Nothing)
}

/// The plain text with a byte that belongs to no word in place of each color code: a color may change within a word, or between two.
/// `None` if it has no color code between two characters of words.
pub(super) fn separated(source: &[u8], plain: &Decoded) -> Option<Decoded> {
    let is_in_words =
        |gap: usize| gap > 0 && plain.text.get(gap - 1..=gap).is_some_and(|ends| ends.iter().all(|b| is_word(*b)));
    plain.gaps().any(is_in_words).then(|| decode(source, Meaning::Byte(SEPARATOR)))?
}

fn decode(source: &[u8], color_code: Meaning) -> Option<Decoded> {
    Decoded::new(source, memchr::memchr3_iter(b'\x1b', b'\\', b'%', source), |rest| escape(rest, color_code))
}

/// The escape at the start of `rest`, with its length.
fn escape(rest: &[u8], color_code: Meaning) -> Option<(usize, Meaning)> {
    match rest[0] {
        b'\x1b' => Some((1 + control_sequence(&rest[1..])?, color_code)),
        b'%' => {
            let byte = hex(rest.get(1..3)?)?;
            matches!(byte, b' '..=b'~' | b'\n' | b'\r').then_some((3, Meaning::Byte(byte)))
        }
        _ => {
            // JSON in JSON has twice as many backslashes.
            let slashes = rest.iter().take(MAX_SLASHES).take_while(|b| **b == b'\\').count();
            let (len, byte) = match *rest.get(slashes)? {
                b @ (b'"' | b'\'' | b'/') => (1, b),
                b'n' => (1, b'\n'),
                b'r' => (1, b'\r'),
                b't' => (1, b'\t'),
                b'e' => (1, b'\x1b'),
                b'x' => (3, hex(rest.get(slashes + 1..slashes + 3)?)?),
                b'0' if rest[slashes..].starts_with(b"033") => (3, b'\x1b'),
                b'u' => (5, code_unit(rest.get(slashes + 1..slashes + 5)?)?),
                _ => return None,
            };
            let len = slashes + len;
            if byte == b'\x1b' {
                return Some((len + control_sequence(&rest[len..])?, color_code));
            }
            Some((len, Meaning::Byte(byte)))
        }
    }
}

/// A character outside ASCII separates words.
fn code_unit(digits: &[u8]) -> Option<u8> {
    let (high, low) = (hex(&digits[..2])?, hex(&digits[2..])?);
    Some(if high == 0 && low < 0x80 { low } else { SEPARATOR })
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/plain.rs"]
mod tests;
