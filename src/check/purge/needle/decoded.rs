//! Text that programs escaped, without the escapes, whichever characters each program chose to escape.

use crate::base::decoded::{Decoded, Meaning, control_sequence};

/// Decodes the escapes of URLs, of HTML, and of string literals, and leaves out color codes, in one pass. A text that was escaped twice is
/// decoded twice. `None` if there is no escape.
pub(super) fn decode(bytes: &[u8]) -> Option<Decoded> {
    let may_start = |(_, byte): &(usize, &u8)| matches!(**byte, b'%' | b'&' | b'\\' | ESCAPE | b' ');
    let starts = bytes.iter().enumerate().filter(may_start).map(|(at, _)| at);
    Decoded::new(bytes, starts, |rest| {
        // On one line, the first character became a space.
        if rest[0] == b' ' {
            let sequence = control_sequence(&rest[1..]).filter(|len| matches!(rest[*len], b'm' | b'K'))?;
            let is_color = rest[2..sequence].iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
            return is_color.then_some((1 + sequence, Meaning::Nothing));
        }
        let (len, meaning) = escape(rest)?;
        let sequence = || control_sequence(&rest[len..]).map(|sequence| (len + sequence, Meaning::Nothing));
        let is_escape = matches!(meaning, Meaning::Byte(ESCAPE) | Meaning::Char('\x1b'));
        is_escape.then(sequence).flatten().or(Some((len, meaning)))
    })
}

/// The character that begins a color code.
const ESCAPE: u8 = b'\x1b';

/// The names that every program writes for the characters with a meaning in HTML.
const NAMES: [(&[u8], u8); 5] = [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];

/// The escape at the start of `bytes`, with its length.
fn escape(bytes: &[u8]) -> Option<(usize, Meaning)> {
    match bytes {
        [ESCAPE, ..] => Some((1, Meaning::Byte(ESCAPE))),
        [b'%', digits @ ..] => Some((3, Meaning::Byte(u8::try_from(number(digits, 2, 16)?).ok()?))),
        [b'&', rest @ ..] => {
            // No reference is longer.
            let len = memchr::memchr(b';', &rest[..rest.len().min(9)])?;
            let c = match &rest[..len] {
                [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, digits.len(), 16)?)?,
                [b'#', digits @ ..] => char::from_u32(number(digits, digits.len(), 10)?)?,
                name => char::from(NAMES.iter().find(|(known, _)| *known == name)?.1),
            };
            Some((len + 2, Meaning::Char(c)))
        }
        [b'\\', b'u', digits @ ..] if !digits.starts_with(b"{") => {
            let unit = number(digits, 4, 16)?;
            let second = || number(digits[4..].strip_prefix(b"\\u")?, 4, 16);
            if let Some(c) = char::from_u32(unit) {
                return Some((6, Meaning::Char(c)));
            }
            let units = [u16::try_from(unit).ok()?, u16::try_from(second()?).ok()?];
            Some((12, Meaning::Char(char::decode_utf16(units).next()?.ok()?)))
        }
        [b'\\', b'u' | b'x', b'{', digits @ ..] => {
            let len = memchr::memchr(b'}', &digits[..digits.len().min(9)])?;
            Some((len + 4, Meaning::Char(char::from_u32(number(digits, len, 16)?)?)))
        }
        [b'\\', b'U', digits @ ..] => Some((10, Meaning::Char(char::from_u32(number(digits, 8, 16)?)?))),
        [b'\\', b'x', ..] => hex_escape(bytes),
        [b'\\', digits @ ..] if matches!(digits, [b'0'..=b'3', ..]) => {
            Some((4, Meaning::Byte(u8::try_from(number(digits, 3, 8)?).ok()?)))
        }
        [b'\\', c, ..] => {
            let byte = match c {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                // As shells, regular expressions, and Markdown do.
                b' ' | b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => *c,
                _ => return None,
            };
            Some((2, Meaning::Byte(byte)))
        }
        _ => None,
    }
}

/// A byte of UTF-8, together with the others of its character, as in bytes of Python; or else the character with this number, as in its
/// texts.
fn hex_escape(bytes: &[u8]) -> Option<(usize, Meaning)> {
    let byte = |at: usize| u8::try_from(number(bytes.get(4 * at..)?.strip_prefix(b"\\x")?, 2, 16)?).ok();
    let first = byte(0)?;
    let len = usize::try_from(first.leading_ones()).unwrap_or(0);
    let units: Option<Vec<u8>> = (0..len.min(4)).map(byte).collect();
    let c = units.and_then(|units| std::str::from_utf8(&units).ok()?.chars().next());
    Some(c.map_or((4, Meaning::Char(char::from(first))), |c| (4 * len, Meaning::Char(c))))
}

/// The number that the first `len` digits make; none is longer than eight digits.
fn number(bytes: &[u8], len: usize, base: u32) -> Option<u32> {
    let digits = bytes.get(..len).filter(|digits| (1..=8).contains(&digits.len()))?;
    digits.iter().try_fold(0, |number, digit| Some(number * base + char::from(*digit).to_digit(base)?))
}
