//! A text without what hides its words: color codes, escapes of JSON, percent-encoding.
//!
//! The rules read the plain text, and a [`Secret`](super::Secret) has the place in the source. An escape belongs to a place
//! completely or not at all, so JSON stays JSON if its secrets are replaced.

use std::borrow::Cow;
use std::ops::Range;

/// The longest sequence of color codes and the like.
const MAX_SEQUENCE: usize = 32;

pub(super) struct Plain<'t> {
    pub(super) text: Cow<'t, [u8]>,
    /// Places in the text, each with its place in the source. Between two, both advance alike.
    places: Vec<(usize, usize)>,
}

impl<'t> Plain<'t> {
    pub(super) fn of(source: &'t [u8]) -> Self {
        let mut places = Vec::new();
        let mut text = Vec::new();
        let mut rest = 0;
        for at in memchr::memchr3_iter(b'\x1b', b'\\', b'%', source) {
            // A backslash within an escape that was read.
            if at < rest {
                continue;
            }
            let Some((len, byte)) = escape(&source[at..]) else { continue };
            text.extend_from_slice(&source[rest..at]);
            places.push((text.len(), at));
            text.extend(byte);
            rest = at + len;
            places.push((text.len(), rest));
        }
        if places.is_empty() {
            return Self { text: Cow::Borrowed(source), places };
        }
        text.extend_from_slice(&source[rest..]);
        Self { text: Cow::Owned(text), places }
    }

    pub(super) fn in_source(&self, span: &Range<usize>) -> Range<usize> {
        // The last place of what was left out before the start, the first of what was left out after the end.
        let before = self.places.partition_point(|place| place.0 <= span.start);
        let start = match before.checked_sub(1).map(|last| self.places[last]) {
            Some((plain, source)) => source + span.start - plain,
            None => span.start,
        };
        let after = self.places.partition_point(|place| place.0 < span.end);
        let end = match (self.places.get(after), after.checked_sub(1).map(|last| self.places[last])) {
            (Some((plain, source)), _) if *plain == span.end => *source,
            (_, Some((plain, source))) => source + span.end - plain,
            (_, None) => span.end,
        };
        start..end
    }
}

/// The length of the escape at the start of `rest`, and the byte that it stands for, if any.
fn escape(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    match rest[0] {
        b'\x1b' => Some((1 + sequence(&rest[1..])?, None)),
        b'%' => {
            let byte = hex(rest.get(1..3)?)?;
            matches!(byte, b' '..=b'~' | b'\n' | b'\r').then_some((3, Some(byte)))
        }
        _ => {
            // JSON in JSON doubles the backslashes.
            let slashes = rest.iter().take(MAX_SEQUENCE).take_while(|b| **b == b'\\').count();
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
                return Some((len + sequence(&rest[len..])?, None));
            }
            Some((len, Some(byte)))
        }
    }
}

/// The length of a control sequence (ECMA-48, 5.4) without its first character.
fn sequence(rest: &[u8]) -> Option<usize> {
    if *rest.first()? != b'[' {
        return None;
    }
    let end = rest.iter().take(MAX_SEQUENCE).skip(1).position(|b| !matches!(b, b' '..=b'?'))? + 1;
    matches!(rest[end], b'@'..=b'~').then_some(end + 1)
}

/// A character outside ASCII becomes a byte that belongs to no word.
fn code_unit(digits: &[u8]) -> Option<u8> {
    let (high, low) = (hex(&digits[..2])?, hex(&digits[2..])?);
    Some(if high == 0 && low < 0x80 { low } else { 0xff })
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/plain.rs"]
mod tests;
